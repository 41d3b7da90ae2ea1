"""JSON out of what models write around it, and never out of a part of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.reading import Unreadable, read_json

PLAN = {"reply": {"plan": {"goal": "é 🧹", "steps": [{"id": "a", "args": {"text": "a ``` b } {"}}]}}}
TEXT = json.dumps(PLAN, ensure_ascii=False)
PRETTY = json.dumps(PLAN, ensure_ascii=False, indent=2)


@pytest.mark.parametrize(
    "reply",
    [
        TEXT,
        PRETTY,
        "\ufeff" + TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{PRETTY}\n```",
        f"```JSON\r\n{TEXT}\r\n```",
        f"Sure!\n```json\n{TEXT}\n```\nAnything else?",
        f"Here is the plan: {TEXT} I hope that helps.",
        f"\n\n{PRETTY}\n\nLet me know.",
    ],
)
def test_object_is_found_in_fence_and_prose(reply: str) -> None:
    """C026"""
    assert read_json(reply) == PLAN


@given(st.integers(min_value=1, max_value=len(TEXT) - 1))
def test_cut_reply_is_never_read(end: int) -> None:
    """C027"""
    for text in (TEXT[:end], "```json\n" + TEXT[:end], PRETTY[:end]):
        with pytest.raises(Unreadable):
            read_json(text)


@pytest.mark.parametrize("reply", ["", "I cannot do that.", "[1, 2]", "null", '{"a": NaN}', "{'a': 1}", "{" * 5000, "Use {x} here: {}"])
def test_what_is_no_object_is_unreadable(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_json(reply)
