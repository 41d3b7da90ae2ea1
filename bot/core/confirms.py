"""How many people a step needs once its arguments are filled in and it waits for a last yes.

One person who has seen the values is enough where people said yes to the step as it is. Values that are riskier than what was approved, and
values that somebody gave it by hand when it was about to run, have had no such yes: as many people are asked as the risk needs.
"""

from collections.abc import Iterable, Mapping

from bot.core.risk import Level
from bot.core.run import Event
from bot.core.snapshot import Entry


def needed(quorum: Mapping[Level, int], filled: Level, approved: Level | None) -> int:
    """How many people must say yes to the values, which are `filled` risky where `approved` was agreed to (None: nothing was)."""
    return quorum.get(filled, 1) if approved is None or filled.rank > approved.rank else 1


def is_agreed(entries: Iterable[Entry], step: str, revision: int) -> bool:
    """Were people asked about the step as that revision brought it? Not if it was changed while it stood to be confirmed."""
    made = (entry.data for entry in entries if entry.event == Event.REDIRECTED and entry.data.get("revision") == revision)
    data = next(made, None)
    return data is None or step not in data.get("changed", ()) or step in data.get("asked", ())
