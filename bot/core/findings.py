"""What a step returned, as people read it: the text that is in it, or its entries one a line, and never raw JSON where words will do.

Results are whatever tools return. Most carry one text; lists of things become lines; a few plain facts become `name: value`.
"""

import json
from typing import Any

TEXT_FIELDS = ("summary", "text", "note", "answer")


def text_of(value: Any) -> str | None:
    """The text of a result that is one or has one; None if there is none. A text may be empty."""
    if isinstance(value, dict):
        value = next((value[name] for name in TEXT_FIELDS if isinstance(value.get(name), str)), None)
    return value.strip() if isinstance(value, str) else None


def finding(value: Any) -> str:
    """A result for people, not cut; empty if it tells nothing."""
    text = text_of(value)
    return text if text is not None else _entries(value)


def echoes(value: Any, args: Any) -> bool:
    """Does a result only repeat what the step was called with?"""
    return isinstance(value, dict) and isinstance(args, dict) and all(name in args and args[name] == held for name, held in value.items())


def _entries(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_entry(item) for item in value)
    if not isinstance(value, dict):
        return "" if value in (None, True) else _plain(value)
    lists = [held for held in value.values() if isinstance(held, list)]
    if len(lists) == 1:
        return _entries(lists[0]) + ("\n… and more" if value.get("cut") is True else "")
    return "\n".join(f"{name.replace('_', ' ')}: {_plain(held)}" for name, held in value.items() if held not in (None, ""))


def _entry(item: Any) -> str:
    """One thing of a list, on one line."""
    if not isinstance(item, dict):
        return _plain(item)
    return " · ".join(_plain(held) for held in item.values() if held not in (None, ""))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
