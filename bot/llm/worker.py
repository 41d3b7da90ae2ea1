"""A model as a named worker: what `text.summarize` calls. It gets one text and gives one text, and it knows nothing of the run."""

from collections.abc import Callable

from bot.errors import ModelFault
from bot.llm import fence, prompts
from bot.llm.client import ModelClient, Question

MAX_TOKENS = 4096
LONGEST = 400_000  # characters; more than that no model at hand reads in one go


async def summarize(client: ModelClient, text: str, sentences: int, spend: Callable[[str, int, int], None]) -> str:
    """A summary in about that many sentences. Raises `ModelFault` if the model gives none. `spend` hears what it cost, either way."""
    marker = fence.new_marker()
    data = fence.wrap(text[:LONGEST], label="the text", marker=marker)
    cut = f"\n\nOnly the first {LONGEST:,} of {len(text):,} characters are shown; say so." if len(text) > LONGEST else ""
    wish = f"Summarize the text in {sentences} sentence{'' if sentences == 1 else 's'}."
    question = Question(
        model=client.fast_model,
        system=prompts.text("summary"),
        user=f"{fence.rule(marker)}\n\n{data}{cut}\n\n{wish}",
        max_tokens=MAX_TOKENS,
    )
    try:
        reply = await client.ask(question)
    except ModelFault as fault:
        spend(question.model, fault.tokens_in, fault.tokens_out)
        raise
    spend(question.model, reply.tokens_in, reply.tokens_out)
    return reply.text.strip()
