"""What a reply in a live run's thread is, made out by rules: a change is what can be followed without a model (`bot.llm.following`).

Needs no model's library, so that a bot without a model does not load one.
"""

from bot.core.drafts import Brief, Kind
from bot.core.replies import sure
from bot.llm.following import follow


class RulesClassifier:
    """A `Classifier` that asks nobody: what can be followed without a model is a change."""

    async def classify(self, brief: Brief) -> Kind | None:
        """What the last reply is; None if the rules cannot tell."""
        return by_rules(brief)


def by_rules(brief: Brief) -> Kind | None:
    """What the last reply is, as far as rules can tell."""
    plain = plainly(brief)
    if plain or brief.rest is None or not brief.rest.replies:
        return plain
    last = brief.rest.model_copy(update={"replies": brief.rest.replies[-1:]})
    alone = brief.model_copy(update={"rest": last})  # an earlier reply that nobody can follow must not stand in its way
    return "change" if any(follow(each).plan is not None for each in (brief, alone)) else None


def plainly(brief: Brief) -> Kind | None:
    """A reply that takes an earlier one back belongs to the controls here: it changes nothing by itself."""
    if brief.rest is None or not brief.rest.replies:
        return None
    kind = sure(brief.rest.replies[-1].text, brief.rest.plan, tools=brief.catalogue)
    return "control" if kind == "withdraw" else kind
