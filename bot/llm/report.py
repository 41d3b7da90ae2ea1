"""The plain report: what the steps did and returned, written by code. It stands where no model writes the answer, or one failed to."""

import json
from typing import Any

from bot.core.catalogue import Catalogue
from bot.core.characters import cut
from bot.core.plan import Step
from bot.core.run import StepStatus
from bot.core.snapshot import Answer, Observation, Snapshot, StepState
from bot.core.wording import sentence

EXCERPT = 1500  # characters of one quoted result
ALL_EXCERPTS = 8000  # of all together; later ones are left out
TEXT_FIELDS = ("summary", "text", "answer", "value")  # the part of a result that people want to read
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
        excerpt = _excerpt(state.observation) if step in done and state.observation and _is_wanted(step, done) else ""
        if excerpt and len(excerpt) <= room:
            room -= len(excerpt)
            lines += ["> " + line for line in excerpt.splitlines()]
    cites = tuple(step.id for step in done)
    return Answer(text="\n".join(lines), cites=cites, by="report", tokens_in=tokens_in, tokens_out=tokens_out)


def _line(step: Step, state: StepState, catalogue: Catalogue) -> str:
    done = state.status is StepStatus.SUCCEEDED
    words = did(step, state, catalogue, done=done)
    if done:
        says = state.observation.says if state.observation else ""
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


def _excerpt(observation: Observation) -> str:
    """What the step returned, for people: its text, or its entries one a line; empty if it returned nothing to read."""
    text = _readable(observation.value)
    if len(text) <= EXCERPT:
        return text
    return f"{cut(text, EXCERPT)}\n({len(text):,} characters in all)"


def _readable(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value)
    if not isinstance(value, dict):
        return "" if value in (None, True) else str(value)
    field = next((name for name in TEXT_FIELDS if isinstance(value.get(name), str) and value[name].strip()), None)
    if field:
        return str(value[field]).strip()
    lists = [item for item in value.values() if isinstance(item, list)]
    if len(lists) == 1:
        return _readable(lists[0])
    plain = {name: item for name, item in value.items() if isinstance(item, str | int | float) and not isinstance(item, bool)}
    return "\n".join(f"{name}: {item}" for name, item in plain.items())
