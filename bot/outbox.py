"""What must stand in Slack: read by the presenter, marked by it. Rows are made by the change that causes them (see `store.door`)."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection

from bot.core.snapshot import Post
from bot.deps import Deps
from bot.store import posts, runs

OWN_FAULT = posts.OWN_FAULT  # how the error of a post begins that holds up no other


async def waiting(deps: Deps) -> list[Post]:
    """Posts to be made now, in the order in which they were caused."""
    return await deps.store.read(lambda conn: posts.waiting(conn, deps.now()))


async def stale(deps: Deps) -> list[Post]:
    """Posted cards that show an older version of their run."""
    return await deps.store.read(posts.stale)


async def of_run(deps: Deps, run_id: str) -> Sequence[Post]:
    """Everything posted, or to be posted, about one run."""
    return await deps.store.read(lambda conn: posts.of_run(conn, run_id))


async def claim(deps: Deps, post: Post) -> bool:
    """The call is about to be made; after a crash its outcome is looked for before it is made again. False: somebody else was faster."""
    return await deps.store.write(lambda conn: posts.claim(conn, post))


async def sending(deps: Deps, post_id: int) -> None:
    """A message that stood is gone: its row is to be posted once more."""
    await deps.store.write(lambda conn: posts.sending(conn, post_id))


async def posted(deps: Deps, post: Post, *, channel: str, ts: str, shown: int) -> None:
    """It stands at `ts`, showing that version. A run card that is its own root becomes the run's thread."""

    def work(conn: Connection) -> None:
        posts.posted(conn, post.id, channel=channel, ts=ts, shown=shown)
        if post.card == "run" and not post.in_thread:
            runs.set_thread(conn, post.run, ts, channel=channel)

    await deps.store.write(work)


async def shown(deps: Deps, post_id: int, version: int) -> None:
    """The card now shows that version of its run."""
    await deps.store.write(lambda conn: posts.shown(conn, post_id, version))


async def later(deps: Deps, post_id: int, *, seconds: float, error: str, unsent: bool = False) -> None:
    """Try again not before that many seconds from now. `unsent`: Slack surely did not take it, so nothing has to be looked for first."""
    not_before = deps.now() + timedelta(seconds=seconds)
    await deps.store.write(lambda conn: posts.later(conn, post_id, not_before=not_before, error=error, unsent=unsent))


async def failed(deps: Deps, post_id: int, error: str) -> None:
    """It can never be posted; the row keeps why."""
    await deps.store.write(lambda conn: posts.failed(conn, post_id, error))
