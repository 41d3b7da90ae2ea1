"""A model as a named worker: what `text.summarize` calls. It gets one text and gives one text, and it knows nothing of the run."""

from bot.llm import fence, prompts
from bot.llm.client import ModelClient, Question

MAX_TOKENS = 4096
LONGEST = 400_000  # characters; more than that no model at hand reads in one go


async def summarize(client: ModelClient, text: str, sentences: int) -> str:
    """A summary in about that many sentences. Raises `ModelFault` if the model gives none."""
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
    return (await client.ask(question)).text.strip()
