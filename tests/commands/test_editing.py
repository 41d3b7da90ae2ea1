"""Editing by hand: a revision by its author, graded anew; older cards decide nothing; finished steps stay."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot import runs
from bot.commands import confirming, controls, editing, review
from bot.core.notation import parse
from bot.core.plan import Plan
from bot.core.run import Event, Hold, Run, RunStatus, StepStatus
from bot.deps import Deps
from bot.errors import Refused
from tests.conftest import until
from tests.doubles.deeds import asked
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
PLAN = "a: test.change name=a\nb: test.change name=b after=a"


async def edited(deps: Deps, run_id: str, text: str) -> Plan:
    """The plan that stands, as somebody edited it: known ids keep their numbers."""
    snapshot = await runs.snapshot(deps, run_id)
    assert snapshot.plan is not None
    numbers = {step.id: step.number for step in snapshot.plan.steps}
    new = parse(text, goal=snapshot.plan.goal)
    return new.model_copy(update={"steps": tuple(step.model_copy(update={"number": numbers.get(step.id, 0)}) for step in new.steps)})


async def test_saving_makes_a_revision_by_that_author_and_the_older_card_decides_nothing(supervised: Deps, lines: Lines) -> None:
    run = await asked(supervised, PLAN)
    new = await edited(supervised, run.id, "a: test.change name=other\nb: test.change name=b after=a\nc: test.look name=c")
    saved = await editing.save(supervised, run.id, base=1, plan=new, who=APPROVER2)

    snapshot = await runs.snapshot(supervised, run.id, entries=True)
    assert (saved.status, saved.revision, snapshot.revisions[-1].author) == (RunStatus.IN_REVIEW, 2, APPROVER2.id)
    assert [step.number for step in snapshot.plan.steps] == [1, 2, 3]  # type: ignore[union-attr]
    assert next(e for e in snapshot.entries if e.event == Event.REVISED).data["words"] == "1 added, 1 changed, 1 kept"
    with pytest.raises(Refused, match="stale"):
        await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    with pytest.raises(Refused, match="own_edit"):
        await review.approve(supervised, run.id, 2, who=APPROVER2, received_at=supervised.now())
    await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["other", "b"]  # C022: what was edited is what runs


async def test_c022_an_edit_that_does_not_hold_saves_nothing_and_says_where(supervised: Deps) -> None:
    run = await asked(supervised, PLAN)
    new = await edited(supervised, run.id, "a: test.change nane=a\nb: test.nothing name=b")
    with pytest.raises(editing.InvalidPlan) as refused:
        await editing.save(supervised, run.id, base=1, plan=new, who=REQUESTER)
    assert {fault.step for fault in refused.value.faults} == {"a", "b"}
    assert (await runs.get(supervised, run.id)).revision == 1


async def test_c022_an_edit_that_raises_the_risk_needs_the_approvals_of_the_higher_one(supervised: Deps) -> None:
    run = await asked(supervised, PLAN)
    checked = await editing.check(
        supervised, await runs.snapshot(supervised, run.id, entries=True), await edited(supervised, run.id, "a: test.destroy name=a")
    )
    assert (checked.faults, checked.level.value) == ((), "high")
    await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, "a: test.destroy name=a"), who=REQUESTER)
    after = await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    assert after.status is RunStatus.IN_REVIEW, "high risk needs two"


async def test_a_plan_that_only_reads_after_the_edit_starts_at_once(supervised: Deps) -> None:
    run = await asked(supervised, PLAN)
    await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, "a: test.look name=a"), who=REQUESTER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)


@pytest.mark.parametrize("how", ["conflict", "late", "nothing", "stranger"])
async def test_an_edit_that_comes_too_late_or_changes_nothing_is_refused(supervised: Deps, how: str) -> None:
    run = await asked(supervised, PLAN)
    new = await edited(supervised, run.id, PLAN if how == "nothing" else "a: test.change name=x")
    kinds = {"conflict": "edit_conflict", "late": "edit_too_late", "nothing": "nothing_changed", "stranger": "not_allowed"}
    if how == "conflict":
        await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, "a: test.change name=y"), who=APPROVER)
    if how == "late":
        await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
        await until(supervised, run.id, RunStatus.SUCCEEDED)
    with pytest.raises(Refused, match=kinds[how]):
        await editing.save(supervised, run.id, base=1, plan=new, who=MEMBER if how == "stranger" else REQUESTER)


async def test_the_rest_of_a_paused_run_can_be_edited_and_what_has_run_cannot(supervised: Deps, lines: Lines) -> None:
    run = await asked(supervised, PLAN + " !break")
    await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.PAUSED)
    with pytest.raises(editing.InvalidPlan, match="has run"):
        await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, "b: test.change name=b"), who=REQUESTER)
    new = await edited(supervised, run.id, "a: test.change name=a\nb: test.change name=z after=a")
    proposed = await editing.save(supervised, run.id, base=1, plan=new, who=REQUESTER)
    assert (proposed.status, proposed.proposed, proposed.reason) == (RunStatus.PAUSED, 2, Hold.REDIRECT)
    await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["a", "z"]


async def test_ask_for_changes_gives_another_revision_and_the_words_of_all_rounds_count(supervised: Deps, lines: Lines) -> None:
    run = await asked(supervised, PLAN)
    planning = await review.ask_changes(supervised, run.id, 1, words="skip a", who=APPROVER)
    assert planning.status is RunStatus.PLANNING
    again = await until(supervised, run.id, RunStatus.IN_REVIEW)
    assert again.revision == 2
    with pytest.raises(Refused, match="stale"):
        await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["b"]


async def test_changes_that_nobody_can_plan_leave_the_plan_as_it_was(supervised: Deps) -> None:
    run = await asked(supervised, PLAN)
    await review.ask_changes(supervised, run.id, 1, words="fax it to the moon", who=APPROVER)
    kept = await until(supervised, run.id, RunStatus.IN_REVIEW)
    assert (kept.revision, kept.deadline is not None) == (1, True)
    await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)


async def test_p10_the_planner_makes_three_revisions_and_no_fourth(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a\nb: test.change name=b\nc: test.change name=c")
    for revision, words in ((1, "skip a"), (2, "skip b")):
        await review.ask_changes(supervised, run.id, revision, words=words, who=APPROVER)
        await until(supervised, run.id, RunStatus.IN_REVIEW)
    with pytest.raises(Refused, match="no_revisions_left") as refused:
        await review.ask_changes(supervised, run.id, 3, words="post it", who=APPROVER)
    assert refused.value.facts["words"] == "post it"


# confirm


async def confirming_run(deps: Deps, plan: str) -> tuple[Run, str]:
    """A run that waits for a confirmation, and the first eight of its values' digest."""
    run = await asked(deps, plan)
    for who in (APPROVER, APPROVER2):
        if (await runs.get(deps, run.id)).status is RunStatus.IN_REVIEW:
            await review.approve(deps, run.id, 1, who=who, received_at=deps.now())
    held = await until(deps, run.id, RunStatus.PAUSED)
    card = [post for post in (await runs.snapshot(deps, run.id)).posts if post.card == "confirm"][-1]
    return held, card.data["filling"]


