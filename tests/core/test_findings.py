"""What people read of a result: its text, or its entries one a line, and no raw JSON where words will do."""

from typing import Any

import pytest

from bot.core.findings import echoes, finding, text_of


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("plain words ", "plain words"),
        ({"path": "a.md", "text": "the text\n"}, "the text"),
        ({"summary": "short", "by": "extractive"}, "short"),
        ({"text": "", "path": "empty.md"}, ""),
        ({"files": [{"path": "a.md", "size": 3}, {"path": "b.md", "size": 4}], "cut": True}, "a.md · 3\nb.md · 4\n… and more"),
        (["a", 2, None], "a\n2\nnull"),
        ({"iso": "2026-11-30", "zone": "UTC", "note_of": None}, "iso: 2026-11-30\nzone: UTC"),
        ({"path": "a.md", "existed": False}, "path: a.md\nexisted: false"),
        (None, ""),
        (True, ""),
        (3.5, "3.5"),
    ],
)
def test_a_result_is_told_in_words(value: Any, said: str) -> None:
    assert finding(value) == said


def test_a_result_without_a_text_has_none() -> None:
    assert text_of({"channel": "C0GENERAL", "ts": "1.2"}) is None


def test_a_result_that_only_repeats_the_arguments_is_known() -> None:
    assert echoes({"seconds": 20}, {"seconds": 20.0})
    assert not echoes({"seconds": 20, "late": True}, {"seconds": 20})
    assert not echoes("20", {"seconds": 20})
