"""The dispatcher: order, brake, holds, failures and what a crash leaves, on the real store with real tools."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import runs
from bot.activities.dispatching import dispatch
from bot.commands import confirming, controls, intake, review
from bot.core.run import Event, Hold, Run, RunStatus, StepStatus
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.errors import Refused
from bot.store import door
from tests.conftest import until
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
DECIDED = (RunStatus.IN_REVIEW, RunStatus.QUEUED, RunStatus.FAILED, RunStatus.RUNNING, RunStatus.SUCCEEDED)


async def ask(deps: Deps, plan: str) -> Run:
    run = await intake.open_run(
        deps, ask=plan, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts="1.1", event_key=None
    )
    assert run is not None
    return await until(deps, run.id, *DECIDED)


async def approved(deps: Deps, plan: str) -> Run:
    run = await ask(deps, plan)
    assert run.status is RunStatus.IN_REVIEW, run
    return await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())


async def states(deps: Deps, run_id: str) -> dict[str, StepStatus]:
    return {step.id: step.status for step in (await runs.snapshot(deps, run_id)).steps}


async def started(lines: Lines, kind: str, name: str) -> None:
    async def probe() -> bool:
        return name in lines(kind)

    await eventually(probe, f"{kind} {name} to start")


async def test_steps_run_in_the_order_of_their_needs_and_the_run_is_answered(supervised: Deps, lines: Lines) -> None:
    run = await approved(supervised, "b: test.change name=b after=a\na: test.change name=a")

    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["a", "b"]
    snapshot = await runs.snapshot(supervised, run.id)
    assert snapshot.answer is not None
    assert set(snapshot.answer.cites) == {"a", "b"}


async def test_nothing_runs_before_the_approval(supervised: Deps, lines: Lines) -> None:
    run = await ask(supervised, "test.change name=a")

    assert run.status is RunStatus.IN_REVIEW
    with pytest.raises(Refused, match="not_allowed"):
        await review.approve(supervised, run.id, 1, who=REQUESTER, received_at=supervised.now())
    assert lines("change") == []


async def test_an_all_read_plan_is_released_at_once(supervised: Deps, lines: Lines) -> None:
    run = await ask(supervised, "test.look name=a")

    await until(supervised, run.id, RunStatus.SUCCEEDED)
    snapshot = await runs.snapshot(supervised, run.id, entries=True)
    assert lines("look") == ["a"]
    assert not snapshot.approvals
    assert Event.RELEASED in [entry.event for entry in snapshot.entries]


async def test_pause_lets_running_steps_finish_and_starts_no_other(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    run = await approved(supervised, "g: test.gate name=g\nc: test.change name=c after=g")
    await started(lines, "gate", "g")

    paused = await controls.pause(supervised, run.id, who=MEMBER)
    assert paused.status is RunStatus.PAUSING
    (tmp_path / "g.open").touch()
    await until(supervised, run.id, RunStatus.PAUSED)

    assert await states(supervised, run.id) == {"g": StepStatus.SUCCEEDED, "c": StepStatus.PENDING}
    assert lines("change") == []
    with pytest.raises(Refused, match="not_allowed"):
        await controls.resume(supervised, run.id, who=MEMBER)
    await controls.resume(supervised, run.id, who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("gate") == ["g"], "a finished step is never run again"


async def test_stop_cancels_what_runs_and_accounts_for_it(supervised: Deps, lines: Lines) -> None:
    run = await approved(supervised, "r: test.readgate name=r\ng: test.gate name=g\nc: test.change name=c after=g")
    await started(lines, "gate", "g")
    await started(lines, "readgate", "r")

    await controls.stop(supervised, run.id, who=MEMBER)
    await until(supervised, run.id, RunStatus.STOPPED)

    assert await states(supervised, run.id) == {"r": StepStatus.CANCELLED, "g": StepStatus.IN_DOUBT, "c": StepStatus.PENDING}
    assert lines("passed") == []


async def test_stop_believes_a_tool_that_can_tell(supervised: Deps, lines: Lines) -> None:
    run = await approved(supervised, "v: test.verified name=v")
    await started(lines, "verified", "v")

    await controls.stop(supervised, run.id, who=MEMBER)
    await until(supervised, run.id, RunStatus.STOPPED)

    assert await states(supervised, run.id) == {"v": StepStatus.SUCCEEDED}


async def test_a_breakpoint_holds_before_its_step_until_continue(supervised: Deps, lines: Lines) -> None:
    run = await approved(supervised, "a: test.change name=a\nb: test.change name=b after=a !break")

    held = await until(supervised, run.id, RunStatus.PAUSED)
    assert (held.reason, held.held_step) == (Hold.BREAKPOINT, "b")
    assert lines("change") == ["a"]
    await controls.proceed(supervised, run.id, "b", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["a", "b"]


async def test_a_failed_step_asks_and_retry_repeats_only_it(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    run = await approved(supervised, "a: test.change name=a\nf: test.fails name=f after=a\nb: test.change name=b after=f")

    held = await until(supervised, run.id, RunStatus.PAUSED)
    assert (held.reason, held.held_step) == (Hold.STEP_FAILED, "f")
    (tmp_path / "f.mended").touch()
    await controls.retry(supervised, run.id, "f", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["a", "b"]
    assert lines("fails") == ["f", "f"]


async def test_skip_leaves_out_what_depends_on_the_failed_step(supervised: Deps, lines: Lines) -> None:
    run = await approved(supervised, "f: test.fails name=f\nb: test.change name=b after=f\nc: test.change name=c")

    await until(supervised, run.id, RunStatus.PAUSED)
    await controls.skip(supervised, run.id, "f", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert await states(supervised, run.id) == {"f": StepStatus.SKIPPED, "b": StepStatus.SKIPPED, "c": StepStatus.SUCCEEDED}


async def test_the_rule_stop_ends_the_run_as_failed(supervised: Deps, lines: Lines) -> None:
    run = await approved(supervised, "f: test.fails name=f on_failure=stop\nb: test.change name=b after=f")

    await until(supervised, run.id, RunStatus.FAILED)

    assert await states(supervised, run.id) == {"f": StepStatus.FAILED, "b": StepStatus.SKIPPED}


async def test_a_missing_value_never_reaches_the_tool_C034(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    (tmp_path / "files" / "a.txt").write_text("one\n")
    run = await approved(supervised, 'f: files.search query=nothing-like-it\nc: test.change name="{{f.matches[0].text}}"')

    held = await until(supervised, run.id, RunStatus.PAUSED)

    assert held.reason is Hold.STEP_FAILED
    snapshot = await runs.snapshot(supervised, run.id)
    assert snapshot.state("c").attempt == 0
    assert "matches[0].text" in (snapshot.state("c").error or "")
    assert lines("change") == []


async def test_a_risky_step_shows_its_real_arguments_and_runs_only_once_confirmed(supervised: Deps, lines: Lines) -> None:
    run = await ask(supervised, 'a: test.look name=old\nd: test.destroy name="{{a.name}}"')
    await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    await review.approve(supervised, run.id, 1, who=APPROVER2, received_at=supervised.now())

    held = await until(supervised, run.id, RunStatus.PAUSED)
    assert (held.reason, held.held_step) == (Hold.CONFIRM, "d")
    snapshot = await runs.snapshot(supervised, run.id)
    assert snapshot.state("d").args == {"name": "old"}
    card = next(post for post in snapshot.posts if post.card == "confirm")
    assert card.data["args"] == {"name": "old"}
    with pytest.raises(Refused, match="confirm_void"):
        await confirming.confirm(supervised, run.id, "d", digest8="00000000", who=APPROVER)
    assert lines("destroy") == []
    await confirming.confirm(supervised, run.id, "d", digest8=card.data["filling"], who=APPROVER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("destroy") == ["old"]


async def test_a_refused_step_is_left_out_and_the_rest_runs_C020(supervised: Deps, lines: Lines) -> None:
    run = await ask(supervised, "d: test.destroy name=x\nn: test.change name=n after=d\nc: test.change name=c")
    for who in (APPROVER, APPROVER2):
        await review.approve(supervised, run.id, 1, who=who, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.PAUSED)
    snapshot = await runs.snapshot(supervised, run.id)
    card = next(post for post in snapshot.posts if post.card == "confirm")

    await confirming.refuse(supervised, run.id, "d", digest8=card.data["filling"], who=APPROVER, reason="not today")
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("destroy") == []
    assert lines("change") == ["c"]
    assert await states(supervised, run.id) == {"d": StepStatus.SKIPPED, "n": StepStatus.SKIPPED, "c": StepStatus.SUCCEEDED}


async def draft_only(deps: Deps) -> None:
    from bot.activities.drafting import draft

    for run in await runs.live(deps):
        await draft(deps, run.id)


@pytest.mark.parametrize(
    ("plan", "runs_again"),
    [("l: test.look name=l\nc: test.change name=c", True), ("c: test.change name=c", False)],
)
async def test_after_a_crash_reads_run_again_and_effects_are_in_doubt_C052(deps: Deps, lines: Lines, plan: str, runs_again: bool) -> None:
    run = await intake.open_run(
        deps, ask=plan, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts="1.1", event_key=None
    )
    assert run is not None
    await draft_only(deps)
    await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())
    await _leave_running(deps, run.id)

    await dispatch(deps, run.id, share=lambda: 4)

    found = await runs.snapshot(deps, run.id)
    if runs_again:
        assert found.run.status is RunStatus.ANSWERING
        assert lines("look") == ["l"]
    else:
        assert (found.run.status, found.run.reason) == (RunStatus.PAUSED, Hold.IN_DOUBT)
        assert lines("change") == []
        await controls.not_happened(deps, run.id, "c", who=APPROVER)
        await dispatch(deps, run.id, share=lambda: 4)
        assert lines("change") == ["c"]


async def _leave_running(deps: Deps, run_id: str) -> Snapshot:
    snapshot = await runs.snapshot(deps, run_id)
    assert snapshot.plan is not None
    step = snapshot.plan.steps[0]

    def work(conn: object) -> None:
        door.change(conn, run_id, Event.STARTED, actor="pullcord", at=deps.now())  # type: ignore[arg-type]
        change = door.StepChange(id=step.id, attempt=1, args=dict(step.args), started_at=deps.now())
        door.change(conn, run_id, Event.STEP_STARTED, actor="pullcord", at=deps.now(), step=change)  # type: ignore[arg-type]

    await deps.store.write(work)
    return snapshot


async def test_a_part_of_a_result_never_passes_for_all_of_it(supervised: Deps, tmp_path: Path) -> None:
    (tmp_path / "files" / "big.txt").write_text("\n".join(f"line {n} with some words in it" for n in range(2000)))
    run = await approved(supervised, 'a: files.read path=big.txt\nw: files.write path=copy.txt text="{{a.text}} and the end"')

    held = await until(supervised, run.id, RunStatus.PAUSED)

    assert held.reason is Hold.STEP_FAILED
    assert "too long to be kept whole" in ((await runs.snapshot(supervised, run.id)).state("w").error or "")
    assert not (tmp_path / "files" / "copy.txt").exists()
