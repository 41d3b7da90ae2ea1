"""Who made a plan does not also say yes to it, however they try; a yes is for what was shown, by who may, in time (C061, C019, C023)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import runs
from bot.commands import confirming, controls, editing, intake, redirecting, review
from bot.core.policy import Member, parse
from bot.core.run import Event, Hold, Redirect, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.rules import Rules
from bot.supervisor import Supervisor
from tests.commands.test_editing import edited
from tests.commands.test_who_made_it import confirm_card, reviewed_rest
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.policies import DEMO_POLICY

THIRD = Member(id="U0THIRD", team="T0HOME", listed=frozenset({"@ops-leads"}))
OWN = replace(REQUESTER, listed=frozenset({"@ops-leads"}))  # who asks, and is an approver too
HIGH = "d: test.destroy name=d"
MEDIUM = "c: test.change name=c"
Lines = Callable[[str], list[str]]


async def ask(deps: Deps, plan: str, *, who: Member = REQUESTER, **more: Any) -> Run:
    """A plan of this person's that waits for people."""
    given = {"team": "T0HOME", "channel": "C0OPS", "thread_ts": "1.1", "source_ts": None, "event_key": None, **more}
    run = await intake.open_run(deps, ask=plan, who=who, **given)
    assert run is not None
    return await until(deps, run.id, RunStatus.IN_REVIEW)


async def refused(work: Awaitable[Any], kind: str) -> Refused:
    with pytest.raises(Refused) as told:
        await work
    assert told.value.kind == kind, told.value
    return told.value


def yes(deps: Deps, run_id: str, who: Member, revision: int = 1) -> Awaitable[Run]:
    return review.approve(deps, run_id, revision, who=who, received_at=deps.now())


# who made it, on every path


async def test_C061_the_requester_of_a_high_risk_plan_approves_it_on_no_path(supervised: Deps, lines: Lines) -> None:
    run = await ask(supervised, HIGH, who=OWN)
    assert (await refused(yes(supervised, run.id, OWN), "own_request")).facts["risk"] == "high"
    await refused(review.approve(supervised, run.id, 1, who=OWN, received_at=supervised.now(), opened_all=True), "own_request")
    assert not await review.may_approve(supervised, run.id, 1, who=OWN)
    await approved(supervised, run.id, APPROVER, APPROVER2)
    card = await confirm_card(supervised, run.id, "d")
    await refused(confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=OWN), "own_request")
    assert not await confirming.may_confirm(supervised, run.id, "d", card["filling"], who=OWN)
    assert lines("destroy") == []
    await confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=APPROVER)
    await until(supervised, run.id, RunStatus.SUCCEEDED)


async def test_C061_at_medium_risk_the_requester_may_where_they_are_an_approver(supervised: Deps) -> None:
    run = await ask(supervised, MEDIUM, who=OWN)
    assert (await yes(supervised, run.id, OWN)).status is RunStatus.QUEUED


@pytest.mark.parametrize("plan", [HIGH, MEDIUM])
async def test_C061_who_edits_a_plan_does_not_approve_it_whatever_its_risk(supervised: Deps, plan: str) -> None:
    run = await ask(supervised, plan)
    new = await edited(supervised, run.id, plan.replace("name=", "name=other"))
    await editing.save(supervised, run.id, base=1, plan=new, who=APPROVER)
    assert "by_word" not in (await refused(yes(supervised, run.id, APPROVER, 2), "own_edit")).facts
    assert (await yes(supervised, run.id, APPROVER2, 2)).revision == 2


async def test_C061_who_replies_does_not_approve_the_high_rest_that_follows_nor_confirm_it(supervised: Deps, lines: Lines) -> None:
    run = await asked(supervised, "a: test.change name=a\nb: test.change name=b after=a !break")
    await approved(supervised, run.id)
    await until(supervised, run.id, RunStatus.PAUSED)
    await redirecting.redirect(supervised, run.id, text="add d: test.destroy name=d", who=APPROVER)
    await reviewed_rest(supervised, run.id, 2)
    assert (await refused(yes(supervised, run.id, APPROVER, 2), "own_edit")).facts["by_word"]
    for who in (APPROVER2, THIRD):
        await yes(supervised, run.id, who, 2)
    card = await confirm_card_or_break(supervised, run.id, "d")
    assert (await refused(confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=APPROVER), "own_edit")).facts["by_word"]
    assert lines("destroy") == []
    await confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=THIRD)


