"""Changing the rest of a live run: the brake first, finished work kept, only what is new asked, and a way back."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import runs
from bot.commands import controls, interjections, redirecting, review
from bot.core.rest import opened
from bot.core.run import Event, Hold, Redirect, Run, RunStatus, StepStatus
from bot.deps import Deps
from bot.errors import Refused
from tests.conftest import until
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
Gate = Callable[[str], None]
PLAN = "g: test.gate name=a\nb: test.change name=b after=g\nc: test.change name=c after=b"


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Opens the gate of that name."""
    return lambda name: (tmp_path / f"{name}.open").touch()


async def live(deps: Deps, lines: Lines, plan: str = PLAN) -> Run:
    """A run whose first step is at work."""
    run = await asked(deps, plan)
    await approved(deps, run.id)

    async def started() -> bool:
        return "a" in lines("gate")

    await eventually(started, "the first step to start")
    return await runs.get(deps, run.id)


async def redirect_at(deps: Deps, run_id: str, phase: Redirect | None) -> Run:
    async def probe() -> Run | None:
        run = await runs.get(deps, run_id)
        return run if run.redirect is phase and run.status is not RunStatus.PAUSING else None

    return await eventually(probe, f"the redirect to be {phase}")


async def say(deps: Deps, run_id: str, text: str, *, ts: str = "2.1", who: object = REQUESTER) -> str:
    return (await interjections.reply(deps, run_id, text=text, who=who, ts=ts)).kind  # type: ignore[arg-type]


async def test_p4_a_change_pulls_the_brake_first_and_the_rest_is_planned_once_nothing_runs(
    supervised: Deps, lines: Lines, gate: Gate
) -> None:
    run = await live(supervised, lines)
    assert await say(supervised, run.id, "skip b") == "change"

    pausing = await runs.get(supervised, run.id)
    assert (pausing.status, pausing.reason, pausing.redirect) == (RunStatus.PAUSING, Hold.REDIRECT, Redirect.PLANNING)
    gate("a")
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["c"]  # it only came after b, and needs nothing of it
    assert {step.id for step in (await runs.snapshot(supervised, run.id)).steps} == {"g", "c"}


async def test_p5_what_is_finished_is_kept_and_only_the_new_step_is_asked(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)

    snapshot = await runs.snapshot(supervised, run.id, entries=True)
    planned = next(entry for entry in snapshot.entries if entry.event == Event.REDIRECT_PLANNED)
    assert planned.data["asked"] == ["d"]
    assert (snapshot.run.revision, snapshot.run.proposed, snapshot.run.status) == (1, 2, RunStatus.PAUSED)
    assert [post.key for post in snapshot.posts if post.card == "redirect"] == [f"{run.id}:redirect.2"]

    await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert sorted(lines("change")) == ["b", "c", "d"]
    assert lines("gate") == ["a"]


