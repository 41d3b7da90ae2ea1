"""The graph: order, readiness, loops, numbers and digests, on good plans and on impossible ones."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.core.ids import Digest
from bot.core.plan import Plan, Step, canonical, cycle, dependents, digest, fingerprint, levels, numbered, ready, step_fingerprint
from tests.core.samples import graphs, json_values, plan, post, read, wild_plans


def test_a_reference_adds_the_dependency_by_itself() -> None:
    step = Step(id="c", tool="t", args={"x": "{{a.v}} {{b}}"}, depends_on=("z", "a"))
    assert step.needs == ("z", "a", "b")


@given(graphs())
def test_ready_steps_have_every_need_finished(drawn: Plan) -> None:
    finished: set[str] = set()
    while steps := ready(drawn, finished=finished, touched=finished):
        assert all(set(step.needs) <= finished for step in steps)
        finished.add(steps[0].id)
    assert finished == {step.id for step in drawn.steps}


@given(graphs(), st.integers())
def test_any_order_of_settling_reaches_the_same_steps(drawn: Plan, seed: int) -> None:
    """C030: neither the order of listing nor the order of finishing matters."""
    luck = random.Random(seed)
    lost = luck.choice(drawn.steps).id
    finished: set[str] = set()
    while steps := ready(drawn, finished=finished, touched={*finished, lost}):
        finished.add(luck.choice(steps).id)
    behind = {step.id for step in dependents(drawn, lost)}
    assert finished == {step.id for step in drawn.steps} - behind - {lost}


@given(graphs())
def test_levels_hold_every_step_once_and_after_what_it_needs(drawn: Plan) -> None:
    placed: set[str] = set()
    for level in levels(drawn):
        assert all(set(step.needs) <= placed for step in level)
        placed |= {step.id for step in level}
    assert placed == {step.id for step in drawn.steps}
    assert cycle(drawn) == []


@given(wild_plans())
def test_c029_every_walk_ends_on_any_plan(drawn: Plan) -> None:
    levels(drawn)
    ready(drawn, finished=[], touched=[])
    for step in drawn.steps:
        dependents(drawn, step.id)
    loop = cycle(drawn)
    needs = {step.id: step.needs for step in drawn.steps}
    assert not loop or (loop[0] == loop[-1] and all(there in needs[here] for here, there in zip(loop, loop[1:], strict=False)))


def test_c029_a_loop_is_named_with_its_path() -> None:
    drawn = plan(read("s1", depends_on=["s3"]), read("s2", depends_on=["s1"]), read("s3", depends_on=["s2"]), read("s4"))
    assert cycle(drawn) == ["s1", "s3", "s2", "s1"]
    assert [[step.id for step in level] for level in levels(drawn)] == [["s4"]]


def test_c030_an_unknown_dependency_is_never_satisfied_anywhere() -> None:
    drawn = plan(read("s1", depends_on=["s9"]), read("s2"))
    assert [step.id for step in ready(drawn, finished=[], touched=[])] == ["s2"]
    assert [[step.id for step in level] for level in levels(drawn)] == [["s2"]]


def test_c030_a_dependency_written_as_text_is_refused_and_never_read_as_letters() -> None:
    with pytest.raises(ValidationError):
        Step.model_validate({"id": "s2", "tool": "t", "depends_on": "s1"})


@pytest.mark.parametrize("claim", ["risk", "approved_by", "status", "grade"])
def test_nothing_that_a_planner_writes_can_claim_a_risk_or_an_approval(claim: str) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate({"id": "s", "tool": "t", claim: "low"})


def test_numbers_are_for_life_and_never_used_twice() -> None:
    first = numbered(plan({"id": "a", "tool": "t", "number": 0}, {"id": "b", "tool": "t", "number": 0}))
    assert [step.number for step in first.steps] == [1, 2]
    later = Plan(goal="g", steps=(first.steps[1], Step(id="c", tool="t")))
    assert [step.number for step in numbered(later, used=[1, 2]).steps] == [2, 3]
    assert numbered(later, used=[7]).steps[1].number == 8


def test_people_may_say_the_number_or_the_id() -> None:
    drawn = plan(read("a"), read("b"))
    assert drawn.named("2") == drawn.named("b") == drawn.step("b")
    assert drawn.named("c") is None
    with pytest.raises(KeyError):
        drawn.step("c")


def test_dependents_are_found_through_others() -> None:
    drawn = plan(post("d", "{{c.x}}"), read("a"), read("b", depends_on=["a"]), read("c", "{{b.path}}"), read("e"))
    assert [step.id for step in dependents(drawn, "a")] == ["d", "b", "c"]


@pytest.mark.parametrize(
    "changed",
    [
        plan(read("a"), post("b", "other")),
        plan(read("a"), post("b", "hi", channel="#general")),
        plan(post("b", "hi", number=2), read("a", number=1)),
        plan(read("a"), post("b", "hi", depends_on=["a"])),
        plan(read("a"), post("b", "hi", breakpoint=True)),
        plan(read("a"), post("b", "hi", purpose="because")),
        plan(read("a"), post("b", "hi"), goal="Another goal"),
    ],
)
def test_every_word_of_a_plan_is_in_its_digest(changed: Plan) -> None:
    assert digest(changed, {}) != digest(plan(read("a"), post("b", "hi")), {})


def test_a_changed_tool_changes_the_digest_only_of_plans_that_call_it() -> None:
    drawn = plan(read("a"))
    one, two = Digest("1"), Digest("2")
    assert digest(drawn, {"files.read": one, "x.y": one}) == digest(drawn, {"files.read": one, "x.y": two})
    assert digest(drawn, {"files.read": one}) != digest(drawn, {"files.read": two})


@given(json_values)
def test_equal_values_have_equal_fingerprints_in_any_order_of_keys(value: object) -> None:
    turned = dict(reversed(value.items())) if isinstance(value, dict) else value
    assert canonical(value) == canonical(turned)
    assert fingerprint(value) == fingerprint(turned)


def test_text_that_is_no_text_has_a_fingerprint_too() -> None:
    assert fingerprint("\ud800") != fingerprint("\ud801")


def test_the_same_work_is_the_same_tool_definition_and_arguments() -> None:
    assert step_fingerprint("t", {"a": 1, "b": 2}, "d") == step_fingerprint("t", {"b": 2, "a": 1}, "d")
    assert len({step_fingerprint("t", {"a": 1}, "d"), step_fingerprint("t", {"a": "1"}, "d"), step_fingerprint("t", {"a": 1}, "e")}) == 3