async def confirm_card_or_break(deps: Deps, run_id: str, step: str) -> dict[str, Any]:
    """The card of a step that comes before or after the breakpoint of `b`."""
    held = await until(deps, run_id, RunStatus.PAUSED)
    while held.reason is Hold.BREAKPOINT:
        await controls.proceed(deps, run_id, "b", who=REQUESTER)
        held = await until(deps, run_id, RunStatus.PAUSED, RunStatus.SUCCEEDED)
    return await confirm_card(deps, run_id, step)


async def test_who_changes_where_a_value_comes_from_does_not_confirm_the_high_step_that_it_flows_into(supervised: Deps) -> None:
    run = await ask(supervised, "l: test.look name=staging\nd: test.destroy name={{l.name}}")
    new = await edited(supervised, run.id, "l: test.look name=production\nd: test.destroy name={{l.name}}")
    await editing.save(supervised, run.id, base=1, plan=new, who=APPROVER)
    for who in (APPROVER2, THIRD):
        await yes(supervised, run.id, who, 2)
    card = await confirm_card(supervised, run.id, "d")
    await refused(confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=APPROVER), "own_edit")


@pytest.mark.parametrize("plan", [HIGH, MEDIUM])
async def test_C061_whose_message_became_the_ask_does_not_approve_it(supervised: Deps, plan: str) -> None:
    run = await ask(supervised, plan, source_author=APPROVER.id)
    assert run.source_author == APPROVER.id
    await refused(yes(supervised, run.id, APPROVER), "source_author")
    await yes(supervised, run.id, APPROVER2)


async def test_C061_an_ask_that_is_split_between_two_accounts_is_nobodys_to_approve_of_them(supervised: Deps, lines: Lines) -> None:
    """One writes the message, the other makes the plan of it; neither says yes to what is high, nor to its real values."""
    run = await ask(supervised, HIGH, who=OWN, source_author=APPROVER.id)
    await refused(yes(supervised, run.id, OWN), "own_request")
    await refused(yes(supervised, run.id, APPROVER), "source_author")
    for who in (APPROVER2, THIRD):
        await yes(supervised, run.id, who)
    card = await confirm_card(supervised, run.id, "d")
    for who, kind in ((OWN, "own_request"), (APPROVER, "source_author")):
        await refused(confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=who), kind)
    assert lines("destroy") == []


async def test_a_message_of_ones_own_is_an_ask_like_any(supervised: Deps) -> None:
    assert (await ask(supervised, MEDIUM, source_author=REQUESTER.id)).source_author is None


async def test_C061_who_asked_does_not_say_what_became_of_a_high_step_in_doubt(supervised: Deps, lines: Lines) -> None:
    run = await in_doubt(supervised, OWN, rule_high=True)
    await refused(controls.happened(supervised, run.id, "g", who=OWN, note="seen"), "own_request")
    await refused(controls.not_happened(supervised, run.id, "g", who=OWN), "own_request")
    await refused(controls.may_settle(supervised, run.id, "g", who=OWN), "own_request")
    await controls.happened(supervised, run.id, "g", who=APPROVER, note="seen")


async def in_doubt(deps: Deps, who: Member, *, rule_high: bool) -> Run:
    """A run that stands because a step with an effect was under way when the process died."""
    from bot.store import door
    from bot.store import runs as rows

    run = await ask(deps, "g: test.destroy name=g" if rule_high else "g: test.change name=g", who=who)
    await approved(deps, run.id, APPROVER, APPROVER2)
    held = await until(deps, run.id, RunStatus.PAUSED)
    assert held.reason is Hold.CONFIRM

    def leave(conn: Any) -> Run:
        step = door.StepChange(id="g", attempt=1)  # type: ignore[arg-type]
        now = {"actor": "pullcord", "at": deps.now()}
        filling = rows.step(conn, run.id, "g")
        assert filling is not None
        door.change(conn, run.id, Event.CONFIRMED, data={"step": "g", "deadline": None}, step=door.StepChange(id=step.id), **now)
        door.change(conn, run.id, Event.STEP_STARTED, data={"step": "g"}, step=step, **now)
        door.change(conn, run.id, Event.STEP_IN_DOUBT, data={"step": "g"}, step=step, **now)
        door.change(conn, run.id, Event.HELD, data={"reason": Hold.IN_DOUBT, "step": "g"}, **now)
        return door.change(conn, run.id, Event.SETTLED, **now)

    return await deps.store.write(leave)


