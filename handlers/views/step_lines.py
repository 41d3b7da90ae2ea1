"""One line for each step of a run: its mark, its number, what it does, how it stands.

At most a dozen lines stand on a card. Of long plans the finished steps fold into one line first, then the far future; what failed, is in
doubt, is held or runs is never folded. Symbol and word always stand together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.core.ids import StepId
from bot.core.plan import Step, dependents
from bot.core.run import Hold, RunStatus, StepStatus
from bot.core.snapshot import LockWait, StepState
from handlers.views import blocks, receipts, record, words
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count, duration, outside, ranges

MOST_LINES = 12
FOLD_FROM = 9  # plans of at least this many steps fold what is finished
NEAR = 2  # waiting steps that keep a line of their own
MARKS = {
    StepStatus.SUCCEEDED: "✓",
    StepStatus.RUNNING: "▸",
    StepStatus.PENDING: "○",
    StepStatus.FAILED: "!",
    StepStatus.IN_DOUBT: "?",
    StepStatus.CANCELLED: "×",
    StepStatus.SKIPPED: "–",
}
HELD_WORDS = {
    Hold.BREAKPOINT: "waits for Continue",
    Hold.UNATTENDED: "waits for Continue",
    Hold.BUDGET: "waits for Continue",
    Hold.CONFIRM: "waits for confirmation",
}


@dataclass(frozen=True)
class Look:
    """What the lines are made from beside the steps: who is asked about which, what is said of the rest, what was taken as done."""

    scene: Scene
    held: Mapping[str, str] = field(default_factory=dict)  # steps that people are asked about, and how
    waiting: str = ""  # said of every other step that has not started, if anything is
    kept: Mapping[StepId, StepId] = field(default_factory=dict)


def step_lines(scene: Scene, *, fold: bool | None = None, held: Mapping[str, str] | None = None, waiting: str = "") -> Block:
    """The lines of all steps, folded where the plan is long (or as `fold` says).

    `held`: steps that people are asked about, with what is said of each; `waiting`: what is said of all others that have not started.
    """
    look = Look(scene, held or {}, waiting, record.kept(scene.snapshot))
    folds = len(scene.plan.steps) >= FOLD_FROM if fold is None else fold
    return blocks.rich(*(_folded(look) if folds else [_line(look, step) for step in scene.plan.steps]))


def _folded(look: Look) -> list[Element]:
    done, waiting, other = _sorted(look)
    lines = [_done_line(look.scene, done)] if len(done) > 1 else [_line(look, step) for step in done]
    near = waiting if len(waiting) <= NEAR + 1 else waiting[:NEAR]
    far = waiting[len(near) :]
    room = max(0, MOST_LINES - len(lines) - len(near) - bool(far))
    lines += [_line(look, step) for step in other[: max(room, _pinned(look.scene, other))]]
    if len(other) > max(room, _pinned(look.scene, other)):
        rest = other[max(room, _pinned(look.scene, other)) :]
        lines.append(blocks.line(blocks.said(f"– {ranges(step.number for step in rest)} · {count(len(rest), 'step')} — left out")))
    lines += [_line(look, step) for step in near]
    return [*lines, _far_line(look, far)] if far else lines


def _sorted(look: Look) -> tuple[list[Step], list[Step], list[Step]]:
    """Finished, not started, and what must be seen; of the last the open cases stand first."""
    done, waiting, other = [], [], []
    for step in look.scene.plan.steps:
        status = words.state_of(look.scene, step).status
        if status is StepStatus.SUCCEEDED:
            done.append(step)
        elif status is StepStatus.PENDING and not _holds(look, step) and _lock(look.scene, step) is None:
            waiting.append(step)
        else:
            other.append(step)
    other.sort(key=lambda step: words.state_of(look.scene, step).status in (StepStatus.SKIPPED, StepStatus.CANCELLED))
    return done, waiting, other


def _holds(look: Look, step: Step) -> bool:
    """Is it this step that somebody is waited for?"""
    stands = look.scene.run.status in (RunStatus.PAUSED, RunStatus.PAUSING)
    return step.id in look.held or (step.id == look.scene.run.held_step and stands)


def _pinned(scene: Scene, steps: Sequence[Step]) -> int:
    """How many of these may never be folded."""
    return sum(words.state_of(scene, step).status not in (StepStatus.SKIPPED, StepStatus.CANCELLED) for step in steps)


def _done_line(scene: Scene, steps: list[Step]) -> Element:
    states = [words.state_of(scene, step) for step in steps]
    began = [state.started_at for state in states if state.started_at]
    ended = [state.finished_at for state in states if state.finished_at]
    took = f", {duration((max(ended) - min(began)).total_seconds())}" if began and ended else ""
    return blocks.line(blocks.said(f"✓ {ranges(step.number for step in steps)} · {len(steps)} steps — done{took}"))


def _far_line(look: Look, steps: list[Step]) -> Element:
    scene, ids = look.scene, {step.id for step in steps}
    before = {name for step in steps for name in step.needs if name not in ids}
    numbers = [step.number for step in scene.plan.steps if step.id in before and not _is_done(scene, step)]
    waits = f"wait for {ranges(numbers, final=' and ')}" if numbers else "wait"
    words_of_state = look.waiting or _standing(scene) or waits
    return blocks.line(blocks.said(f"○ {ranges(step.number for step in steps)} · {count(len(steps), 'more step')} — {words_of_state}"))


def _line(look: Look, step: Step) -> Element:
    scene, state = look.scene, words.state_of(look.scene, step)
    open_failure = step.id in look.held and state.status is StepStatus.FAILED
    waits = _holds(look, step) and (state.status is StepStatus.PENDING or open_failure)
    mark = words.WAITS if waits else MARKS[state.status]
    stands = look.held.get(step.id) or HELD_WORDS.get(scene.run.reason or Hold.PERSON, "held") if waits else _stands(look, step, state)
    named = words.numbered(scene, step)
    loud = waits or _lock(scene, step) is not None or state.status in (StepStatus.RUNNING, StepStatus.FAILED, StepStatus.IN_DOUBT)
    said = [blocks.said(f"{mark} "), blocks.strong(named)] if loud else [blocks.said(f"{mark} {named}")]
    return blocks.line(*said, blocks.said(f" — {stands}{_ahead(scene, step, state) if not waits else ''}"))


def _stands(look: Look, step: Step, state: StepState) -> str:
    """How a step stands, in words."""
    if state.status is StepStatus.RUNNING:
        return _running(look.scene, step, state)
    if state.status is StepStatus.PENDING:
        return look.waiting or _standing(look.scene) or _waits_for(look.scene, step)
    said = {
        StepStatus.SUCCEEDED: _done(look, step, state),
        StepStatus.FAILED: f"failed{_took(state)}",
        StepStatus.IN_DOUBT: "in doubt",
        StepStatus.CANCELLED: "cancelled",
        StepStatus.SKIPPED: "left out",
    }
    return said[state.status]


def _done(look: Look, step: Step, state: StepState) -> str:
    """`done, 1 s`; `kept from 1` for a step whose work had been done before in this run."""
    if step.id not in look.kept:
        return f"done{_took(state)}"
    source = next((other for other in look.scene.snapshot.steps if other.id == look.kept[step.id] and other.id != step.id), None)
    return f"kept, done before as {source.number}" if source else "kept, done before"


def _running(scene: Scene, step: Step, state: StepState) -> str:
    verb = {RunStatus.PAUSING: "still running", RunStatus.STOPPING: "being cancelled"}.get(scene.run.status, "running")
    since = duration((scene.now - state.started_at).total_seconds()) if state.started_at else ""
    tries = f"try {state.attempt}{f' of {step.retries + 1}' if step.retries else ''}" if state.attempt > 1 else ""
    progress = outside(state.progress, 60) if state.progress else since
    return ", ".join(part for part in (verb, progress, tries) if part)


def _took(state: StepState) -> str:
    if not state.started_at or not state.finished_at:
        return ""
    return f", {duration(max(timedelta(), state.finished_at - state.started_at).total_seconds())}"


def _standing(scene: Scene) -> str:
    """What holds everything that has not started, if something does."""
    if scene.run.status is RunStatus.STOPPING:
        return "will not start"
    if scene.run.status is RunStatus.PAUSING or scene.run.reason is Hold.FREEZE:
        return "held"
    return "not started" if scene.run.is_final else ""


def _waits_for(scene: Scene, step: Step) -> str:
    """`waits for 3 to 5`, `needs 3` after a failure, or what a step waits for that needs nothing more."""
    missing = [other for other in scene.plan.steps if other.id in step.needs and not _is_done(scene, other)]
    lock = _lock(scene, step)
    if lock is not None:
        return f"waits for {lock.holder}, which holds {outside(lock.key, 60)}"
    if missing:
        failed = scene.run.reason is Hold.STEP_FAILED and any(other.id == scene.run.held_step for other in missing)
        return f"{'needs' if failed else 'waits for'} {ranges([other.number for other in missing], final=' and ')}"
    if scene.run.reason is Hold.SHUTDOWN and words.state_of(scene, step).attempt and receipts.only_reads(scene, step):
        return "runs again after the restart, it only reads"
    if scene.run.status is RunStatus.PAUSED:
        return "next"
    return "not started" if scene.run.status is RunStatus.QUEUED else "waits for a free place"


def _lock(scene: Scene, step: Step) -> LockWait | None:
    """The key of another run that keeps the step from starting."""
    return next((wait for wait in scene.snapshot.lock_waits if wait.step == step.id), None)


def _is_done(scene: Scene, step: Step) -> bool:
    return words.state_of(scene, step).status is StepStatus.SUCCEEDED


def _ahead(scene: Scene, step: Step, state: StepState) -> str:
    """What will hold a step that has not started."""
    if state.status is not StepStatus.PENDING or scene.run.status is RunStatus.STOPPING or scene.run.is_final:
        return ""
    held = (step.breakpoint or step.id in scene.run.breakpoints) and step.id not in scene.run.passed
    asks = words.grade_of(scene, step).confirms and _lock(scene, step) is None  # what stands in line for a key is past its questions
    return (f"  {words.STANDS} breakpoint" if held else "") + (f"  {words.WAITS} asks first" if asks else "")


def dropped_with(scene: Scene, step_id: str) -> list[Step]:
    """Steps that cannot run if this one is left out."""
    return [step for step in dependents(scene.plan, step_id) if not _is_done(scene, step)]


def done_of(scene: Scene) -> str:
    """`2 of 4 done`."""
    return f"{sum(_is_done(scene, step) for step in scene.plan.steps)} of {len(scene.plan.steps)} done"


def running_steps(scene: Scene) -> list[Step]:
    """Steps whose call is out."""
    return [step for step in scene.plan.steps if words.state_of(scene, step).status is StepStatus.RUNNING]
