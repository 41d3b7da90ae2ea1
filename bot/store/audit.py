"""The record: one chain of entries per run, and one chain of the runs' heads that ties them together.

Each entry's hash covers its words and the hash before it, so an entry cannot be changed, removed, swapped or slipped in unnoticed. What
cuts off the end of a chain is caught by the run's own row and by the chain of heads, and what rewrites the whole file by the audit
channel, which holds heads too. `verify` looks at all of it and names the first broken entry of each chain.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, func, insert, select

from bot.core.replay import opened, replay
from bot.core.run import FINAL, Event, NotAllowed, Run
from bot.core.snapshot import Entry
from bot.store import tables

UNKNOWN = "-"  # the chain of what was said about runs that there is no record of
HEADS = "heads"  # how `Broken` names the chain of heads

# Entries whose hash goes into the chain of heads, besides those that end a run.
DECISIONS = frozenset(
    {Event.OPENED, Event.RELEASED, Event.APPROVAL_GIVEN, Event.APPROVED, Event.CONFIRMED, Event.CONFIRM_REFUSED}
    | {Event.REVISED, Event.REDIRECTED, Event.FROZEN, Event.THAWED}
    | {Event.HAPPENED, Event.NOT_HAPPENED}
)

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


@dataclass(frozen=True)
class Broken:
    """Where a chain is broken first, and how. `run` is a run's id, "-", or "heads"; `seq` counts within that chain."""

    run: str
    seq: int
    says: str


def seal(run: str, seq: int, at: datetime, actor: str, event: str, data: Mapping[str, Any], prev: str) -> str:
    """The hash of an entry: SHA-256, in hexadecimal, over everything that it says and the hash of the one before ("" for the first)."""
    return _sha256([run, seq, _iso(at), actor, str(event), data, prev])


def sealed(run_id: str, seq: int, *, at: datetime, actor: str, event: str, data: dict[str, Any], prev: str) -> dict[str, Any]:
    """An entry, ready to be written; `data` is JSON already, `prev` the hash of the entry before. Only the door makes any."""
    said = seal(run_id, seq, at, actor, event, data, prev)
    return {"run_id": run_id, "seq": seq, "at": at, "actor": actor, "event": str(event), "data": data, "prev": prev, "hash": said}


