"""Can a plan, or the real values of one step, be shown whole on one card? If not, nobody agrees to them from there (P2): everything must
be opened first. The views show their buttons by these rules, and the commands refuse by them.
"""

from collections.abc import Mapping
from typing import Any

from bot.core.characters import utf16, visible
from bot.core.plan import Plan, Step, canonical

MOST_STEPS = 20
LONGEST_ARGUMENT = 600  # characters
MOST_LINES = 12  # of one argument
LONGEST_PLAN = 6_000  # characters of all arguments, goals and purposes: what is left of a message beside our own words
MESSAGE = "text"  # the argument of a sending tool that people will read
LONGEST_MESSAGE = 2_000  # UTF-16 units
PAGE_STEPS = 10
PAGE_CHARACTERS = 20_000


def is_complete(plan: Plan) -> bool:
    """True if every argument of every step stands on the card uncut."""
    if len(plan.steps) > MOST_STEPS:
        return False
    size = len(plan.goal) + sum(_size(step) for step in plan.steps)
    return size <= LONGEST_PLAN and all(_fits(value) for step in plan.steps for value in step.args.values())


def fits_card(args: Mapping[str, Any], *, sends: bool = False, after: Any = None) -> bool:
    """True if each of these values stands on a confirm card uncut. `sends`: the tool sends a message, which has more room.

    A value that is `after`, what the target would become by the preview, is shown as a change; how much of a change fits, its view decides.
    """
    own = {name: value for name, value in args.items() if after is None or value != after}
    size = sum(len(shown(value)) for value in own.values())
    return size <= LONGEST_PLAN and all(_fits(value) or (sends and _fits_as_message(name, value)) for name, value in own.items())


def _fits_as_message(name: str, value: Any) -> bool:
    return name == MESSAGE and isinstance(value, str) and utf16(visible(value)) <= LONGEST_MESSAGE


def _size(step: Step) -> int:
    return len(step.purpose) + len(step.tool) + sum(len(shown(value)) for value in step.args.values())


def _fits(value: Any) -> bool:
    text = shown(value)
    return len(text) <= LONGEST_ARGUMENT and text.count("\n") < MOST_LINES


def shown(value: Any) -> str:
    """An argument as people read it: text as it is, everything else as compact JSON."""
    return value if isinstance(value, str) else canonical(value)


def pages(plan: Plan) -> list[list[Step]]:
    """The full review in pages of at most ten steps and 20,000 characters (one longer step has a page of its own)."""
    found: list[list[Step]] = []
    room = 0
    for step in plan.steps:
        size = _size(step)
        if not found or len(found[-1]) >= PAGE_STEPS or size > room:
            found.append([])
            room = PAGE_CHARACTERS
        found[-1].append(step)
        room -= size
    return found
