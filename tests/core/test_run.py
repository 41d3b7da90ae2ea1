"""A run's life: every (status, event) there is, against a table written by hand, and what must hold whatever happens."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.run import (
    FINAL,
    LETS_GO,
    LIVE,
    STANDS_BY_ITSELF,
    STEP_TRANSITIONS,
    TRANSITIONS,
    WHILE_REDIRECT,
    Event,
    Hold,
    NotAllowed,
    Redirect,
    Run,
    RunStatus,
    StepStatus,
    advance,
    advance_step,
)

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)

# What may happen in each state, and where it leads; a bare event stays. Whatever is not here is refused.
EXPECTED = {
    "planning": "attempted question_asked question_answered planned>in_review released>queued plan_refused>refused plan_failed>failed "
    "cancelled>cancelled expired>expired plan_kept>in_review",
    "in_review": "changes_asked>planning revised "
    "approval_given approved>queued released>queued breakpoint_set cancelled>cancelled expired>expired "
    "reminded escalated regraded plan_refused>refused",
    "queued": "started>running pause_asked>paused redirect_asked>paused frozen>paused stop_asked>stopped breakpoint_set",
    "running": "step_started step_kept step_outdated pause_asked>pausing redirect_asked>pausing "
    "frozen>pausing held>pausing "
    "stop_asked>stopping steps_done>answering breakpoint_set STEPS",
    "pausing": "pause_asked settled>paused redirect_asked withdrawn>running frozen thawed>running resumed>running "
    "stop_asked>stopping breakpoint_set STEPS",
    "paused": "pause_asked redirect_asked redirect_planned redirect_failed approval_given redirected>running withdrawn>running "
    "frozen thawed>queued attempted resumed>running continued>running confirmed>running confirm_refused>running retried>running "
    "skipped_by_person>running happened>running not_happened>running stop_asked>stopped expired>stopped breakpoint_set "
    "reminded escalated regraded prolonged",
    "stopping": "settled>stopped STEPS",
    "answering": "answered>succeeded answered_failed>failed",
}
STEPS = "step_succeeded step_failed step_cancelled step_skipped step_in_doubt step_requeued"

EXPECTED_STEPS = {
    "pending": "step_started>running step_kept>succeeded step_skipped>skipped step_failed>failed confirmed>pending confirm_refused>skipped",
    "running": "step_succeeded>succeeded step_failed>failed step_cancelled>cancelled step_in_doubt>in_doubt step_requeued>pending",
    "succeeded": "step_outdated>pending",
    "failed": "retried>pending skipped_by_person>skipped",
    "in_doubt": "happened>succeeded not_happened>pending step_succeeded>succeeded step_requeued>pending",
}


def table(rows: dict[str, str]) -> dict[tuple[str, str], str]:
    words = [(status, word.partition(">")) for status, row in rows.items() for word in row.replace("STEPS", STEPS).split()]
    return {(status, event): to or status for status, (event, _, to) in words}


def run(status: RunStatus, **more: Any) -> Run:
    return Run.model_validate({"id": "R-7K2QX", "status": status, "created_at": NOW, "updated_at": NOW, **more})


def data_for(event: Event) -> dict[str, Any]:
    return {"reason": Hold.BREAKPOINT, "step": "post"} if event is Event.HELD else {}


def before(status: RunStatus, event: Event) -> Run:
    """A run of that status in which the event would be possible, if it ever is."""
    held = status in (RunStatus.PAUSING, RunStatus.PAUSED)
    reason = Hold.REDIRECT if held and event not in LETS_GO else min(LETS_GO[event]) if event in LETS_GO else None
    review = event in (Event.APPROVAL_GIVEN, Event.REDIRECTED, Event.REMINDED, Event.ESCALATED, Event.REGRADED) and held
    planning = held and (event in WHILE_REDIRECT or event is Event.ATTEMPTED)
    redirect = Redirect.REVIEW if review else Redirect.PLANNING if planning else None
    return run(status, reason=reason, redirect=redirect, revision=1)


@pytest.mark.parametrize(("status", "event"), list(product(RunStatus, Event)))
def test_every_event_in_every_state(status: RunStatus, event: Event) -> None:
    here = before(status, event)
    to = status if event is Event.CLICK_REFUSED else table(EXPECTED).get((status, event))
    if to is None:
        with pytest.raises(NotAllowed, match=str(status)):
            advance(here, event, data_for(event))
    else:
        after = advance(here, event, data_for(event))
        assert after.status == to
        assert after.version == here.version + (event is not Event.CLICK_REFUSED)


@pytest.mark.parametrize(("status", "event"), list(product(StepStatus, Event)))
def test_every_event_in_every_state_of_a_step(status: StepStatus, event: Event) -> None:
    to = table(EXPECTED_STEPS).get((status, event))
    if to is None:
        with pytest.raises(NotAllowed):
            advance_step(status, event)
    else:
        assert advance_step(status, event) == to


def test_no_event_but_a_refused_click_leaves_a_final_state_and_that_changes_nothing() -> None:
    leaving = {(status, event) for status, event in TRANSITIONS if status in FINAL}
    assert {event for _, event in leaving} == {Event.CLICK_REFUSED}
    for status in RunStatus:
        before = run(status)
        assert advance(before, Event.CLICK_REFUSED, {"revision": 9}) == before


def test_p4_a_step_starts_only_while_the_run_is_running() -> None:
    assert {status for status, event in TRANSITIONS if event is Event.STEP_STARTED} == {RunStatus.RUNNING}
    assert {status for status, event in STEP_TRANSITIONS if event is Event.STEP_STARTED} == {StepStatus.PENDING}


def test_p4_every_state_in_which_something_may_run_can_be_stopped() -> None:
    for status in LIVE - {RunStatus.ANSWERING, RunStatus.STOPPING}:
        assert advance(run(status), Event.STOP_ASKED, {}).status in (RunStatus.STOPPING, RunStatus.STOPPED)


def test_p10_every_state_reaches_an_end() -> None:
    ends = set(FINAL)
    for _ in RunStatus:
        ends |= {status for (status, _), to in TRANSITIONS.items() if to in ends}
    assert ends == set(RunStatus)


def test_p6_a_step_in_doubt_is_never_started_again_by_itself() -> None:
    ways_out = {event for status, event in STEP_TRANSITIONS if status is StepStatus.IN_DOUBT}
    assert ways_out == {Event.HAPPENED, Event.NOT_HAPPENED, Event.STEP_SUCCEEDED, Event.STEP_REQUEUED}


def test_p5_a_finished_step_stays_finished_unless_what_it_read_has_changed() -> None:
    closed = (StepStatus.SUCCEEDED, StepStatus.SKIPPED, StepStatus.CANCELLED)
    assert [event for status, event in STEP_TRANSITIONS if status in closed] == [Event.STEP_OUTDATED]


def test_p1_nothing_is_queued_but_by_approval_or_release() -> None:
    assert {event for (_, event), to in TRANSITIONS.items() if to is RunStatus.QUEUED} == {
        Event.APPROVED, Event.RELEASED, Event.BREAKPOINT_SET, Event.CLICK_REFUSED, Event.THAWED
    }  # fmt: skip
    assert {status for (status, event), to in TRANSITIONS.items() if to is RunStatus.QUEUED and event is Event.THAWED} == {RunStatus.PAUSED}
    assert {status for (status, event), to in TRANSITIONS.items() if to is RunStatus.RUNNING and status not in LIVE} == set()


def test_c019_expiry_never_lets_anything_run() -> None:
    assert {to for (_, event), to in TRANSITIONS.items() if event is Event.EXPIRED} == {RunStatus.EXPIRED, RunStatus.STOPPED}


@pytest.mark.parametrize(("event", "hold"), list(product(LETS_GO, Hold)))
def test_c023_each_letting_go_fits_only_its_own_hold(event: Event, hold: Hold) -> None:
    status = RunStatus.PLANNING if event is Event.QUESTION_ANSWERED else RunStatus.PAUSED
    before = run(status, reason=hold, held_step="post")
    if hold in LETS_GO[event]:
        after = advance(before, event, {"passes": "post"})
        assert (after.reason, after.held_step, after.passed) == (None, None, ("post",))
    else:
        with pytest.raises(NotAllowed, match=hold):
            advance(before, event, {})


@pytest.mark.parametrize(("status", "hold"), list(product((RunStatus.PAUSING, RunStatus.PAUSED), Hold)))
def test_p4_a_persons_pause_takes_the_place_of_every_other_hold(status: RunStatus, hold: Hold) -> None:
    here = run(status, reason=hold, held_step="post")
    if hold is not Hold.PERSON:
        assert advance(here, Event.PAUSE_ASKED, {}) == here.model_copy(update={"reason": Hold.PERSON, "held_step": None, "version": 1})
    else:
        with pytest.raises(NotAllowed):
            advance(here, Event.PAUSE_ASKED, {})


@pytest.mark.parametrize(("event", "hold"), list(product((Event.REDIRECTED, Event.WITHDRAWN), Hold)))
def test_p4_the_end_of_a_redirect_does_not_let_go_what_somebody_holds(event: Event, hold: Hold) -> None:
    here = run(RunStatus.PAUSED, reason=hold, redirect=Redirect.REVIEW, proposed=2, revision=1, deadline=NOW)
    after = advance(here, event, {"revision": 2, "approved": "d"})
    stays = hold in STANDS_BY_ITSELF
    assert (after.status, after.reason) == ((RunStatus.PAUSED, hold) if stays else (RunStatus.RUNNING, None))
    assert (after.redirect, after.proposed, after.deadline) == (None, None, None)
    assert after.revision == (2 if event is Event.REDIRECTED else 1)


@pytest.mark.parametrize(("event", "hold"), [(Event.RESUMED, Hold.PERSON), (Event.RESUMED, Hold.SHUTDOWN), (Event.THAWED, Hold.FREEZE)])
@pytest.mark.parametrize("status", [RunStatus.PAUSING, RunStatus.PAUSED])
def test_p4_letting_go_while_the_rest_is_being_planned_again_starts_nothing(event: Event, hold: Hold, status: RunStatus) -> None:
    here = run(status, reason=hold, redirect=Redirect.REVIEW, proposed=2, deadline=NOW)
    after = advance(here, event, {})
    assert (after.status, after.reason, after.redirect, after.proposed, after.deadline) == (status, Hold.REDIRECT, Redirect.REVIEW, 2, NOW)


@pytest.mark.parametrize("hold", list(Hold))
def test_a_redirect_keeps_what_stands_by_itself_and_takes_the_place_of_what_can_be_found_anew(hold: Hold) -> None:
    here = run(RunStatus.PAUSED, reason=hold, held_step="post", deadline=NOW)
    after = advance(here, Event.REDIRECT_ASKED, {"how": "reply", "text": "skip post"})
    assert after.reason == (hold if hold in STANDS_BY_ITSELF else Hold.REDIRECT)
    assert (after.redirect, after.deadline) == (Redirect.PLANNING, None)


@pytest.mark.parametrize("hold", list(Hold))
def test_a_freeze_takes_the_place_only_of_what_would_go_on_by_itself(hold: Hold) -> None:
    here = run(RunStatus.PAUSED, reason=hold, redirect=Redirect.PLANNING)
    if hold in (Hold.REDIRECT, Hold.SHUTDOWN):
        frozen = advance(here, Event.FROZEN, {})
        assert (frozen.reason, frozen.redirect) == (Hold.FREEZE, Redirect.PLANNING)
    else:
        with pytest.raises(NotAllowed):
            advance(here, Event.FROZEN, {})


@pytest.mark.parametrize("event", [Event.STOP_ASKED, Event.EXPIRED])
def test_nothing_is_left_of_a_redirect_when_the_run_ends(event: Event) -> None:
    here = run(RunStatus.PAUSED, reason=Hold.REDIRECT, redirect=Redirect.REVIEW, proposed=2)
    after = advance(here, event, {})
    assert (after.status, after.redirect, after.proposed) == (RunStatus.STOPPED, None, None)


def test_a_hold_keeps_its_reason_until_somebody_lets_go() -> None:
    held = advance(run(RunStatus.RUNNING), Event.HELD, {"reason": "confirm", "step": "post", "deadline": NOW})
    ended = advance(held, Event.STEP_SUCCEEDED, {})
    paused = advance(advance(ended, Event.BREAKPOINT_SET, {"breakpoints": ("other",)}), Event.SETTLED, {})
    assert (paused.status, paused.reason, paused.held_step, paused.deadline) == (RunStatus.PAUSED, Hold.CONFIRM, "post", NOW)
    assert paused.breakpoints == ("other",)
    gone_on = advance(paused, Event.CONFIRMED, {"passes": "post:1234abcd"})
    assert (gone_on.reason, gone_on.held_step, gone_on.passed) == (None, None, ("post:1234abcd",))


def test_a_running_run_has_no_deadline_left_from_an_earlier_wait() -> None:
    held = advance(run(RunStatus.RUNNING), Event.HELD, {"reason": "confirm", "step": "post", "deadline": NOW + timedelta(minutes=30)})
    paused = advance(held, Event.SETTLED, {})
    assert advance(paused, Event.CONFIRMED, {}).deadline is None
    assert advance(run(RunStatus.QUEUED, deadline=NOW), Event.STARTED, {}).deadline is None


def test_pause_and_stop_of_a_queued_run_need_no_settling() -> None:
    paused = advance(run(RunStatus.QUEUED), Event.PAUSE_ASKED, {})
    assert (paused.status, paused.reason) == (RunStatus.PAUSED, Hold.PERSON)
    assert advance(run(RunStatus.QUEUED), Event.STOP_ASKED, {}).is_final


@given(st.lists(st.tuples(st.sampled_from(list(Event)), st.sampled_from(list(Hold))), max_size=40))
def test_whatever_happens_the_version_counts_every_change_and_a_final_state_is_the_end(events: list[tuple[Event, Hold]]) -> None:
    now, changes = run(RunStatus.PLANNING), 0
    for event, hold in events:
        before = now
        try:
            now = advance(now, event, {"reason": hold, "step": "a"})
        except NotAllowed:
            continue
        changes += event is not Event.CLICK_REFUSED
        assert now.version == changes
        assert not before.is_final or now == before
        assert now.status is not RunStatus.PAUSED or now.reason is not None
        assert now.reason is None or now.status in (RunStatus.PAUSING, RunStatus.PAUSED, RunStatus.PLANNING)
        assert now.redirect is None or now.status in (RunStatus.PAUSING, RunStatus.PAUSED)
        assert now.proposed is None or now.redirect is Redirect.REVIEW
