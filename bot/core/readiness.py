"""What a running run does next, decided from data alone: start these steps, skip those, wait for somebody, or be done.

The dispatcher asks after every change; the door has the last word, since only it sees the brake at the moment of the start.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.ids import Digest, StepId, short
from bot.core.judging import Judge, judged
from bot.core.plan import Plan, Step, fingerprint, ready
from bot.core.references import Unresolved, fill, sources
from bot.core.rest import RefusedCall, refusal_of
from bot.core.risk import Grade
from bot.core.run import Hold, Run, StepStatus
from bot.core.validation import check_args

LOST = frozenset({StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED})
OPEN = frozenset({StepStatus.PENDING, StepStatus.RUNNING})


@dataclass(frozen=True)
class Next:
    """At most one of `hold`, `starts` and `done` is set; `skips` and `fails` come first."""

    starts: tuple[tuple[Step, dict[str, Any]], ...] = ()  # with their filled-in arguments
    skips: tuple[StepId, ...] = ()
    fails: tuple[tuple[StepId, str], ...] = ()  # cannot be called at all, and why
    hold: Hold | None = None
    held_step: StepId | None = None
    held_args: dict[str, Any] | None = None  # the filled-in arguments that a confirm is about
    held_grade: Grade | None = None  # the grade that they make of the step, if it is stricter than the one that was approved
    done: bool = False
    settled: bool = False  # the run is braked, and nothing runs any more


@dataclass(frozen=True)
class Allowance:
    """What the run may still do while nobody acts."""

    used_up: str | None = None  # the part of its budget of which nothing is left
    unattended: int | None = None  # steps with an effect that may start in a row; None: any number
    alone: Collection[str] = ()  # ... and those that have started since a person acted
    effects: Collection[str] = ()  # steps of the plan that have an effect

    def lets(self, step: str, *, with_those: Collection[str]) -> bool:
        """May this step start, beside those that are about to?"""
        if self.unattended is None or step not in self.effects or step in self.alone:
            return True
        begun = {*self.alone, *(name for name in with_those if name in self.effects)}
        return len(begun) < self.unattended


@dataclass(frozen=True)
class Scene:
    """All that the decision is made from."""

    run: Run
    plan: Plan
    states: Mapping[StepId, StepStatus]
    observations: Mapping[str, Any]  # of the steps that succeeded
    grades: Mapping[str, Grade]
    catalogue: Catalogue
    approved_tools: Mapping[str, Digest]  # definitions as they were when the plan was graded
    digest: Digest  # of the plan that is stored
    refused: Collection[RefusedCall] = ()  # calls that somebody said no to, in this run
    cut: Collection[str] = ()  # steps whose observation is only the beginning of what they returned
    judge: Judge | None = None  # grades a step again with its filled-in arguments
    allowance: Allowance = Allowance()


def decide(scene: Scene, *, room: int) -> Next:
    """What comes next while the run is *running*. `room`: how many more steps may start now."""
    waiting = _waits_for_people(scene)
    if waiting is not None:
        return Next(hold=waiting[0], held_step=waiting[1])
    skips = _skips(scene)
    if skips:
        return Next(skips=skips)
    finished = {step for step, status in scene.states.items() if status is StepStatus.SUCCEEDED}
    touched = {step for step, status in scene.states.items() if status is not StepStatus.PENDING}
    open_now = ready(scene.plan, finished=finished, touched=touched)
    if not open_now:
        return Next(done=not any(status in OPEN for status in scene.states.values()))
    if scene.allowance.used_up is not None:
        return Next(hold=Hold.BUDGET, held_step=open_now[0].id)
    return _starts(scene, open_now[: max(room, 0)])


def _waits_for_people(scene: Scene) -> tuple[Hold, StepId] | None:
    """A step in doubt, or failed under the rule *ask*, stands before everything else."""
    for step in scene.plan.steps:
        if scene.states.get(step.id) is StepStatus.IN_DOUBT:
            return Hold.IN_DOUBT, step.id
    for step in scene.plan.steps:
        if scene.states.get(step.id) is StepStatus.FAILED and step.on_failure == "ask":
            return Hold.STEP_FAILED, step.id
    return None


def _skips(scene: Scene) -> tuple[StepId, ...]:
    """Pending steps that can never run: something they need was lost, or a failed step's rule is to stop."""
    stopped = any(step.on_failure == "stop" and scene.states.get(step.id) is StepStatus.FAILED for step in scene.plan.steps)
    lost = {step for step, status in scene.states.items() if status in LOST}
    pending = [step for step in scene.plan.steps if scene.states.get(step.id) is StepStatus.PENDING]
    return tuple(step.id for step in pending if stopped or lost & set(step.needs))


def _starts(scene: Scene, steps: list[Step]) -> Next:
    """Fill the arguments of steps that are ready; one that must wait for a person makes the run stand, and nothing else starts."""
    starts: list[tuple[Step, dict[str, Any]]] = []
    fails: list[tuple[StepId, str]] = []
    for step in steps:
        if (step.breakpoint or step.id in scene.run.breakpoints) and step.id not in scene.run.passed:
            return Next(hold=Hold.BREAKPOINT, held_step=step.id)
        args = filled(scene, step)
        if isinstance(args, str):
            fails.append((step.id, args))
            continue
        found = judged(scene.judge, step, args, scene.grades.get(step.id))
        if found.denied:
            fails.append((step.id, found.denied))
        elif _must_confirm(scene, step, args, found.stricter):
            return Next(hold=Hold.CONFIRM, held_step=step.id, held_args=args, held_grade=found.stricter)
        elif not scene.allowance.lets(step.id, with_those=[other.id for other, _ in starts]):
            return Next(starts=tuple(starts), fails=tuple(fails)) if starts or fails else Next(hold=Hold.UNATTENDED, held_step=step.id)
        else:
            starts.append((step, args))
    return Next(starts=tuple(starts), fails=tuple(fails))


def _must_confirm(scene: Scene, step: Step, args: Mapping[str, Any], stricter: Grade | None) -> bool:
    """A step that confirms by its grade, or that its values made stricter than what was approved; once for each filling."""
    grade = stricter or scene.grades.get(step.id)
    return grade is not None and grade.confirms and f"{step.id}:{short(fingerprint(args))}" not in scene.run.passed


def filled(scene: Scene, step: Step) -> dict[str, Any] | str:
    """The step's arguments with every reference filled, or the sentence that says why the tool must not be called."""
    if scene.digest != scene.run.approved:
        return "the stored plan is not the one that was approved"
    spec = scene.catalogue.get(step.tool)
    if spec is None:
        return f"the tool {step.tool} is not there any more"
    if spec.digest != scene.approved_tools.get(step.tool):
        return f"the definition of {step.tool} has changed since the plan was approved"
    partial = [source for source in sources(step.args) if source in scene.cut]
    if partial and spec.effect is not Effect.READ:
        return f"what {' and '.join(partial)} returned was too long to be kept whole, and a part of it must not pass for all of it"
    try:
        args: dict[str, Any] = fill(step.args, scene.observations)
    except Unresolved as fault:
        return str(fault)
    no = refusal_of(step.tool, args, scene.refused)
    return no.says() if no is not None else _fault(spec, args) or args


def _fault(spec: ToolSpec, args: dict[str, Any]) -> str | None:
    faults = check_args(spec, args, late=False)
    if faults:
        return "; ".join(str(fault) for fault in faults)
    return spec.scope(args) if spec.scope else None
