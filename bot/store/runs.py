"""Runs as plain data: what is read of them, and the rows that are written beside a change.

Reads give frozen objects of `bot.core`; nothing is loaded later, so a card can be drawn long after the connection is gone. The writes
here (a revision, an attempt, an approval, the answer) belong in the same transaction as the change at the door that they explain.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, and_, bindparam, delete, func, insert, or_, select, update

from bot.core.ids import Digest, StepId
from bot.core.plan import Plan, Step
from bot.core.risk import Grade, Level
from bot.core.run import FINAL, Hold, Redirect, Run, RunStatus, StepStatus
from bot.core.snapshot import Answer, Approval, Attempt, Entry, Revision, Snapshot, StepState
from bot.errors import Refused
from bot.store import audit, cord, locks, posts, tables
from bot.store.db import noted

_runs, _steps, _revisions = tables.runs, tables.steps, tables.revisions
_STATE = [column for column in _runs.c if column.name not in ("answer", "seq", "head")]
EXPIRES = or_(  # waits for people that end at their deadline
    _runs.c.status == RunStatus.IN_REVIEW.value,
    and_(_runs.c.status == RunStatus.PLANNING.value, _runs.c.reason == Hold.QUESTION.value),
    and_(_runs.c.status == RunStatus.PAUSED.value, _runs.c.reason == Hold.CONFIRM.value),
    and_(_runs.c.status == RunStatus.PAUSED.value, _runs.c.redirect == Redirect.REVIEW.value),
)
WAITS_FOR_KEYS = frozenset({RunStatus.RUNNING, RunStatus.PAUSING})
OPEN = [status.value for status in RunStatus if status not in FINAL]  # named one by one, so that an index serves
_GET = select(*_STATE).where(_runs.c.id == bindparam("run_id"))
_GET_STEPS = select(_steps).where(_steps.c.run_id == bindparam("run_id")).order_by(_steps.c.number, _steps.c.step_id)
_GET_REVISION = select(_revisions).where(_revisions.c.run_id == bindparam("run_id"), _revisions.c.revision == bindparam("revision"))
_GET_REVISIONS = select(_revisions).where(_revisions.c.run_id == bindparam("run_id")).order_by(_revisions.c.revision)
_GET_APPROVALS = select(tables.approvals).where(tables.approvals.c.run_id == bindparam("run_id")).order_by(tables.approvals.c.id)
_GET_ATTEMPTS = select(tables.attempts.c.reply).where(tables.attempts.c.run_id == bindparam("run_id")).order_by(tables.attempts.c.round)
_GET_ANSWER = select(_runs.c.answer).where(_runs.c.id == bindparam("run_id"))


def add_revision(
    conn: Connection,
    run_id: str,
    *,
    revision: int,
    plan: Plan,
    digest: Digest,
    risk: Level,
    grades: Sequence[Grade],
    tool_digests: Mapping[str, Digest],
    author: str,
    at: datetime,
    adopt: bool = True,
) -> None:
    """Store a revision, and (unless it is only proposed) bring the steps' rows in line with it, see `adopt_revision`.

    Comes before the change at the door that names the revision.
    """
    row = {"run_id": run_id, "revision": revision, "plan": plan.model_dump(mode="json"), "digest": digest, "risk": risk.value}
    row |= {"grades": [grade.model_dump(mode="json") for grade in grades], "tool_digests": dict(tool_digests), "author": author, "at": at}
    conn.execute(insert(_revisions), row)
    if adopt:
        adopt_revision(conn, run_id, revision)


def adopt_revision(conn: Connection, run_id: str, n: int, *, again: Collection[str] = ()) -> None:
    """Bring the steps' rows in line with a stored revision.

    New steps are pending; pending ones that the plan no longer has are dropped; those that it changes are rewritten and belong to it from
    now on; started ones are kept as they are, but for failed ones named in `again`, which may run in their new form.
    """
    plan, _, _ = revision(conn, run_id, n)
    rows = {row["step_id"]: row for row in conn.execute(_GET_STEPS, {"run_id": run_id}).mappings()}
    planned = _steps_of(conn, run_id, {row["revision"] for row in rows.values()})
    pending = and_(_steps.c.run_id == run_id, _steps.c.status == StepStatus.PENDING.value)
    conn.execute(delete(_steps).where(pending, _steps.c.step_id.not_in([step.id for step in plan.steps])))
    for step in plan.steps:
        row = rows.get(step.id)
        brings: dict[str, Any] = {"revision": n, "number": step.number, "tool": step.tool, **_BLANK}
        if row is None:
            conn.execute(insert(_steps), {"run_id": run_id, "step_id": step.id, **brings, "status": "pending", "attempt": 0})
        elif step.id in again:
            _set_step(conn, run_id, step.id, **brings, status=StepStatus.PENDING.value)
        elif row["status"] == StepStatus.PENDING and planned.get((row["revision"], step.id)) != step:
            _set_step(conn, run_id, step.id, **brings)


def _steps_of(conn: Connection, run_id: str, revisions: Collection[int]) -> dict[tuple[int, str], Step]:
    """The steps as those revisions have them, by revision and id."""
    return {(n, step.id): step for n in revisions for step in revision(conn, run_id, n)[0].steps}


def _set_step(conn: Connection, run_id: str, step_id: str, **values: Any) -> None:
    conn.execute(update(_steps).where(_steps.c.run_id == run_id, _steps.c.step_id == step_id).values(**values))


_BLANK: dict[str, Any] = {"args": None, "started_at": None, "finished_at": None, "observation": None, "error": None}


def add_attempt(conn: Connection, run_id: str, attempt: Attempt, at: datetime) -> None:
    """Keep one planning round's reply."""
    conn.execute(insert(tables.attempts), {"run_id": run_id, "round": attempt.round, "at": at, "reply": attempt.model_dump(mode="json")})


