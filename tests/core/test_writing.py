"""What is typed for a yes in writing is the name of the target if a person can type it, else the run's id."""

import pytest

from bot.core.catalogue import Effect, ToolSpec
from bot.core.ids import StepId
from bot.core.plan import Plan, Step
from bot.core.risk import Grade, Level, Mode
from bot.core.writing import is_typed, riskiest, wanted

RUN = "R-7K2QX"
SPEC = ToolSpec(name="t", effect=Effect.DELETE, description="", args_schema={}, target="to.name")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("prod", "prod"),
        ("app/config.toml", "app/config.toml"),
        (42, "42"),
        ("{{l.name}}", RUN),
        ("a {{l.name}}", RUN),
        ("", RUN),
        (" prod", RUN),
        ("two\nlines", RUN),
        ("pr\u200bod", RUN),
        ("p\u202ero", RUN),
        ("x" * 41, RUN),
        ("x" * 40, "x" * 40),
        (True, RUN),
        (None, RUN),
        (["prod"], RUN),
    ],
)
def test_the_name_of_the_target_if_it_can_be_typed_as_it_stands(value: object, name: str) -> None:
    step = Step(id=StepId("s"), tool="t", args={"to": {"name": value}})
    assert wanted(RUN, step, {"t": SPEC}) == name


def test_real_values_take_the_place_of_what_was_planned() -> None:
    step = Step(id=StepId("s"), tool="t", args={"to": {"name": "{{l.name}}"}})
    assert wanted(RUN, step, {"t": SPEC}, args={"to": {"name": "prod"}}) == "prod"
    assert wanted(RUN, step, {"t": SPEC}, args={}) == RUN
    assert wanted(RUN, None, {"t": SPEC}) == wanted(RUN, step, {}) == RUN


def test_the_riskiest_of_those_that_are_asked_and_of_equals_the_first() -> None:
    levels = {"a": Level.LOW, "b": Level.HIGH, "c": Level.HIGH}
    steps = tuple(Step(id=StepId(name), number=n, tool="t") for n, name in enumerate(levels, start=1))
    grades = {name: Grade(step=StepId(name), level=level, mode=Mode.ASK) for name, level in levels.items()}
    plan = Plan(goal="g", steps=steps)
    found = [riskiest(plan, grades, asked) for asked in (["a", "b", "c"], ["a"], ["c", "a"], [])]
    assert [step.id if step else None for step in found] == ["b", "a", "c", None]


@pytest.mark.parametrize(
    ("typed", "counts"), [("Prod", True), ("  Prod\n", True), ("prod", False), ("Prod.", False), ("", False), (None, False)]
)
def test_capitals_count_and_blanks_around_it_do_not(typed: str | None, counts: bool) -> None:  # noqa: FBT001
    assert is_typed("Prod", typed) is counts
