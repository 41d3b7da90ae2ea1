"""Runs and plans for the store's tests, and the shortest way to a run in each state."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from bot.core.ids import Digest, RunId, StepId
from bot.core.plan import Plan, Step, digest, numbered
from bot.core.risk import Grade, Level, Mode
from bot.core.run import Event, Run
from bot.store import door, runs

NOW = datetime(2026, 11, 30, 10, 2, 3, 456_789, tzinfo=UTC)
BY = {"actor": "U_REQ", "at": NOW}


def later(**by: float) -> datetime:
    return NOW + timedelta(**by)


def a_run(run_id: str = "R-7K2QX", **fields: Any) -> Run:
    said = {"ask": "tell #ops what changed", "requester": "U_REQ", "team": "T_HOME", "channel": "C_OPS", **fields}
    return Run(id=RunId(run_id), created_at=said.pop("created_at", NOW), updated_at=NOW, **said)


def a_plan(*names: str) -> Plan:
    """A chain of steps of these names."""
    steps = [Step(id=StepId(name), tool="files.read", args={"path": f"{name}.md"}) for name in names]
    return numbered(Plan(goal="Tell #ops what changed", steps=tuple(steps)))


def opened(conn: Connection, run_id: str = "R-7K2QX", **fields: Any) -> Run:
    run = door.open_run(conn, a_run(run_id, **fields), **BY)
    assert run is not None
    return run


def revise(conn: Connection, run_id: str, plan: Plan, *, revision: int = 1, adopt: bool = True) -> Digest:
    said = digest(plan, {"files.read": Digest("d")})
    grades = [Grade(step=step.id, level=Level.LOW, mode=Mode.ASK, reasons=("only looks",)) for step in plan.steps]
    runs.add_revision(
        conn,
        run_id,
        revision=revision,
        plan=plan,
        digest=said,
        risk=Level.LOW,
        grades=grades,
        tool_digests={"files.read": Digest("d")},
        author="offline",
        at=NOW,
        adopt=adopt,
    )
    return said


def in_review(conn: Connection, run_id: str = "R-7K2QX", *, steps: tuple[str, ...] = ("one", "two")) -> Run:
    opened(conn, run_id)
    said = revise(conn, run_id, a_plan(*steps))
    facts = {"revision": 1, "digest": said, "risk": Level.LOW, "deadline": later(minutes=30)}
    return door.change(conn, run_id, Event.PLANNED, **BY, data=facts)


def running(conn: Connection, run_id: str = "R-7K2QX", *, steps: tuple[str, ...] = ("one", "two")) -> Run:
    run = in_review(conn, run_id, steps=steps)
    door.change(conn, run_id, Event.APPROVED, actor="U_APPR", at=NOW, data={"approved": run.digest, "deadline": None})
    return door.change(conn, run_id, Event.STARTED, actor="pullcord", at=NOW)


def start(conn: Connection, step: str, run_id: str = "R-7K2QX", *, attempt: int = 1) -> Run:
    moved = door.StepChange(id=StepId(step), attempt=attempt, args={"path": f"{step}.md"}, started_at=NOW)
    return door.change(conn, run_id, Event.STEP_STARTED, actor="pullcord", at=NOW, step=moved)
