"""The outbox: every message that must stand in Slack, from the wish to the message that is kept true.

A post is inserted in the transaction of the change that causes it, under a key that is unique for ever, so neither a crash nor a repeat
loses or doubles it. `sending` is stored before the call: after a crash the sender knows that the message may be out already.
A post that nothing can change any more is `done`: whoever looks for work looks past it, however many there have ever been.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, bindparam, exists, func, insert, not_, or_, select, update

from bot.core.run import FINAL
from bot.core.snapshot import NewPost, Post
from bot.errors import PullcordError
from bot.store import tables
from bot.store.db import noted

# Redrawn while their run changes (a note: when its wait is over); others are said once.
KEPT_TRUE = ("run", "review", "redirect", "confirm", "note")
OWN_FAULT = "fault: "  # how the error of a post begins that could not even be drawn

_posts, _runs = tables.posts, tables.runs
_ENDED = [status.value for status in FINAL]
_OPEN = _posts.c.done.is_(False)  # said in just these words: an index serves them
_UNSENT = _posts.c.state.in_(("wanted", "sending"))
_AUDIT = _posts.c.card == "audit"
_INSERT = insert(_posts).inline()
_OF_RUN = select(_posts).where(_posts.c.run_id == bindparam("run_id")).order_by(_posts.c.id)
_HAS_KEY = select(_posts.c.id).where(_posts.c.key == bindparam("key"))


class UnknownPost(PullcordError):
    """There is no post of that number: a fault of the caller."""


def add(conn: Connection, post: NewPost) -> bool:
    """Insert the post and ring for its run; False, and nothing happens, if its key exists. With a `ts` it counts as posted."""
    if conn.execute(_HAS_KEY, {"key": post.key}).one_or_none():
        return False
    said = post.model_dump(mode="json")
    state, done = ("posted", post.card not in KEPT_TRUE) if post.ts else ("wanted", False)
    begins = {"state": state, "done": done, "shown": -1, "tries": 0, "error": None, "not_before": None}
    conn.execute(_INSERT, {**said, "run_id": said.pop("run"), **begins})
    noted(conn).add(post.run)
    return True


def get(conn: Connection, post_id: int) -> Post:
    """The post of that number. Raises `UnknownPost`."""
    row = conn.execute(select(_posts).where(_posts.c.id == post_id)).mappings().one_or_none()
    if row is None:
        raise UnknownPost(f"there is no post {post_id}")
    return _post(row)


def of_run(conn: Connection, run_id: str) -> list[Post]:
    """All posts about a run, oldest first."""
    return [_post(row) for row in conn.execute(_OF_RUN, {"run_id": run_id}).mappings()]


def waiting(conn: Connection, now: datetime) -> list[Post]:
    """Posts that are to be sent now, or were being sent when somebody last looked, in the order in which they were wished for.

    The record is told in its order: while an audit post waits for its channel (not for a fault of its own), those after it wait too.
    """
    due = or_(_posts.c.not_before.is_(None), _posts.c.not_before <= now)
    behind = [not_(and_(_AUDIT, _posts.c.channel == channel, _posts.c.id > first)) for channel, first in _put_off(conn, now)]
    query = select(_posts).where(_OPEN, _UNSENT, due, *behind).order_by(_posts.c.id)
    return [_post(row) for row in conn.execute(query).mappings()]


def _put_off(conn: Connection, now: datetime) -> list[tuple[str, int]]:
    """The channels that audit posts wait for just now, and the first post that does."""
    waits = (_OPEN, _AUDIT, _UNSENT, _posts.c.not_before > now, _posts.c.error.not_like(f"{OWN_FAULT}%"))
    found = conn.execute(select(_posts.c.channel, func.min(_posts.c.id)).where(*waits).group_by(_posts.c.channel))
    return [(channel, first) for channel, first in found]


def stale(conn: Connection) -> list[Post]:
    """Cards in Slack that show an older version of their run than the true one, oldest first."""
    behind = and_(_runs.c.id == _posts.c.run_id, _posts.c.shown < _runs.c.version)
    query = select(_posts).join(_runs, behind).where(_OPEN, _posts.c.state == "posted").order_by(_posts.c.id)
    return [_post(row) for row in conn.execute(query).mappings()]


def claim(conn: Connection, post: Post) -> bool:
    """The call for this row is about to be made; False if somebody else has taken or closed it since it was read."""
    as_read = (_posts.c.id == post.id, _posts.c.state == post.state, _posts.c.tries == post.tries)
    return conn.execute(update(_posts).where(*as_read).values(state="sending", done=False)).rowcount == 1


def sending(conn: Connection, post_id: int) -> None:
    """The call is about to be made."""
    _set(conn, post_id, state="sending")


def posted(conn: Connection, post_id: int, *, channel: str, ts: str, shown: int) -> None:
    """It stands in Slack, at this place, and shows this version of the run."""
    _set(conn, post_id, state="posted", channel=channel, ts=ts, shown=shown, done=_stays(shown), error=None, not_before=None)


def shown(conn: Connection, post_id: int, version: int) -> None:
    """The message was brought up to this version of the run."""
    _set(conn, post_id, shown=version, done=_stays(version), error=None)


def redraw(conn: Connection, run_ids: Collection[str]) -> None:
    """The cards of these runs show something that is no longer so, although their runs have not changed."""
    for run_id in run_ids:
        kept = (_posts.c.run_id == run_id, _posts.c.state == "posted", _posts.c.card.in_(KEPT_TRUE))
        conn.execute(update(_posts).where(*kept).values(shown=-1, done=False))
        noted(conn).add(run_id)


def later(conn: Connection, post_id: int, *, not_before: datetime, error: str, unsent: bool = False) -> None:
    """It did not work; try again then. `unsent`: Slack surely did not take it, so the next try need not look for it first."""
    state: dict[str, Any] = {"state": "wanted"} if unsent else {}
    _set(conn, post_id, tries=_posts.c.tries + 1, not_before=not_before, error=error, **state)


def failed(conn: Connection, post_id: int, error: str) -> None:
    """It will never work; the reason is kept."""
    _set(conn, post_id, state="failed", done=True, error=error)


def _stays(shown: int) -> ColumnElement[bool]:
    """Will a message that shows this version stay as it is? It was said once, or its run has ended and moves no more."""
    moves = exists().where(_runs.c.id == _posts.c.run_id, or_(_runs.c.version > shown, _runs.c.status.not_in(_ENDED)))
    return or_(_posts.c.card.not_in(KEPT_TRUE), not_(moves))


def _set(conn: Connection, post_id: int, *, done: ColumnElement[bool] | bool = False, **values: Any) -> None:
    values["done"] = done  # what is touched again is open again, unless it is said to be done
    if conn.execute(update(_posts).where(_posts.c.id == post_id).values(**values)).rowcount == 0:
        raise UnknownPost(f"there is no post {post_id}")


def _post(row: RowMapping) -> Post:
    return Post(**{name: value for name, value in row.items() if name not in ("run_id", "done")}, run=row["run_id"])
