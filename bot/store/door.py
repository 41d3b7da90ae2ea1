"""The one door: every change of a run goes through here, in one transaction, or does not happen.

Read the row, ask the table of moves, compare-and-set the version that was read, write the step's row, the audit entry (chained) and
whatever must be told to Slack, and note the run so that the bell rings after the commit. Starting a step is such a change too: once a
pause has moved the run, the start finds another state and is refused. That is the whole of the brake.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_core import to_jsonable_python
from sqlalchemy import Connection, RowMapping, and_, bindparam, insert, select, update

from bot.core.ids import StepId
from bot.core.plan import fingerprint
from bot.core.run import STEP_EVENTS, Event, Run, RunStatus, StepStatus, advance, advance_step
from bot.core.snapshot import NewPost, Observation
from bot.errors import PullcordError, Refused, Unavailable
from bot.store import audit, posts, tables
from bot.store.db import noted

TRIES = 20  # how often a change is made again because somebody else was faster, on databases with several writers

_runs, _steps = tables.runs, tables.steps
_STATE = [column for column in _runs.c if column.name != "answer"]
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
_INSERT_RUN = insert(_runs)
_KNOWN = select(_runs.c.id).where(_runs.c.id == bindparam("run_id"))
_SEEN = select(tables.seen.c.event_key).where(tables.seen.c.event_key == bindparam("key"))
# What a change may move; the rest of a run's row is for life.
_MOVED = ("version", "status", "reason", "held_step", "revision", "digest", "approved", "risk", "deadline", "breakpoints", "passed")


class IdTaken(PullcordError):
    """There is a run of that id; draw another."""


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
    head = audit.append(conn, run.id, seq=1, at=at, actor=actor, event=Event.OPENED, data=facts, prev="")
    conn.execute(_INSERT_RUN, {**run.model_dump(), "seq": 1, "head": head, "answer": None})
    _tell(conn, tell, seq=1, head=head)
    noted(conn).add(run.id)
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
    Raises `Refused("unknown_run" | "unknown_step")`, `NotAllowed` if the table has no such move, `Unavailable` if others were always faster.
    """
    for _ in range(TRIES):
        row = _read(conn, run_id, step)
        before = Run.model_validate(dict(row))
        if guard is not None:
            guard(before)
        facts = dict(data or {})
        if step is not None:
            facts.setdefault("step", step.id)
        after = advance(before, event, facts)
        record = _record(conn, before, after, facts)
        if step is not None:
            record |= _move_step(conn, run_id, row["step_status"], event, step)
        if _append(conn, row, after, event, actor=actor, at=at, record=record, tell=tell):
            return after.model_copy(update={"updated_at": at}) if after is not before else after
    raise Unavailable(f"run {run_id} changes too fast; try again in a moment")


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
    facts = {key: value for key, value in _plain(data).items() if key not in ("version", "from", "to")}
    row = conn.execute(_READ, {"run_id": run_id}).mappings().one_or_none()
    if row is not None:
        run = Run.model_validate(dict(row))
        if not _append(conn, row, run, event, actor=actor, at=at, record=facts, tell=tell):
            raise Unavailable(f"run {run_id} changes too fast; try again in a moment")
        return
    seq, prev = audit.head(conn, audit.UNKNOWN)
    said = {**facts, "run": run_id}
    head = audit.append(conn, audit.UNKNOWN, seq=seq + 1, at=at, actor=actor, event=event, data=said, prev=prev)
    _tell(conn, tell, seq=seq + 1, head=head)


def _read(conn: Connection, run_id: str, step: StepChange | None) -> RowMapping:
    statement, params = (_READ, {"run_id": run_id}) if step is None else (_READ_WITH_STEP, {"run_id": run_id, "step_id": step.id})
    row = conn.execute(statement, params).mappings().one_or_none()
    if row is None:
        raise Refused("unknown_run", run=run_id)
    if step is not None and row["step_status"] is None:
        raise Refused("unknown_step", run=run_id, step=step.id)
    return row


def _record(conn: Connection, before: Run, after: Run, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The entry's data: the facts as JSON and the move itself; with another revision, the steps that there are from now on."""
    record = _plain(facts)
    if after is before:
        return record
    if after.revision != before.revision:
        rows = conn.execute(select(_steps.c.step_id).where(_steps.c.run_id == after.id).order_by(_steps.c.number))
        record["plan_steps"] = [row.step_id for row in rows]
    return {**record, "from": before.status.value, "to": after.status.value, "version": after.version}


def _move_step(conn: Connection, run_id: str, status: str, event: Event, step: StepChange) -> dict[str, Any]:
    """Write the step's row. Returns what the entry says of it: the move, and fingerprints in place of arguments and results."""
    values: dict[str, Any] = {}
    said: dict[str, Any] = {}
    if event in STEP_EVENTS:
        to = advance_step(StepStatus(status), event)
        said |= {"step_from": status, "step_to": to.value}
        values["status"] = to.value
        if to in (StepStatus.RUNNING, StepStatus.PENDING) and to != status:  # what an earlier try left behind is on record, not in the row
            values |= {"finished_at": None, "observation": None, "error": None}
    given = {"attempt": step.attempt, "args": step.args, "started_at": step.started_at, "finished_at": step.finished_at, "error": step.error}
    values |= {name: value for name, value in given.items() if value is not None}
    said |= {name: value for name, value in (("attempt", step.attempt), ("error", step.error)) if value is not None}
    if step.args is not None:
        said["args_sha256"] = fingerprint(step.args)
    if step.observation is not None:
        values["observation"] = step.observation.model_dump(mode="json")
        said["observation_sha256"] = step.observation.sha256
    if values:
        conn.execute(_SET_STEP, {"of_run": run_id, "of_step": step.id, **values})
    return said


def _append(
    conn: Connection, row: RowMapping, after: Run, event: Event, *, actor: str, at: datetime, record: dict[str, Any], tell: Sequence[NewPost]
) -> bool:
    """Entry, row and posts. False, and nothing is written, if somebody else moved the run since `row` was read."""
    return False
