"""An audit post is made once, sooner or later: it tells of its entry, and of the run as of then, whatever has become of the run since."""

from typing import Any

import pytest

from bot.core.run import Event, RunStatus, StepStatus
from bot.core.snapshot import Answer, Entry
from handlers.views import record
from handlers.views.audit_post import audit_post
from handlers.views.scene import Scene
from tests.handlers.views import rules
from tests.handlers.views.stage import (
    APPROVER,
    APPROVER2,
    DIGEST,
    REQUESTER,
    REST,
    SMALL,
    asked,
    entry,
    history,
    proposed,
    revision,
    scene,
    states,
    yes,
)

FACTS: dict[str, Any] = {"revision": 1, "step": "brief", "digest": DIGEST, "count": 2, "needed": 2, "asked": ["post"], "how": "reply"}
TOLD = 20


def then(told: Entry) -> Scene:
    """Just after the entry: two of four steps are done, the third runs."""
    steps = states(SMALL, 2, brief=StepStatus.RUNNING)
    return scene(RunStatus.RUNNING, SMALL, steps=steps, entries=history(SMALL, 2, told), revisions=(revision(1),), approvals=(yes(),))


def later(told: Entry) -> Scene:
    """Long after it: the rest was planned again and adopted, another yes was given, and the run has ended."""
    since = (
        asked(21),
        proposed(22),
        entry(23, Event.APPROVAL_GIVEN, APPROVER2, revision=1, digest=DIGEST, version=23),
        entry(24, Event.REDIRECTED, APPROVER, revision=2, plan_steps=[step.id for step in REST.steps], version=24, asked=["post"]),
        *(entry(25 + n, Event.STEP_STARTED, step=step.id, step_to="running", version=25 + n) for n, step in enumerate(REST.steps[2:])),
        *(entry(30 + n, Event.STEP_SUCCEEDED, step=step.id, step_to="succeeded", version=30 + n) for n, step in enumerate(REST.steps[2:])),
        entry(40, Event.ANSWERED, to="succeeded", version=40),
    )
    new = revision(2, REST)
    return scene(
        RunStatus.SUCCEEDED,
        REST,
        run_fields={"revision": 2, "digest": new.digest, "approved": new.digest, "risk": new.risk, "version": 40},
        steps=states(REST, 4),
        entries=history(SMALL, 2, told, *since),
        revisions=(revision(1), new),
        approvals=(yes(), yes(APPROVER2, seconds=900)),
        answer=Answer(text="Done [1]."),
    )


@pytest.mark.parametrize("to", ["running", "stopping", "stopped", "expired"])
@pytest.mark.parametrize("event", [event for event in Event if event not in (Event.REDIRECTED, Event.REVISED)])
def test_an_entry_is_told_in_the_same_words_however_late(event: Event, to: str) -> None:
    for facts in ({}, {**FACTS, "plan_steps": [step.id for step in SMALL.steps]}):
        told = entry(TOLD, event, APPROVER, to=to, **facts)
        card = audit_post(later(told), told)
        rules.check(card)
        assert card == audit_post(then(told), told)


@pytest.mark.parametrize("event", [Event.REDIRECTED, Event.REVISED])
def test_a_new_plan_is_told_in_the_same_words_however_late(event: Event) -> None:
    told = entry(TOLD, event, APPROVER, revision=2, asked=["post"], plan_steps=[step.id for step in REST.steps], version=20)
    whole = later(told)
    assert "Tell #ops" in rules.texts(audit_post(whole, told).blocks)[1]
    early = scene(RunStatus.RUNNING, REST, entries=history(SMALL, 2, told), revisions=(revision(1), revision(2, REST)))
    assert audit_post(whole, told) == audit_post(early, told)


def test_a_stop_counts_what_was_done_only_where_it_ended_the_run() -> None:
    at_once, pending = (entry(TOLD, Event.STOP_ASKED, REQUESTER, to=to) for to in ("stopped", "stopping"))
    assert "2 finished, 2 not started" in rules.texts(audit_post(later(at_once), at_once).blocks)[2]
    assert "nothing starts after this entry" in rules.texts(audit_post(later(pending), pending).blocks)[2]


def test_the_first_of_two_who_said_yes_is_known_from_the_record() -> None:
    first = entry(10, Event.APPROVAL_GIVEN, APPROVER2, seconds=200, revision=1, digest=DIGEST, count=1, needed=2)
    told = entry(TOLD, Event.APPROVED, APPROVER, seconds=303, **FACTS)
    both = scene(RunStatus.QUEUED, entries=history(SMALL, 0, first, told), revisions=(revision(1),), approvals=())
    assert "first: <https://example.slack.com/team/U0APPROVER2|approver2>" in rules.texts(audit_post(both, told).blocks)[2]


def test_a_run_as_of_an_entry_knows_nothing_of_what_came_later() -> None:
    told = entry(TOLD, Event.PAUSE_ASKED, APPROVER, to="pausing")
    given = record.as_of(later(told).snapshot, TOLD)
    assert (given.run.status, given.run.revision, given.run.reason, given.run.approved) == (RunStatus.PAUSING, 1, None, None)
    assert [one.revision for one in given.revisions] == [1]
    assert [state.id for state in given.steps if state.status is StepStatus.SUCCEEDED] == ["config", "old"]
    assert (given.plan, given.answer, given.approvals, given.entries[-1]) == (SMALL, None, (), told)
    assert record.as_of(later(told).snapshot, 2).plan is None, "before the first plan there is none, whatever came"
