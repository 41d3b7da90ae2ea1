"""Does the record hold? Every chain, every head, and every row that the entries vouch for, looked at run by run.

What is found is the first broken entry of each run that is broken. A file that was rewritten as a whole agrees with itself: that is found
by what others keep, heads (`heads`) and entries (`seen`), above all by what stands in the audit channel.
Each question here reads a bounded part, so that a running bot can ask them one after the other without holding anybody up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, Table, bindparam, select, union

from bot.core import sealed_rows
from bot.core.chain import HEADS, NO_RUN, Broken, Head, Seen, agrees, fault_of, is_head, ties
from bot.core.plan import fingerprint
from bot.core.replay import opened, replay
from bot.core.run import NotAllowed, Run
from bot.core.sealed_rows import Row
from bot.core.snapshot import Entry
from bot.store import tables

_runs, _audit, _heads = tables.runs, tables.audit, tables.heads
_OF: BindParameter[str] = bindparam("run_id")
_RUN = select(_runs).where(_runs.c.id == _OF)
_CHAIN = select(_audit).where(_audit.c.run_id == _OF).order_by(_audit.c.seq)
_TIED = select(_heads.c.seq).where(_heads.c.run_id == _OF)
_KNOWN = select(_audit.c.hash).where(_audit.c.run_id == _OF, _audit.c.seq == bindparam("seq"))
_HEAD = select(_heads.c.hash).where(_heads.c.n == bindparam("n"))


@dataclass(frozen=True)
class Checked:
    """What one run's part of the record shows. `untied`: an entry that the chain of heads should hold and does not."""

    broken: Broken | None = None
    untied: tuple[str, int] | None = None


@dataclass(frozen=True)
class Reached:
    """How far the chain of heads was looked at. `whole`: it is unbroken up to there."""

    n: int = 0
    hash: str = ""
    whole: bool = True


def verify(conn: Connection, *, heads: Sequence[Head] = (), seen: Sequence[Seen] = ()) -> list[Broken]:
    """Check everything. Empty: nothing was changed, and all `heads` and entries that others have (`seen`) are still what stands here."""
    checked = [check_run(conn, run_id) for run_id in run_ids(conn)]
    broken, reached = check_heads(conn, Reached())
    return settled(checked, [*broken, *check_kept(conn, heads, seen)], reached)


def settled(checked: Iterable[Checked], of_heads: Sequence[Broken], reached: Reached) -> list[Broken]:
    """One finding for each chain: what its own entries show comes before what others say about it."""
    found: dict[str, Broken] = {}
    untied: list[tuple[str, int]] = []
    for each in checked:
        if each.broken is not None:
            found[each.broken.run] = each.broken
        elif each.untied is not None:
            untied.append(each.untied)
    for broken in of_heads:
        found.setdefault(broken.run, broken)
    if reached.whole and untied:
        run_id, seq = untied[0]
        found.setdefault(HEADS, Broken(HEADS, reached.n + 1, f"no head holds entry {seq} of {run_id}: heads were cut off"))
    return list(found.values())


def run_ids(conn: Connection) -> list[str]:
    """Every run that there is a row or an entry of, and the chain that is no run's."""
    every = union(select(_runs.c.id), select(_audit.c.run_id).distinct()).subquery()
    return list(conn.execute(select(every.c[0]).order_by(every.c[0])).scalars())


def check_run(conn: Connection, run_id: str) -> Checked:
    """One run: its chain, its row, and the rows of its plans, steps, approvals, planning rounds and answer."""
    entries = _all(conn, _CHAIN, run_id)
    stored = next(iter(_all(conn, _RUN, run_id)), None)
    if not entries:
        return Checked(Broken(run_id, 1, "every entry of this run is missing") if stored else None)
    broken = _check_chain(run_id, entries)
    if broken is None and run_id != NO_RUN:
        try:
            broken = _check_end(run_id, entries, stored) or _check_rows(conn, run_id, entries, stored or {})
        except (ValueError, TypeError, AttributeError, KeyError) as fault:  # somebody wrote what Pullcord never writes
            broken = Broken(run_id, entries[-1]["seq"], f"a row of this run cannot be read: {type(fault).__name__}")
    if broken is not None:
        return Checked(broken)
    tied = set(conn.execute(_TIED, {"run_id": run_id}).scalars())
    untied = (seq for seq in (row["seq"] for row in entries if ties(run_id, row["event"], row["data"])) if seq not in tied)
    missing = next(untied, None)
    return Checked(untied=(run_id, missing) if missing is not None else None)


