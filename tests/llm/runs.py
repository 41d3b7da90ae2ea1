"""Runs that are over, as the synthesizer sees them."""

from datetime import UTC, datetime
from typing import Any

from bot.core.ids import RunId, StepId
from bot.core.plan import Plan, Step, numbered
from bot.core.run import Run, RunStatus, StepStatus
from bot.core.snapshot import Observation, Snapshot, StepState

AT = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)


def done(tool: str, args: dict[str, Any], value: Any, says: str = "", **more: Any) -> tuple[Step, StepState]:
    """A step that finished with this result."""
    return ended(tool, args, StepStatus.SUCCEEDED, observation=Observation(value=value, says=says), **more)


def ended(tool: str, args: dict[str, Any], status: StepStatus, *, name: str = "", **more: Any) -> tuple[Step, StepState]:
    """A step that ended in this status."""
    step = Step(id=StepId(name or tool.rpartition(".")[2]), tool=tool, args=args)
    at = AT if status is StepStatus.SUCCEEDED else None
    return step, StepState(id=step.id, number=0, tool=tool, status=status, finished_at=at, **more)


def over(*steps: tuple[Step, StepState], ask: str = "Tell #ops what changed") -> Snapshot:
    """The run of these steps, numbered in order."""
    plan = numbered(Plan(goal=ask[:230], steps=tuple(step for step, _ in steps)))
    states = tuple(state.model_copy(update={"number": number}) for number, (_, state) in enumerate(steps, start=1))
    run = Run(id=RunId("R-7K2QX"), status=RunStatus.ANSWERING, ask=ask, created_at=AT, updated_at=AT)
    return Snapshot(run=run, plan=plan, steps=states)
