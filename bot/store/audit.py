"""The record: one chain of entries per run, and one chain of the runs' heads that ties them together.

Entries are written by the door alone, in the transaction of the change that they tell of; nothing changes them afterwards. Here they are
written and read; what a chain must look like is in `bot.core.chain`, and `verify` (in `verification`) looks whether it does.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, bindparam, func, insert, select

from bot.core.audit import TOLD
from bot.core.chain import NO_RUN, entry_hash, head_hash, ties
from bot.core.run import Event
from bot.core.snapshot import Entry
from bot.store import tables
from bot.store.verification import verify

__all__ = [
    "NO_RUN", "count", "decisions", "entries", "entry", "export", "head", "last_head", "lines", "newest_head", "sealed", "tie_open_ends",
    "verify", "write",
]  # fmt: skip

_INSERT = insert(tables.audit).inline()
_ENTRIES = select(tables.audit).where(tables.audit.c.run_id == bindparam("run_id")).order_by(tables.audit.c.seq)
_LAST = (
    select(tables.audit.c.seq, tables.audit.c.hash)
    .where(tables.audit.c.run_id == bindparam("run_id"))
    .order_by(tables.audit.c.seq.desc())
    .limit(1)
)
_INSERT_HEAD = insert(tables.heads).inline()
_LAST_HEAD = select(tables.heads.c.n, tables.heads.c.hash).order_by(tables.heads.c.n.desc()).limit(1)


def sealed(run_id: str, seq: int, *, at: datetime, actor: str, event: str, data: dict[str, Any], prev: str) -> dict[str, Any]:
    """An entry, ready to be written; `data` is JSON already, `prev` the hash of the entry before. Only the door makes any."""
    said = entry_hash(run_id, seq, at, actor, event, data, prev)
    return {"run_id": run_id, "seq": seq, "at": at, "actor": actor, "event": str(event), "data": data, "prev": prev, "hash": said}


def write(conn: Connection, entry: dict[str, Any]) -> tuple[int, str] | None:
    """Write a sealed entry, and the head that it is into the chain of heads where that is due: then number and hash of that head."""
    conn.execute(_INSERT, entry)
    if not ties(entry["run_id"], entry["event"], entry["data"]):
        return None
    return _tie(conn, entry["run_id"], entry["seq"], entry["hash"], at=entry["at"])


def _tie(conn: Connection, run_id: str, seq: int, said: str, *, at: datetime) -> tuple[int, str]:
    last, prev = last_head(conn)
    n = last + 1
    sealed_head = head_hash(n, run_id, seq, said, at, prev)
    conn.execute(_INSERT_HEAD, {"n": n, "run_id": run_id, "seq": seq, "head": said, "at": at, "prev": prev, "hash": sealed_head})
    return n, sealed_head


def last_head(conn: Connection) -> tuple[int, str]:
    """Number and hash of the newest head; (0, "") if there is none."""
    row = conn.execute(_LAST_HEAD).one_or_none()
    return (row.n, row.hash) if row else (0, "")


def newest_head(conn: Connection) -> dict[str, Any] | None:
    """The newest head as data: `n`, `hash`, `at`; None if nothing is on record."""
    heads = tables.heads
    row = conn.execute(select(heads.c.n, heads.c.hash, heads.c.at).order_by(heads.c.n.desc()).limit(1)).one_or_none()
    return {"n": row.n, "hash": row.hash, "at": row.at.isoformat()} if row else None


def tie_open_ends(conn: Connection, *, at: datetime, since: int = 0) -> int:
    """Tie in the last entry of every run that has one after the entry with the id `since`, and return the newest entry's id.

    From then on the newest head covers everything that is on record: whatever is cut off, it is missed.
    """
    audit, heads = tables.audit, tables.heads
    ends = select(func.max(audit.c.id)).where(audit.c.id > since).group_by(audit.c.run_id)
    is_tied = select(heads.c.n).where(heads.c.run_id == audit.c.run_id, heads.c.seq == audit.c.seq).exists()
    open_ends = select(audit.c.run_id, audit.c.seq, audit.c.hash).where(audit.c.id.in_(ends), ~is_tied).order_by(audit.c.id)
    for row in conn.execute(open_ends).all():
        _tie(conn, row.run_id, row.seq, row.hash, at=at)
    return conn.execute(select(func.max(audit.c.id))).scalar_one() or 0


def head(conn: Connection, run_id: str) -> tuple[int, str]:
    """Number and hash of the chain's last entry; (0, "") if it has none."""
    row = conn.execute(_LAST, {"run_id": run_id}).one_or_none()
    return (row.seq, row.hash) if row else (0, "")


