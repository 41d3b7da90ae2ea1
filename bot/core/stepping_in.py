"""Breakpoints suggested from history: a step of a tool at which people often paused, stopped, or changed something. Never set silently."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from bot.core.ids import StepId
from bot.core.plan import Plan

RUNS = 10  # how many of the last runs are looked at
OFTEN = 3  # in so many of them people must have stepped in ...
SHARE = 0.5  # ... and in this part of them

SAID = {
    "pause_asked": "paused",
    "stop_asked": "stopped",
    "breakpoint_set": "held by a breakpoint",
    "revised": "edited",
    "redirect_asked": "changed",
}


class Habit(BaseModel):
    """In `times` of the last `runs` runs that came to this tool people stepped in at it, mostly by `how` (an event)."""

    model_config = ConfigDict(frozen=True)

    tool: str
    times: int
    runs: int
    how: str = ""

    @property
    def is_frequent(self) -> bool:
        """Often enough to suggest a breakpoint?"""
        return self.times >= OFTEN and self.times >= SHARE * self.runs

    def says(self) -> str:
        """`It was stopped here in 3 of the last 5 runs.`"""
        return f"It was {SAID.get(self.how, 'held')} here in {self.times} of the last {self.runs} runs."


def suggestions(plan: Plan, habits: Mapping[str, Habit], *, set_already: tuple[StepId, ...] = ()) -> dict[StepId, str]:
    """The steps before which a breakpoint is suggested, and why, in the words of a card; none where there is one already."""
    found: dict[StepId, str] = {}
    for step in plan.steps:
        habit = habits.get(step.tool)
        if habit is not None and habit.is_frequent and not step.breakpoint and step.id not in set_already:
            found[step.id] = habit.says()
    return found
