"""Windows: what counts, what an amount is, and that nothing makes what is used up smaller."""

import math
from typing import Any

import pytest

from bot.core import windows
from bot.core.catalogue import Effect
from bot.core.policy_file import Window


def window(**fields: Any) -> Window:
    return Window.model_validate({"tool": "pay.*", "most": 100, "within": "1h", **fields})


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"amount": 12.5}, 12.5),
        ({"amount": "12.5"}, 12.5),
        ({"amount": -50}, 50.0),
        ({"amount": "{{a.total}}"}, 0.0),
        ({}, 0.0),
        ({"amount": "a lot"}, math.inf),
        ({"amount": "nan"}, math.inf),
        ({"amount": ["1"]}, math.inf),
        ({"amount": 10**400}, math.inf),
    ],
)
def test_an_amount_is_a_number_and_whatever_is_none_is_more_than_any_bound(args: dict[str, Any], found: float) -> None:
    assert windows.amount(window(sum="args.amount"), args) == found


def test_a_number_may_lie_deeper() -> None:
    assert windows.amount(window(sum="args.order.total"), {"order": {"total": 3}}) == 3


@pytest.mark.parametrize(
    ("pattern", "tool", "effect", "yes"),
    [
        ("*", "pay.out", Effect.EXECUTE, True),
        ("*", "files.read", Effect.READ, False),
        ("files.*", "files.read", Effect.READ, True),
        ("pay.*", "files.write", Effect.WRITE, False),
    ],
)
def test_a_star_counts_every_effect_and_a_pattern_what_it_fits(pattern: str, tool: str, effect: Effect, yes: bool) -> None:
    assert windows.counts(window(tool=pattern), tool, effect) is yes


def test_a_window_is_gone_beyond_by_what_does_not_fit_into_it_any_more() -> None:
    given = (window(tool="pay.*", sum="args.amount"), window(tool="*", most=3))
    args = {"amount": 40}

    assert windows.beyond(given, {0: 60, 1: 2}, "pay.out", Effect.EXECUTE, args) == []
    assert [place for place, _ in windows.beyond(given, {0: 61, 1: 3}, "pay.out", Effect.EXECUTE, args)] == [0, 1]
    assert windows.beyond(given, {0: 61, 1: 2}, "files.write", Effect.WRITE, {}) == []


def test_the_reason_is_the_admins_or_says_what_is_bounded() -> None:
    assert windows.says(window(why="nobody pays that much")) == "nobody pays that much"
    assert windows.says(window(sum="args.amount")) == "the amount of steps of pay.* of one requester comes to more than 100 within 1 h"
    assert windows.says(window(tool="*", most=3, within="30m")) == "more than 3 steps with an effect of one requester within 30 min"