def entries(conn: Connection, run_id: str) -> list[Entry]:
    """A run's entries, oldest first."""
    rows = conn.execute(_ENTRIES, {"run_id": run_id})
    return [_entry(row) for row in rows.mappings()]


def entry(conn: Connection, run_id: str, seq: int) -> Entry | None:
    """That entry of a run, or None."""
    row = conn.execute(select(tables.audit).where(tables.audit.c.run_id == run_id, tables.audit.c.seq == seq)).mappings().one_or_none()
    return _entry(row) if row else None


def count(conn: Connection) -> int:
    """How many entries there are, over all runs."""
    return conn.execute(select(func.count()).select_from(tables.audit)).scalar_one()


def export(conn: Connection, run_id: str | None = None, *, since: datetime | None = None) -> Iterator[Entry]:
    """Entries in the order in which they were written; to be consumed while the connection is open.

    With the hash of the entry before in its run, each proves itself (`chain.entry_hash`).
    """
    query = select(tables.audit).order_by(tables.audit.c.id)
    if run_id is not None:
        query = query.where(tables.audit.c.run_id == run_id)
    if since is not None:
        query = query.where(tables.audit.c.at >= since)
    return (_entry(row) for row in conn.execute(query).mappings())


def lines(
    conn: Connection,
    *,
    run_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    actor: str | None = None,
    events: tuple[str, ...] = (),
) -> Iterator[dict[str, Any]]:
    """Entries whole, with what proves them, in the order in which they were written; to be consumed while the connection is open.

    Each has `prev` and `hash`, and where it is tied into the chain of heads that link as `head`. Nothing is held in memory.
    """
    table, heads = tables.audit, tables.heads
    tied = table.outerjoin(heads, (heads.c.run_id == table.c.run_id) & (heads.c.seq == table.c.seq))
    link = [heads.c.n, heads.c.at.label("head_at"), heads.c.prev.label("head_prev"), heads.c.hash.label("head_hash")]
    query: Select[Any] = select(table, *link).select_from(tied).order_by(table.c.id)
    wanted = [
        table.c.run_id == run_id if run_id is not None else None,
        table.c.at >= since if since is not None else None,
        table.c.at < until if until is not None else None,
        table.c.actor == actor if actor is not None else None,
        table.c.event.in_(events) if events else None,
    ]
    query = query.where(*(each for each in wanted if each is not None))
    for row in conn.execute(query, execution_options={"yield_per": 200}).mappings():
        yield _line(row)


def _line(row: RowMapping) -> dict[str, Any]:
    said = {name: row[name] for name in ("seq", "actor", "event", "data", "prev", "hash")}
    line: dict[str, Any] = {"run": row["run_id"], "at": row["at"].isoformat(), **said}
    if row["n"] is not None:
        line["head"] = {"n": row["n"], "at": row["head_at"].isoformat(), "prev": row["head_prev"], "hash": row["head_hash"]}
    return line


def decisions(conn: Connection, *, limit: int) -> list[Entry]:
    """The newest decisions over all runs, newest first."""
    query = select(tables.audit).where(tables.audit.c.event.in_([str(event) for event in TOLD - {Event.CLICK_REFUSED}]))
    return [_entry(row) for row in conn.execute(query.order_by(tables.audit.c.id.desc()).limit(limit)).mappings()]


def _entry(row: RowMapping) -> Entry:
    return Entry.model_validate({**row, "run": row["run_id"]})