def add_approval(conn: Connection, run_id: str, approval: Approval) -> None:
    """Store one person's yes. Raises `Refused("double")`, with `at`, if they said it before to the same digest of the same revision."""
    given = {"run_id": run_id, **approval.model_dump(), "step": approval.step or ""}
    table = tables.approvals
    same = [table.c[name] == given[name] for name in ("run_id", "revision", "digest", "kind", "step", "actor")]
    earlier = conn.execute(select(table.c.at).where(*same)).one_or_none()
    if earlier:
        raise Refused("double", run=run_id, actor=approval.actor, at=earlier.at)
    conn.execute(insert(table), given)


def set_answer(conn: Connection, run_id: str, answer: Answer) -> None:
    """Store the closing message. Raises `Refused("unknown_run")`."""
    _touch(conn, run_id, answer=answer.model_dump(mode="json"))


def set_thread(conn: Connection, run_id: str, thread_ts: str, *, channel: str | None = None) -> None:
    """Where the run's thread is, once its first card stands; no new version. Raises `Refused("unknown_run")`."""
    _touch(conn, run_id, thread_ts=thread_ts, **({"channel": channel} if channel else {}))
    noted(conn).add(run_id)


def get(conn: Connection, run_id: str) -> Run:
    """The run as it is. Raises `Refused("unknown_run")`."""
    row = conn.execute(_GET, {"run_id": run_id}).mappings().one_or_none()
    if row is None:
        raise Refused("unknown_run", run=run_id)
    return _run(row)


def exists(conn: Connection, run_id: str) -> bool:
    """Is there a run of that id?"""
    return conn.execute(_GET, {"run_id": run_id}).one_or_none() is not None


def steps(conn: Connection, run_id: str) -> tuple[StepState, ...]:
    """The states of all steps that the run has or had started, by number."""
    return tuple(_step(row) for row in conn.execute(_GET_STEPS, {"run_id": run_id}).mappings())


def step(conn: Connection, run_id: str, step_id: str) -> StepState | None:
    """The state of that step, or None if the run has no such step."""
    return next((state for state in steps(conn, run_id) if state.id == step_id), None)


def statuses(conn: Connection, run_id: str) -> dict[StepId, StepStatus]:
    """Where each step of the run stands."""
    return {state.id: state.status for state in steps(conn, run_id)}


def revision(conn: Connection, run_id: str, n: int) -> tuple[Plan, dict[str, Grade], dict[str, Digest]]:
    """That revision's plan, the grades of its steps by id, and the tools' definitions by name. Raises `Refused("unknown_revision")`."""
    row = conn.execute(_GET_REVISION, {"run_id": run_id, "revision": n}).mappings().one_or_none()
    if row is None:
        raise Refused("unknown_revision", run=run_id, revision=n)
    grades = [Grade.model_validate(grade) for grade in row["grades"]]
    tools = {name: Digest(said) for name, said in row["tool_digests"].items()}
    return Plan.model_validate(row["plan"]), {grade.step: grade for grade in grades}, tools


def next_revision(conn: Connection, run_id: str) -> int:
    """The number that the run's next revision will have; one that was only proposed keeps its own."""
    return (conn.execute(select(func.max(_revisions.c.revision)).where(_revisions.c.run_id == run_id)).scalar_one() or 0) + 1


def revisions(conn: Connection, run_id: str) -> tuple[Revision, ...]:
    """Every revision of the run, oldest first, proposed ones too."""
    found = []
    for row in conn.execute(_GET_REVISIONS, {"run_id": run_id}).mappings():
        grades = [Grade.model_validate(grade) for grade in row["grades"]]
        found.append(Revision.model_validate({**row, "grades": {grade.step: grade for grade in grades}}))
    return tuple(found)


def digest_of(conn: Connection, run_id: str, revision: int) -> Digest | None:
    """What an approval of that revision names; None if there is no such revision."""
    row = conn.execute(_GET_REVISION, {"run_id": run_id, "revision": revision}).mappings().one_or_none()
    return Digest(row["digest"]) if row else None


