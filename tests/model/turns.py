"""A turn of the real dispatcher, cut in two where a process can be overtaken: it looks and decides now, and writes later.

`Turn` is the product's own `Segment`, made anew for each look (as after a restart), whose calls are not made but remembered. What it
decided is kept until the walk lets it through the real door, with the real guards, in whatever state the run is by then.
"""

import copy
from collections.abc import Sequence
from typing import Any

from bot.activities.dispatching import Segment
from bot.activities.moves import Change
from bot.activities.steps import Ended
from bot.core.ids import StepId
from bot.core.plan import Step, canonical, fingerprint
from bot.core.run import Event, StepStatus
from bot.core.snapshot import Observation, Snapshot
from bot.deps import Deps

ROOM = 4
OUTCOMES = {"ok": Event.STEP_SUCCEEDED, "fails": Event.STEP_FAILED, "in doubt": Event.STEP_IN_DOUBT, "cancelled": Event.STEP_CANCELLED}
Outcomes = tuple[tuple[str, str], ...]  # step → one of OUTCOMES


class _Looked(Exception):
    """The turn has decided; what it would write is for later."""


class _Out:
    """A call that is out, here or in the other process."""

    def done(self) -> bool:
        return False

    def cancel(self) -> None:
        """It ends in its own time."""


class Turn(Segment):
    """One look of one process."""

    def __init__(self, deps: Deps, snapshot: Snapshot, ended: Sequence[Ended] = ()) -> None:
        super().__init__(deps, snapshot, lambda: ROOM)
        over = {each.step.id for each in ended}
        running = [state.id for state in snapshot.steps if state.status is StepStatus.RUNNING and state.id not in over]
        self.tasks = {_Out(): self.plan.step(name) for name in running}  # type: ignore[misc]
        self.unwritten = list(ended)
        self.looking = True
        self.caught: list[Change] = []
        self.begun: list[str] = []

    async def look(self) -> list[Change] | None:
        """What this turn would write beside the outcomes; None if there is nothing to do."""
        try:
            await self._turn()
        except _Looked:
            return self.caught
        return None

    async def put_through(self, changes: list[Change], *, version: int) -> list[str]:
        """Write what was decided, as it is; returns the steps that were started. The turn itself stays as it was.

        `version`: of the run when this turn looked at it.
        """
        twin = copy.copy(self)
        twin.run = self.run.model_copy(update={"version": version})
        twin.states, twin.attempts, twin.observations = dict(self.states), dict(self.attempts), dict(self.observations)
        twin.cut, twin.unwritten, twin.begun, twin.looking = set(self.cut), list(self.unwritten), [], False
        await twin._write(list(changes))
        return twin.begun

    async def recover(self) -> None:
        """Settle what a process that is gone left running."""
        self.tasks, self.looking = {}, False
        await self._recover()

    async def _write(self, changes: list[Change]) -> None:
        if self.looking:
            self.caught = changes
            raise _Looked
        await super()._write(changes)

    def _go(self, step: Step, args: dict[str, Any]) -> None:
        self.begun.append(step.id)


def ended(snapshot: Snapshot, outcomes: Outcomes) -> list[Ended]:
    """These calls as they ended. What a step returns tells its try, so that another try is another value."""
    assert snapshot.plan is not None
    found = []
    for name, outcome in outcomes:
        step, attempt = snapshot.plan.step(name), snapshot.state(StepId(name)).attempt
        value = {"name": f"{name}{attempt}"}
        seen = Observation(value=value, sha256=fingerprint(value), size=len(canonical(value))) if outcome == "ok" else None
        found.append(Ended(step, OUTCOMES[outcome], seen, error=None if seen else outcome))
    return found


def signature(turn: Turn, changes: Sequence[Change]) -> Any:
    """What makes two decisions one: all that the door will be given, and the plan that the guard compares with."""
    outcomes = tuple((each.step.id, each.event, each.observation and each.observation.sha256) for each in turn.unwritten)
    return turn.digest, outcomes, tuple((change.event, canonical(dict(change.data)), repr(change.step)) for change in changes)
