"""What one run may still do: its budget, how many steps may follow one another while nobody acts, and what its requester's windows leave.

The rules are pure (`core.budget`, `core.readiness`, `core.grading`); here is what they are asked with, kept up with while the segment goes
on. What other runs use up meanwhile is read before each decision, and once more inside the transaction that starts a step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from bot import facts
from bot.activities.steps import Ended
from bot.core import budget, grading
from bot.core import windows as windowed
from bot.core.budget import Spent
from bot.core.catalogue import Effect
from bot.core.facts import NOTHING, Facts
from bot.core.ids import StepId, short
from bot.core.judging import judged
from bot.core.plan import Plan, Step, fingerprint
from bot.core.policy_file import Window
from bot.core.readiness import Allowance
from bot.core.risk import Grade
from bot.core.run import Event, Hold, NotAllowed, Run
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.store import attendance, windows
from bot.store.door import StepChange

Used = tuple[Mapping[int, float], Mapping[StepId, windows.Tried]]


class Purse:
    """What a run has, as its segment found it, and what goes out of it."""

    def __init__(self, deps: Deps, snapshot: Snapshot, plan: Plan) -> None:
        self.deps, self.plan = deps, plan
        self.began = deps.now()
        self.active_s = budget.active_s(snapshot.entries, now=self.began)
        self.run = snapshot.run  # as it was then: who asked, and where
        self.planned = budget.planned_tokens(snapshot), budget.planned_money(snapshot, deps.policy.prices)
        self.tokens: dict[StepId, int] = {step.id: step.tokens for step in snapshot.steps}
        self.money: dict[StepId, float] = {step.id: step.money for step in snapshot.steps}
        self.facts: Facts = NOTHING
        self.met: set[str] = set()  # channels whose reach was asked for
        self.used: Used = {}, {}
        self.alone: tuple[StepId, ...] = ()  # steps that started since a person acted

    async def look(self) -> None:
        """Read what may have changed through others; nothing where the policy sets no such limit. The world is asked once."""
        if self.facts is NOTHING:
            run = self.run
            known = await facts.gather(self.deps, self.plan, run=run, requester=run.requester, channel=run.channel)
            self.facts = replace(known, approved_before=None, spent={})  # that it is new here was for those who approved it
            self.met = set(facts.channels_of(step.args for step in self.plan.steps))
        if self.deps.policy.windows or self.deps.policy.limits.unattended is not None:
            self.used, self.alone = await self.deps.store.read(lambda conn: (self._used(conn), attendance.alone(conn, self.run.id)))

    async def meet(self, calls: Sequence[Mapping[str, Any]]) -> bool:
        """Ask about channels that only the values of these calls name. True: something is known of them now, so decide again."""
        new = [name for name in facts.channels_of(calls) if name not in self.met]
        if not new:
            return False
        self.met |= set(new)
        reach = await self.deps.reach(new)
        self.facts = replace(self.facts, reach={**self.facts.reach, **reach})
        return bool(reach)

    def _used(self, conn: Connection) -> Used:
        """What the requester's other runs have used up of the windows, and the values with which steps of this one have started."""
        deps = self.deps
        if not deps.policy.windows:
            return {}, {}
        others = windows.started(conn, deps.policy, self.run.requester, now=deps.now(), catalogue=deps.tools.catalogue, besides=self.run.id)
        return others, windows.tried(conn, self.run.id)

    def total(self, outcome: Ended) -> tuple[int, float]:
        """What the step has used over all its tries, this one too: tokens and money."""
        step = outcome.step.id
        return self.tokens.get(step, 0) + outcome.tokens, self.money.get(step, 0.0) + outcome.money

    def paid(self, change: StepChange) -> None:
        """The step has ended, and what it used is on record."""
        self.tokens |= {change.id: change.tokens} if change.tokens is not None else {}
        self.money |= {change.id: change.money} if change.money is not None else {}

    def spent(self, attempts: Mapping[StepId, int], ended: Sequence[Ended]) -> Spent:
        """What the run has used until now; `ended`: by steps whose end is not on record yet, too."""
        tokens, money = self.planned
        return Spent(
            tokens=tokens + sum(self.tokens.values()) + sum(each.tokens for each in ended),
            time=self.active_s + (self.deps.now() - self.began).total_seconds(),
            steps=sum(attempts.values()),
            money=money + sum(self.money.values()) + sum(each.money for each in ended),
        )

    def allowance(self, run: Run, attempts: Mapping[StepId, int], ended: Sequence[Ended]) -> Allowance:
        """What the rules are asked with."""
        limits = self.deps.policy.limits
        used_up = budget.exceeded(self.spent(attempts, ended), limits, run.passed)
        if limits.unattended is None:
            return Allowance(used_up)
        effects = self._effects()
        return Allowance(used_up, limits.unattended, frozenset(self.alone) & effects, effects)

    def _effects(self) -> frozenset[StepId]:
        """The steps that have an effect, as the policy sees their tools."""
        known = [(step.id, self.deps.tools.catalogue.get(step.tool)) for step in self.plan.steps]
        return frozenset(step for step, spec in known if spec and grading.effect_of(spec, self.deps.policy) is not Effect.READ)

    def facts_of(self, reason: Hold, run: Run, attempts: Mapping[StepId, int], ended: Sequence[Ended]) -> dict[str, Any]:
        """What goes on record with a hold of that kind."""
        if reason not in (Hold.UNATTENDED, Hold.BUDGET):
            return {}
        allowance = self.allowance(run, attempts, ended)
        if reason is Hold.UNATTENDED:
            return {"ran": [step for step in self.alone if step in allowance.effects], "limit": allowance.unattended}
        used, bounds = self.spent(attempts, ended), budget.bounds(self.deps.policy.limits, run.passed)
        more = not budget.is_final(run, allowance.used_up)
        return {"kind": allowance.used_up, "spent": used.as_data(), "bounds": bounds.as_data(), "more": more}

    def judge(self, step: Step, args: Mapping[str, Any]) -> Grade:
        """The step's grade with its real values, and with what the windows have left by now."""
        return self._grade(step, args, self.used)

    def must_fit(self, conn: Connection, run: Run, step: Step, args: Mapping[str, Any], approved: Grade | None) -> None:
        """Once more inside the transaction of its start, where nobody else starts anything: another run may just have used up a window."""
        if not self.deps.policy.windows:
            return
        found = judged(lambda step, args: self._grade(step, args, self._used(conn)), step, args, approved)
        if found.denied or (found.stricter and f"{step.id}:{short(fingerprint(args))}" not in run.passed):
            raise NotAllowed(run.status, Event.STEP_STARTED, run.reason)

    def _grade(self, step: Step, args: Mapping[str, Any], used: Used) -> Grade:
        filled, known = step.model_copy(update={"args": dict(args)}), replace(self.facts, spent=self._spent_before(step, used))
        return grading.grade(filled, self.plan, self.deps.tools.catalogue, self.deps.policy, known, filled=True)

    def _spent_before(self, step: Step, used: Used) -> dict[int, float]:
        """Grading counts what stands before a step in its plan, once. What was filled in there, and further tries, are added here."""
        others, own = used
        spent = dict(others)
        for place, window in enumerate(self.deps.policy.windows):
            mine = [(each, own[each.id]) for each in self.plan.steps if each.id in own and self._counts(window, each)]
            for each, tried in mine:
                is_graded = each.id != step.id and bool(windowed.amount(window, each.args))
                spent[place] = spent.get(place, 0.0) + windowed.amount(window, tried.args) * (tried.times - is_graded)
        return spent

    def _counts(self, window: Window, step: Step) -> bool:
        spec = self.deps.tools.catalogue.get(step.tool)
        return spec is not None and windowed.counts(window, step.tool, grading.effect_of(spec, self.deps.policy))
