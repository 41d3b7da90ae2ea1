"""Long text in pieces: nothing lost, nothing torn."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.characters import clusters, utf16
from bot.core.splitting import split


def joined(pieces: list[str]) -> str:
    """The text again, without the fences that were added at the cuts."""
    text = pieces[0]
    for piece in pieces[1:]:
        if (fence := re.match(r"```[\w+.#-]*\n", piece)) and text.endswith("\n```"):
            text, piece = text[:-4], piece[fence.end() :]  # noqa: PLW2901
        text += piece
    return text


def test_short_text_is_one_piece() -> None:
    assert split("Hello") == ["Hello"]
    assert split("") == [""]


def test_long_answer_with_fence_emoji_entity_and_link_at_the_cuts_loses_nothing() -> None:
    """C006: 9,500 characters; a fence over the first cut, an emoji on one, `&amp;` and a link astride the next."""
    code = "```python\n" + "".join(f"value_{n} = {n}\n" for n in range(160)) + "```\n"
    text = "Intro. " * 100 + code
    text += "word" * 620 + "👩🏽‍💻" * 3 + "x" * 150 + "&amp;" + "<https://x.example|doc>" + "y" * 700 + "&amp;" * 200
    text += "é" * 1500 + "[1][2]" * 50
    pieces = split(text)
    assert len(text) > 7500
    assert joined(pieces) == text
    assert all(utf16(piece) <= 2900 for piece in pieces)
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert pieces[1].startswith("```python\n")
    for whole in ("👩🏽‍💻", "&amp;", "<https://x.example|doc>", "[1][2]"):
        assert sum(piece.count(whole) for piece in pieces) == text.count(whole)


@pytest.mark.parametrize(
    "whole",
    ["&amp;", "<https://x.example/a?b=1|a doc>", "[a doc](https://x.example)", "https://x.example/long/path"]
    + ["[1][2][3]", "👨‍👩‍👧", "🇫🇷", "e\u0301", "`a b`", "<@U123>"],
)
def test_no_cut_goes_through_what_belongs_together(whole: str) -> None:
    for before in range(60, 101):
        text = "x" * before + whole + " " + "y" * 150
        pieces = split(text, 100)
        assert any(whole in piece for piece in pieces), before
        assert "".join(pieces) == text


def test_cut_is_after_a_paragraph_line_sentence_or_word_where_there_is_one() -> None:
    assert split("a" * 60 + "\n\n" + "b" * 20 + "\n" + "c" * 60, 100)[0] == "a" * 60 + "\n\n"
    assert split("a" * 60 + "\n" + "b" * 20 + " " + "c" * 60, 100)[0] == "a" * 60 + "\n"
    assert split("a" * 60 + ". " + "b b " * 30, 100)[0] == "a" * 60 + ". "
    assert split("word " * 50, 100)[0] == "word " * 19


def test_limit_counts_as_slack_does() -> None:
    assert [utf16(piece) for piece in split("🧹" * 100, 100)] == [96, 96, 8]


def test_what_is_longer_than_a_piece_is_cut_all_the_same() -> None:
    monster = "e" + "\u0301" * 500
    pieces = split(monster, 100)
    assert "".join(pieces) == monster
    assert all(len(piece) <= 100 for piece in pieces)


FENCE_LINE = r"\n?```[\w+.#-]*\n?"
PIECES = st.sampled_from(
    ["word ", "\n", "\n\n", "```\n", "```py\n", "`a`", "&lt;", "<https://x.example|d>"] + ["🧹", "👩🏽‍💻", "é", ". ", "[1][2]", "x" * 90]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=120).map("".join), st.integers(min_value=100, max_value=400))
def test_pieces_fit_and_make_the_text_again(text: str, limit: int) -> None:
    pieces = split(text, limit)
    assert all(utf16(piece) <= limit for piece in pieces)
    bare = "".join(re.sub(FENCE_LINE, "", piece) for piece in pieces)
    assert [*clusters(re.sub(r"\s", "", bare))] == [*clusters(re.sub(r"\s", "", re.sub(FENCE_LINE, "", text)))]
