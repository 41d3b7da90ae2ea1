"""What a run did, counted honestly: the receipt of a stopped one and the log of a finished one.

A receipt has six outcomes, worst first, empty ones left out; its numbers add up to all steps: those of the
plan that stands, and those that began under an earlier one. It is text, never a folded block, because
somebody may have to act on it. The step log of a run that ended well may fold: Slack's plan block, or the same as plain lines.
"""

from collections.abc import Callable

from bot.core.catalogue import Effect
from bot.core.characters import cut
from bot.core.plan import Step
from bot.core.run import StepStatus
from bot.core.snapshot import StepState
from handlers.views import arguments, blocks, record, words
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count, duration, one_line, outside, ranges

MOST_TASKS = 50
MOST_ENTRIES = 10
OUTCOMES = (
    (StepStatus.IN_DOUBT, "?", "Could not be confirmed"),
    (StepStatus.FAILED, "!", "Failed"),
    (StepStatus.CANCELLED, "×", "Cancelled"),
    (StepStatus.SUCCEEDED, "✓", "Finished"),
    (StepStatus.SKIPPED, "–", "Left out"),
    (StepStatus.PENDING, "○", "Not started"),
)


def receipt(scene: Scene) -> list[Block]:
    """One block for each outcome that occurred."""
    found = []
    for status, mark, title in OUTCOMES:
        steps = with_status(scene, status)
        if steps:
            lines = [_entry(scene, step, status) for step in steps[:MOST_ENTRIES]]
            if len(steps) > MOST_ENTRIES:
                rest = steps[MOST_ENTRIES:]
                lines.append([blocks.said(f"{ranges(step.number for step in rest)} · {count(len(rest), 'more step')}")])
            found.append(blocks.rich(blocks.line(blocks.said(f"{mark} "), blocks.strong(f"{title} · {len(steps)}")), blocks.bullets(lines)))
    return found


def counts(scene: Scene) -> str:
    """`1 could not be confirmed, 1 cancelled, 7 finished, 3 not started`."""
    said = [(title, len(with_status(scene, status))) for status, _, title in OUTCOMES]
    return ", ".join(f"{number} {words.lowered(title)}" for title, number in said if number)


def with_status(scene: Scene, status: StepStatus) -> list[Step]:
    """Steps that stand so."""
    return [step for step in accounted(scene) if words.state_of(scene, step).status is status]


def accounted(scene: Scene) -> list[Step]:
    """Every step of the plan, and every one that began and is not in it any more; what a redirect dropped before it began is not."""
    names = {step.id for step in scene.plan.steps}
    gone = [state for state in scene.snapshot.steps if state.id not in names and state.status is not StepStatus.PENDING]
    earlier = {step.id: step for revision in scene.snapshot.revisions for step in revision.plan.steps}
    return [*scene.plan.steps, *(earlier[state.id] for state in gone if state.id in earlier)]


def _entry(scene: Scene, step: Step, status: StepStatus) -> list[Element]:
    state = words.state_of(scene, step)
    named = words.numbered(scene, step, done=status is StepStatus.SUCCEEDED)
    if status is StepStatus.IN_DOUBT:
        return [blocks.said(f"{named}: it had started and there is no record of its end. Check by hand whether it happened.")]
    if status is StepStatus.CANCELLED:
        return [blocks.said(f"{named}{_ran_for(scene, step)}{', it only reads' if only_reads(scene, step) else '; look at the target'}")]
    if status is StepStatus.FAILED and state.error:
        return [blocks.said(f"{named}: "), blocks.literal(one_line(state.error, 200))]
    if status is StepStatus.SUCCEEDED and step.id in record.kept(scene.snapshot):
        return [blocks.said(f"{named}: kept, it had been done before in this run")]
    if status is StepStatus.SUCCEEDED and (came := came_back(state)):
        return [blocks.said(f"{named}: {outside(came, 100)}")]
    return [blocks.said(named)]


def came_back(state: StepState) -> str:
    """What a step returned in a few words; nothing if they say no more than that it is done."""
    says = state.observation.says if state.observation else ""
    return "" if says == "done" else says


def _ran_for(scene: Scene, step: Step) -> str:
    state = words.state_of(scene, step)
    if not state.started_at or not state.finished_at:
        return ": cancelled"
    return f": ended after {duration((state.finished_at - state.started_at).total_seconds())}"


def only_reads(scene: Scene, step: Step) -> bool:
    """Does its tool only look? Tools that are not known here count as not."""
    spec = scene.catalogue.get(step.tool)
    return spec is not None and spec.effect is Effect.READ


