"""The conditions that a rule of the policy may have, and what each may be compared with; `matching` asks them of a step.

The list is closed. None of them reads what a planner says of itself (goal, purpose), so that no plan can grade itself, and none reads what
a server hints of its own tool. `asked_by` takes ids only: names are looked up at clicks, not in grading.
"""

import difflib
import re
from collections.abc import Callable
from typing import Any

from bot.core.catalogue import Effect
from bot.core.policy_terms import ARGUMENT, ID, channel_glob, host_glob, path_glob, tool_glob

BOUND = re.compile(r"\s*(?:>=|<=|>|<)\s*\d+\s*")
Check = Callable[[Any], None]


def _texts(check: Callable[[str], Any]) -> Check:
    def look(value: Any) -> None:
        for one in value if isinstance(value, tuple) and value else (value,):
            if not isinstance(one, str):
                raise ValueError("must be text, or a list of texts; put it in quotes")
            check(one)

    return look


def _effect(value: str) -> None:
    if value not in list(Effect):
        raise ValueError(f"cannot be '{value}'; use {', '.join(Effect)}")


def _user(value: str) -> None:
    if not ID.fullmatch(value) or value[0] not in "UW":
        raise ValueError(f"is '{value}', which is not a user id; write it like U02AB3CD, as the profile in Slack shows it")


def _claim(value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError("is not true or false; write true or false without quotes")


def _reach(value: Any) -> None:
    if not isinstance(value, str) or not BOUND.fullmatch(value):
        raise ValueError('is not a number of people; write it like ">50"')


def _any_value(value: Any) -> None:
    """Text, number or truth, or a list of them."""
    for one in value if isinstance(value, tuple) and value else (value,):
        if not isinstance(one, str | bool | int | float) or one != one:  # noqa: PLR0124 - not a number is like nothing, not even itself
            raise ValueError("is not a value to compare with; write text, a number, true or false, or a list of them")


CONDITIONS: dict[str, Check] = {
    "tool": _texts(tool_glob),
    "effect": _texts(_effect),
    "host": _texts(host_glob),
    "path": _texts(path_glob),
    "channel": _texts(channel_glob),
    "reach": _reach,
    "external": _claim,
    "untrusted": _claim,
    "asked_in": _texts(channel_glob),
    "asked_by": _texts(_user),
}
OWN_WORDS = ("goal", "purpose", "why", "plan", "planner", "revision", "author", "confidence")
HINTS = ("hint", "hints", "annotation", "annotations", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def condition(key: str, value: Any) -> None:
    """ValueError for a condition that does not exist, or cannot hold."""
    if key in OWN_WORDS:
        raise ValueError("is not a condition, since no plan grades itself; look at tool, effect or args.NAME")
    if key in HINTS:
        raise ValueError("is not a condition, since a server's hint about its tool counts for nothing; say its effect under tools")
    check = CONDITIONS.get(key) or (_any_value if ARGUMENT.fullmatch(key) else None)
    if check is None and key.startswith("args"):
        raise ValueError("names no argument; write it like args.amount")
    if check is None:
        raise ValueError(f"is not a condition; {_nearest(key)}")
    check(value)


def _nearest(key: str) -> str:
    near = difflib.get_close_matches(key, [*CONDITIONS, f"args.{key.rpartition('.')[2]}"], n=1)
    return f"did you mean {near[0]}?" if near else f"use {', '.join(CONDITIONS)} or args.NAME"
