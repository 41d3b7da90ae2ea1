"""What the clock must do for runs that wait: one row each, done once by whoever sets `fired_at`.

Rows are written in the transaction that begins a wait, and those of the run's earlier waits go with it. Whoever comes too late (another
process, a wait that is over) finds no row to set, and does nothing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from bot.core.waits import Timer
from bot.store import runs, tables

_timers, _runs = tables.timers, tables.runs
_OPEN = _timers.c.fired_at.is_(None)
_ONE = (_timers.c.run_id, _timers.c.wait, _timers.c.kind, _timers.c.at)


def arm(conn: Connection, run_id: str, rows: Sequence[Timer]) -> None:
    """These are the run's timers from now on; those of an earlier wait are gone."""
    conn.execute(delete(_timers).where(_timers.c.run_id == run_id))
    for row in rows:
        conn.execute(insert(_timers), {"run_id": row.run, "wait": row.wait, "kind": row.kind, "at": row.at})


def due(conn: Connection, now: datetime) -> list[Timer]:
    """What is to be done by now, in any run; what asks more people comes first, then what is due longest."""
    return _list(conn, and_(_OPEN, _timers.c.at <= now))


def due_of(conn: Connection, run_id: str, now: datetime) -> list[Timer]:
    """The same of one run."""
    return _list(conn, and_(_OPEN, _timers.c.at <= now, _timers.c.run_id == run_id))


def next_at(conn: Connection, now: datetime) -> datetime | None:
    """The next moment after `now` at which something is to be done: a timer, or a deadline."""
    timer = conn.execute(select(func.min(_timers.c.at)).where(_OPEN, _timers.c.at > now)).scalar_one()
    deadline = conn.execute(select(func.min(_runs.c.deadline)).where(_runs.c.deadline > now, runs.EXPIRES)).scalar_one()
    return min((at for at in (timer, deadline) if at is not None), default=None)


def fire(conn: Connection, timer: Timer, *, at: datetime) -> bool:
    """It is being done now; False if somebody else was faster, or the wait is over."""
    mine = (_timers.c.run_id == timer.run, _timers.c.wait == timer.wait, _timers.c.kind == timer.kind, _OPEN)
    return conn.execute(update(_timers).where(*mine).values(fired_at=at)).rowcount == 1


def close(conn: Connection, timers: Sequence[Timer]) -> None:
    """These are not done any more: their wait is over, or something that asks more was done in their place."""
    for timer in timers:
        mine = (_timers.c.run_id == timer.run, _timers.c.wait == timer.wait, _timers.c.kind == timer.kind, _OPEN)
        conn.execute(delete(_timers).where(*mine))


def fired(conn: Connection, run_id: str, wait: str, kind: str) -> bool:
    """Was it done in this wait?"""
    where = (_timers.c.run_id == run_id, _timers.c.wait == wait, _timers.c.kind == kind, _timers.c.fired_at.is_not(None))
    return conn.execute(select(_timers.c.kind).where(*where)).one_or_none() is not None


def fired_in(conn: Connection, channel: str, *, since: datetime) -> int:
    """How often people of this channel's runs were asked once more since then."""
    joined = select(func.count()).select_from(_timers.join(_runs, _runs.c.id == _timers.c.run_id))
    return conn.execute(joined.where(_runs.c.channel == channel, _timers.c.fired_at > since)).scalar_one()


def delay(conn: Connection, run_id: str, by: timedelta) -> None:
    """What is still to be done for that run is due that much later."""
    for timer in _list(conn, and_(_OPEN, _timers.c.run_id == run_id)):
        mine = (_timers.c.run_id == run_id, _timers.c.wait == timer.wait, _timers.c.kind == timer.kind)
        conn.execute(update(_timers).where(*mine).values(at=timer.at + by))


def _list(conn: Connection, where: object) -> list[Timer]:
    found = conn.execute(select(*_ONE).where(where).order_by(_timers.c.kind, _timers.c.at, _timers.c.run_id))  # type: ignore[arg-type]
    return [Timer(run=row.run_id, wait=row.wait, kind=row.kind, at=row.at) for row in found]
