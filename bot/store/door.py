"""The one door: every change of a run goes through here, in one transaction, or does not happen.

Read the row, ask the table of moves, compare-and-set the version that was read, write the step's row, the audit entry (chained) and
whatever must be told to Slack, and note the run so that the bell rings after the commit. Starting a step is such a change too: once a
pause has moved the run, the start finds another state and is refused. That is the whole of the brake.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from pydantic_core import to_jsonable_python
from sqlalchemy import Connection, and_, bindparam, insert, select, update

from bot.core import sealed_rows
from bot.core.ids import StepId
from bot.core.plan import fingerprint
from bot.core.run import STEP_EVENTS, Event, Run, RunStatus, StepStatus, advance, advance_step
from bot.core.snapshot import Freeze, NewPost, Observation
from bot.errors import PullcordError, Refused, Unavailable
from bot.store import audit, cord, locks, posts, sealing, tables
from bot.store.db import noted

TRIES = 20  # how often a change is made again because somebody else was faster, on databases with several writers

_runs, _steps = tables.runs, tables.steps
_STATE = [column for column in _runs.c if column.name != "answer"]
_NAMES = (*(column.name for column in _STATE), "step_status")
_READ = select(*_STATE).where(_runs.c.id == bindparam("run_id"))
_READ_WITH_STEP = (
    select(*_STATE, _steps.c.status.label("step_status"))
    .outerjoin(_steps, and_(_steps.c.run_id == _runs.c.id, _steps.c.step_id == bindparam("step_id")))
    .where(_runs.c.id == bindparam("run_id"))
)
_SWAP = update(_runs).where(
    _runs.c.id == bindparam("of_id"), _runs.c.version == bindparam("of_version"), _runs.c.seq == bindparam("of_seq")
)
_SET_STEP = update(_steps).where(_steps.c.run_id == bindparam("of_run"), _steps.c.step_id == bindparam("of_step"))
_INSERT_RUN = insert(_runs).inline()
_KNOWN = select(_runs.c.id).where(_runs.c.id == bindparam("run_id"))
_SEEN = select(tables.seen.c.event_key).where(tables.seen.c.event_key == bindparam("key"))


_REVISION = select(tables.revisions.c.revision).where(
    tables.revisions.c.run_id == bindparam("run_id"), tables.revisions.c.revision == bindparam("revision")
)
_STEP_IDS = select(_steps.c.step_id).where(_steps.c.run_id == bindparam("run_id")).order_by(_steps.c.number, _steps.c.step_id)


# What an entry says of a move, for the replay, and of the rows that it brings.
_OWN = frozenset({"from", "to", "version", "plan_steps", "step_from", "step_to", sealed_rows.SEALED})


class IdTaken(PullcordError):
    """There is a run of that id; draw another."""


class Frozen(Refused):
    """Everything is held by an admin: no run starts, and none is let go."""

    def __init__(self, run_id: str, freeze: Freeze) -> None:
        super().__init__("frozen", run=run_id, by=freeze.by, at=freeze.at, why=freeze.why)


class UnknownRevision(PullcordError):
    """A change names a revision that is not stored: a fault of the caller."""


@dataclass(frozen=True)
class StepChange:
    """What a change writes into one step's row, beside its status. None: left as it is."""

    id: StepId
    attempt: int | None = None
    args: dict[str, Any] | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    observation: Observation | None = None
    error: str | None = None
    tokens: int | None = None  # over all tries, this one too
    money: float | None = None


def open_run(
    conn: Connection,
    run: Run,
    *,
    actor: str,
    at: datetime,
    data: Mapping[str, Any] | None = None,
    event_key: str | None = None,
    tell: Sequence[NewPost] = (),
) -> Run | None:
    """Insert the run (planning, version 1) with its first entry and posts. Returns it as stored.

    None, and nothing happens, if the event of that key was handled before. Raises `IdTaken` if there is a run of that id.
    """
    if event_key is not None and not first_time(conn, event_key, at=at):
        return None
    if conn.execute(_KNOWN, {"run_id": run.id}).one_or_none():
        raise IdTaken(f"there is a run {run.id} already")
    run = run.model_copy(update={"version": 1, "status": RunStatus.PLANNING, "reason": None, "updated_at": at})
    facts = {**_plain(data), "run": run.model_dump(mode="json"), "to": run.status.value, "version": run.version}
    entry = audit.sealed(run.id, 1, at=at, actor=actor, event=Event.OPENED, data=facts, prev="")
    conn.execute(_INSERT_RUN, {**_columns(run.model_dump()), "seq": 1, "head": entry["hash"], "answer": None})
    _write(conn, entry, tell)
    return run


