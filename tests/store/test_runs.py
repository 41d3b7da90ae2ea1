"""Runs as plain data, and the rows beside a change."""

import pytest
from sqlalchemy import Connection

from bot.core.ids import Digest, StepId
from bot.core.run import FINAL, Event, Hold, Run, RunStatus
from bot.core.snapshot import Answer, Approval, Attempt, Snapshot, StepState
from bot.errors import Refused
from bot.store import door, runs, tables
from bot.store.db import noted
from tests.store.samples import BY, NOW, a_plan, in_review, later, opened, revise, running, start

RUN = "R-7K2QX"
YES = Approval(actor="U_APPR", revision=1, digest=Digest("d"), at=NOW)


def test_a_snapshot_holds_all_that_is_known_of_a_run(conn: Connection) -> None:
    running(conn)
    start(conn, "one")
    attempt = Attempt(round=1, ok=True, raw="files.read path=one.md", planner="offline")
    answer = Answer(text="Nothing changed [1].", cites=(StepId("one"),))
    runs.add_attempt(conn, RUN, attempt, NOW)
    runs.add_approval(conn, RUN, YES)
    runs.set_answer(conn, RUN, answer)

    found = runs.snapshot(conn, RUN)

    assert found.run == runs.get(conn, RUN)
    assert found.plan == a_plan("one", "two")
    assert found.grades["one"].reasons == ("only looks",)
    assert found.tool_digests == {"files.read": "d"}
    assert [(step.id, step.number, step.status) for step in found.steps] == [("one", 1, "running"), ("two", 2, "pending")]
    assert (found.approvals, found.attempts, found.answer) == ((YES,), (attempt,), answer)
    assert found.entries == ()
    assert len(runs.snapshot(conn, RUN, entries=True).entries) == 5


def test_a_fresh_run_has_no_plan_yet(conn: Connection) -> None:
    run = opened(conn)
    assert runs.snapshot(conn, RUN) == Snapshot(run=run)


def test_unknown_runs_and_revisions_are_refused_by_name(conn: Connection) -> None:
    opened(conn)
    for ask in (runs.get, runs.snapshot):
        with pytest.raises(Refused, match="unknown_run"):
            ask(conn, "R-NONE")
    with pytest.raises(Refused, match="unknown_run"):
        runs.set_thread(conn, "R-NONE", "1.1")
    with pytest.raises(Refused, match="unknown_revision"):
        runs.revision(conn, RUN, 1)
    assert runs.digest_of(conn, RUN, 1) is None


def test_every_revision_stays_readable(conn: Connection) -> None:
    run = in_review(conn)
    second = revise(conn, RUN, a_plan("one", "three"), revision=2)

    assert runs.digest_of(conn, RUN, 1) == run.digest
    assert runs.digest_of(conn, RUN, 2) == second
    assert runs.revision(conn, RUN, 1)[0] == a_plan("one", "two")
    assert [step.id for step in runs.steps(conn, RUN)] == ["one", "three"]


def test_a_second_yes_of_the_same_person_to_the_same_digest_is_refused_with_the_time_of_the_first(conn: Connection) -> None:
    in_review(conn)
    runs.add_approval(conn, RUN, YES)

    with pytest.raises(Refused, match="double") as refused:
        runs.add_approval(conn, RUN, YES.model_copy(update={"at": later(seconds=1)}))

    assert refused.value.facts["at"] == NOW
    for other in ({"actor": "U_APPR2"}, {"digest": "e"}, {"kind": "confirm", "step": "two"}):
        runs.add_approval(conn, RUN, YES.model_copy(update=other))
    assert len(runs.approvals(conn, RUN)) == 4