def write(conn: Connection, entry: dict[str, Any]) -> None:
    """Write a sealed entry, and the head that it is into the chain of heads where that is due."""
    conn.execute(_INSERT, entry)
    if _ties(entry["run_id"], entry["event"], entry["data"]):
        last = conn.execute(_LAST_HEAD).one_or_none()
        n, prev = (last.n + 1, last.hash) if last else (1, "")
        head = {"n": n, "run_id": entry["run_id"], "seq": entry["seq"], "head": entry["hash"], "at": entry["at"], "prev": prev}
        conn.execute(_INSERT_HEAD, {**head, "hash": _seal_head(n, entry["run_id"], entry["seq"], entry["hash"], entry["at"], prev)})


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

    With the hash of the entry before in its run, each proves itself (`seal`).
    """
    query = select(tables.audit).order_by(tables.audit.c.id)
    if run_id is not None:
        query = query.where(tables.audit.c.run_id == run_id)
    if since is not None:
        query = query.where(tables.audit.c.at >= since)
    return (_entry(row) for row in conn.execute(query).mappings())


def verify(conn: Connection) -> list[Broken]:
    """Check every chain. Empty: nothing was changed. Otherwise the first broken entry of each chain that is broken."""
    state = [column for column in tables.runs.c if column.name != "answer"]
    stored = {row["id"]: row for row in conn.execute(select(*state)).mappings()}
    rows = conn.execute(select(tables.audit).order_by(tables.audit.c.run_id, tables.audit.c.seq)).mappings()
    found: dict[str, Broken | None] = {}
    tied: dict[tuple[str, int], str] = {}
    for run_id, chain in groupby(rows, key=lambda row: str(row["run_id"])):
        whole = list(chain)
        found[run_id] = _check_chain(run_id, whole) or _check_end(run_id, whole, stored.get(run_id))
        if not found[run_id]:
            tied |= {(run_id, row["seq"]): row["hash"] for row in whole if _ties(run_id, row["event"], row["data"])}
    for run_id in stored:
        found.setdefault(run_id, Broken(run_id, 1, "every entry of this run is missing"))
    heads = conn.execute(select(tables.heads).order_by(tables.heads.c.n)).mappings().all()
    for broken in _check_heads(heads, tied):
        found[broken.run] = found.get(broken.run) or broken
    return [broken for broken in found.values() if broken]


def _check_chain(run_id: str, rows: Sequence[RowMapping]) -> Broken | None:
    prev = ""
    for seq, row in enumerate(rows, start=1):
        if row["seq"] != seq:
            return Broken(run_id, seq, f"entry {seq} is missing")
        if row["hash"] != seal(run_id, seq, row["at"], row["actor"], row["event"], row["data"], row["prev"]):
            return Broken(run_id, seq, f"entry {seq} was changed after it was written")
        if row["prev"] != prev:
            return Broken(run_id, seq, f"entry {seq} does not follow entry {seq - 1}: something was removed, swapped or slipped in")
        prev = row["hash"]
    return None


def _check_end(run_id: str, rows: Sequence[RowMapping], stored: RowMapping | None) -> Broken | None:
    """The chain itself holds; does it end where the run's row says, and does it give the row's state?"""
    last = rows[-1]["seq"]
    if run_id == UNKNOWN:
        return None
    if stored is None:
        return Broken(run_id, last, "the run's own row was removed")
    if (stored["seq"], stored["head"]) != (last, rows[-1]["hash"]):
        return Broken(run_id, last + 1, f"entries are missing after entry {last}: the run's row counts {stored['seq']}")
    record = [_entry(row) for row in rows]
    try:
        given, _ = replay(record, opened(record[0]))
    except (KeyError, ValueError, NotAllowed) as fault:
        return Broken(run_id, last, f"the entries do not give a state: {fault}")
    differing = _differences(given, Run.model_validate(dict(stored)))
    return Broken(run_id, last, f"the run's row was changed: {differing}") if differing else None


def _differences(given: Run, stored: Run) -> str:
    """Fields in which the row is not what its entries give; where the cards stand is not on record."""
    fields = [name for name in Run.model_fields if name not in ("channel", "thread_ts")]
    return ", ".join(
        f"{name} is {getattr(stored, name)!s}, recorded was {getattr(given, name)!s}"
        for name in fields
        if getattr(stored, name) != getattr(given, name)
    )


def _check_heads(heads: Sequence[RowMapping], tied: Mapping[tuple[str, int], str]) -> Iterator[Broken]:
    """What the chain of heads and the runs' whole chains say against each other, and the first fault of the chain of heads itself."""
    prev = ""
    for n, row in enumerate(heads, start=1):
        if row["n"] != n or row["prev"] != prev or row["hash"] != _seal_head(n, row["run_id"], row["seq"], row["head"], row["at"], prev):
            yield Broken(HEADS, n, f"head {n} is missing or was changed")
            return
        prev = row["hash"]
        known = tied.get((row["run_id"], row["seq"]))
        if known != row["head"]:
            how = "is missing" if known is None else "is not the one"
            yield Broken(row["run_id"], row["seq"], f"entry {row['seq']} {how} that head {n} was made from")
    held = {(row["run_id"], row["seq"]) for row in heads}
    for run_id, seq in tied:
        if (run_id, seq) not in held:
            yield Broken(HEADS, len(heads) + 1, f"no head holds entry {seq} of {run_id}: heads were cut off")
            return


def _ties(run_id: str, event: str, data: Mapping[str, Any]) -> bool:
    """Does this entry go into the chain of heads? Decisions and ends do, and all that was said about unknown runs."""
    return run_id == UNKNOWN or event in DECISIONS or data.get("to") in FINAL


def _entry(row: RowMapping) -> Entry:
    return Entry.model_validate({**row, "run": row["run_id"]})


def _seal_head(n: int, run_id: str, seq: int, said: str, at: datetime, prev: str) -> str:
    return _sha256([n, run_id, seq, said, _iso(at), prev])


def _sha256(said: list[Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
