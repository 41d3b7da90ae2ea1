"""A yes in writing, everywhere; what a yes needs is asked under one policy; who could still say yes is known."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import runs
from bot.commands import confirming, redirecting, review
from bot.core.run import Event, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.supervisor import Supervisor
from tests.commands.test_guard_attacks import ask, refused
from tests.commands.test_who_made_it import confirm_card, reviewed_rest
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.policies import DEMO_POLICY

IN_WRITING = DEMO_POLICY + "\nstep_up: [high]\n"
HIGH = "d: test.destroy name=Prod"


@pytest.fixture
async def written(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    """A workspace that wants a yes to what is high in writing."""
    deps = await open_parts(tmp_path, clock=clock, policy_text=IN_WRITING)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps
    await supervisor.close()
    await close_parts(deps)


async def said(deps: Deps, run: Run, typed: str | None, *, revision: int = 1, **more: bool) -> Run:
    return await review.approve(deps, run.id, revision, who=APPROVER, received_at=deps.now(), typed=typed, **more)


async def entries(deps: Deps, run_id: str, *events: Event) -> list[tuple[str, bool]]:
    found = (await runs.snapshot(deps, run_id, entries=True)).entries
    return [(entry.actor, bool(entry.data.get("typed"))) for entry in found if entry.event in events]


@pytest.mark.parametrize("typed", [None, "", "prod", "PROD", "Prod.", "approve", "Pr od", "R-7K2QX"])
async def test_a_high_risk_is_approved_only_by_its_name_exactly(written: Deps, typed: str | None) -> None:
    run = await ask(written, HIGH)
    assert await review.is_written(written, run.id, 1)
    told = await refused(said(written, run, typed), "step_up")
    assert (told.facts["wants"], told.facts["typed"]) == ("Prod", typed is not None)
    await refused(said(written, run, typed, opened_all=True), "step_up")
    assert (await runs.get(written, run.id)).version == run.version


async def test_the_name_counts_and_is_on_record_as_typed(written: Deps) -> None:
    run = await ask(written, HIGH)
    await said(written, run, " Prod ")
    await review.approve(written, run.id, 1, who=APPROVER2, received_at=written.now(), typed="Prod")
    assert await entries(written, run.id, Event.APPROVAL_GIVEN, Event.APPROVED) == [(APPROVER.id, True), (APPROVER2.id, True)]


async def test_what_is_not_high_needs_no_writing_and_says_none_was_given(written: Deps) -> None:
    run = await ask(written, "c: test.change name=Prod")
    assert not await review.is_written(written, run.id, 1)
    await said(written, run, None)
    assert await entries(written, run.id, Event.APPROVED) == [(APPROVER.id, False)]


async def test_a_confirm_is_written_too(written: Deps, tmp_path: Path) -> None:
    run = await ask(written, "l: test.look name=staging\nd: test.destroy name={{l.name}}")
    wants = (await refused(said(written, run, None), "step_up")).facts["wants"]
    assert wants == run.id, "what is named later cannot be typed yet"
    for who in (APPROVER, APPROVER2):
        await review.approve(written, run.id, 1, who=who, received_at=written.now(), typed=run.id)
    card = await confirm_card(written, run.id, "d")
    filling = card["filling"]
    assert await confirming.is_written(written, run.id, "d")
    for typed in (None, run.id, "Staging"):
        work = confirming.confirm(written, run.id, "d", digest8=filling, who=APPROVER, typed=typed)
        assert (await refused(work, "step_up")).facts["wants"] == "staging"
    await refused(confirming.confirm(written, run.id, "d", digest8=filling, who=APPROVER, opened_all=True), "step_up")
    await confirming.confirm(written, run.id, "d", digest8=filling, who=APPROVER, typed="staging")
    await until(written, run.id, RunStatus.SUCCEEDED)
    assert await entries(written, run.id, Event.CONFIRMED) == [(APPROVER.id, True)]


async def test_the_new_rest_of_a_live_run_is_written_too(written: Deps) -> None:
    run = await ask(written, "a: test.change name=a\nb: test.change name=b after=a !break")
    await said(written, run, None)
    await until(written, run.id, RunStatus.PAUSED)
    await redirecting.redirect(written, run.id, text="add d: test.destroy name=web", who=REQUESTER)
    await reviewed_rest(written, run.id, 2)
    assert (await refused(said(written, run, "b", revision=2), "step_up")).facts["wants"] == "web"
    await said(written, run, "web", revision=2)
    await review.approve(written, run.id, 2, who=APPROVER2, received_at=written.now(), typed="web")
    assert await entries(written, run.id, Event.REDIRECTED) == [(APPROVER2.id, True)]


async def test_who_may_not_is_told_so_before_anybody_asks_them_to_type(written: Deps) -> None:
    run = await ask(written, HIGH)
    with pytest.raises(Refused, match="not_allowed"):
        await review.to_be_written(written, run.id, 1, who=MEMBER, received_at=written.now())
    waiting = await review.to_be_written(written, run.id, 1, who=APPROVER, received_at=written.now())
    assert (waiting.wants, waiting.level, waiting.needed) == ("Prod", "high", 2)
