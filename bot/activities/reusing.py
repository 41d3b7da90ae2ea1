"""What a run has done already, and whether it may stand in for what comes: a kept result, or reads that must run again first (P5).

The rules are in `core.reuse`; here the tools are asked whether what they read is as it was.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.activities.steps import still_fresh
from bot.core.catalogue import Effect
from bot.core.ids import StepId
from bot.core.plan import Plan, Step, step_fingerprint
from bot.core.reuse import brought, completed, done_before, read_again
from bot.core.risk import Grade
from bot.core.run import StepStatus
from bot.core.snapshot import Snapshot, StepState
from bot.deps import Deps


class Earlier:
    """The finished steps of one run, as its segment found them; `ended` keeps up with those that end meanwhile."""

    def __init__(self, deps: Deps, snapshot: Snapshot, plan: Plan) -> None:
        self.deps, self.run_id, self.plan = deps, snapshot.run.id, plan
        self.approved_tools = snapshot.tool_digests
        self.completed, self.brought = completed(snapshot), brought(snapshot)
        self.results: dict[StepId, StepState] = {s.id: s for s in snapshot.steps if s.status is StepStatus.SUCCEEDED}
        self.finished: dict[StepId, datetime] = {s.id: s.finished_at for s in snapshot.steps if s.finished_at}

    def ended(self, step: StepId, at: datetime | None) -> None:
        """The step has ended then."""
        self.finished |= {step: at} if at else {}

    async def outdated(self, step: Step, grades: Mapping[str, Grade], attempts: Mapping[StepId, int]) -> tuple[StepId, ...]:
        """Finished reads that a confirmed step uses and that would see something else now: its confirmation is void until they ran again.

        Once for each read: what never stays the same (the time) would otherwise never be confirmed.
        """
        if not grades[step.id].confirms:
            return ()
        reads = [each for each in self.plan.steps if each.id in self.results and attempts[each.id] == 1 and self._reads(each)]
        changed = [each.id for each in reads if not await self._would_see_the_same(each, self.results[each.id])]
        return read_again(self.plan, step.id, changed, [each.id for each in reads])

    async def _would_see_the_same(self, step: Step, state: StepState) -> bool:
        return state.observation is None or await still_fresh(self.deps, self.run_id, step, state.args or {}, state.observation)

    async def done_before(self, step: Step, args: dict[str, Any]) -> StepState | None:
        """The finished step whose result serves this one, if what it read is as it was."""
        fingerprint = step_fingerprint(step.tool, args, self.approved_tools.get(step.tool, ""))
        done = done_before(self.completed, fingerprint, revision=self.brought.get(step.id, 0))
        if done is None or done.observation is None or not self._nothing_since(done, step):
            return None
        return done if await still_fresh(self.deps, self.run_id, step, args, done.observation) else None

    def _nothing_since(self, done: StepState, step: Step) -> bool:
        """Has nothing ended since the work that would stand in for it that the step waits for, nor (for an effect) anything with an effect?

        Else that work came too early, or something may have undone it.
        """
        last = done.finished_at
        if last is None or any(name not in self.finished or self.finished[name] > last for name in step.needs):
            return False
        later = [other for other in self.plan.steps if other.id in self.finished and self.finished[other.id] > last]
        return self._reads(step) or all(self._reads(other) for other in later)

    def _reads(self, step: Step) -> bool:
        spec = self.deps.tools.catalogue.get(step.tool)
        return spec is not None and spec.effect is Effect.READ
