"""Keys that runs hold for themselves: taken when a step starts, kept through every pause, let go when the run ends, however it ends.

A key is taken in the transaction that starts the step and released in the one that ends the run, so no crash comes between; a key whose run
has ended or is gone is free. A step takes all of its keys or none. Who finds one taken is remembered, shown on the card, and rung when it
is free. Two runs that would wait for one another for ever are told apart in time: whoever comes second is refused (`Taken.for_ever`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, not_, select, update

from bot.core.ids import RunId, StepId
from bot.core.run import FINAL, StepStatus
from bot.core.snapshot import LockWait
from bot.store import posts, tables

_locks, _waits, _runs, _steps = tables.locks, tables.lock_waits, tables.runs, tables.steps
_ENDED = [status.value for status in FINAL]


@dataclass(frozen=True)
class Taken:
    """Another run holds the key. `for_ever`: it waits (or those that it waits for do) for a key of this run."""

    key: str
    holder: str
    for_ever: bool = False


def take(conn: Connection, run_id: str, step_id: str, keys: Sequence[str], *, at: datetime) -> Taken | Sequence[str]:
    """The keys that the run holds from now on and did not before; or the first that is taken, and the run holds none of the others more.

    In a write transaction: nobody else takes one meanwhile.
    """
    holders = {key: _holder(conn, key) for key in keys}
    for key, holder in sorted(holders.items()):
        if holder is not None and holder != run_id:
            _remember(conn, run_id, step_id, key, at)
            return Taken(key, holder, for_ever=_waits_for(conn, holder, run_id))
    new = [key for key in sorted(holders) if holders[key] is None]
    for key in new:
        conn.execute(delete(_locks).where(_locks.c.key == key))  # of a run that has ended
        conn.execute(insert(_locks), {"key": key, "run_id": run_id, "step_id": step_id, "at": at})
    conn.execute(delete(_waits).where(_waits.c.run_id == run_id, _waits.c.step_id == step_id))
    return new


def give_back(conn: Connection, run_id: str, keys: Collection[str]) -> None:
    """The step did not start after all."""
    conn.execute(delete(_locks).where(_locks.c.run_id == run_id, _locks.c.key.in_(keys)))


def held(conn: Connection, run_id: str) -> list[str]:
    """The keys that the run holds, in order."""
    return list(conn.execute(select(_locks.c.key).where(_locks.c.run_id == run_id).order_by(_locks.c.key)).scalars())


def release(conn: Connection, run_id: str) -> None:
    """The run has ended: its keys are free, and who waited for one is rung and drawn anew."""
    keys = held(conn, run_id)
    conn.execute(delete(_waits).where(_waits.c.run_id == run_id))
    if keys:
        conn.execute(delete(_locks).where(_locks.c.run_id == run_id))
        _ring(conn, keys)


def settle(conn: Connection) -> int:
    """At the start: let go what is held by runs that have ended or are gone, which only a hand in the database can leave. How many keys."""
    stale = list(conn.execute(select(_locks.c.key).where(not_(_lives(_locks.c.run_id)))).scalars())
    conn.execute(delete(_locks).where(_locks.c.key.in_(stale)))
    _ring(conn, stale)
    return len(stale)


def waits(conn: Connection, run_id: str) -> tuple[LockWait, ...]:
    """The run's steps that wait for a key of another run, by step, with what is to be said of that run."""
    first = select(func.min(_steps.c.started_at)).where(_steps.c.run_id == _runs.c.id).scalar_subquery()
    query = (
        select(_waits.c.step_id, _waits.c.key, _runs.c.id, _runs.c.requester, _runs.c.thread_ts, first.label("since"))
        .join(_locks, _locks.c.key == _waits.c.key)
        .join(_runs, _runs.c.id == _locks.c.run_id)
        .where(_waits.c.run_id == run_id, _runs.c.id != run_id, _lives(_runs.c.id), _is_pending())
        .order_by(_waits.c.step_id)
    )
    return tuple(
        LockWait(
            step=StepId(row.step_id), key=row.key, holder=RunId(row.id), requester=row.requester, since=row.since, **_card(conn, row.id)
        )
        for row in conn.execute(query)
    )


def _card(conn: Connection, run_id: str) -> dict[str, str | None]:
    """Where that run's card stands."""
    card = tables.posts.c
    query = select(card.channel, card.ts, card.in_thread, _runs.c.thread_ts).join(_runs, _runs.c.id == card.run_id)
    row = conn.execute(query.where(card.run_id == run_id, card.card == "run")).first()
    if row is None:
        return {}
    return {"channel": row.channel, "card_ts": row.ts, "thread_ts": row.thread_ts if row.in_thread else None}


def _holder(conn: Connection, key: str) -> str | None:
    """The run that holds the key, if it lives."""
    return conn.execute(select(_locks.c.run_id).where(_locks.c.key == key, _lives(_locks.c.run_id))).scalar_one_or_none()


def _lives(run_id: ColumnElement[str]) -> ColumnElement[bool]:
    one = _runs.alias()
    return exists().where(one.c.id == run_id, one.c.status.not_in(_ENDED))


def _remember(conn: Connection, run_id: str, step_id: str, key: str, at: datetime) -> None:
    """The step waits for that key from now on; if that is new, the card must say so."""
    mine = and_(_waits.c.run_id == run_id, _waits.c.step_id == step_id)
    known = conn.execute(select(_waits.c.key).where(mine)).scalar_one_or_none()
    if known == key:
        return
    if known is None:
        conn.execute(insert(_waits), {"run_id": run_id, "step_id": step_id, "key": key, "at": at})
    else:
        conn.execute(update(_waits).where(mine).values(key=key, at=at))
    posts.redraw(conn, [run_id])


def _waits_for(conn: Connection, start: str, goal: str) -> bool:
    """Does that run wait for the other, directly or through those that it waits for?"""
    seen, coming = {start}, [start]
    while coming:
        following = _holders_before(conn, coming.pop())
        if goal in following:
            return True
        coming += following - seen
        seen |= following
    return False


def _holders_before(conn: Connection, run_id: str) -> set[str]:
    """The runs whose keys this one waits for."""
    query = select(_locks.c.run_id).join(_waits, _waits.c.key == _locks.c.key)
    query = query.where(_waits.c.run_id == run_id, _locks.c.run_id != run_id, _lives(_locks.c.run_id), _is_pending())
    return set(conn.execute(query).scalars())


def _is_pending() -> ColumnElement[bool]:
    """What waits for a key is still to start: a step that another revision dropped waits for nothing."""
    return exists().where(
        _steps.c.run_id == _waits.c.run_id, _steps.c.step_id == _waits.c.step_id, _steps.c.status == StepStatus.PENDING.value
    )


def _ring(conn: Connection, keys: Collection[str]) -> None:
    """Whoever waits for one of these keys looks again; what its card says is no longer so."""
    waiting = list(conn.execute(select(_waits.c.run_id).where(_waits.c.key.in_(keys)).distinct()).scalars())
    conn.execute(delete(_waits).where(_waits.c.key.in_(keys)))
    posts.redraw(conn, waiting)
