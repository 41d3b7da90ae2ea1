"""The plain report: what the steps did and returned, written by code. It stands where no model writes the answer, or one failed to."""

from bot.core import findings
from bot.core.catalogue import Catalogue, Effect
from bot.core.characters import cut
from bot.core.plan import Step
from bot.core.run import StepStatus
from bot.core.snapshot import Answer, Snapshot, StepState
from bot.core.wording import sentence

EXCERPT = 1500  # characters of one quoted result
ALL_EXCERPTS = 8000  # of all together; later ones are left out
ENDINGS = {
    StepStatus.FAILED: "Failed",
    StepStatus.SKIPPED: "Skipped",
    StepStatus.CANCELLED: "Cancelled",
    StepStatus.IN_DOUBT: "In doubt",
    StepStatus.RUNNING: "Not finished",
    StepStatus.PENDING: "Not started",
}


def report(snapshot: Snapshot, catalogue: Catalogue, *, tokens_in: int = 0, tokens_out: int = 0) -> Answer:
    """One line for each step, results that no other step has used quoted below. The tokens are those of a model that failed."""
    steps = snapshot.plan.steps if snapshot.plan else ()
    states = {state.id: state for state in snapshot.steps}
    done = [step for step in steps if step.id in states and states[step.id].status is StepStatus.SUCCEEDED]
    lines = [] if done else ["No step finished, so nothing was found out, and there is no answer."]
    room = ALL_EXCERPTS
    for step in steps:
        state = states.get(step.id)
        if state is None:
            continue
        lines.append(_line(step, state, catalogue))
        excerpt = _excerpt(step, state, catalogue) if step in done and _is_wanted(step, done) else ""
        if excerpt and len(excerpt) <= room:
            room -= len(excerpt)
            lines += ["> " + line for line in excerpt.splitlines()]
    cites = tuple(step.id for step in done)
    return Answer(text="\n".join(lines), cites=cites, by="report", tokens_in=tokens_in, tokens_out=tokens_out)


def _line(step: Step, state: StepState, catalogue: Catalogue) -> str:
    done = state.status is StepStatus.SUCCEEDED
    words = did(step, state, catalogue, done=done)
    if done:
        says = state.observation.says if state.observation and state.observation.says != "done" else ""
        return f"{state.number} · {words}{f': {says}' if says else ''} [{state.number}]"
    why = "it was started, and nothing tells how it ended" if state.status is StepStatus.IN_DOUBT else state.error
    return f"{state.number} · {ENDINGS[state.status]}: {words}{f' ({why})' if why else ''}"


def did(step: Step, state: StepState, catalogue: Catalogue, *, done: bool) -> str:
    """What the step does or did, in code's words, with the arguments that it was really called with."""
    spec = catalogue.get(step.tool)
    if spec is None:
        return step.tool
    return sentence(step.model_copy(update={"args": state.args}) if state.args is not None else step, spec, done=done)


def _is_wanted(step: Step, done: list[Step]) -> bool:
    """A written text always; else what no other finished step has used."""
    return step.tool.startswith("text.") or not any(step.id in other.needs for other in done)


def _excerpt(step: Step, state: StepState, catalogue: Catalogue) -> str:
    """What the step found out, for people; of a step that changed or sent something only a text, since its line tells the rest."""
    if state.observation is None or findings.echoes(state.observation.value, state.args or step.args):
        return ""
    spec = catalogue.get(step.tool)
    if (spec is None or spec.effect is not Effect.READ) and not findings.text_of(state.observation.value):
        return ""
    text = findings.finding(state.observation.value)
    return text if len(text) <= EXCERPT else f"{cut(text, EXCERPT)}\n({len(text):,} characters in all)"


class Reporter:
    """The synthesizer of a bot without a model."""

    async def answer(self, snapshot: Snapshot, catalogue: Catalogue) -> Answer:
        """The plain report."""
        return report(snapshot, catalogue)
