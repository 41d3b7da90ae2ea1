"""The moves of the edit form, on plans alone."""

from hypothesis import given
from hypothesis import strategies as st

from bot.core.plan import Plan, Step, cycle, levels, numbered
from handlers import edits
from tests.handlers.views.forms import editing, revised
from tests.handlers.views.stage import RISKY, SMALL

MOVES = st.lists(
    st.tuples(st.sampled_from([step.id for step in RISKY.steps]), st.sampled_from(["up", "down", "remove", "break"])), max_size=12
)


def after(plan: Plan, step: str, move: str, fixed: frozenset[str] = frozenset()) -> Plan:
    """The plan once the form has done this, or refused to."""
    if all(one.id != step for one in plan.steps) or step in fixed:
        return plan
    if move == "remove":
        return edits.without(plan, {step, *(one.id for one in plan.steps if step in _needed(plan, one.id))})
    if move == "break":
        return edits.put(plan, plan.step(step).model_copy(update={"breakpoint": not plan.step(step).breakpoint}))
    other = edits.neighbour(plan, step, -1 if move == "up" else 1, fixed=fixed)
    return plan if other is None or edits.why_not_moved(plan, step, other.id) else edits.moved(plan, step, other.id)


def _needed(plan: Plan, step: str) -> set[str]:
    found: set[str] = set()
    rest = [step]
    while rest:
        here = plan.step(rest.pop()).needs
        rest += [name for name in here if name not in found]
        found |= set(here)
    return found


@given(MOVES)
def test_no_move_of_the_form_ever_puts_a_step_before_one_that_it_needs(moves: list[tuple[str, str]]) -> None:
    plan = RISKY
    for step, move in moves:
        plan = after(plan, step, move)
        places = [one.id for one in plan.steps]
        assert all(places.index(name) < places.index(one.id) for one in plan.steps for name in one.needs)
    assert cycle(plan) == []
    assert sum(len(level) for level in levels(plan)) == len(plan.steps)
    assert {one.number for one in plan.steps} <= {one.number for one in RISKY.steps}


@given(MOVES)
def test_what_is_told_as_unsaved_is_there_exactly_if_something_differs(moves: list[tuple[str, str]]) -> None:
    plan = RISKY
    for step, move in moves:
        plan = after(plan, step, move)
    assert bool(edits.unsaved(RISKY, plan)) == (plan != RISKY)


def test_a_step_that_has_run_is_passed_over() -> None:
    fixed = frozenset({"cfg", "web1"})
    other = edits.neighbour(RISKY, "web2", -1, fixed=fixed)
    assert other is not None
    assert other.id == "hosts"
    assert edits.neighbour(RISKY, "hosts", -1, fixed=fixed) is None


def test_a_removed_step_is_forgotten_by_those_that_only_came_after_it() -> None:
    plan = edits.without(RISKY, {"web1"})
    assert plan.step("write").depends_on == ("cfg", "web2", "web3")


def test_new_steps_are_shown_with_the_numbers_that_they_will_get() -> None:
    plan = edits.without(edits.put(SMALL, Step(id="new", tool="files.read", args={"path": "x"})), {"post"})
    longer = numbered(SMALL.model_copy(update={"steps": (*SMALL.steps, Step(id="more", tool="files.read", args={"path": "y"}))}))
    assert edits.shown(editing().snapshot, plan).step("new").number == 5
    assert edits.shown(editing(more=(revised(longer, 2),)).snapshot, plan).step("new").number == 6


def test_each_kind_of_change_has_its_words() -> None:
    post, old = SMALL.step("post"), SMALL.step("old")
    changed = {
        "args": {"channel": "#general"},
        "purpose": "Else",
        "timeout_s": 5.0,
        "on_failure": "stop",
        "depends_on": ("config",),
        "breakpoint": True,
    }
    plan = edits.put(edits.moved(SMALL, "config", "old"), post.model_copy(update=changed))
    said = edits.unsaved(SMALL, plan)
    words = "channel, text, time limit, if it fails, purpose and what it waits for changed"
    assert (4, words) in said
    assert (4, "pause before it") in said
    assert [what for _, what in said].count("moved") == 1
    assert edits.unsaved(SMALL, edits.put(SMALL, old.model_copy(update={"retries": 1}))) == [(2, "tries again changed")]
