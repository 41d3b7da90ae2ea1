"""Who attends to runs: fairness, faults, shutdown, and rings that name nothing we know."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot import runs, supervisor
from bot.commands import intake, review
from bot.core.catalogue import Catalogue
from bot.core.policy import Member
from bot.core.run import Event, Hold, Run, RunStatus, StepStatus
from bot.core.snapshot import Answer, Snapshot
from bot.deps import Deps
from bot.supervisor import Supervisor
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.parts import APPROVER, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]


async def ask(deps: Deps, plan: str, *, who: Member = REQUESTER) -> Run:
    run = await intake.open_run(deps, ask=plan, who=who, team="T", channel="C0OPS", thread_ts="1.1", source_ts=None, event_key=None)
    assert run is not None
    return run


async def approved(deps: Deps, plan: str, *, who: Member = REQUESTER) -> Run:
    run = await ask(deps, plan, who=who)
    await until(deps, run.id, RunStatus.IN_REVIEW)
    return await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())


@pytest.fixture
async def small_pool(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    deps = await open_parts(tmp_path, clock=clock, PULLCORD_POOL=2)
    attending = Supervisor(deps)
    deps.tasks.start(attending.run(), name="supervisor")
    yield deps
    await attending.close()
    await close_parts(deps)


async def test_one_who_asks_much_does_not_keep_others_waiting_C051(small_pool: Deps, lines: Lines, tmp_path: Path) -> None:
    many = [await approved(small_pool, f"test.gate name=many{n}") for n in range(6)]
    one = await approved(small_pool, "test.gate name=one", who=MEMBER)

    async def both_places_taken() -> bool:
        return len(lines("gate")) == 2

    await eventually(both_places_taken, "two runs to be at the gate")
    (tmp_path / f"{lines('gate')[0]}.open").touch()

    async def next_in() -> bool:
        return len(lines("gate")) == 3

    await eventually(next_in, "the next run to start")
    assert lines("gate")[2] == "one", "the other requester comes before the fifth of the first"
    for n in range(6):
        (tmp_path / f"many{n}.open").touch()
    (tmp_path / "one.open").touch()
    for run in (*many, one):
        await until(small_pool, run.id, RunStatus.SUCCEEDED)


async def test_a_ring_for_a_run_that_is_not_here_changes_nothing(supervised: Deps, lines: Lines) -> None:
    supervised.bell.ring("R-NOWHERE")
    run = await ask(supervised, "test.look name=a")

    await until(supervised, run.id, RunStatus.SUCCEEDED)


class Broken:
    """A synthesizer with a fault of its own."""

    async def answer(self, snapshot: Snapshot, catalogue: Catalogue) -> Answer:
        raise RuntimeError("broken on purpose")


async def test_an_activity_that_keeps_breaking_ends_clearly_P10(deps: Deps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "BACK_OFF_S", (0.01, 0.01))
    monkeypatch.setattr(supervisor, "SWEEP_S", 0.05)
    broken = replace(deps, synthesizer=Broken())
    attending = Supervisor(broken)
    with capture_logs() as said:
        broken.tasks.start(attending.run(), name="supervisor")
        run = await ask(broken, "test.look name=a")
        await until(broken, run.id, RunStatus.FAILED)
        await attending.close()

    snapshot = await runs.snapshot(broken, run.id)
    assert snapshot.answer is not None
    assert "broke" in snapshot.answer.text
    assert "gave_up" in [line["event"] for line in said]


async def test_shutdown_lets_running_steps_end_and_starts_no_other(deps: Deps, lines: Lines, tmp_path: Path) -> None:
    attending = Supervisor(deps)
    deps.tasks.start(attending.run(), name="supervisor")
    run = await approved(deps, "g: test.gate name=g\nc: test.change name=c after=g")

    async def at_the_gate() -> bool:
        return lines("gate") == ["g"]

    await eventually(at_the_gate, "the step to start")
    closing = deps.tasks.start(attending.close(), name="closing")
    (tmp_path / "g.open").touch()
    await closing

    snapshot = await runs.snapshot(deps, run.id)
    assert (snapshot.run.status, snapshot.run.reason) == (RunStatus.PAUSED, Hold.SHUTDOWN)
    assert (snapshot.state("g").status, snapshot.state("c").status) == (StepStatus.SUCCEEDED, StepStatus.PENDING)
    assert lines("change") == []

    again = Supervisor(deps)
    deps.tasks.start(again.run(), name="supervisor")
    await until(deps, run.id, RunStatus.SUCCEEDED)
    await again.close()
    assert lines("gate") == ["g"], "what was finished is not done again"


async def test_a_read_that_shutdown_cut_short_runs_again_at_the_next_start(tmp_path: Path, clock: Clock, lines: Lines) -> None:
    deps = await open_parts(tmp_path, clock=clock, PULLCORD_GRACE=0)
    attending = Supervisor(deps)
    deps.tasks.start(attending.run(), name="supervisor")
    run = await approved(deps, "r: test.readgate name=r\nc: test.change name=c after=r")

    async def at_the_gate() -> bool:
        return lines("readgate") == ["r"]

    await eventually(at_the_gate, "the step to start")
    await attending.close()
    (tmp_path / "r.open").touch()
    again = Supervisor(deps)
    deps.tasks.start(again.run(), name="supervisor")
    await until(deps, run.id, RunStatus.SUCCEEDED)
    await again.close()
    await close_parts(deps)

    assert lines("change") == ["c"]


async def test_two_runs_never_hold_the_same_key(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    first = await approved(supervised, "test.locked name=a")

    async def at_the_gate() -> bool:
        return lines("locked") == ["a"]

    await eventually(at_the_gate, "the first to start")
    second = await approved(supervised, "test.locked name=a")
    await until(supervised, second.id, RunStatus.RUNNING)
    other = await approved(supervised, "l: test.locked name=b")
    (tmp_path / "b.open").touch()
    await until(supervised, other.id, RunStatus.SUCCEEDED)
    assert lines("locked") == ["a", "b"], "another key is free"

    (tmp_path / "a.open").touch()
    for run in (first, second):
        await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("locked") == ["a", "b", "a"]


async def test_a_stored_plan_that_was_changed_behind_our_back_does_not_run_P2(deps: Deps, lines: Lines) -> None:
    from sqlalchemy import text

    attending = Supervisor(deps)
    run = await ask(deps, "test.change name=good")
    deps.tasks.start(attending.run(), name="supervisor")
    await until(deps, run.id, RunStatus.IN_REVIEW)
    await deps.store.write(lambda conn: conn.execute(text("UPDATE revisions SET plan = replace(plan, 'good', 'evil')")))
    await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())

    held = await until(deps, run.id, RunStatus.PAUSED)
    await attending.close()

    assert held.reason is Hold.STEP_FAILED
    assert lines("change") == []
    snapshot = await runs.snapshot(deps, run.id, entries=True)
    assert "not the one that was approved" in (snapshot.steps[0].error or "")
    assert Event.STEP_STARTED not in [entry.event for entry in snapshot.entries]


async def test_a_finished_effect_is_on_record_before_a_preview_is_waited_for(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    """Two branches: one ends while the other is about to ask for confirmation with a preview that hangs."""
    run = await ask(supervised, "c: test.change name=c\np: test.previewed name=p after=c")
    await until(supervised, run.id, RunStatus.IN_REVIEW)
    await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    await review.approve(supervised, run.id, 1, who=Member(id="U9", listed=frozenset({"@ops-leads"})), received_at=supervised.now())

    async def looking() -> bool:
        return lines("preview") == ["p"]

    await eventually(looking, "the preview to be asked for")
    assert (await runs.snapshot(supervised, run.id)).state("c").status is StepStatus.SUCCEEDED
    (tmp_path / "p.open").touch()
    held = await until(supervised, run.id, RunStatus.PAUSED)
    assert held.reason is Hold.CONFIRM
