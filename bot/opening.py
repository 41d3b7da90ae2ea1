"""Opening a run: whoever asks, however they ask. Planning is slow work and starts by itself once the row is there."""

from typing import NotRequired, TypedDict, Unpack

from sqlalchemy import Connection

from bot import guard
from bot.core import policy
from bot.core.ids import new_run_id
from bot.core.run import Run
from bot.core.snapshot import NewPost
from bot.deps import Deps
from bot.errors import Refused
from bot.store import cord, door

LONGEST_ASK = 40_000  # characters


class Asked(TypedDict):
    """What is known of an ask. Without `thread_ts` the run card becomes a root message of its own."""

    ask: str
    who: policy.Member
    team: str
    channel: str
    thread_ts: str | None
    source_ts: str | None  # the asking message, if there was one
    event_key: str | None  # what is told twice opens one run
    source_author: NotRequired[str | None]  # whose words they are, if not those of `who`
    follows: NotRequired[str]  # the run that is asked again, or whose thread this is: the planner is told what came of it


def open_run(conn: Connection, deps: Deps, **asked: Unpack[Asked]) -> Run | None:
    """A new run in *planning*, its run card in the outbox; None if its `event_key` opened one before.

    Raises `Refused` for an empty ask, for one who may not ask, and while everything is frozen.
    """
    who = asked["who"]
    text = asked["ask"].strip()
    if not text:
        raise Refused("plan_empty")
    if len(text) > LONGEST_ASK:
        raise Refused("ask_too_long", length=len(text), limit=LONGEST_ASK)
    guard.must_ask(deps, who)
    if (freeze := cord.frozen(conn)) is not None:
        raise Refused("frozen", did="ask", words=text, **freeze.model_dump())
    run = Run(
        id=(run_id := deps.new_run_id()),
        ask=_kept(deps, text, run_id, follows=asked.get("follows")),
        requester=who.id,
        team=asked["team"],
        channel=asked["channel"],
        thread_ts=asked["thread_ts"],
        source_ts=asked["source_ts"],
        source_author=_somebody_else(asked.get("source_author"), who.id),
        created_at=deps.now(),
        updated_at=deps.now(),
    )
    while True:
        try:
            return _insert(conn, run, event_key=asked["event_key"], follows=asked.get("follows"))
        except door.IdTaken:
            run = run.model_copy(update={"id": new_run_id(6)})
            deps.secrets.follow(run_id, run.id)


def _somebody_else(author: str | None, requester: str) -> str | None:
    """Whose words the ask is, if they are not the requester's own."""
    return author if author and author != requester else None


def _kept(deps: Deps, text: str, run_id: str, *, follows: str | None) -> str:
    """The ask as it is stored: secrets that were typed are named, and those of the run that it follows may be named, too."""
    if follows:
        deps.secrets.follow(follows, run_id)
    return deps.secrets.typed(text, run_id)


def _insert(conn: Connection, run: Run, *, event_key: str | None, follows: str | None) -> Run | None:
    card = NewPost(run=run.id, card="run", key=f"{run.id}:run", channel=run.channel, in_thread=run.thread_ts is not None)
    data = {"ask": run.ask, "follows": follows}
    return door.open_run(conn, run, actor=run.requester, at=run.created_at, data=data, event_key=event_key, tell=[card])