async def test_letting_go_is_no_approval_and_stays_the_requesters(supervised: Deps) -> None:
    run = await ask(supervised, "a: test.change name=a\nb: test.change name=b after=a !break", who=OWN)
    await yes(supervised, run.id, APPROVER)
    await until(supervised, run.id, RunStatus.PAUSED)
    await controls.proceed(supervised, run.id, "b", who=OWN)
    await until(supervised, run.id, RunStatus.SUCCEEDED)


# people


@pytest.mark.parametrize(
    ("who", "kind"),
    [
        (MEMBER, "not_allowed"),
        (Member(id="U0LOOKALIKE", team="T0HOME", listed=frozenset({"approver "})), "not_allowed"),  # a name that looks the same
        (Member(id="U0GUEST", listed=frozenset({"@ops-leads"}), is_guest=True), "guest"),
        (Member(id="U0PARTNER", team="T0ELSEWHERE", is_stranger=True), "partner"),
        (Member(id="U0GONE", listed=frozenset({"@ops-leads"}), is_deactivated=True), "deactivated"),
        (Member(id="U0BOT", listed=frozenset({"@ops-leads"}), is_bot=True), "bot"),
    ],
)
async def test_who_may_not_is_refused_on_every_path(supervised: Deps, who: Member, kind: str) -> None:
    run = await ask(supervised, HIGH)
    await refused(yes(supervised, run.id, who), kind)
    await refused(review.cancel(supervised, run.id, 1, who=who, reason=""), kind)
    await refused(review.ask_changes(supervised, run.id, 1, words="less", who=who), kind)
    await refused(editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, MEDIUM), who=who), kind)
    await approved(supervised, run.id, APPROVER, APPROVER2)
    card = await confirm_card(supervised, run.id, "d")
    filling = card["filling"]
    await refused(confirming.confirm(supervised, run.id, "d", digest8=filling, who=who), kind)
    await refused(confirming.refuse(supervised, run.id, "d", digest8=filling, who=who, reason="no"), kind)
    await refused(editing.change_arguments(supervised, run.id, "d", digest8=filling, args={"name": "e"}, who=who), kind)
    await refused(redirecting.redirect(supervised, run.id, text="skip d", who=who), kind)
    assert (await runs.get(supervised, run.id)).reason is Hold.CONFIRM


# quorum


async def test_two_clicks_of_one_person_at_the_same_moment_are_one_yes(supervised: Deps) -> None:
    run = await ask(supervised, HIGH)
    outcomes = await asyncio.gather(*(yes(supervised, run.id, APPROVER) for _ in range(8)), return_exceptions=True)
    assert sorted(one.kind for one in outcomes if isinstance(one, Refused)) == ["quorum"] * 7
    assert (await runs.get(supervised, run.id)).status is RunStatus.IN_REVIEW


async def test_an_edit_asks_everybody_anew_and_takes_no_yes_with_it(supervised: Deps) -> None:
    run = await ask(supervised, HIGH)
    await yes(supervised, run.id, APPROVER)
    await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, HIGH + "2"), who=REQUESTER)
    assert (await yes(supervised, run.id, APPROVER2, 2)).status is RunStatus.IN_REVIEW
    assert (await yes(supervised, run.id, APPROVER, 2)).status is RunStatus.QUEUED


# stale and forged


