"""How many people a step needs once its arguments are filled in and it waits for a last yes.

What a step turned out to be may be worse than what was approved: then the yes that the plan got was not for this, and as many people are
asked as that level needs. Otherwise one person who has seen the values is enough.
"""

from collections.abc import Mapping

from bot.core.risk import Level


def needed(quorum: Mapping[Level, int], filled: Level, approved: Level) -> int:
    """How many people must say yes to the values, which are `filled` risky where `approved` was seen."""
    return quorum.get(filled, 1) if filled.rank > approved.rank else 1
