"""Expressions that an admin writes: what is used, what is refused, and that what is used never stands still."""

import re

import pytest

from bot.core.expressions import bounded, expression, is_slow


@pytest.mark.parametrize(
    "text",
    [
        r"\bE-\d{6}\b",
        r"[\w.]{1,60}@[\w.]{1,60}\.\w{2,10}",
        r"(?:\d{4}[ -]?){4}",
        r"(?i:case)-\d+",
        r"\(a+\)+",
        r"[]()+]+x",
        r"a{2,5}b??c+?",
        r"(?P<kind>AB|CD)-\d{4}",
        r"(?:foo|bar)\d+",
        r"x(?:ab){3}",
    ],
)
def test_sound_expressions_are_taken_as_they_are(text: str) -> None:
    assert expression(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(r"(a+)+b", r"(a*)*b", r"(?:a|a)*b", r"(?:a?)+b", r"(a{1,9})+b", r"((a|b)c)*d", r"(?:\w+\s?)*x", r"(?:a{0,40}){10}b"),
        *(r"a+b+c+d+e+f", r"a*a*a*a*b", r"a+a+a+", r".+x.+x.+x", r"a{0,99}a{0,99}a{0,99}b", r"(?:x?x?x?x?){16}y", r"(a|aa){1,16}b{1,9}"),
        r"(?:(?:a?){16}){16}b",
    ],
)
def test_what_may_take_for_ever_is_refused_by_its_shape(text: str) -> None:
    assert is_slow(text)
    with pytest.raises(ValueError, match="might never end"):
        expression(text)


@pytest.mark.parametrize("text", ["", "a*", "(?:)", "^", "$", "x?", "a|"])
def test_what_fits_the_empty_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="would mask everything"):
        expression(text)


@pytest.mark.parametrize("text", ["(", "[", "a{2,1}", "*a", "(?P<1>a)", "[[a]", r"\1"])
def test_what_is_no_expression_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a regular expression \("):
        expression(text)


@pytest.mark.parametrize(
    ("hardest", "line"),
    [(r"(?:\d[ -]?){16}x", "1 " * 500), (r"a*a*b", "a" * 1_000), (r"(a|aa){1,12}b", "a" * 1_000), (r"a{1,200}a{1,200}b", "a" * 1_000)],
)
def test_the_slowest_that_is_taken_comes_to_an_end(hardest: str, line: str) -> None:
    """What is refused would not: the same with a few more repeats goes on for hours."""
    assert re.compile(bounded(expression(hardest))).search(line) is None


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (r"\d+", r"\d{1,201}"),
        (r"a*?b", r"a{0,200}?b"),
        (r"a{3,}c", r"a{3,203}c"),
        (r"[*+]\+x{,4}", r"[*+]\+x{,4}"),
        (r"a{b+", r"a{b{1,201}"),
        (r"(?P<k>a|b)(?P=k)", r"(?P<k>a|b)(?P=k)"),
    ],
)
def test_what_repeats_without_a_bound_is_used_with_one(text: str, used: str) -> None:
    assert bounded(expression(text)) == used