def _check_chain(run_id: str, entries: Sequence[Row]) -> Broken | None:
    prev = ""
    for seq, row in enumerate(entries, start=1):
        if fault := fault_of(row, run=run_id, seq=seq, prev=prev):
            return Broken(run_id, seq, fault)
        prev = row["hash"]
    return None


def _check_end(run_id: str, entries: Sequence[Row], stored: Row | None) -> Broken | None:
    """The chain itself holds; does it end where the run's row says, and does it give the row's state?"""
    last = entries[-1]["seq"]
    if stored is None:
        return Broken(run_id, last, "the run's own row was removed")
    if (stored["seq"], stored["head"]) != (last, entries[-1]["hash"]):
        return Broken(run_id, last + 1, f"entries are missing after entry {last}: the run's row counts {stored['seq']}")
    record = [Entry.model_validate({**row, "run": run_id}) for row in entries]
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


def _check_rows(conn: Connection, run_id: str, entries: Sequence[Row], stored: Row) -> Broken | None:
    """The first entry whose rows are not what it vouches for."""
    revisions = {row["revision"]: row for row in _rows(conn, tables.revisions, run_id)}
    found = [
        *_check_revisions(run_id, entries, revisions),
        *_check_steps(run_id, entries, revisions, {row["step_id"]: row for row in _rows(conn, tables.steps, run_id)}),
        *_check_approvals(run_id, entries, _rows(conn, tables.approvals, run_id)),
        *_check_attempts(run_id, entries, {row["round"]: row for row in _rows(conn, tables.attempts, run_id)}),
        *_check_answer(run_id, entries, stored.get("answer")),
    ]
    return min(found, key=lambda broken: broken.seq, default=None)


def _rows(conn: Connection, table: Table, run_id: str) -> list[Row]:
    return _all(conn, select(table).where(table.c.run_id == _OF).order_by(*table.primary_key.columns), run_id)


def _all(conn: Connection, query: Select[Any], run_id: str) -> list[Row]:
    return [dict(row) for row in conn.execute(query, {"run_id": run_id}).mappings()]


def _check_revisions(run_id: str, entries: Sequence[Row], rows: Mapping[int, Row]) -> Iterator[Broken]:
    named = {}
    for entry in entries:
        if n := sealed_rows.revision_named(entry["event"], entry["data"]):
            named[n] = entry["seq"]
            if n not in rows:
                yield Broken(run_id, entry["seq"], f"revision {n}, which entry {entry['seq']} brought, is missing")
            elif _sealed(entry, "revision") not in (None, sealed_rows.revision_seal(rows[n])):
                yield Broken(run_id, entry["seq"], f"revision {n} is not what entry {entry['seq']} recorded: {_changed_in(entry, rows[n])}")
    for n in set(rows) - set(named):
        yield Broken(run_id, entries[-1]["seq"], f"revision {n} is in no entry: it was added")


def _sealed(entry: Row, name: str) -> str | None:
    found: str | None = (entry["data"].get(sealed_rows.SEALED) or {}).get(name)
    return found


def _changed_in(entry: Row, row: Row) -> str:
    """Is it the plan that was changed, or what was said of it?"""
    called = {step["tool"]: row["tool_digests"].get(step["tool"], "") for step in row["plan"]["steps"]}
    same = fingerprint({"plan": row["plan"], "tools": called}) == row["digest"] == entry["data"].get("digest", row["digest"])
    return "its grades or author were changed" if same else "its plan or tools were changed"


def _check_steps(run_id: str, entries: Sequence[Row], revisions: Mapping[int, Row], rows: Mapping[str, Row]) -> Iterator[Broken]:
    told = sealed_rows.steps(entries, {n: row["plan"] for n, row in revisions.items()})
    for name, step in told.items():
        if name not in rows:
            yield Broken(run_id, step.seq, f"step {name}, of which entry {step.seq} tells, is missing")
            continue
        planned = sealed_rows.as_planned(step, name, {n: row["plan"] for n, row in revisions.items()})
        if faults := sealed_rows.faults_of_step(step, rows[name], planned):
            yield Broken(run_id, step.seq, f"step {name} is not what entry {step.seq} recorded: {', '.join(faults)} changed")
    for name in set(rows) - set(told):
        yield Broken(run_id, entries[-1]["seq"], f"step {name} is in no entry: it was added")