def effects(scene: Scene) -> list[Step]:
    """Finished steps that changed, sent, deleted or ran something."""
    return [step for step in with_status(scene, StepStatus.SUCCEEDED) if not only_reads(scene, step)]


def open_effects(scene: Scene) -> list[Step]:
    """Steps with an effect of which nobody knows for sure that they did nothing: begun, and cancelled, failed or in doubt."""
    ended = [step for status in (StepStatus.CANCELLED, StepStatus.FAILED, StepStatus.IN_DOUBT) for step in with_status(scene, status)]
    return [step for step in ended if not only_reads(scene, step) and words.state_of(scene, step).attempt]


def what_was_done(scene: Scene) -> Block:
    """What the run did to the world, for a card that has ended."""
    done = effects(scene)
    if not done:
        doubtful = open_effects(scene)
        return blocks.rich(
            blocks.line(blocks.said("Nothing is known to have been changed or sent." if doubtful else "Nothing was changed or sent."))
        )
    listed = "; ".join(words.does(scene, step, done=True) for step in done[:4])
    more = f"; and {len(done) - 4} more" if len(done) > 4 else ""
    return blocks.rich(blocks.line(blocks.strong("What was done: "), blocks.said(f"{listed}{more}.")))


def step_log(scene: Scene, *, plain: bool) -> Block:
    """How each step ended: Slack's plan block, which folds, or as `plain` lines the same."""
    if plain or len(scene.plan.steps) > MOST_TASKS or not _ended(scene):
        return blocks.rich(*_log_lines(scene))
    failed = len(with_status(scene, StepStatus.FAILED)) + len(with_status(scene, StepStatus.IN_DOUBT))
    finished = len(with_status(scene, StepStatus.SUCCEEDED))
    title = f"Step log · {finished} of {len(scene.plan.steps)} done" + (f", {failed} failed" if failed else "")
    return {"type": "plan", "title": title, "tasks": [_task(scene, step) for step in scene.plan.steps]}


def _ended(scene: Scene) -> bool:
    """Only `complete` and `error` may stand in a plan block: a spinner would turn for ever."""
    return all(words.state_of(scene, step).status is not StepStatus.RUNNING for step in scene.plan.steps)


def _task(scene: Scene, step: Step) -> Block:
    state = words.state_of(scene, step)
    good = state.status is StepStatus.SUCCEEDED
    said = {
        StepStatus.FAILED: ": failed",
        StepStatus.IN_DOUBT: ": in doubt",
        StepStatus.SKIPPED: ": left out",
        StepStatus.CANCELLED: ": cancelled",
    }
    title = f"{words.numbered(scene, step, done=good)}{said.get(state.status, '' if good else ': not started')}"
    return {
        "type": "task_card",
        "task_id": step.id,
        "title": cut(title, 100),
        "status": "complete" if good else "error",
        "details": blocks.rich(blocks.line(blocks.literal(arguments.notation_text(scene, step)))),
        "output": blocks.rich(blocks.line(blocks.said(_outcome(scene, step)))),
    }


def _outcome(scene: Scene, step: Step) -> str:
    """How long it took and what came back, on one line."""
    state = words.state_of(scene, step)
    took = duration((state.finished_at - state.started_at).total_seconds()) if state.started_at and state.finished_at else ""
    came = state.observation.says if state.observation else state.error or ""
    kept = "kept, done before" if step.id in record.kept(scene.snapshot) else ""
    said = " · ".join(part for part in (kept or took, outside(came, 160) if came else "") if part)
    return said or ("no record" if state.attempt else "never started")


def _log_lines(scene: Scene) -> list[Element]:
    marks: dict[StepStatus, tuple[str, str]] = {status: (mark, words.lowered(title)) for status, mark, title in OUTCOMES}
    line: Callable[[Step], Element] = lambda step: _log_line(scene, step, marks)  # noqa: E731
    shown = [line(step) for step in scene.plan.steps[:MOST_TASKS]]
    hidden = len(scene.plan.steps) - MOST_TASKS
    return [*shown, blocks.line(blocks.said(f"{count(hidden, 'more step')}"))] if hidden > 0 else shown


def _log_line(scene: Scene, step: Step, marks: dict[StepStatus, tuple[str, str]]) -> Element:
    status = words.state_of(scene, step).status
    good = status is StepStatus.SUCCEEDED
    outcome = _outcome(scene, step).replace(" · ", ", ", 1)
    said = outcome if good else f"{marks.get(status, ('', 'running'))[1]}, {outcome}"
    return blocks.line(blocks.said(f"{marks.get(status, ('▸', ''))[0]} {words.numbered(scene, step, done=good)} — {said}"))
