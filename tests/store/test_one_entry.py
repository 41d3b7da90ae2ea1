"""One entry for each change and for each refused attempt, in its transaction, and none for a look (P8)."""

from typing import Any

import pytest
from sqlalchemy import Connection

from bot.core.ids import StepId
from bot.core.run import (
    LETS_GO,
    STEP_EVENTS,
    STEP_TRANSITIONS,
    TRANSITIONS,
    WHILE_REDIRECT,
    Event,
    Hold,
    NotAllowed,
    Redirect,
    RunStatus,
)
from bot.core.snapshot import Attempt, NewPost
from bot.errors import Refused
from bot.store import audit, door, figures, history, posts, runs, verification
from tests.store.samples import NOW, a_plan, opened, revise

RUN = "R-7K2QX"
OF_A_STEP = frozenset(event for _, event in STEP_TRANSITIONS)
ALWAYS_A_STEP = frozenset(event for event in STEP_EVENTS if event.value.startswith("step_"))


def standing(conn: Connection, status: RunStatus, event: Event) -> dict[str, Any]:
    """A run that stands where the event is possible; returns the event's facts."""
    opened(conn, RUN)
    digest = revise(conn, RUN, a_plan("one", "two"))
    revise(conn, RUN, a_plan("one", "three"), revision=2, adopt=event not in (Event.REDIRECT_PLANNED,))
    runs.add_attempt(conn, RUN, Attempt(round=1, ok=True, raw="one"), NOW)
    holds = LETS_GO.get(event) or ({Hold.CONFIRM} if event in (Event.APPROVAL_GIVEN, Event.REMINDED, Event.ESCALATED) else set())
    needless = event is Event.FROZEN  # a freeze over another hold changes nothing: only a restart gives way to it
    reason = min(holds, default=(Hold.SHUTDOWN if needless else Hold.STEP_FAILED) if status is RunStatus.PAUSED else None)
    redirect = min(WHILE_REDIRECT.get(event, {Redirect.REVIEW} if event is Event.REGRADED else set()), default=None)
    if event is Event.ATTEMPTED and status is RunStatus.PAUSED:
        redirect = Redirect.PLANNING
    said = {"status": status, "reason": reason, "redirect": redirect, "proposed": 2 if redirect else None, "revision": 1}
    for name, value in said.items():
        conn.exec_driver_sql(f"UPDATE runs SET {name} = ? WHERE id = ?", (getattr(value, "value", value), RUN))
    conn.exec_driver_sql("UPDATE runs SET digest = ?, held_step = 'one' WHERE id = ?", (digest, RUN))
    facts: dict[str, Any] = {"round": 1, "step": "one", "reason": Hold.BREAKPOINT, "breakpoints": ("one",)}
    if event in (Event.PLANNED, Event.REVISED, Event.RELEASED, Event.REDIRECTED, Event.REGRADED, Event.PLAN_REFUSED):
        facts |= {"revision": 2, "digest": "other", "risk": "low"}
    return facts | ({"proposed": 2} if event in (Event.REDIRECT_PLANNED, Event.REGRADED) else {})


def a_step(conn: Connection, event: Event) -> door.StepChange | None:
    """The step that such an event is about, standing where it is possible."""
    if event not in OF_A_STEP:
        return None
    status = next(status for status, each in STEP_TRANSITIONS if each is event)
    conn.exec_driver_sql("UPDATE steps SET status = ? WHERE step_id = 'one'", (status.value,))
    return door.StepChange(id=StepId("one"), args={"path": "x"}, error="no")


def told(event: Event) -> list[NewPost]:
    return [NewPost(run=RUN, card="audit", key=f"{RUN}:audit", channel="#audit", in_thread=False)]


@pytest.mark.parametrize(("status", "event"), sorted(TRANSITIONS), ids=lambda word: str(word))
def test_every_move_of_the_table_writes_one_entry_and_one_post(conn: Connection, status: RunStatus, event: Event) -> None:
    facts = standing(conn, status, event)
    step = a_step(conn, event)
    before = audit.count(conn)

    door.change(conn, RUN, event, actor="U_X", at=NOW, data=facts, step=step, tell=told(event))

    assert audit.count(conn) == before + 1
    last = audit.entries(conn, RUN)[-1]
    assert (last.event, last.actor, last.at) == (event, "U_X", NOW)
    assert [post.data["seq"] for post in posts.of_run(conn, RUN)] == [last.seq]


MISSING = [(status, event) for status in RunStatus for event in Event if (status, event) not in TRANSITIONS]


@pytest.mark.parametrize("status", list(RunStatus))
def test_what_the_table_does_not_have_writes_nothing(conn: Connection, status: RunStatus) -> None:
    standing(conn, status, Event.CLICK_REFUSED)
    before = audit.count(conn)

    for event in (event for at, event in MISSING if at is status):
        with pytest.raises(NotAllowed):
            door.change(conn, RUN, event, actor="U_X", at=NOW, data={"reason": Hold.BREAKPOINT}, tell=told(event))

    assert audit.count(conn) == before
    assert posts.of_run(conn, RUN) == []


@pytest.mark.parametrize("status", list(RunStatus))
def test_a_refused_attempt_writes_one_entry_whatever_the_state(conn: Connection, status: RunStatus) -> None:
    standing(conn, status, Event.CLICK_REFUSED)
    before = audit.count(conn)

    door.note(conn, RUN, actor="U_X", at=NOW, data={"did": "approve", "kind": "not_allowed"})

    assert audit.count(conn) == before + 1


def test_a_change_that_raises_leaves_nothing(conn: Connection) -> None:
    opened(conn, RUN)
    before = audit.count(conn)

    with pytest.raises(Refused):
        door.change(conn, RUN, Event.CANCELLED, actor="U_X", at=NOW, guard=_no, tell=told(Event.CANCELLED))
    with pytest.raises(Refused):
        door.change(conn, "R-NONE", Event.CANCELLED, actor="U_X", at=NOW)

    assert audit.count(conn) == before


def _no(run: object) -> None:
    raise Refused("not_allowed")


def test_looking_writes_nothing(conn: Connection) -> None:
    standing(conn, RunStatus.RUNNING, Event.STEP_STARTED)
    before, heads = audit.count(conn), audit.last_head(conn)

    runs.snapshot(conn, RUN, entries=True)
    runs.open_runs(conn), runs.queued(conn), runs.listing(conn), runs.due(conn, NOW), runs.approvals(conn, RUN)
    history.habits(conn, ["files.read"])
    posts.waiting(conn, NOW), posts.stale(conn)
    audit.verify(conn), verification.check_run(conn, RUN), audit.decisions(conn, limit=5), audit.newest_head(conn), [*audit.lines(conn)]
    figures.stories(conn, since=NOW), figures.standing(conn)

    assert (audit.count(conn), audit.last_head(conn)) == (before, heads)
