"""What has been told of the record itself: how far the heads that were published reach."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from bot.core.chain import NO_RUN
from bot.store import tables

_audit, _posts = tables.audit, tables.posts


@dataclass(frozen=True)
class Published:
    """The head that was published last: its number, when, and the newest entry's id at that moment."""

    n: int = 0
    at: str = ""
    upto: int = 0


def last_published(conn: Connection) -> Published:
    """What the last post of a head said; zeros if there was none."""
    told = _posts.c.run_id == NO_RUN, _posts.c.key.like(f"{NO_RUN}:head.%")
    data = conn.execute(select(_posts.c.data).where(*told).order_by(_posts.c.id.desc()).limit(1)).scalar_one_or_none()
    return Published(n=int(data["head"]), at=str(data["at"]), upto=int(data["upto"])) if data else Published()


def written_since(conn: Connection, entry_id: int) -> bool:
    """Is there an entry after the one with that id?"""
    return conn.execute(select(_audit.c.id).where(_audit.c.id > entry_id).limit(1)).first() is not None


def counted(conn: Connection, *, after: int, upto: int) -> tuple[int, int]:
    """How many entries there are between those ids (the second included), and of how many runs."""
    query = select(func.count(), func.count(_audit.c.run_id.distinct())).where(_audit.c.id > after, _audit.c.id <= upto)
    entries, runs = conn.execute(query).one()
    return entries, runs
