"""What a tool returned becomes an observation: cleaned, bounded, hashed, said in one line."""

import hashlib
import json
import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from bot.errors import ToolFailed
from bot.tools.sanitize import clean, line, lossy, observe, size, summary, tidy


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("plain text\n\tstays\r\n", "plain text\n\tstays\r\n"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("bidi \u202eevil\u202c \u2066x\u2069\u200f", "bidi evil x"),
        ("tags\U000e0041\U000e0042", "tags"),
        ("soft\u00adhyphen", "softhyphen"),
        ("escape \x1b[31m bell\x07 nul\x00 del\x7f", "escape ␛[31m bell␇ nul␀ del␡"),
        ("over\rwritten\u2028line", "over\nwritten\nline"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("smuggled\ufe01\ufe0f\U000e0100", "smuggled"),
        ("family 👨‍👩‍👧 ❤️ 1️⃣ 👍🏽", "family 👨‍👩‍👧 ❤️ 1️⃣ 👍🏽"),
        ("می‌خواهم", "می‌خواهم"),
        ("join\u200der", "joiner"),
        ("été « 🧹 » 日本語 عربي e\u0301", "été « 🧹 » 日本語 عربي e\u0301"),
        ("ﬁne ① ２", "ﬁne ① ２"),
    ],
)
def test_what_cannot_be_seen_is_removed_and_what_is_written_stays(raw: str, seen: str) -> None:
    """C035, C036"""
    assert clean(raw) == seen


@given(st.text())
def test_cleaning_twice_changes_nothing_and_leaves_no_controls(text: str) -> None:
    once = clean(text)

    assert clean(once) == once
    assert not [char for char in once if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t\r"]


def test_a_line_is_one_line() -> None:
    assert line("  a\n b\u200b\tc ") == "a b c"
    assert line("x" * 500, 10) == "x" * 9 + "…"


class Row(BaseModel):
    name: str
    at: datetime


def test_models_dates_and_bytes_become_json() -> None:
    seen = observe({"row": Row(name="a", at=datetime(2026, 3, 2, tzinfo=UTC)), "raw": b"\xff\x00", "n": float("inf")}, untrusted=False)

    assert seen.value == {"row": {"name": "a", "at": "2026-03-02T00:00:00Z"}, "raw": "_wA=", "n": "inf"}
    json.dumps(seen.value, allow_nan=False)


def test_what_is_not_json_is_a_failure() -> None:
    loop: list[Any] = []
    loop.append(loop)

    for value in (object(), loop):
        with pytest.raises(ToolFailed, match="The result is not JSON"):
            observe(value, untrusted=False)


def test_a_small_value_is_whole_and_its_hash_is_that_of_its_json() -> None:
    value = {"b": 1, "a": "é"}

    seen = observe(value, untrusted=True)

    whole = '{"a":"é","b":1}'
    assert (seen.value, seen.cut, seen.untrusted, seen.size) == (value, False, True, len(whole))
    assert seen.sha256 == hashlib.sha256(whole.encode()).hexdigest()


def test_the_longest_strings_are_cut_first() -> None:
    """C058"""
    seen = observe({"path": "notes.md", "short": "s" * 3000, "long": "l" * 100_000, "longer": "m" * 200_000}, untrusted=False)

    assert seen.cut
    assert seen.value["path"] == "notes.md"
    assert seen.value["short"] == "s" * 3000
    assert seen.value["long"].endswith(" of 100,000 characters")
    assert seen.value["longer"].endswith(" of 200,000 characters")
    assert 19_000 < len(json.dumps(seen.value)) < 22_000
    assert seen.size > 303_000


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 50] * 100_000,
        [{"a": "x" * 20, "b": number} for number in range(20_000)],
        {f"key {number}": number for number in range(50_000)},
        [[["x" * 10] * 100] * 100] * 10,
        "\n" * 300_000,
        "👨‍👩‍👧" * 50_000,
        {"k" * 100_000: 1},
        [10**300] * 1000,
    ],
    ids=["strings", "rows", "keys", "nested", "line ends", "emoji", "long key", "numbers"],
)
def test_whatever_its_shape_a_huge_value_is_bounded(value: Any) -> None:
    seen = observe(value, untrusted=False)

    assert seen.cut
    assert len(json.dumps(seen.value, ensure_ascii=False).replace("\\n", "n")) < 26_000
    assert "… cut" in json.dumps(seen.value, ensure_ascii=False) or "…" in seen.value


