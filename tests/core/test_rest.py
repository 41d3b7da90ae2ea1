"""The rest of a live run: what is fixed, what a drafted rest becomes, what was said, what was refused."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.core import rest
from bot.core.ids import StepId
from bot.core.notation import parse
from bot.core.plan import Plan, call_fingerprint, numbered
from bot.core.run import Event, StepStatus
from bot.core.snapshot import Entry

P = StepStatus
NOW = datetime(2026, 11, 30, tzinfo=UTC)
PLAN = numbered(parse("a: files.read path=a\nb: files.read path=b after=a\nc: files.read path=c after=b", goal="g"))


def entry(event: Event, actor: str = "U1", **data: Any) -> Entry:
    return Entry(run="R-7K2QX", seq=1, at=NOW, actor=actor, event=event, data=data, hash="")


def said(text: str, ts: str, how: str = "reply") -> Entry:
    return entry(Event.REDIRECT_ASKED, how=how, text=text, ts=ts)


def states(**given_states: StepStatus) -> dict[StepId, StepStatus]:
    return {StepId(name): status for name, status in given_states.items()}


def test_what_has_started_is_fixed_and_a_failed_step_is_not_unless_something_settled_names_it() -> None:
    assert rest.fixed(PLAN, states(a=P.SUCCEEDED, b=P.FAILED, c=P.PENDING)) == ("a",)
    assert rest.fixed(PLAN, states(a=P.SUCCEEDED, b=P.FAILED, c=P.SKIPPED)) == ("a", "b", "c")
    assert rest.fixed(PLAN, states(a=P.IN_DOUBT, b=P.RUNNING)) == ("a", "b")


def test_numbers_are_for_life_and_a_removed_one_is_never_used_again() -> None:
    new = parse("b: files.read path=x after=a\nd: files.read path=d", goal="g")
    whole = rest.whole(PLAN, new, states(a=P.SUCCEEDED), used_numbers=[1, 2, 3])
    assert [(step.id, step.number) for step in whole.steps] == [("a", 1), ("b", 2), ("d", 4)]


def test_a_step_that_has_run_cannot_mean_something_else() -> None:
    new = parse("a: files.read path=other", goal="g")
    assert [fault.step for fault in rest.faults(PLAN, new, states(a=P.SUCCEEDED))] == ["a"]
    assert rest.faults(PLAN, parse("a: files.read path=a", goal="g"), states(a=P.SUCCEEDED)) == []


def test_the_open_redirect_is_what_was_said_since_the_last_one_ended() -> None:
    found = rest.opened(
        [said("1", "1"), entry(Event.REDIRECTED), said("2", "2"), entry(Event.REDIRECT_PLANNED, proposed=3), said("3", "3")]
    )
    assert ([reply.text for reply in found.replies], found.since, found.proposed) == (["2", "3"], 1, 3)
    assert rest.opened([said("1", "1"), entry(Event.WITHDRAWN)]) == rest.Opened()


def test_c016_an_edited_reply_counts_as_it_is_now_and_a_deleted_one_not_at_all() -> None:
    edited = rest.opened([said("1", "1"), said("2", "2"), entry(Event.REDIRECT_PLANNED, proposed=2), said("new", "1", "edited")])
    assert ([reply.text for reply in edited.replies], edited.since, edited.proposed) == (["new", "2"], 0, None)
    gone = rest.opened([said("1", "1"), said("2", "2"), said("", "1", "gone")])
    assert [reply.text for reply in gone.replies] == ["2"]


def test_what_could_not_be_planned_is_not_tried_again_with_the_next_wish() -> None:
    found = rest.opened([said("fax it", "1"), entry(Event.REDIRECT_FAILED), said("skip b", "2")])
    assert [reply.text for reply in found.replies] == ["skip b"]


def test_p10_every_reply_and_every_change_of_one_counts_against_the_limit_and_edits_by_hand_do_not() -> None:
    entries = [said("1", "1"), entry(Event.WITHDRAWN), said("2", "2"), said("", "", "edit"), said("new", "2", "edited")]
    assert rest.used(entries) == 3


def test_c021_a_refused_call_is_known_again_as_planned_and_as_filled_in_whatever_the_order_of_its_arguments() -> None:
    calls = [call_fingerprint("x.y", {"a": 1, "b": 2}), call_fingerprint("x.y", {"a": "{{n.text}}"})]
    refused = rest.refused_calls([entry(Event.CONFIRM_REFUSED, step="s", tool="x.y", reason="no", calls=calls)])
    assert rest.refusal_of("x.y", {"b": 2, "a": 1}, refused) is not None
    assert rest.refusal_of("x.y", {"a": "{{n.text}}"}, refused) is not None
    assert rest.refusal_of("x.y", {"a": 1}, refused) is None
    plan = Plan.model_validate({"goal": "g", "steps": [{"id": "t", "tool": "x.y", "args": {"b": 2, "a": 1}}]})
    assert "no" in rest.refused_again(plan, refused, {})[0].says
    assert rest.refused_again(plan, refused, states(t=P.SKIPPED)) == []


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.sampled_from(list(StepStatus))), st.lists(st.sampled_from("abcde"), unique=True)
)
def test_p5_whatever_is_drafted_the_fixed_steps_stay_as_they_were(now: dict[str, StepStatus], names: list[str]) -> None:
    known = {StepId(name): status for name, status in now.items()}
    drafted = Plan.model_validate({"goal": "g", "steps": [{"id": name, "tool": "files.read", "args": {"path": "new"}} for name in names]})
    whole = rest.whole(PLAN, drafted, known, used_numbers=[1, 2, 3])
    for name in rest.fixed(PLAN, known):
        assert whole.step(name) == PLAN.step(name)
    assert len({step.number for step in whole.steps}) == len(whole.steps)
    assert {step.id for step in whole.steps} == {*rest.fixed(PLAN, known), *names}
