"""Is a tool described well enough to be planned with? A planner knows nothing of it but these words.

`pullcord check` prints what this finds; none of it keeps a tool from running.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.tools.definition import Tool

FEWEST_WORDS = 8

_WHEN = re.compile(r"\b(?:use (?:it|this)|when|whenever|for (?:finding|reading|sending|getting)|if)\b", re.IGNORECASE)
_WHEN_NOT = re.compile(r"\b(?:not|never|don't|instead|rather than|only|except|cannot)\b", re.IGNORECASE)


def lint(tool: Tool) -> list[str]:
    """What is missing in the tool's words, one sentence each, each beginning with the tool's name; empty if nothing is."""
    return [f"{tool.spec.name}: {says}" for says in (*_of_description(tool.spec.description), *_of_args(tool.spec.args_schema))]


def _of_description(description: str) -> Iterator[str]:
    what = re.split(r"(?<=[.!?])\s|\n\n", description, maxsplit=1)[0]
    if len(description.split()) < FEWEST_WORDS or len(what.split()) < 3:
        yield "say in one sentence what it does."
    without_not = re.sub(r"(?i)\b(?:do not|don't|never) use\b.*?(?:\.|$)", "", description, flags=re.DOTALL)
    if not _WHEN.search(without_not):
        yield "say when to use it ('Use it when …')."
    if not _WHEN_NOT.search(description):
        yield "say when not to use it ('Do not use it for …')."


def _of_args(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, described in schema.get("properties", {}).items():
        if not str(described.get("description", "")).strip():
            yield f"describe the argument '{name}'."
