"""The order of a plan in words, and roughly how long it takes."""

import pytest
from hypothesis import given

from bot.core.estimate import estimate_seconds, order_line
from bot.core.plan import Plan
from tests.core.samples import CATALOGUE, plan, post, read, wild_plans


def steps(*needs: str) -> Plan:
    """One step for each text: the numbers of the steps that it waits for."""
    return plan(*(read(f"n{place}", depends_on=[f"n{one}" for one in text.split()]) for place, text in enumerate(needs, 1)))


@pytest.mark.parametrize(
    ("drawn", "line"),
    [
        (steps(""), "1"),
        (steps("", "1"), "1 → 2"),
        (steps("", "", "1 2", "3"), "1 and 2 together → 3 → 4"),
        (steps("", "1", "1"), "1 → 2 and 3 together"),
        (steps("", "", "", "", "", "", "1 2", "", "7", "9"), "1 to 6 and 8 together → 7 → 9 → 10"),
        (steps("2", ""), "2 → 1"),
        (steps("", "3", "2"), "1"),
        (plan(), ""),
        (plan({"id": "a", "tool": "t", "number": 0}, {"id": "b", "tool": "t", "number": 7}), "7 and a together"),
    ],
)
def test_the_order_is_said_in_numbers(drawn: Plan, line: str) -> None:
    assert order_line(drawn) == line


def test_seconds_are_those_of_the_longest_chain() -> None:
    wait = {"id": "wait", "tool": "time.wait", "args": {"seconds": 60}}
    together = plan(read("a"), wait, post("c", "{{a.text}}"))
    in_a_row = plan(read("a"), {**wait, "depends_on": ["a"]}, post("c", "x", depends_on=["wait"]))
    assert estimate_seconds(together, CATALOGUE) == 60
    assert estimate_seconds(in_a_row, CATALOGUE) == 63
    assert estimate_seconds(plan({**wait, "timeout_s": 5}), CATALOGUE) == 5
    assert estimate_seconds(plan(), CATALOGUE) == 0


@given(wild_plans())
def test_c029_both_are_safe_on_any_plan(drawn: Plan) -> None:
    order_line(drawn)
    assert estimate_seconds(drawn, CATALOGUE) >= 0
