"""Deciding on a plan: what one click may and may not do, on the real store."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot import runs
from bot.activities.drafting import draft
from bot.commands import intake, reading, review, silence
from bot.core.policy import Member
from bot.core.run import Event, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from tests.doubles.clock import Clock
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER, close_parts, open_parts


async def in_review(deps: Deps, plan: str, *, who: Member = REQUESTER) -> Run:
    run = await intake.open_run(deps, ask=plan, who=who, team="T0HOME", channel="C0OPS", thread_ts=None, source_ts=None, event_key=None)
    assert run is not None
    await draft(deps, run.id)
    found = await runs.get(deps, run.id)
    assert found.status is RunStatus.IN_REVIEW, found
    return found


async def test_an_approval_names_the_digest_that_will_run(deps: Deps) -> None:
    run = await in_review(deps, "test.change name=a")

    after = await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())

    assert (after.status, after.approved) == (RunStatus.QUEUED, run.digest)
    snapshot = await runs.snapshot(deps, run.id)
    assert [(given.actor, given.digest) for given in snapshot.approvals] == [(APPROVER.id, run.digest)]


async def test_high_risk_needs_two_people_and_the_same_one_twice_is_one(deps: Deps) -> None:
    run = await in_review(deps, "test.destroy name=a")

    first = await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())
    assert first.status is RunStatus.IN_REVIEW
    with pytest.raises(Refused, match="quorum"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())
    second = await review.approve(deps, run.id, 1, who=APPROVER2, received_at=deps.now())

    assert second.status is RunStatus.QUEUED


async def test_an_approver_may_not_approve_their_own_high_risk_ask_C061(deps: Deps) -> None:
    run = await in_review(deps, "test.destroy name=a", who=APPROVER)

    with pytest.raises(Refused, match="own_request"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())


@pytest.mark.parametrize(
    ("who", "kind"),
    [
        (MEMBER, "not_allowed"),
        (REQUESTER, "not_allowed"),
        (Member(id="U1", listed=frozenset({"@ops-leads"}), is_guest=True), "guest"),
        (Member(id="U2", listed=frozenset({"@ops-leads"}), is_stranger=True), "partner"),
        (Member(id="U3", listed=frozenset({"@ops-leads"}), is_bot=True), "bot"),
        (Member(id="U4", listed=frozenset({"@ops-leads"}), is_deactivated=True), "deactivated"),
    ],
)
async def test_who_may_not_approve_is_refused(deps: Deps, who: Member, kind: str) -> None:
    run = await in_review(deps, "test.change name=a")

    with pytest.raises(Refused, match=kind):
        await review.approve(deps, run.id, 1, who=who, received_at=deps.now())
    assert (await runs.get(deps, run.id)).version == run.version


async def test_nobody_named_means_nobody_may_approve(tmp_path: Path, clock: Clock) -> None:
    deps = await open_parts(tmp_path, clock=clock, policy_text="profile: team\n")
    try:
        run = await in_review(deps, "test.change name=a")
        with pytest.raises(Refused, match="nobody_set"):
            await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())
    finally:
        await close_parts(deps)


async def test_a_click_on_another_revision_is_stale(deps: Deps) -> None:
    run = await in_review(deps, "test.change name=a")

    with pytest.raises(Refused, match="stale"):
        await review.approve(deps, run.id, 2, who=APPROVER, received_at=deps.now())


async def test_expiry_is_judged_by_when_the_click_was_made_C019(deps: Deps, clock: Clock) -> None:
    run = await in_review(deps, "test.change name=a")
    assert run.deadline is not None

    with pytest.raises(Refused, match="expired"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=run.deadline + timedelta(seconds=60))
    clock.advance(seconds=(run.deadline - deps.now()).total_seconds() + 3)
    after = await review.approve(deps, run.id, 1, who=APPROVER, received_at=run.deadline - timedelta(seconds=1))

    assert after.status is RunStatus.QUEUED


async def test_expiry_happens_once_however_often_it_is_looked_for(deps: Deps, clock: Clock) -> None:
    run = await in_review(deps, "test.change name=a")
    clock.advance(days=2)

    found = await asyncio.gather(*(silence.expire(deps) for _ in range(5)))

    assert sorted(found, key=len)[-1] == [run.id]
    assert sum(len(each) for each in found) == 1
    with pytest.raises(Refused, match="expired"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())


async def test_a_changed_tool_voids_the_click(deps: Deps) -> None:
    run = await in_review(deps, "test.change name=a")
    digests = deps.tools._digests  # noqa: SLF001 - what a redeployed tool would look like
    digests["test.change"] = digests["test.look"]

    with pytest.raises(Refused, match="tool_changed"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())


async def test_a_plan_too_long_for_its_card_is_approved_only_once_it_was_opened_whole(deps: Deps) -> None:
    plan = "\n".join(f"s{n}: test.change name=n{n}" for n in range(25))
    run = await in_review(deps, plan)

    with pytest.raises(Refused, match="open_first"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())
    assert not reading.page_opened(deps, run.id, 1, 1, 2, who=APPROVER)
    assert reading.page_opened(deps, run.id, 1, 2, 2, who=APPROVER)
    after = await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now(), opened_all=True)

    assert after.status is RunStatus.QUEUED


async def test_cancel_keeps_the_reason_and_comes_too_late_once_it_runs(deps: Deps) -> None:
    run = await in_review(deps, "test.change name=a")
    other = await in_review(deps, "test.change name=b")

    with pytest.raises(Refused, match="not_allowed"):
        await review.cancel(deps, run.id, 1, who=MEMBER, reason="")
    await review.cancel(deps, run.id, 1, who=REQUESTER, reason="changed my mind")
    await review.approve(deps, other.id, 1, who=APPROVER, received_at=deps.now())
    with pytest.raises(Refused, match="already_running"):
        await review.cancel(deps, other.id, 1, who=REQUESTER, reason="")

    snapshot = await runs.snapshot(deps, run.id, entries=True)
    entry = next(entry for entry in snapshot.entries if entry.event == Event.CANCELLED)
    assert entry.data["reason"] == "changed my mind"
    with pytest.raises(Refused, match="late_cancelled"):
        await review.approve(deps, run.id, 1, who=APPROVER, received_at=deps.now())


async def test_fifty_clicks_at_the_same_time_start_one_run(deps: Deps) -> None:
    run = await in_review(deps, "test.change name=a")
    people = [Member(id=f"U{n}", listed=frozenset({"@ops-leads"})) for n in range(50)]

    outcomes = await asyncio.gather(
        *(review.approve(deps, run.id, 1, who=who, received_at=deps.now()) for who in people), return_exceptions=True
    )

    assert len([each for each in outcomes if isinstance(each, Run)]) == 1
    assert {each.kind for each in outcomes if isinstance(each, Refused)} == {"late_approved"}


READS_MAY_GO_ON = "profile: team\napprovers: ['@ops-leads']\ntools:\n  'test.*': {mode: ask}\ntimers:\n  low: {expire: 5m, then: approve}\n"


@pytest.mark.parametrize(("plan", "becomes"), [("test.look name=a", RunStatus.QUEUED), ("test.change name=a", RunStatus.EXPIRED)])
async def test_silence_may_release_reads_and_never_an_effect(tmp_path: Path, clock: Clock, plan: str, becomes: RunStatus) -> None:
    deps = await open_parts(tmp_path, clock=clock, policy_text=READS_MAY_GO_ON)
    try:
        run = await in_review(deps, plan)
        clock.advance(hours=5)
        await silence.expire(deps)

        snapshot = await runs.snapshot(deps, run.id, entries=True)
        assert snapshot.run.status is becomes
        assert not snapshot.approvals
        assert snapshot.entries[-1].actor == "clock"
    finally:
        await close_parts(deps)