def test_deep_nesting_is_cut_and_not_a_crash() -> None:
    value: Any = "core"
    for _ in range(150):
        value = [value]

    seen = observe(value, untrusted=False)

    assert seen.cut
    assert "nested too deeply" in json.dumps(seen.value)


def test_nesting_beyond_all_reason_is_a_failure_in_words() -> None:
    value: Any = "core"
    for _ in range(5000):
        value = [value]

    with pytest.raises(ToolFailed, match="The result is"):
        observe(value, untrusted=False)


@pytest.mark.parametrize(("unit", "length"), [("e\u0301", 2), ("👨‍👩‍👧", 5), ("🇩🇪", 2), ("👍🏽", 2), ("❤️", 2)])
def test_a_cut_never_splits_what_people_see_as_one(unit: str, length: int) -> None:
    for limit in range(100, 100 + length):
        kept = tidy(unit * 200, limit).partition("… cut")[0]
        assert kept == unit * (len(kept) // length)


def test_a_secret_at_the_cut_does_not_escape() -> None:
    token = "xoxb" + "-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx"

    for place in range(60, 130):
        shown = tidy("." * place + " " + token + " " + "z" * 500, 128)
        assert "xoxb" not in shown
        assert "⟦" not in shown.replace("⟦secret ", "").partition("⟧")[0] or "⟧" in shown


def test_text_that_lost_something_is_known() -> None:
    assert lossy("whole") is None
    assert lossy(tidy("x" * 500, 100)) == "it was cut"
    assert lossy("password = ⟦secret 3f2a⟧") == "a secret in it was masked"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"path": "a", "text": "x\n" * 38, "lines": 38, "size": 76}, "38 lines"),
        ({"path": "a", "text": "x" * 128}, "128 characters"),
        ({"text": "x"}, "1 character"),
        ({"files": [1, 2, 3], "cut": False}, "3 files"),
        ({"files": [1]}, "1 file"),
        ({"matches": [1, 2]}, "2 matches"),
        ({"matches": [1]}, "1 match"),
        ({"entries": [1]}, "1 entry"),
        ({"url": "u", "status": 200, "text": "x" * 1234, "links": []}, "HTTP 200, 1.2 kB"),
        ({"summary": "x" * 5, "by": "a model"}, "5 characters"),
        ({"path": "a", "size": 3}, "done"),
        (None, "done"),
        ({}, "done"),
        ("a\nb", "2 lines"),
        ([1, 2], "2 entries"),
        (7, "7"),
    ],
)
def test_a_result_is_said_in_one_line(value: Any, says: str) -> None:
    assert summary(value) == says


def test_sizes_are_said_in_words() -> None:
    assert [size(number) for number in (1, 999, 1200, 3_400_000)] == ["1 byte", "999 bytes", "1.2 kB", "3.4 MB"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("plain", 0),
        ("zero\u200bwidth \u202eevil", 2),
        ("so\u00adft \ufeffmark", 0),
        ("".join(chr(0xE0000 + ord(sign)) for sign in "order"), 5),
        ("👩\u200d👩\u200d👧 \u0645\u06cc\u200c\u062e", 0),
        ("\x1b[31m", 0),  # made visible, not removed
    ],
)
def test_what_was_removed_is_counted_and_said(text: str, hidden: int) -> None:
    seen = observe({"text": text}, untrusted=True)
    assert seen.hidden == hidden
    assert ("invisible" in seen.says) == bool(hidden)
    assert seen.says.endswith(f"{hidden} invisible characters removed") or not hidden


def test_the_whole_of_what_was_cut_is_kept_cleaned_and_masked() -> None:
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return "observations/R-1.a.1.txt"

    value = {"path": "a.md", "text": "password = 'correct horse'\u202e\n" + "x" * 50_000 + "\nend", "rows": [1, 2]}
    seen = observe(value, untrusted=False, keep=keep)

    assert (seen.cut, seen.full) == (True, "observations/R-1.a.1.txt")
    assert kept[0].startswith("path: a.md\ntext: password = '⟦secret ")
    assert kept[0].endswith("end\nrows: [1,2]")
    assert "\u202e" not in kept[0]
    assert observe({"text": "short"}, untrusted=False, keep=keep).full == ""
    assert len(kept) == 1