def _check_approvals(run_id: str, entries: Sequence[Row], rows: Sequence[Row]) -> Iterator[Broken]:
    vouched = sealed_rows.vouched(entries, "approval")
    standing = {sealed_rows.approval_seal(row): row for row in rows}
    for seq, seal in vouched:
        if seal not in standing:
            yield Broken(run_id, seq, f"the approval that entry {seq} recorded was changed or removed")
    old = {entry["actor"] for entry in sealed_rows.before_seals(entries, sealed_rows.YES)}
    for seal in set(standing) - {seal for _, seal in vouched}:
        row = standing[seal]
        if row["actor"] not in old:
            yield Broken(run_id, entries[-1]["seq"], f"an approval by {row['actor']} is in no entry: it was added or changed")


def _check_attempts(run_id: str, entries: Sequence[Row], rows: Mapping[int, Row]) -> Iterator[Broken]:
    rounds = {entry["seq"]: entry["data"].get("round") for entry in entries if entry["event"] == "attempted"}
    for seq, seal in sealed_rows.vouched(entries, "attempt"):
        row = rows.get(rounds.get(seq) or 0)
        if row is None or sealed_rows.attempt_seal(row) != seal:
            yield Broken(run_id, seq, f"planning round {rounds.get(seq)} is {'missing' if row is None else 'not what was recorded'}")
    for n in set(rows) - set(rounds.values()):
        yield Broken(run_id, entries[-1]["seq"], f"planning round {n} is in no entry: it was added")


def _check_answer(run_id: str, entries: Sequence[Row], answer: Any) -> Iterator[Broken]:
    vouched = sealed_rows.vouched(entries, "answer")
    if vouched and fingerprint(answer) != vouched[-1][1]:
        yield Broken(run_id, vouched[-1][0], f"the answer is not what entry {vouched[-1][0]} recorded")
    elif answer is not None and not vouched and not sealed_rows.before_seals(entries, sealed_rows.ENDS):
        yield Broken(run_id, entries[-1]["seq"], "the answer is in no entry: it was added")


def check_heads(conn: Connection, after: Reached, *, limit: int | None = None) -> tuple[list[Broken], Reached]:
    """The chain of heads from there on, `limit` heads at most: its own first fault, and the entries that are not what a head was made from.

    `Reached.n` has not moved: there are no more.
    """
    tied = _heads.outerjoin(_audit, (_audit.c.run_id == _heads.c.run_id) & (_audit.c.seq == _heads.c.seq))
    query: Select[Any] = select(_heads, _audit.c.hash.label("known")).select_from(tied).where(_heads.c.n > after.n).order_by(_heads.c.n)
    found: list[Broken] = []
    reached = after
    for row in conn.execute(query.limit(limit) if limit else query, execution_options={"yield_per": 500}).mappings():
        if not is_head(dict(row), n=reached.n + 1, prev=reached.hash):
            found.append(Broken(HEADS, reached.n + 1, f"head {reached.n + 1} is missing or was changed"))
            return found, Reached(reached.n, reached.hash, whole=False)
        reached = Reached(row["n"], row["hash"])
        if row["known"] != row["head"]:
            how = "is missing" if row["known"] is None else "is not the one"
            found.append(Broken(row["run_id"], row["seq"], f"entry {row['seq']} {how} that head {row['n']} was made from"))
    return found, reached


_CUT = "is missing: the record was cut off"
_REWRITTEN = "is not the one that was kept elsewhere: the record was rewritten"


def check_kept(conn: Connection, heads: Sequence[Head], seen: Sequence[Seen]) -> list[Broken]:
    """What others keep of the record, against what stands here."""
    found = []
    for head in heads:
        known = conn.execute(_HEAD, {"n": head.n}).scalar_one_or_none()
        if not agrees(known, head.hash):
            found.append(Broken(HEADS, head.n, f"head {head.n} {_CUT if known is None else _REWRITTEN}"))
    for entry in seen:
        known = conn.execute(_KNOWN, {"run_id": entry.run, "seq": entry.seq}).scalar_one_or_none()
        if not agrees(known, entry.hash):
            how = "is missing, though the channel tells of it" if known is None else "is not the one that the channel tells of"
            found.append(Broken(entry.run, entry.seq, f"entry {entry.seq} {how}"))
    return found
