"""Counting, cutting and showing characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.characters import clusters, cut, has_right_to_left, hides, utf16, visible
from tests.core.samples import SIGNS

FAMILY, FLAG, ENGLAND, SKIN = "👩‍👩‍👧", "🇩🇪", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "👍🏽"


@pytest.mark.parametrize(("text", "length"), [("", 0), ("abc", 3), ("été", 3), ("日本", 2), ("🧹", 2), (FAMILY, 8), (FLAG, 4)])
def test_lengths_are_counted_as_slack_counts(text: str, length: int) -> None:
    """C035."""
    assert utf16(text) == length == len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("cluster", ["a", "e\u0301", FAMILY, FLAG, ENGLAND, SKIN, "한", "\u1112\u1161\u11ab", "\r\n", "क्", "❤️", "1️⃣", "日"])
def test_what_a_reader_takes_for_one_character_is_one_cluster(cluster: str) -> None:
    assert list(clusters(f"x{cluster}y")) == ["x", cluster, "y"]
    assert cut(f"{cluster}{'z' * 40}", utf16(cluster)) == "…"
    assert cut(f"{cluster}{'z' * 40}", utf16(cluster) + 1) == f"{cluster.rstrip()}…"


def test_flags_are_told_apart() -> None:
    assert list(clusters("🇩🇪🇫🇷🇮")) == ["🇩🇪", "🇫🇷", "🇮"]


@given(st.text(SIGNS + FAMILY + FLAG, max_size=60), st.integers(-1, 40))
def test_a_cut_text_keeps_to_the_limit_and_begins_like_the_whole(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert utf16(short) <= max(limit, 0)
    if short != text:
        assert text.startswith(short.removesuffix("…"))
        assert utf16(text) > limit


@given(st.text(SIGNS + FAMILY + FLAG, max_size=60))
def test_clusters_lose_nothing(text: str) -> None:
    assert "".join(clusters(text)) == text


@pytest.mark.parametrize(
    "sign", "\u202e\u2066\u200b\u2060\ufeff\u00ad\x00\x1b\r\x7f\u0085\u2028\u3164\u2800\U000e0041\U000e0100\ue000\ud800\u200f"
)
def test_hidden_characters_are_shown_by_their_number(sign: str) -> None:
    assert visible(f"a{sign}b") == f"a⟦U+{ord(sign):04X}⟧b"
    assert hides({"k": [f"a{sign}b"]})
    assert hides({f"a{sign}": 1})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "two\nlines\tand tab",
        "été périmées",
        FAMILY,
        FLAG,
        ENGLAND,
        SKIN,
        "❤️ 1️⃣",
        "می‌خواهم",
        "日本語",
        "שלום",
        "e\u0301",
        "a\u00a0b",
    ],
)
def test_c035_what_scripts_and_emoji_need_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert not hides([text])


def test_joiners_and_selectors_that_only_hide_are_shown() -> None:
    assert visible("pay\u200dpal") == "pay⟦U+200D⟧pal"
    assert visible("a\ufe0f\ufe0e\ufe0f") == "a\ufe0f⟦U+FE0E⟧⟦U+FE0F⟧"
    assert visible("x\U000e0067\U000e007f") == "x⟦U+E0067⟧⟦U+E007F⟧"


@given(st.text(SIGNS, max_size=40))
def test_nothing_is_hidden_in_what_is_visible(text: str) -> None:
    assert not hides(visible(text))
    assert visible(visible(text)) == visible(text)


def test_right_to_left_letters_are_noticed() -> None:
    assert [has_right_to_left(text) for text in ("abc", "שלום", "تقرير", "日本", "é")] == [False, True, True, False, False]