def first_time(conn: Connection, event_key: str, *, at: datetime) -> bool:
    """Remember that this event is being handled; False if it was before. Part of the transaction: a failed one forgets it again."""
    if conn.execute(_SEEN, {"key": event_key}).one_or_none():
        return False
    conn.execute(insert(tables.seen), {"event_key": event_key, "at": at})
    return True


def change(
    conn: Connection,
    run_id: str,
    event: Event,
    *,
    actor: str,
    at: datetime,
    data: Mapping[str, Any] | None = None,
    step: StepChange | None = None,
    tell: Sequence[NewPost] = (),
    guard: Callable[[Run], None] | None = None,
) -> Run:
    """Make one move of a run, and of one of its steps, and return the run as it is then.

    `data` are the event's facts: the table takes from them what it carries over (see `bot.core.run.CARRIED`), and all of them go on record.
    `guard` sees the run as read and may raise to refuse. A card "audit" in `tell` is completed with the entry's number and hash.
    Raises `Refused("unknown_run" | "unknown_step")`, `NotAllowed` if the table has no such move, what `guard` raises, and `Unavailable`
    if others were always faster; `Frozen` if it would let the run go while an admin holds everything.
    Whatever is raised, this move has written nothing: a caller may go on within the same transaction.
    """
    for _ in range(TRIES):
        row = _read(conn, run_id, step)
        if row is None:
            raise Refused("unknown_run", run=run_id)
        before = Run.model_validate(row)
        if guard is not None:
            guard(before)
        facts = dict(data or {})
        if step is not None:
            facts.setdefault("step", step.id)
        after = advance(before, event, facts)
        _must_not_be_frozen(conn, before, after)
        if after is not before:
            after = after.model_copy(update={"updated_at": at})
        values, said = _step_move(StepStatus(row["step_status"]), event, step) if step is not None else ({}, {})
        record = {**_plain(facts), **_run_move(conn, before, after), **said}
        if (brought := sealing.of_rows(conn, run_id, event, actor=actor, data=facts)) is not None:
            record[sealed_rows.SEALED] = {**record.get(sealed_rows.SEALED, {}), **brought}
        entry = audit.sealed(run_id, row["seq"] + 1, at=at, actor=actor, event=event, data=record, prev=row["head"])
        if _swap(conn, before, after, entry):
            break
    else:
        raise Unavailable(f"run {run_id} changes too fast; try again in a moment")
    if step is not None and values:
        conn.execute(_SET_STEP, {"of_run": run_id, "of_step": step.id, **values})
    if after.is_final and not before.is_final:
        locks.release(conn, run_id)
    _write(conn, entry, tell)
    return after


def _must_not_be_frozen(conn: Connection, before: Run, after: Run) -> None:
    """Only a move that lets a run go asks: a step starts in a run that goes on already, and a freeze moves all of those."""
    if after.status is RunStatus.RUNNING and before.status is not RunStatus.RUNNING and (freeze := cord.frozen(conn)) is not None:
        raise Frozen(before.id, freeze)


def note(
    conn: Connection,
    run_id: str,
    event: Event = Event.CLICK_REFUSED,
    *,
    actor: str,
    at: datetime,
    data: Mapping[str, Any] | None = None,
    tell: Sequence[NewPost] = (),
) -> None:
    """Put on record something that changes no state, such as a refused click. What names an unknown run goes into the chain "-"."""
    facts = _plain(data)
    for _ in range(TRIES):
        row = _read(conn, run_id)
        if row is None:
            seq, head = audit.head(conn, audit.NO_RUN)
            said = {**facts, "run": run_id}
            _write(conn, audit.sealed(audit.NO_RUN, seq + 1, at=at, actor=actor, event=event, data=said, prev=head), tell)
            return
        run = Run.model_validate(row)
        entry = audit.sealed(run_id, row["seq"] + 1, at=at, actor=actor, event=event, data=facts, prev=row["head"])
        if _swap(conn, run, run, entry):
            _write(conn, entry, tell)
            return
    raise Unavailable(f"run {run_id} changes too fast; try again in a moment")


def tell(conn: Connection, *told: NewPost) -> None:
    """Posts that tell of no change: the answer to what somebody said, the state of the record. They ring like those that do."""
    for post in told:
        posts.add(conn, post)