async def test_C023_stale_and_forged_yeses_count_for_nothing(supervised: Deps) -> None:
    run, other = await ask(supervised, MEDIUM), await ask(supervised, HIGH)
    await refused(yes(supervised, "R-NONE", APPROVER), "unknown_run")
    await refused(yes(supervised, run.id, APPROVER, 7), "stale")
    await editing.save(supervised, run.id, base=1, plan=await edited(supervised, run.id, MEDIUM + "2"), who=REQUESTER)
    await refused(yes(supervised, run.id, APPROVER, 1), "stale")
    await review.cancel(supervised, other.id, 1, who=REQUESTER, reason="")
    await refused(yes(supervised, other.id, APPROVER), "late_cancelled")
    await yes(supervised, run.id, APPROVER, 2)
    await refused(yes(supervised, run.id, APPROVER2, 2), "late_approved")
    await refused(confirming.confirm(supervised, run.id, "c", digest8="0" * 8, who=APPROVER), "moved_on")
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    for late in (
        confirming.confirm(supervised, run.id, "c", digest8="0" * 8, who=APPROVER),
        controls.proceed(supervised, run.id, "c", who=APPROVER),
        controls.retry(supervised, run.id, "c", who=APPROVER),
        controls.happened(supervised, run.id, "c", who=APPROVER, note=""),
    ):
        await refused(late, "already_done")


async def test_C023_a_confirm_with_other_values_an_unknown_step_or_no_filling_is_void(supervised: Deps) -> None:
    run = await ask(supervised, HIGH)
    await approved(supervised, run.id, APPROVER, APPROVER2)
    card = await confirm_card(supervised, run.id, "d")
    wrong = "0" * 8 if not card["filling"].startswith("0") else "1" * 8
    for filling in (wrong, ""):
        await refused(confirming.confirm(supervised, run.id, "d", digest8=filling, who=APPROVER), "confirm_void")
    await refused(confirming.confirm(supervised, run.id, "nothing", digest8=card["filling"], who=APPROVER), "moved_on")
    await refused(confirming.confirm(supervised, run.id, "d", digest8=card["filling"], revision=9, who=APPROVER), "confirm_void")
    await controls.stop(supervised, run.id, who=MEMBER)
    await refused(confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=APPROVER), "already_done")


# in time


@pytest.fixture
async def unswept(deps: Deps, clock: Clock) -> AsyncIterator[tuple[Deps, Run]]:
    """A plan of high risk whose time is over, and nobody has looked at the clock yet; and the supervisor at work."""
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    run = await ask(deps, HIGH)
    yield deps, run
    await supervisor.close()


async def test_C019_after_the_deadline_nothing_counts_that_decides_swept_or_not(unswept: tuple[Deps, Run], clock: Clock) -> None:
    deps, run = unswept
    assert run.deadline is not None
    late, just = run.deadline + timedelta(seconds=1), run.deadline - timedelta(seconds=1)
    new = await edited(deps, run.id, HIGH + "2")
    await refused(review.approve(deps, run.id, 1, who=APPROVER, received_at=late), "expired")
    await refused(editing.save(deps, run.id, base=1, plan=new, who=REQUESTER, received_at=late), "expired")
    await refused(review.ask_changes(deps, run.id, 1, words="less", who=REQUESTER, received_at=late), "expired")
    for who in (APPROVER, APPROVER2):
        await review.approve(deps, run.id, 1, who=who, received_at=just)
    card = await confirm_card(deps, run.id, "d")
    held = await runs.get(deps, run.id)
    assert held.deadline is not None
    late, filling = held.deadline + timedelta(seconds=1), card["filling"]
    await refused(confirming.confirm(deps, run.id, "d", digest8=filling, who=APPROVER, received_at=late), "expired")
    await refused(confirming.refuse(deps, run.id, "d", digest8=filling, who=APPROVER, reason="", received_at=late), "expired")
    args = {"name": "e"}
    await refused(editing.change_arguments(deps, run.id, "d", digest8=filling, args=args, who=REQUESTER, received_at=late), "expired")
    await refused(redirecting.redirect(deps, run.id, text="skip d", who=REQUESTER, received_at=late), "expired")


