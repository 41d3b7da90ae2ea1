"""The one door: a move and its record, together or not at all."""

from datetime import timedelta

import pytest

from bot.core.ids import StepId
from bot.core.run import Event, Hold, NotAllowed, Run, RunStatus, StepStatus
from bot.core.snapshot import NewPost, Observation
from bot.errors import Refused
from bot.store import audit, door, posts, runs
from bot.store.db import Database
from tests.store.samples import BY, NOW, a_plan, a_run, in_review, later, opened, revise, running, start

RUN = "R-7K2QX"


async def test_opening_a_run_writes_the_run_its_first_entry_and_its_posts(db: Database, rung: list[str]) -> None:
    card = NewPost(run=RUN, card="run", key=f"{RUN}:run", channel="C_OPS")

    run = await db.write(lambda conn: door.open_run(conn, a_run(), **BY, data={"via": "mention"}, event_key="Ev1", tell=[card]))

    assert run is not None
    assert (run.version, run.status) == (1, RunStatus.PLANNING)
    seen = await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True))
    assert seen.run == run
    assert [post.key for post in seen.posts] == [f"{RUN}:run"]
    assert [(entry.seq, entry.event, entry.actor, entry.at) for entry in seen.entries] == [(1, "opened", "U_REQ", NOW)]
    assert seen.entries[0].data["via"] == "mention"
    assert rung == [RUN]


async def test_an_event_that_is_delivered_twice_opens_one_run(db: Database, rung: list[str]) -> None:
    first = await db.write(lambda conn: door.open_run(conn, a_run("R-1"), **BY, event_key="Ev1"))
    second = await db.write(lambda conn: door.open_run(conn, a_run("R-2"), **BY, event_key="Ev1"))

    assert first is not None
    assert second is None
    assert [run.id for run in await db.read(runs.listing)] == ["R-1"]
    assert rung == ["R-1"]


async def test_an_id_that_is_taken_is_refused_and_the_event_can_be_tried_again(db: Database) -> None:
    await db.write(opened)

    with pytest.raises(door.IdTaken):
        await db.write(lambda conn: door.open_run(conn, a_run(), **BY, event_key="Ev2"))

    assert await db.write(lambda conn: door.open_run(conn, a_run("R-OTHER"), **BY, event_key="Ev2"))


async def test_a_change_moves_the_version_carries_facts_and_is_on_record(db: Database) -> None:
    await db.write(in_review)

    run = await db.read(lambda conn: runs.get(conn, RUN))
    assert (run.status, run.version, run.revision, run.risk) == (RunStatus.IN_REVIEW, 2, 1, "low")
    assert run.deadline == later(minutes=30)
    last = (await db.read(lambda conn: audit.entries(conn, RUN)))[-1]
    assert last.event == "planned"
    assert (last.data["from"], last.data["to"], last.data["version"]) == ("planning", "in_review", 2)
    assert last.data["plan_steps"] == ["one", "two"]
    assert last.data["deadline"] == "2026-11-30T10:32:03.456789Z"


async def test_a_move_that_the_table_does_not_have_changes_nothing(db: Database, rung: list[str]) -> None:
    await db.write(opened)
    before = await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True))
    rung.clear()

    with pytest.raises(NotAllowed):
        await db.write(lambda conn: door.change(conn, RUN, Event.APPROVED, **BY))

    assert await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True)) == before
    assert rung == []


async def test_a_guard_that_raises_refuses_the_change(db: Database) -> None:
    run = await db.write(in_review)

    def only_requester(seen: Run) -> None:
        assert seen == run
        raise Refused("not_allowed", run=seen.id)

    with pytest.raises(Refused, match="not_allowed"):
        await db.write(lambda conn: door.change(conn, RUN, Event.APPROVED, **BY, guard=only_requester))

    assert await db.read(lambda conn: runs.get(conn, RUN)) == run


async def test_unknown_runs_and_steps_are_refused_by_name(db: Database) -> None:
    with pytest.raises(Refused, match="unknown_run"):
        await db.write(lambda conn: door.change(conn, "R-NONE", Event.CANCELLED, **BY))
    await db.write(running)
    with pytest.raises(Refused, match="unknown_step"):
        await db.write(lambda conn: start(conn, "nine"))


async def test_a_step_starts_and_ends_with_its_row_and_fingerprints_on_record(db: Database) -> None:
    await db.write(running)
    await db.write(lambda conn: start(conn, "one"))
    result = Observation(value={"text": "hello"}, says="1 line", sha256="abc", size=16)
    ended = door.StepChange(id=StepId("one"), finished_at=NOW + timedelta(seconds=1), observation=result)

    await db.write(lambda conn: door.change(conn, RUN, Event.STEP_SUCCEEDED, actor="pullcord", at=NOW, step=ended))

    seen = await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True))
    step = seen.state("one")
    assert (step.status, step.attempt, step.args) == (StepStatus.SUCCEEDED, 1, {"path": "one.md"})
    assert (step.started_at, step.finished_at) == (NOW, NOW + timedelta(seconds=1))
    assert step.observation == result
    assert seen.state("two").status is StepStatus.PENDING
    last = seen.entries[-1].data
    assert (last["step"], last["step_from"], last["step_to"]) == ("one", "running", "succeeded")
    assert last["observation_sha256"] == "abc"
    assert "hello" not in str(last)


async def test_no_step_starts_once_a_pause_is_recorded(db: Database) -> None:
    """P4: the brake is a fact."""
    await db.write(running)
    await db.write(lambda conn: door.change(conn, RUN, Event.PAUSE_ASKED, **BY))

    with pytest.raises(NotAllowed):
        await db.write(lambda conn: start(conn, "one"))

    assert (await db.read(lambda conn: runs.snapshot(conn, RUN))).state("one").status is StepStatus.PENDING