async def test_pause_during_a_confirm_stands_until_resume_and_then_it_asks_again(supervised: Deps, lines: Lines) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d")
    paused = await controls.pause(supervised, run.id, who=MEMBER)
    assert (paused.status, paused.reason) == (RunStatus.PAUSED, Hold.PERSON)
    with pytest.raises(Refused):
        await confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER)
    assert lines("destroy") == []
    await controls.resume(supervised, run.id, who=REQUESTER)

    async def asks_again() -> Run | None:
        now = await runs.get(supervised, run.id)
        return now if now.reason is Hold.CONFIRM else None

    again = await eventually(asks_again, "the step to ask again")
    cards = [post for post in (await runs.snapshot(supervised, run.id)).posts if post.card == "confirm"]
    assert len(cards) == 1, "C025: one wait point, one card for a revision"
    assert (again.reason, again.deadline is not None) == (Hold.CONFIRM, True)
    await confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("destroy") == ["d"]


async def test_c021_a_call_that_was_refused_is_not_made_by_another_step(supervised: Deps, lines: Lines) -> None:
    run, filling = await confirming_run(
        supervised, "d: test.destroy name=d\ne: test.change name=e after=d on_failure=continue\nf: test.change name=f !break"
    )
    await confirming.refuse(supervised, run.id, "d", digest8=filling, who=APPROVER, reason="not the production database")
    stands = await until(supervised, run.id, RunStatus.PAUSED)
    assert stands.reason is Hold.BREAKPOINT
    new = await runs.snapshot(supervised, run.id)
    assert new.state("e").status is StepStatus.SKIPPED
    again = parse("again: test.destroy name=d", goal="x").steps[0]
    plan = new.plan.model_copy(update={"steps": (*new.plan.steps, again)})  # type: ignore[union-attr]
    with pytest.raises(editing.InvalidPlan, match="not the production database"):
        await editing.save(supervised, run.id, base=1, plan=plan, who=REQUESTER)
    assert lines("destroy") == []


async def test_change_arguments_asks_again_with_the_new_values_and_the_old_yes_is_void(supervised: Deps, lines: Lines) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d")
    await editing.change_arguments(supervised, run.id, "d", digest8=filling, args={"name": "other"}, who=REQUESTER)

    held = await until(supervised, run.id, RunStatus.PAUSED)
    assert (held.reason, held.revision) == (Hold.CONFIRM, 2)
    with pytest.raises(Refused, match="confirm_void"):
        await confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER)
    card = [post for post in (await runs.snapshot(supervised, run.id)).posts if post.card == "confirm"][-1]
    for who in (APPROVER, APPROVER2):  # as many as the plan needed: nobody has agreed to these values
        await confirming.confirm(supervised, run.id, "d", digest8=card.data["filling"], who=who)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("destroy") == ["other"]


async def test_p7_a_value_that_looks_like_a_reference_is_never_filled_in_by_way_of_a_form(supervised: Deps) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d")
    with pytest.raises(editing.InvalidPlan, match="braces"):
        await editing.change_arguments(supervised, run.id, "d", digest8=filling, args={"name": "{{d.name}}"}, who=APPROVER)


async def test_change_arguments_that_do_not_fit_the_tool_are_refused_and_the_step_still_waits(supervised: Deps) -> None:
    run, filling = await confirming_run(supervised, "d: test.destroy name=d")
    with pytest.raises(editing.InvalidPlan):
        await editing.change_arguments(supervised, run.id, "d", digest8=filling, args={"nane": 3}, who=APPROVER)
    assert (await runs.get(supervised, run.id)).reason is Hold.CONFIRM


async def test_a_failed_step_can_be_done_in_another_way(supervised: Deps, lines: Lines, tmp_path: Path) -> None:
    run = await asked(supervised, "a: test.fails name=a\nb: test.change name=b after=a")
    await review.approve(supervised, run.id, 1, who=APPROVER, received_at=supervised.now())
    assert (await until(supervised, run.id, RunStatus.PAUSED)).reason is Hold.STEP_FAILED
    new = await edited(supervised, run.id, "a: test.change name=a2\nb: test.change name=b after=a")
    await editing.save(supervised, run.id, base=1, plan=new, who=REQUESTER)
    await review.approve(supervised, run.id, 2, who=APPROVER, received_at=supervised.now())
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("change") == ["a2", "b"]