async def test_C019_the_new_rest_of_a_live_run_is_approved_and_withdrawn_in_time_or_not_at_all(supervised: Deps) -> None:
    run = await asked(supervised, "a: test.change name=a\nb: test.change name=b after=a !break")
    await approved(supervised, run.id)
    await until(supervised, run.id, RunStatus.PAUSED)
    await redirecting.redirect(supervised, run.id, text="add c: test.change name=c", who=REQUESTER)
    await reviewed_rest(supervised, run.id, 2)
    waits = await runs.get(supervised, run.id)
    assert (waits.redirect, waits.deadline is not None) == (Redirect.REVIEW, True)
    late = (waits.deadline or supervised.now()) + timedelta(seconds=1)
    await refused(review.approve(supervised, run.id, 2, who=APPROVER, received_at=late), "expired")
    await refused(redirecting.withdraw(supervised, run.id, who=REQUESTER, revision=2, received_at=late), "expired")
    assert (await yes(supervised, run.id, APPROVER, 2)).revision == 2


# values that turn out riskier than what was approved

RISES = DEMO_POLICY + "\nrules:\n  - when: {tool: test.change, args.name: prod}\n    risk: high\n    why: it is production\n"


@pytest.fixture
async def strict(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    deps = await open_parts(tmp_path, clock=clock, policy_text=RISES)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps
    await supervisor.close()
    await close_parts(deps)


async def test_values_that_are_riskier_than_what_was_approved_need_as_many_people_as_that_risk(strict: Deps, lines: Lines) -> None:
    """What was medium when it was approved is high with its values by the policy that holds when it is about to run."""
    rules = replace(strict.rules)
    strict.rules.swap(Rules(parse(DEMO_POLICY, source="policy.yml")))
    run = await ask(strict, "l: test.look name=prod\nb: test.change name=b after=l !break\nc: test.change name={{l.name}} after=b")
    await yes(strict, run.id, APPROVER)
    await until(strict, run.id, RunStatus.PAUSED)
    strict.rules.swap(rules)
    await controls.proceed(strict, run.id, "b", who=REQUESTER)
    card = await confirm_card(strict, run.id, "c")
    filling = card["filling"]
    first = await confirming.confirm(strict, run.id, "c", digest8=filling, who=APPROVER)
    assert (first.status, first.reason) == (RunStatus.PAUSED, Hold.CONFIRM)
    await refused(confirming.confirm(strict, run.id, "c", digest8=filling, who=APPROVER), "quorum")
    await refused(confirming.confirm(strict, run.id, "c", digest8=filling, who=replace(OWN)), "own_request")
    assert lines("change") == ["b"]
    await confirming.confirm(strict, run.id, "c", digest8=filling, who=APPROVER2)
    await until(strict, run.id, RunStatus.SUCCEEDED)
    entries = (await runs.snapshot(strict, run.id, entries=True)).entries
    given = [
        (entry.event, entry.actor, entry.data.get("count")) for entry in entries if entry.data.get("filling") and entry.data.get("count")
    ]
    assert given == [(Event.APPROVAL_GIVEN, APPROVER.id, 1), (Event.CONFIRMED, APPROVER2.id, 2)]


async def test_values_as_risky_as_what_was_approved_need_one_yes(strict: Deps, lines: Lines) -> None:
    run = await ask(strict, HIGH)
    await approved(strict, run.id, APPROVER, APPROVER2)
    card = await confirm_card(strict, run.id, "d")
    await confirming.confirm(strict, run.id, "d", digest8=card["filling"], who=APPROVER)
    await until(strict, run.id, RunStatus.SUCCEEDED)


async def test_other_values_given_to_a_high_step_when_it_asks_need_as_many_people_as_the_plan_did(supervised: Deps, lines: Lines) -> None:
    """Else two would agree to one target, and one alone to another."""
    run = await ask(supervised, HIGH)
    await approved(supervised, run.id, APPROVER, APPROVER2)
    card = await confirm_card(supervised, run.id, "d")
    await editing.change_arguments(supervised, run.id, "d", digest8=card["filling"], args={"name": "everything"}, who=REQUESTER)
    card = await confirm_card(supervised, run.id, "d")
    first = await confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=APPROVER)
    assert (first.status, first.reason) == (RunStatus.PAUSED, Hold.CONFIRM)
    assert lines("destroy") == []
    await confirming.confirm(supervised, run.id, "d", digest8=card["filling"], who=APPROVER2)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    assert lines("destroy") == ["everything"]