def test_runs_are_listed_by_what_they_wait_for(conn: Connection) -> None:
    for minute, name in enumerate(("R-1", "R-2", "R-3", "R-4")):
        opened(conn, name, created_at=later(minutes=minute))
        revise(conn, name, a_plan("one"))
        door.change(conn, name, Event.RELEASED, **BY, data={"revision": 1})
    door.change(conn, "R-1", Event.STOP_ASKED, **BY)
    door.change(conn, "R-2", Event.STARTED, **BY)

    assert [run.id for run in runs.listing(conn)] == ["R-4", "R-3", "R-2", "R-1"]
    assert [run.id for run in runs.listing(conn, limit=2)] == ["R-4", "R-3"]
    assert [run.id for run in runs.open_runs(conn)] == ["R-2", "R-3", "R-4"]
    assert [run.id for run in runs.queued(conn)] == ["R-3", "R-4"]
    assert [runs.snapshot(conn, name).ahead for name in ("R-2", "R-3", "R-4")] == [0, 0, 1]


def test_a_run_is_found_by_its_thread_and_by_the_message_that_asked(conn: Connection) -> None:
    opened(conn, "R-OLD", thread_ts="10.1", source_ts="10.1", created_at=NOW)
    opened(conn, "R-NEW", thread_ts="10.1", source_ts="10.7", created_at=later(minutes=1))
    opened(conn, "R-ELSEWHERE", channel="C_OTHER", thread_ts="10.1", source_ts="10.7", created_at=later(minutes=2))

    def name(run: Run | None) -> str | None:
        return run and run.id

    assert name(runs.by_thread(conn, "C_OPS", "10.1")) == "R-NEW"
    assert name(runs.by_source(conn, "C_OPS", "10.1")) == "R-OLD"
    assert name(runs.by_source(conn, "C_OPS", "10.9")) is None


def test_a_thread_that_becomes_known_rings_and_moves_no_version(conn: Connection) -> None:
    run = opened(conn)
    noted(conn).clear()

    runs.set_thread(conn, RUN, "12.5", channel="C_REAL")

    assert runs.get(conn, RUN) == run.model_copy(update={"thread_ts": "12.5", "channel": "C_REAL"})
    assert noted(conn) == {RUN}


def test_only_waits_for_people_fall_due(conn: Connection) -> None:
    """P9: a review, a question and a confirm expire; nothing else does."""
    over = {"deadline": later(minutes=5)}
    in_review(conn, "R-REVIEW")  # due after 30 minutes
    opened(conn, "R-QUESTION")
    door.change(conn, "R-QUESTION", Event.QUESTION_ASKED, **BY, data=over)
    opened(conn, "R-PLANNING")
    door.change(conn, "R-PLANNING", Event.ATTEMPTED, **BY, data=over)
    for hold in (Hold.CONFIRM, Hold.PERSON):
        running(conn, f"R-{hold}")
        door.change(conn, f"R-{hold}", Event.HELD, **BY, data={"reason": hold, "step": "one", **over})
        door.change(conn, f"R-{hold}", Event.SETTLED, **BY)

    assert runs.due(conn, NOW) == []
    assert [run.id for run in runs.due(conn, later(minutes=5))] == ["R-QUESTION", "R-confirm"]
    assert [run.id for run in runs.due(conn, later(minutes=30))] == ["R-QUESTION", "R-confirm", "R-REVIEW"]


def test_the_tables_hold_every_field_of_the_data() -> None:
    """A field that is added to the data needs a column, and a migration."""
    assert set(Run.model_fields) <= {column.name for column in tables.runs.c}
    assert set(StepState.model_fields) - {"id", "progress"} <= {column.name for column in tables.steps.c}
    assert set(Approval.model_fields) <= {column.name for column in tables.approvals.c}


@pytest.mark.parametrize("status", sorted(FINAL | {RunStatus.PAUSED}))
def test_open_runs_are_those_that_have_not_ended(conn: Connection, status: RunStatus) -> None:
    opened(conn)
    conn.execute(tables.runs.update().values(status=status.value))
    assert [run.id for run in runs.open_runs(conn)] == ([RUN] if status not in FINAL else [])
