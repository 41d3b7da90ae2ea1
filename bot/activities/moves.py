"""What the dispatcher gives to the door: one move at a time, with all that belongs to it, and nothing that is decided later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.activities.steps import Ended
from bot.core.ids import StepId
from bot.core.risk import Level
from bot.core.run import Event
from bot.core.snapshot import NewPost
from bot.store import door
from bot.store.locks import Taken


@dataclass(frozen=True)
class Change:
    """One move for the door. `braked`: the table may refuse it, because somebody pulled the cord; then nothing after it is tried."""

    event: Event
    data: Mapping[str, Any] = field(default_factory=dict)
    step: door.StepChange | None = None
    tell: Sequence[NewPost] = ()
    braked: bool = True
    keys: tuple[str, ...] = ()  # what the step must have for itself
    level: Level | None = None  # of the wait for people that it begins


def of_end(outcome: Ended, *, at: datetime, spent: tuple[int, float]) -> Change:
    """How a step ended, as a move. The brake never refuses this: what has happened is recorded. `spent`: by all its tries."""
    tokens, money = spent
    change = door.StepChange(
        id=outcome.step.id, finished_at=at, error=outcome.error, observation=outcome.observation, tokens=tokens or None, money=money or None
    )
    return Change(outcome.event, step=change, braked=False)


def failed(step: StepId, error: str, *, at: datetime) -> Change:
    """The step cannot be called at all."""
    return Change(Event.STEP_FAILED, step=door.StepChange(id=step, error=error, finished_at=at))


def for_ever(taken: Taken) -> str:
    """Why a step fails that another run keeps from starting."""
    waits = f"{taken.holder} holds {taken.key} until it ends, and waits itself for what this run holds"
    return f"{waits}; stop one of the two, or retry once {taken.holder} has ended"
