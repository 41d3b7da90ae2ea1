"""Reading JSON out of what a model wrote: in a fence, with prose around it, with a byte order mark; but never out of a part of it.

A reply that was cut must not be repaired into a plan, so only the first object of the text is tried, and it must be complete.
"""

import json
import re
from typing import Any

FENCE = re.compile(r"```[ \t]*(?:json[c5]?)?[ \t]*\r?\n(.*?)```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):
    """The text holds no complete JSON object; the words say what is wrong with it."""


def read_json(text: str) -> dict[str, Any]:
    """The one JSON object of a reply. Raises `Unreadable` if there is none, or if it is not complete."""
    text = text.lstrip("\ufeff \t\r\n")
    for candidate in (text, *(fence[1] for fence in FENCE.finditer(text))):
        found = _whole(candidate.strip())
        if found is not None:
            return found
    start = text.find("{")
    if start < 0:
        raise Unreadable("the reply holds no JSON object")
    try:
        found, _ = json.JSONDecoder(parse_constant=_refuse).raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the reply is not complete JSON ({str(error)[:120]})") from error
    if not isinstance(found, dict):
        raise Unreadable("the reply is JSON, but not an object")
    return found


def _whole(text: str) -> dict[str, Any] | None:
    """The object, if the text is one and nothing else."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