async def test_never_mind_goes_on_with_the_plan_as_it_was(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)

    assert await say(supervised, run.id, "never mind", ts="2.2") == "withdraw"
    await redirecting.withdraw(supervised, run.id, who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["b", "c"]
    with pytest.raises(Refused, match="nothing_to_withdraw"):
        await redirecting.withdraw(supervised, run.id, who=REQUESTER)


async def test_replies_are_followed_in_the_order_in_which_they_were_said(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g", ts="2.1")
    await say(supervised, run.id, "skip d", ts="2.2")
    await say(supervised, run.id, "skip c", ts="2.3")
    gate("a")
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["b"]


async def test_another_reply_while_the_new_rest_waits_begins_from_it_and_kills_its_card(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g", ts="2.1")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)
    await say(supervised, run.id, "skip c", ts="2.2")

    async def third() -> bool:
        return (await runs.get(supervised, run.id)).proposed == 3

    await eventually(third, "the third revision to wait")
    with pytest.raises(Refused, match="stale"):
        await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    await review.approve(supervised, run.id, 3, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    assert sorted(lines("change")) == ["b", "d"]


async def test_p4_a_redirect_that_is_adopted_does_not_let_go_a_persons_pause(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await controls.pause(supervised, run.id, who=MEMBER)
    await say(supervised, run.id, "skip c")
    gate("a")

    async def adopted() -> bool:
        return (await runs.get(supervised, run.id)).revision == 2

    await eventually(adopted, "the new rest to be adopted")
    stands = await runs.get(supervised, run.id)
    assert (stands.status, stands.reason) == (RunStatus.PAUSED, Hold.PERSON)
    assert lines("change") == []
    await controls.resume(supervised, run.id, who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["b"]


async def test_pause_while_the_rest_is_being_planned_again_stands_after_never_mind(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)
    await controls.pause(supervised, run.id, who=MEMBER)
    await redirecting.withdraw(supervised, run.id, who=REQUESTER)

    stands = await runs.get(supervised, run.id)
    assert (stands.status, stands.reason, stands.redirect) == (RunStatus.PAUSED, Hold.PERSON, None)


async def test_stop_ends_a_run_whose_rest_is_being_planned_again_for_good(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)
    await controls.stop(supervised, run.id, who=MEMBER)

    with pytest.raises(Refused):
        await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    assert lines("change") == []
    assert (await runs.get(supervised, run.id)).status is RunStatus.STOPPED


async def test_what_cannot_be_planned_leaves_the_run_standing_with_its_old_rest(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.nothing name=d")
    gate("a")
    stands = await redirect_at(supervised, run.id, Redirect.NO_PLAN)
    assert (stands.status, stands.revision) == (RunStatus.PAUSED, 1)

    await say(supervised, run.id, "skip b", ts="2.2")
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["c"]


async def test_p10_there_are_only_so_many_redirects_and_the_thread_is_told(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    for number in range(supervised.policy.limits.redirects):
        assert await say(supervised, run.id, "skip c", ts=f"2.{number}") == "change"
    assert await say(supervised, run.id, "skip b", ts="3.0") == "refused"
    with pytest.raises(Refused, match="no_redirects_left"):
        await redirecting.redirect(supervised, run.id, text="skip b", who=REQUESTER)


async def test_who_may_not_change_the_rest_is_told_and_nothing_happens(supervised: Deps, lines: Lines) -> None:
    run = await live(supervised, lines)
    with pytest.raises(Refused, match="not_allowed"):
        await say(supervised, run.id, "skip c", who=MEMBER)
    assert (await runs.get(supervised, run.id)).status is RunStatus.RUNNING


async def test_c016_a_reply_that_is_told_twice_counts_once(supervised: Deps, lines: Lines) -> None:
    run = await live(supervised, lines)
    assert [await say(supervised, run.id, "skip c") for _ in range(2)] == ["change", "known"]
    entries = (await runs.snapshot(supervised, run.id, entries=True)).entries
    assert len(opened(entries).replies) == 1


async def test_c015_a_reply_that_is_deleted_takes_its_change_with_it(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g", ts="2.1")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)
    assert await redirecting.reply_changed(supervised, run.id, ts="2.1", text=None, who=APPROVER) is None  # not theirs
    await redirecting.reply_changed(supervised, run.id, ts="2.1", text=None, who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["b", "c"]


async def test_c016_a_reply_that_is_edited_is_followed_as_it_is_now(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g", ts="2.1")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)
    await redirecting.reply_changed(supervised, run.id, ts="2.1", text="skip c", who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["b"]


async def test_two_approvers_and_a_redirect_at_once_leave_one_outcome(supervised: Deps, lines: Lines, gate: Gate) -> None:
    run = await live(supervised, lines)
    await say(supervised, run.id, "add d: test.change name=d after=g", ts="2.1")
    gate("a")
    await redirect_at(supervised, run.id, Redirect.REVIEW)
    outcomes = await asyncio.gather(
        review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now()),
        say(supervised, run.id, "skip c", ts="2.2"),
        review.approve(supervised, run.id, 2, who=APPROVER2, received_at=supervised.now()),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Run) for outcome in outcomes) <= 1
    await eventually_done(supervised, run.id)
    assert (await runs.snapshot(supervised, run.id)).state("g").status is StepStatus.SUCCEEDED


async def eventually_done(deps: Deps, run_id: str) -> None:
    async def probe() -> bool:
        run = await runs.get(deps, run_id)
        if run.redirect is Redirect.REVIEW and run.proposed:
            await review.approve(deps, run_id, run.proposed, who=APPROVER, received_at=deps.now())
        return run.is_final

    await eventually(probe, "the run to end")
