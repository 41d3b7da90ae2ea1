"""The freeze: one row that holds every run and every start, for as long as it has no end. It outlives any process."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from bot.core.snapshot import Freeze
from bot.store import tables

_freezes = tables.freezes
_NOW = select(_freezes.c.actor, _freezes.c.at, _freezes.c.why).where(_freezes.c.ended_at.is_(None)).order_by(_freezes.c.id).limit(1)


def frozen(conn: Connection) -> Freeze | None:
    """The freeze that holds everything now, or None."""
    row = conn.execute(_NOW).one_or_none()
    return Freeze(by=row.actor, at=row.at, why=row.why) if row else None


def freeze(conn: Connection, *, by: str, why: str, at: datetime) -> Freeze | None:
    """Hold everything from now on; None, and nothing happens, if it is held already."""
    if frozen(conn) is not None:
        return None
    conn.execute(insert(_freezes), {"at": at, "actor": by, "why": why, "ended_at": None, "ended_by": None})
    return Freeze(by=by, at=at, why=why)


def thaw(conn: Connection, *, by: str, at: datetime) -> Freeze | None:
    """End the freeze and return it; None if there is none."""
    ended = frozen(conn)
    if ended is not None:
        conn.execute(update(_freezes).where(_freezes.c.ended_at.is_(None)).values(ended_at=at, ended_by=by))
    return ended
