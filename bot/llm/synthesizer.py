"""The answer: written by a model from the ask and what the steps returned, checked by code; or a plain report where there is no model.

The model has no tools and sees observations only as fenced data. It must cite steps by number; `bot.core.citations` looks at every
sentence, and those that no finished step supports are named in `unsupported` and stay in the text. A fault of the model gives the report.
"""

import json
import re
from typing import Any

import structlog

from bot.core.catalogue import Catalogue
from bot.core.characters import cut
from bot.core.citations import CODE, review
from bot.core.run import StepStatus
from bot.core.snapshot import Answer, Snapshot, StepState
from bot.errors import ModelFault
from bot.llm import fence, prompts
from bot.llm.client import ModelClient, Question
from bot.llm.report import did, report
from bot.tools.sanitize import clean, redact

log = structlog.get_logger()

ONE_RESULT = 12_000  # characters of one observation that the model sees
ALL_RESULTS = 80_000
MAX_TOKENS = 8192
ENDS = {StepStatus.SUCCEEDED: "finished", StepStatus.IN_DOUBT: "nobody knows whether it took effect", StepStatus.PENDING: "not started"}
SEVERAL = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})+)\]")


class Synthesizer:
    """Writes answers with the client's planner model; without a client, reports."""

    def __init__(self, client: ModelClient | None = None) -> None:
        self._client = client

    async def answer(self, snapshot: Snapshot, catalogue: Catalogue) -> Answer:
        """The closing message of a run. Never raises for what a model does."""
        if self._client is None or not any(step.status is StepStatus.SUCCEEDED for step in snapshot.steps):
            return report(snapshot, catalogue)
        marker = fence.new_marker()
        question = Question(
            model=self._client.planner_model,
            system=prompts.text("answer"),
            user=_facts(snapshot, catalogue, marker),
            max_tokens=MAX_TOKENS,
        )
        try:
            reply = await self._client.ask(question)
        except ModelFault as fault:
            log.warning("answer_by_report", run=snapshot.run.id, kind=fault.kind, why=str(fault))
            return report(snapshot, catalogue, tokens_in=fault.tokens_in, tokens_out=fault.tokens_out)
        text = _one_by_one(redact(clean(reply.text)).strip())
        found = review(text, snapshot)
        return Answer(
            text=text,
            cites=found.cites,
            unsupported=tuple(mark.sentence for mark in found.marks),
            by=reply.model,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
        )


def _facts(snapshot: Snapshot, catalogue: Catalogue, marker: str) -> str:
    """The ask and every step with what came of it, all of it fenced."""
    parts = [fence.rule(marker), "What the person asked:", fence.wrap(snapshot.run.ask, label="the ask", marker=marker), "What was done:"]
    room = ALL_RESULTS
    for step in snapshot.plan.steps if snapshot.plan else ():
        state = snapshot.state(step.id)
        does = did(step, state, catalogue, done=state.status is StepStatus.SUCCEEDED)
        shown = cut(_result(state), min(ONE_RESULT, room)) if room > 0 else "(left out: there is too much)"
        room -= len(shown)
        parts += [f"Step {state.number}: {_end(state)}.", fence.wrap(f"{does}\n{shown}", label=f"step {state.number}", marker=marker)]
    return "\n\n".join([*parts, "Write the answer to the ask now."])


def _end(state: StepState) -> str:
    at = f" at {state.finished_at:%H:%M} UTC" if state.finished_at else ""
    return ENDS.get(state.status, state.status.value) + at


def _result(state: StepState) -> str:
    """The observation as text, fields in lines, so that a text can be read as it is."""
    if state.observation is None:
        return state.error or ""
    value = state.observation.value
    lines = [state.observation.says]
    if isinstance(value, dict):
        lines += [f"{name}: {_shown(item)}" for name, item in value.items()]
    else:
        lines.append(_shown(value))
    return "\n".join(line for line in lines if line)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _one_by_one(text: str) -> str:
    """Sources written as [1, 2] become [1][2], outside of code."""
    here, pieces = 0, []
    for code in CODE.finditer(text):
        pieces += [_apart(text[here : code.start()]), code[0]]
        here = code.end()
    return "".join([*pieces, _apart(text[here:])])


def _apart(text: str) -> str:
    return SEVERAL.sub(lambda found: "".join(f"[{number}]" for number in re.findall(r"\d+", found[1])), text)