def approvals(conn: Connection, run_id: str) -> tuple[Approval, ...]:
    """Every yes that was given to the run, oldest first."""
    rows = conn.execute(_GET_APPROVALS, {"run_id": run_id}).mappings()
    return tuple(Approval.model_validate({**row, "step": row["step"] or None}) for row in rows)


def attempts(conn: Connection, run_id: str) -> tuple[Attempt, ...]:
    """The planning rounds, in order."""
    rows = conn.execute(_GET_ATTEMPTS, {"run_id": run_id}).scalars()
    return tuple(Attempt.model_validate(reply) for reply in rows)


def snapshot(conn: Connection, run_id: str, *, entries: bool = False) -> Snapshot:
    """The run whole, as at one moment; its audit entries only if asked for. Raises `Refused("unknown_run")`."""
    run = get(conn, run_id)
    all_revisions = revisions(conn, run_id)
    stands = next((one for one in all_revisions if one.revision == run.revision), None)
    answer = conn.execute(_GET_ANSWER, {"run_id": run_id}).scalar_one()
    record: Sequence[Entry] = audit.entries(conn, run_id) if entries else ()
    return Snapshot(
        run=run,
        plan=stands.plan if stands else None,
        grades=stands.grades if stands else {},
        tool_digests=stands.tool_digests if stands else {},
        revisions=all_revisions,
        freeze=cord.frozen(conn),
        steps=steps(conn, run_id),
        approvals=approvals(conn, run_id),
        attempts=attempts(conn, run_id),
        answer=Answer.model_validate(answer) if answer else None,
        posts=tuple(posts.of_run(conn, run_id)),
        entries=tuple(record),
        ahead=_ahead(conn, run),
        lock_waits=locks.waits(conn, run_id) if run.status in WAITS_FOR_KEYS else (),
    )


def open_runs(conn: Connection) -> list[Run]:
    """Runs that have not ended, oldest first."""
    return _list(conn, select(*_STATE).where(_runs.c.status.in_(OPEN)).order_by(*_OLDEST))


def queued(conn: Connection) -> list[Run]:
    """Runs that wait for a place in the pool, oldest first."""
    return _list(conn, select(*_STATE).where(_runs.c.status == RunStatus.QUEUED.value).order_by(*_OLDEST))


def listing(conn: Connection, *, requester: str | None = None, limit: int = 100) -> list[Run]:
    """The latest runs, newest first; only those of one requester, if one is named."""
    query = select(*_STATE).order_by(_runs.c.created_at.desc(), _runs.c.id.desc()).limit(limit)
    return _list(conn, query if requester is None else query.where(_runs.c.requester == requester))


def due(conn: Connection, now: datetime) -> list[Run]:
    """Runs whose wait for people is over: a review (also of a redirect), a question, or a confirm; longest over first."""
    return _list(conn, select(*_STATE).where(_runs.c.deadline <= now, EXPIRES).order_by(_runs.c.deadline, _runs.c.id))


def by_thread(conn: Connection, channel: str, thread_ts: str) -> Run | None:
    """The newest run of that thread."""
    return _newest(conn, select(*_STATE).where(_runs.c.channel == channel, _runs.c.thread_ts == thread_ts))


def by_source(conn: Connection, channel: str, ts: str) -> Run | None:
    """The newest run that this message asked for."""
    return _newest(conn, select(*_STATE).where(_runs.c.channel == channel, _runs.c.source_ts == ts))


_OLDEST = (_runs.c.created_at, _runs.c.id)


def _list(conn: Connection, query: Select[Any]) -> list[Run]:
    return [_run(row) for row in conn.execute(query).mappings()]


def _newest(conn: Connection, query: Select[Any]) -> Run | None:
    found = _list(conn, query.order_by(_runs.c.created_at.desc(), _runs.c.id.desc()).limit(1))
    return found[0] if found else None


def _ahead(conn: Connection, run: Run) -> int:
    """How many queued runs come before this one; 0 if it is not queued."""
    if run.status is not RunStatus.QUEUED:
        return 0
    earlier = or_(_runs.c.created_at < run.created_at, and_(_runs.c.created_at == run.created_at, _runs.c.id < run.id))
    query = select(func.count()).select_from(_runs).where(_runs.c.status == RunStatus.QUEUED.value, earlier)
    return conn.execute(query).scalar_one()


def _touch(conn: Connection, run_id: str, **values: Any) -> None:
    if conn.execute(update(_runs).where(_runs.c.id == run_id).values(**values)).rowcount == 0:
        raise Refused("unknown_run", run=run_id)


def _run(row: RowMapping) -> Run:
    return Run.model_validate(dict(row))


def _step(row: RowMapping) -> StepState:
    return StepState.model_validate({**row, "id": row["step_id"]})