def _read(conn: Connection, run_id: str, step: StepChange | None = None) -> dict[str, Any] | None:
    """The run's row, and its step's status as `step_status`; None if there is no such run."""
    if step is None:
        row = conn.execute(_READ, {"run_id": run_id}).first()
    else:
        row = conn.execute(_READ_WITH_STEP, {"run_id": run_id, "step_id": step.id}).first()
    if row is None:
        return None
    found: dict[str, Any] = dict(zip(_NAMES, row, strict=False))  # row mappings would cost as much again as the statement
    if step is not None and found["step_status"] is None:
        raise Refused("unknown_step", run=run_id, step=step.id)
    return found


def _run_move(conn: Connection, before: Run, after: Run) -> dict[str, Any]:
    """What the entry says of the move itself; with another revision, the steps that there are from now on."""
    if after is before:
        return {}
    move: dict[str, Any] = {"from": before.status.value, "to": after.status.value, "version": after.version}
    if after.revision != before.revision:
        known = conn.execute(_REVISION, {"run_id": after.id, "revision": after.revision}).one_or_none()
        if known is None:
            raise UnknownRevision(f"revision {after.revision} of run {after.id} is not stored; add it before the change that names it")
        move["plan_steps"] = list(conn.execute(_STEP_IDS, {"run_id": after.id}).scalars())
    return move


def _step_move(status: StepStatus, event: Event, step: StepChange) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the step's row becomes, and what the entry says of it: fingerprints in place of arguments and results."""
    values: dict[str, Any] = {}
    said: dict[str, Any] = {}
    if event in STEP_EVENTS:
        to = advance_step(status, event)
        said |= {"step_from": status.value, "step_to": to.value}
        values["status"] = to.value
        if to is not status and to in (StepStatus.RUNNING, StepStatus.PENDING):
            values |= {"finished_at": None, "observation": None, "error": None}  # of an earlier try; the record keeps them
    given = {name: getattr(step, name) for name in ("attempt", "args", "started_at", "finished_at", "error")}
    values |= {name: value for name, value in (*given.items(), ("tokens", step.tokens), ("money", step.money)) if value is not None}
    said |= {name: given[name] for name in ("attempt", "error") if given[name] is not None}
    sealed = {name: at.astimezone(UTC).isoformat() for name in ("started_at", "finished_at") if (at := given[name]) is not None}
    if step.args is not None:
        said["args_sha256"] = fingerprint(step.args)
    if step.observation is not None:
        values["observation"] = step.observation.model_dump(mode="json")
        said["observation_sha256"] = step.observation.sha256
        sealed |= sealed_rows.observation_seal(values["observation"])
    return values, {**said, sealed_rows.SEALED: sealed}


def _swap(conn: Connection, before: Run, after: Run, entry: Mapping[str, Any]) -> bool:
    """Compare-and-set the run's row. False if somebody else was faster."""
    moved = {name: value for name, value in after if value != getattr(before, name)}
    of = {"of_id": before.id, "of_version": before.version, "of_seq": entry["seq"] - 1}
    return conn.execute(_SWAP, {**of, **_columns(moved), "seq": entry["seq"], "head": entry["hash"]}).rowcount == 1


def _write(conn: Connection, entry: dict[str, Any], tell: Sequence[NewPost]) -> None:
    """The entry and its posts, and the note for the bell."""
    head = audit.write(conn, entry)
    for post in tell:
        if post.card == "audit":  # one post per entry, and it says which
            n, hash_of_head = head or audit.last_head(conn)
            about = {"seq": entry["seq"], "hash": entry["hash"], "event": entry["event"], "actor": entry["actor"]}
            about |= {"head": n, "head_hash": hash_of_head}  # of the chain of heads, as it was when the entry had just been written
            post = post.model_copy(update={"key": f"{post.key}.{entry['seq']}", "data": {**about, **post.data}})  # noqa: PLW2901
        posts.add(conn, post)
    if entry["run_id"] != audit.NO_RUN:
        noted(conn).add(entry["run_id"])


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Words of closed lists as plain text, as every driver takes them."""
    return {name: value.value if isinstance(value, Enum) else value for name, value in values.items()}


def _plain(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """The facts as JSON: times in ISO form, words as text. A name that is the door's own gets a line after it."""
    plain: dict[str, Any] = to_jsonable_python(dict(data or {}))
    return {f"{name}_" if name in _OWN else name: value for name, value in plain.items()}