async def test_a_hold_stores_the_filled_in_arguments_and_leaves_the_step_pending(db: Database) -> None:
    await db.write(running)
    filled = door.StepChange(id=StepId("two"), args={"path": "from-one.md"})

    run = await db.write(
        lambda conn: door.change(conn, RUN, Event.HELD, actor="pullcord", at=NOW, data={"reason": Hold.CONFIRM}, step=filled)
    )

    assert (run.status, run.reason, run.held_step) == (RunStatus.PAUSING, Hold.CONFIRM, "two")
    step = (await db.read(lambda conn: runs.snapshot(conn, RUN))).state("two")
    assert (step.status, step.args) == (StepStatus.PENDING, {"path": "from-one.md"})


async def test_a_retried_step_forgets_its_error_and_the_record_keeps_it(db: Database) -> None:
    await db.write(running)
    await db.write(lambda conn: start(conn, "one"))
    broke = door.StepChange(id=StepId("one"), finished_at=NOW, error="the disk is full")
    await db.write(lambda conn: door.change(conn, RUN, Event.STEP_FAILED, actor="pullcord", at=NOW, step=broke))
    hold = {"reason": Hold.STEP_FAILED, "step": "one"}
    await db.write(lambda conn: door.change(conn, RUN, Event.HELD, actor="pullcord", at=NOW, data=hold))
    await db.write(lambda conn: door.change(conn, RUN, Event.SETTLED, actor="pullcord", at=NOW))

    await db.write(lambda conn: door.change(conn, RUN, Event.RETRIED, **BY, step=door.StepChange(id=StepId("one"))))

    seen = await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True))
    step = seen.state("one")
    assert (step.status, step.error, step.finished_at, step.attempt) == (StepStatus.PENDING, None, None, 1)
    assert "the disk is full" in [entry.data.get("error") for entry in seen.entries]


async def test_a_change_that_names_a_revision_needs_it_stored_first(db: Database) -> None:
    await db.write(opened)

    with pytest.raises(door.UnknownRevision, match="revision 1"):
        await db.write(lambda conn: door.change(conn, RUN, Event.PLANNED, **BY, data={"revision": 1}))


async def test_a_refused_click_is_an_entry_and_no_new_version(db: Database, rung: list[str]) -> None:
    run = await db.write(in_review)
    rung.clear()

    await db.write(lambda conn: door.note(conn, RUN, actor="U_MEMBER", at=later(seconds=9), data={"why": "not_allowed"}))

    assert await db.read(lambda conn: runs.get(conn, RUN)) == run
    last = (await db.read(lambda conn: audit.entries(conn, RUN)))[-1]
    assert (last.seq, last.event, last.actor, last.data) == (3, "click_refused", "U_MEMBER", {"why": "not_allowed"})
    assert rung == [RUN]


async def test_facts_that_use_the_door_s_own_names_do_not_look_like_a_move(db: Database) -> None:
    await db.write(in_review)
    await db.write(lambda conn: door.note(conn, RUN, actor="U_X", at=later(seconds=1), data={"version": 9, "to": "queued"}))

    last = (await db.read(lambda conn: audit.entries(conn, RUN)))[-1]
    assert last.data == {"version_": 9, "to_": "queued"}
    assert await db.read(audit.verify) == []


async def test_a_click_on_an_unknown_run_goes_into_a_chain_of_its_own(db: Database) -> None:
    for name in ("R-NONE", "R-GONE"):
        await db.write(lambda conn, name=name: door.note(conn, name, actor="U_X", at=NOW))

    found = await db.read(lambda conn: audit.entries(conn, audit.NO_RUN))
    assert [(entry.seq, entry.data["run"]) for entry in found] == [(1, "R-NONE"), (2, "R-GONE")]
    assert await db.read(audit.verify) == []


async def test_an_audit_post_is_completed_with_the_entry_number_and_hash(db: Database) -> None:
    await db.write(in_review)
    told = NewPost(run=RUN, card="audit", key=f"{RUN}:audit", channel="#audit", in_thread=False)
    for at in (NOW, later(seconds=1)):
        await db.write(lambda conn, at=at: door.note(conn, RUN, actor="U_X", at=at, tell=[told]))

    found = await db.read(lambda conn: posts.of_run(conn, RUN))
    record = await db.read(lambda conn: audit.entries(conn, RUN))
    assert [post.key for post in found] == [f"{RUN}:audit.3", f"{RUN}:audit.4"]
    assert [(post.data["seq"], post.data["hash"]) for post in found] == [(entry.seq, entry.hash) for entry in record[2:]]


async def test_a_change_whose_transaction_fails_later_leaves_no_entry(db: Database) -> None:
    """P8 the other way round: no entry without its change."""
    await db.write(opened)

    def cancel_and_break(conn):
        door.change(conn, RUN, Event.CANCELLED, **BY)
        raise ValueError("broke after the change")

    with pytest.raises(ValueError):
        await db.write(cancel_and_break)

    seen = await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True))
    assert seen.run.status is RunStatus.PLANNING
    assert len(seen.entries) == 1


async def test_a_new_revision_keeps_started_steps_and_drops_pending_ones(db: Database) -> None:
    """P5: finished work is kept."""
    await db.write(running)
    await db.write(lambda conn: start(conn, "one"))

    await db.write(lambda conn: revise(conn, RUN, a_plan("three", "four"), revision=2))

    states = {step.id: step for step in await db.read(lambda conn: runs.steps(conn, RUN))}
    assert {name: step.status for name, step in states.items()} == {
        "one": StepStatus.RUNNING,
        "three": StepStatus.PENDING,
        "four": StepStatus.PENDING,
    }
    assert states["one"].args == {"path": "one.md"}
