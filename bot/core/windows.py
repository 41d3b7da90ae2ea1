"""Windows of the policy: how much one requester may do within a time, over all runs, so that a split ask passes below no threshold.

What was done is counted by steps or added up by one number of their arguments. What cannot be read as a number counts as more than any
bound, and a sign makes nothing smaller: a window can only ever be used up.
"""

import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from bot.core.catalogue import Effect
from bot.core.policy_file import Window
from bot.core.references import find

EVERY_EFFECT = "*"


def counts(window: Window, tool: str, effect: Effect) -> bool:
    """Is a step with that tool what this window counts? `*` means every step with an effect; any other pattern what it fits."""
    return effect is not Effect.READ if window.tool == EVERY_EFFECT else fnmatchcase(tool, window.tool)


def amount(window: Window, args: Mapping[str, Any]) -> float:
    """What one such step takes of the window: 1, or the number that it sums. One that is filled in later is 0: it is looked at then."""
    if window.sum is None:
        return 1.0
    value: Any = args
    for name in window.sum.removeprefix("args.").split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None or (isinstance(value, str) and find(value)):
        return 0.0
    return _number(value)


def _number(value: Any) -> float:
    try:
        number = abs(float(value))
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return math.inf if math.isnan(number) else number


def beyond(
    windows: Sequence[Window], spent: Mapping[int, float], tool: str, effect: Effect, args: Mapping[str, Any]
) -> list[tuple[int, Window]]:
    """The windows (with their place in the policy) that this step would go beyond, if so much of each is used up already."""
    mine = [(place, window) for place, window in enumerate(windows) if counts(window, tool, effect)]
    return [(place, window) for place, window in mine if spent.get(place, 0.0) + amount(window, args) > window.most]


def says(window: Window) -> str:
    """The window's reason in words: the admin's own, or what it bounds."""
    hours = window.within.total_seconds() / 3600
    span = f"{hours:g} h" if hours >= 1 else f"{hours * 60:g} min"
    what = "steps with an effect" if window.tool == EVERY_EFFECT else f"steps of {window.tool}"
    if window.sum is None:
        return window.why or f"more than {window.most:g} {what} of one requester within {span}"
    number = window.sum.removeprefix("args.")
    return window.why or f"the {number} of {what} of one requester comes to more than {window.most:g} within {span}"
