"""What is different between two revisions of a plan, and which of it people must be asked about.

A step is *kept* if nothing about it differs: what it calls, with what, after what, and the same of every step whose result it uses. So a
message whose text is made by a changed step counts as changed, although its own words are the same.
"""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.core.catalogue import Catalogue, Effect
from bot.core.ids import Digest, StepId
from bot.core.plan import Plan, Step, dependents
from bot.core.references import sources
from bot.core.risk import Level, Mode, highest
from bot.core.snapshot import Revision

ABOUT_THE_CALL = ("tool", "args", "timeout_s", "on_failure", "retries")


class Comparison(BaseModel):
    """Ids of steps, in the order of the plan that has them (`removed`: of the old one)."""

    model_config = ConfigDict(frozen=True)

    kept: tuple[StepId, ...] = ()
    added: tuple[StepId, ...] = ()
    changed: tuple[StepId, ...] = ()
    removed: tuple[StepId, ...] = ()

    @property
    def is_same(self) -> bool:
        """Do both do the same?"""
        return not (self.added or self.changed or self.removed)

    def words(self) -> str:
        """`1 added, 1 changed, 1 removed, 2 kept`; empty groups left out."""
        groups = {"added": self.added, "changed": self.changed, "removed": self.removed, "kept": self.kept}
        return ", ".join(f"{len(ids)} {name}" for name, ids in groups.items() if ids)


def compare(old: Plan, new: Plan) -> Comparison:
    """What the new plan keeps of the old one. Pure, and safe on any two plans."""
    before = {step.id: step for step in old.steps}
    altered = {step.id for step in new.steps if step.id in before and changes(before[step.id], step, both=(old, new))}
    added = {step.id for step in new.steps if step.id not in before}
    reached = altered | added
    while more := {step.id for step in new.steps if step.id not in reached and reached.intersection(sources(step.args))}:
        reached |= more
    return Comparison(
        kept=tuple(step.id for step in new.steps if step.id not in reached),
        added=tuple(step.id for step in new.steps if step.id in added),
        changed=tuple(step.id for step in new.steps if step.id in reached - added),
        removed=tuple(step.id for step in old.steps if step.id not in {step.id for step in new.steps}),
    )


def changes(before: Step, after: Step, *, both: tuple[Plan, Plan] | None = None) -> dict[str, tuple[Any, Any]]:
    """What differs between two forms of one step, by field: `args.NAME`, `tool`, `needs`, `breakpoint`…; purposes do not count.

    `both`: the plans that they stand in. Then `needs` differs only if the step comes before or after other steps that both plans have: a
    step that waited for one that is gone, and now waits for what that one waited for, runs in the same order as before.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for name in ABOUT_THE_CALL:
        if name != "args" and getattr(before, name) != getattr(after, name):
            found[name] = getattr(before, name), getattr(after, name)
    for name in dict.fromkeys((*before.args, *after.args)):
        if before.args.get(name) != after.args.get(name) or (name in before.args) != (name in after.args):
            found[f"args.{name}"] = before.args.get(name), after.args.get(name)
    if set(before.needs) != set(after.needs) and (both is None or _order(both, before.id, 0) != _order(both, after.id, 1)):
        found["needs"] = before.needs, after.needs
    if before.breakpoint and not after.breakpoint:  # one more place to stop needs nobody's yes; one less does
        found["breakpoint"] = True, False
    return found


def _order(both: tuple[Plan, Plan], step: str, which: int) -> set[str]:
    """The steps that come before this one, of those that both plans have."""
    common = {one.id for one in both[0].steps} & {one.id for one in both[1].steps}
    return {one.id for one in both[which].steps if one.id in common and any(later.id == step for later in dependents(both[which], one.id))}


def asked(old: Revision, new: Revision, catalogue: Catalogue, *, done: Collection[str] = ()) -> tuple[StepId, ...]:
    """The steps of the new revision that need a yes: new, changed or riskier ones, but for those that may run by themselves.

    `done`: steps that have run; nothing is asked about them. A step that only reads and that policy lets run by itself is not asked.
    """
    differs = compare(old.plan, new.plan)
    fresh = {*differs.added, *differs.changed, *_riskier(old, new), *_redefined(old.tool_digests, new), *_unguarded(old.plan, differs)}
    return tuple(
        step.id for step in new.plan.steps if step.id in fresh and step.id not in done and not _runs_by_itself(step, new, catalogue)
    )


def _unguarded(old: Plan, differs: Comparison) -> set[StepId]:
    """Steps that came after a guard which is gone: one that the run would have stood before, or that would have ended it."""
    guards = [step for step in old.steps if step.id in differs.removed and (step.breakpoint or step.on_failure == "stop")]
    return {later.id for guard in guards for later in dependents(old, guard.id)}


def _riskier(old: Revision, new: Revision) -> set[StepId]:
    before = {name: (grade.level.rank, grade.confirms) for name, grade in old.grades.items()}
    return {grade.step for name, grade in new.grades.items() if name in before and grade.level.rank > before[name][0]}


def _redefined(tools: Mapping[str, Digest], new: Revision) -> set[StepId]:
    """Steps whose tool is not the one that was approved any more."""
    return {step.id for step in new.plan.steps if step.tool in tools and new.tool_digests.get(step.tool) != tools[step.tool]}


def _runs_by_itself(step: Step, new: Revision, catalogue: Catalogue) -> bool:
    spec, grade = catalogue.get(step.tool), new.grades.get(step.id)
    return spec is not None and grade is not None and spec.effect is Effect.READ and grade.mode is Mode.AUTO


def level_of(new: Revision, steps: Collection[str]) -> Level:
    """The highest risk among these steps: what a yes to them needs."""
    return highest([grade.level for name, grade in new.grades.items() if name in steps])
