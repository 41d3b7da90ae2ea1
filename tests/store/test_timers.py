"""What the clock must do is done once, whoever looks and however many of them; what passed meanwhile is not made up for."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection

from bot.core.run import Event
from bot.core.waits import Timer
from bot.store import audit, door, runs, timers
from bot.store.db import Database
from tests.store.processes import Start, go
from tests.store.samples import NOW, in_review, later

RUNS = ("R-A", "R-B", "R-C", "R-D")


def waiting(conn: Connection, run_id: str, *, channel: str) -> None:
    """A run under review, reminded after 10 minutes and escalated after 20."""
    run = in_review(conn, run_id)
    runs.set_thread(conn, run_id, "1.1", channel=channel)
    due = {"remind": later(minutes=10), "escalate": later(minutes=20)}
    timers.arm(conn, run.id, [Timer(run_id, "review.1", kind, at) for kind, at in due.items()])


@pytest.mark.parametrize(("ahead", "event"), [("11", Event.REMINDED), ("21", Event.ESCALATED), ("31", Event.EXPIRED)])
async def test_two_processes_that_look_at_the_same_moment_do_each_thing_once(
    db: Database, start_child: Start, ahead: str, event: Event
) -> None:  # noqa: F811
    for run_id in RUNS:
        await db.write(lambda conn, run_id=run_id: waiting(conn, run_id, channel=f"C_{run_id}"))

    both = [start_child("remind", ahead), start_child("remind", ahead)]
    go(*both)

    assert sorted(word for child in both for word in child.rest()) == sorted(RUNS)
    for run_id in RUNS:
        entries = await db.read(lambda conn, run_id=run_id: audit.entries(conn, run_id))
        late = [entry.event for entry in entries if entry.actor == "clock"]
        assert late == [event], "of several things that are due, the last one happens"


def test_a_wait_takes_the_timers_of_the_one_before_with_it(conn: Connection) -> None:
    waiting(conn, "R-A", channel="C_A")
    timers.arm(conn, "R-A", [Timer("R-A", "review.2", "remind", later(minutes=40))])

    assert timers.due(conn, later(hours=9)) == [Timer("R-A", "review.2", "remind", later(minutes=40))]


def test_the_next_moment_is_the_first_timer_or_deadline_that_is_still_to_come(conn: Connection) -> None:
    waiting(conn, "R-A", channel="C_A")

    assert timers.next_at(conn, NOW) == later(minutes=10)
    assert timers.next_at(conn, later(minutes=10)) == later(minutes=20)
    assert timers.next_at(conn, later(minutes=20)) == later(minutes=30), "the deadline"
    assert timers.next_at(conn, later(minutes=30)) is None


def test_what_is_delayed_is_due_that_much_later_and_what_was_done_stays_done(conn: Connection) -> None:
    waiting(conn, "R-A", channel="C_A")
    remind, escalate = sorted(timers.due(conn, later(hours=1)), key=lambda timer: timer.at)
    assert timers.fire(conn, remind, at=later(minutes=10))
    assert not timers.fire(conn, remind, at=later(minutes=11))

    timers.delay(conn, "R-A", timedelta(minutes=5))

    assert timers.due(conn, later(hours=1)) == [Timer("R-A", "review.1", "escalate", escalate.at + timedelta(minutes=5))]
    assert timers.fired(conn, "R-A", "review.1", "remind")
    assert timers.fired_in(conn, "C_A", since=later(minutes=9)) == 1


def test_a_deadline_of_a_run_that_has_ended_is_no_moment_any_more(conn: Connection) -> None:
    run = in_review(conn, "R-A")
    door.change(conn, run.id, Event.CANCELLED, actor="U_REQ", at=NOW, data={"reason": "", "deadline": None})
    assert timers.next_at(conn, NOW) is None
