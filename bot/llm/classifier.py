"""What a reply in a live run's thread is: asked of a cheap model; `bot.llm.rules` stands in where it does not answer.

What is plain needs neither (`bot.core.replies`). The reply is data to the model, and all that the model can say is one word of five, so the
worst that a reply can talk it into is a needless pause.
"""

import asyncio

import structlog

from bot.core import notation
from bot.core.characters import cut
from bot.core.drafts import Brief, Kind
from bot.errors import ModelFault
from bot.llm import fence, prompts
from bot.llm.client import ModelClient, Question
from bot.llm.reading import Unreadable, read_json
from bot.llm.rules import by_rules, plainly

log = structlog.get_logger()

KINDS: tuple[Kind, ...] = ("change", "question", "control", "chatter")
SCHEMA = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": [*KINDS, "unclear"]}},
    "required": ["kind"],
    "additionalProperties": False,
}
MAX_TOKENS = 1024  # some models think before they say a word
REPLY_SHOWN, PLAN_SHOWN = 2_000, 4_000  # characters


class ModelClassifier:
    """A `Classifier` that asks the fast model, and the rules if that gives nothing within `limit_s`."""

    def __init__(self, model: ModelClient, *, limit_s: float = 8.0) -> None:
        self._client, self._limit_s = model, limit_s

    async def classify(self, brief: Brief) -> Kind | None:
        """What the last reply is; None if that cannot be told. Never raises for what a person wrote or a model does."""
        plain = plainly(brief)
        if plain or brief.rest is None or not brief.rest.replies:
            return plain
        try:
            async with asyncio.timeout(self._limit_s):
                reply = await self._client.ask(_question(brief, self._client.fast_model, fence.new_marker()))
            said = read_json(reply.text).get("kind")
        except (ModelFault, TimeoutError, Unreadable) as fault:
            log.warning("classified_by_rules", why=str(fault) or "the model gave no answer in time")
            return by_rules(brief)
        return next((kind for kind in KINDS if kind == said), None)


def _question(brief: Brief, model: str, marker: str) -> Question:
    plan, replies = (brief.rest.plan, brief.rest.replies) if brief.rest else (None, ())
    steps = notation.print_plan(plan) if plan else ""
    parts = [
        fence.rule(marker),
        fence.wrap(cut(brief.ask, REPLY_SHOWN), label="what was asked for", marker=marker),
        fence.wrap(cut(steps, PLAN_SHOWN), label="the plan", marker=marker),
        *(fence.wrap(cut(each.text, REPLY_SHOWN), label="an earlier reply", marker=marker) for each in replies[-4:-1]),
        fence.wrap(cut(replies[-1].text, REPLY_SHOWN), label="the last reply", marker=marker),
        "What is the last reply?",
    ]
    return Question(
        model=model,
        system=prompts.text("classify"),
        user="\n\n".join(parts),
        schema=SCHEMA,
        example='{"kind": "change"}',
        max_tokens=MAX_TOKENS,
    )
