"""A plan while somebody changes it by hand: what stands unsaved in the form, and the moves that the form has. Pure.

Slack is given ids only, so the unsaved plan lives here on the server, under the id of the modal, until it is saved, discarded or forgotten.
Values are the real ones: what people see of them is masked when it is drawn, and what comes back unchanged is left alone.
"""

import difflib
from collections.abc import Collection
from dataclasses import dataclass

from bot.core.comparison import changes
from bot.core.plan import Plan, Step, dependents, numbered
from bot.core.rest import used_numbers
from bot.core.snapshot import Snapshot
from bot.core.wording import joined

NAMES = {"tool": "tool", "timeout_s": "time limit", "on_failure": "if it fails", "retries": "tries again"}


@dataclass(frozen=True)
class Edit:
    """One person's unsaved plan of one run."""

    run: str
    base: int  # the revision that it began from
    plan: Plan  # whole, as it would be saved; new steps have no number yet
    adding: Step | None = None  # its form is open, and it is no part of the plan yet


def shown(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan with the numbers that its new steps would get now."""
    return numbered(plan, used=used_numbers(snapshot.revisions, snapshot.steps))


def put(plan: Plan, step: Step) -> Plan:
    """The step in the place of the one of its id; a new one comes last."""
    if all(one.id != step.id for one in plan.steps):
        return plan.model_copy(update={"steps": (*plan.steps, step)})
    return plan.model_copy(update={"steps": tuple(step if one.id == step.id else one for one in plan.steps)})


def without(plan: Plan, ids: Collection[str]) -> Plan:
    """The plan less these steps. That others came only after them is forgotten; what takes their results is a fault."""
    rest = [step for step in plan.steps if step.id not in ids]
    rest = [step.model_copy(update={"depends_on": tuple(name for name in step.depends_on if name not in ids)}) for step in rest]
    return plan.model_copy(update={"steps": tuple(rest)})


def neighbour(plan: Plan, step_id: str, by: int, *, fixed: Collection[str]) -> Step | None:
    """The next step up (-1) or down (1) that has not run, with which this one would change places; None where there is none."""
    steps = plan.steps if by > 0 else tuple(reversed(plan.steps))
    behind = steps[steps.index(plan.step(step_id)) + 1 :]
    return next((step for step in behind if step.id not in fixed), None)


def moved(plan: Plan, step_id: str, other_id: str) -> Plan:
    """The two change places."""
    swap = {step_id: plan.step(other_id), other_id: plan.step(step_id)}
    return plan.model_copy(update={"steps": tuple(swap.get(step.id, step) for step in plan.steps)})


def why_not_moved(plan: Plan, step_id: str, other_id: str) -> str:
    """Why the two cannot change places, in a sentence: one of them needs the other. Empty if they can."""
    for first, second in ((step_id, other_id), (other_id, step_id)):
        if any(step.id == second for step in dependents(plan, first)):
            return f"Step {plan.step(second).number} needs step {plan.step(first).number}, so it cannot come before it."
    return ""


def unsaved(before: Plan, after: Plan) -> list[tuple[int, str]]:
    """What differs, as (number of the step, words), in the order of the plan, removed steps last. The plans have all their numbers."""
    old = {step.id: step for step in before.steps}
    shifted = _shifted(before, after)
    found: list[tuple[int, str]] = []
    for step in after.steps:
        if step.id not in old:
            found.append((step.number, "added"))
            continue
        found += [(step.number, says) for says in _differs(old[step.id], step)]
        found += [(step.number, "moved")] if step.id in shifted else []
    return found + [(step.number, "removed") for step in before.steps if all(step.id != one.id for one in after.steps)]


def _differs(before: Step, after: Step) -> list[str]:
    fields = changes(before, after)
    names = [name.removeprefix("args.") for name in fields if name.startswith("args.")]
    names += [says for name, says in NAMES.items() if name in fields]
    names += ["purpose"] if before.purpose != after.purpose else []
    names += ["what it waits for"] if set(before.depends_on) != set(after.depends_on) and "needs" in fields else []
    said = [f"{joined(names)} changed"] if names else []
    if before.breakpoint != after.breakpoint:
        said.append("pause before it" if after.breakpoint else "no pause before it")
    return said


def _shifted(before: Plan, after: Plan) -> set[str]:
    """The fewest steps whose moving explains the new order."""
    both = {step.id for step in before.steps} & {step.id for step in after.steps}
    old, new = ([step.id for step in plan.steps if step.id in both] for plan in (before, after))
    matches = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept = {name for match in matches for name in new[match.b : match.b + match.size]}
    return {name for name in new if name not in kept}
