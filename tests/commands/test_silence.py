"""P9: nobody answers. The approvers are reminded once, the second list is asked and may decide then, and the wait ends without a yes."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot import runs
from bot.commands import confirming, controls, freezing, redirecting, review, silence
from bot.core.ids import short
from bot.core.plan import fingerprint
from bot.core.policy import Member
from bot.core.replay import opened, replay
from bot.core.run import Event, Hold, Redirect, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.supervisor import Supervisor
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.waiting import eventually

DUTY = Member(id="U0DUTY", team="T0HOME", listed=frozenset({"@duty"}))
ADMIN = Member(id="U0ADMIN", team="T0HOME", is_admin=True)
TIMERS = "timers:\n  low: {remind: 10m, escalate: 20m, expire: 30m}\n  medium: {remind: 10m, escalate: 20m, expire: 30m}\n"
TIMERS += "  high: {remind: 10m, escalate: 20m, expire: 30m}\n"
POLICY = f'profile: team\napprovers: ["@ops-leads"]\nescalation: ["@duty"]\n{TIMERS}'
CONFIRMS = 'tools:\n  "test.change": {mode: confirm}\n'


@pytest.fixture
async def calm(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    """A bot whose policy reminds, escalates and expires, and which a supervisor attends to."""
    deps = await open_parts(tmp_path, clock=clock, policy_text=POLICY)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps
    await supervisor.close()
    await close_parts(deps)


async def events(deps: Deps, run: Run) -> list[str]:
    return [entry.event for entry in (await runs.snapshot(deps, run.id, entries=True)).entries if entry.actor == "clock"]


async def notes(deps: Deps, run: Run) -> list[str]:
    posts = (await runs.snapshot(deps, run.id)).posts
    return [post.data["kind"] for post in posts if post.card == "note"]


async def test_reminder_escalation_and_expiry_come_in_their_order_and_once(calm: Deps, clock: Clock) -> None:
    run = await asked(calm, "test.change name=a")
    for minutes, event, note in [(10, "reminded", "reminder"), (10, "escalated", "escalation"), (10, "expired", "expired")]:
        assert await silence.look(calm) == silence.Done(), "not yet"
        clock.advance(minutes=minutes, seconds=1)
        for _ in range(3):
            await silence.look(calm)
        assert (await events(calm, run))[-1] == event
        assert (await notes(calm, run))[-1] == note

    assert await events(calm, run) == ["reminded", "escalated", "expired"]
    assert await notes(calm, run) == ["reminder", "escalation", "expired"]


async def test_the_second_list_may_approve_once_it_was_asked_and_not_before(calm: Deps, clock: Clock) -> None:
    run = await asked(calm, "test.change name=a")
    with pytest.raises(Refused, match="not_allowed"):
        await review.approve(calm, run.id, 1, who=DUTY, received_at=calm.now())
    clock.advance(minutes=21)
    await silence.look(calm)

    after = await review.approve(calm, run.id, 1, who=DUTY, received_at=calm.now())
    assert after.status is RunStatus.QUEUED


async def test_a_yes_of_the_second_list_is_good_for_that_wait_only(calm: Deps, clock: Clock) -> None:
    run = await asked(calm, "test.change name=a")
    clock.advance(minutes=21)
    await silence.look(calm)
    await review.ask_changes(calm, run.id, 1, words="add z: test.look name=z", who=APPROVER)

    async def planned() -> bool:
        return (await runs.get(calm, run.id)).status is RunStatus.IN_REVIEW

    await eventually(planned, "another revision")
    again = await runs.get(calm, run.id)
    with pytest.raises(Refused, match="not_allowed"):
        await review.approve(calm, run.id, again.revision, who=DUTY, received_at=calm.now())
    clock.advance(minutes=11)
    await silence.look(calm)
    assert await events(calm, run) == ["escalated", "reminded"], "it begins again"


async def test_what_passed_while_nobody_looked_is_not_made_up_for(calm: Deps, clock: Clock) -> None:
    run = await asked(calm, "test.change name=a")
    clock.advance(minutes=25)
    await silence.look(calm)
    await silence.look(calm)
    assert await events(calm, run) == ["escalated"], "no late reminder"

    late = await asked(calm, "test.change name=b")
    clock.advance(hours=9)
    done = await silence.look(calm)
    assert set(done.expired) == {run.id, late.id}
    assert await events(calm, late) == ["expired"]


async def test_with_nobody_on_the_second_list_there_is_one_reminder_and_no_other(tmp_path: Path, clock: Clock) -> None:
    deps = await open_parts(tmp_path, clock=clock, policy_text=POLICY.replace('escalation: ["@duty"]\n', ""))
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    run = await asked(deps, "test.change name=a")
    for _ in range(5):
        clock.advance(minutes=5)
        await silence.look(deps)
    assert await events(deps, run) == ["reminded"]
    await supervisor.close()
    await close_parts(deps)


@pytest.mark.parametrize(
    ("places", "channel", "in_thread"),
    [("[thread]", "C0OPS", True), ('["#approvals"]', "#approvals", False), ('["#approvals", thread]', "C0OPS", True)],
)
async def test_the_reminder_stands_where_the_review_stands(
    tmp_path: Path, clock: Clock, places: str, channel: str, in_thread: bool
) -> None:
    deps = await open_parts(tmp_path, clock=clock, policy_text=f"{POLICY}places: {{review: {places}}}\n")
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    run = await asked(deps, "test.change name=a")
    clock.advance(minutes=11)
    await silence.look(deps)
    (note,) = [post for post in (await runs.snapshot(deps, run.id)).posts if post.card == "note"]
    assert (note.channel, note.in_thread) == (channel, in_thread)
    await supervisor.close()
    await close_parts(deps)


async def test_nobody_is_reminded_of_what_was_decided(calm: Deps, clock: Clock) -> None:
    run = await asked(calm, "test.change name=a")
    await approved(calm, run.id)
    await until(calm, run.id, RunStatus.SUCCEEDED)
    clock.advance(minutes=25)
    assert await silence.look(calm) == silence.Done()
    assert await events(calm, run) == []


async def test_twenty_cards_that_wait_do_not_ping_in_one_second(calm: Deps, clock: Clock) -> None:
    waiting = [await asked(calm, f"test.change name=n{n}") for n in range(7)]
    clock.advance(minutes=11)
    first = await silence.look(calm)
    assert len(first.reminded) == 3
    assert (await silence.look(calm)).reminded == ()

    reminded = set(first.reminded)
    for _ in range(2):
        clock.advance(seconds=61)
        reminded |= set((await silence.look(calm)).reminded)
    assert reminded == {run.id for run in waiting}


async def confirming_run(deps: Deps) -> tuple[Run, str]:
    run = await asked(deps, "test.change name=a")
    await approved(deps, run.id)
    held = await until(deps, run.id, RunStatus.PAUSED)
    assert held.reason is Hold.CONFIRM
    return held, short(fingerprint({"name": "a"}))


@pytest.fixture
async def strict(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    """The same, but that a change is confirmed just before it is made."""
    deps = await open_parts(tmp_path, clock=clock, policy_text=POLICY + CONFIRMS)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps
    await supervisor.close()
    await close_parts(deps)


async def test_a_step_that_waits_for_its_confirmation_is_reminded_escalated_and_confirmed_by_the_second_list(
    strict: Deps, clock: Clock
) -> None:
    run, filling = await confirming_run(strict)
    clock.advance(minutes=11)
    assert (await silence.look(strict)).reminded == (run.id,)
    clock.advance(minutes=10)
    with pytest.raises(Refused, match="not_allowed"):
        await confirming.confirm(strict, run.id, "s1", digest8=filling, who=DUTY)
    assert (await silence.look(strict)).escalated == (run.id,)

    await confirming.confirm(strict, run.id, "s1", digest8=filling, who=DUTY)
    await until(strict, run.id, RunStatus.SUCCEEDED)


async def test_a_pause_over_a_confirm_ends_its_timers_and_the_resume_begins_them_anew(strict: Deps, clock: Clock) -> None:
    run, _ = await confirming_run(strict)
    await controls.pause(strict, run.id, who=MEMBER)
    clock.advance(minutes=25)
    assert await silence.look(strict) == silence.Done()
    await controls.resume(strict, run.id, who=REQUESTER)

    async def held() -> bool:
        return (await runs.get(strict, run.id)).reason is Hold.CONFIRM

    await eventually(held, "the confirm again")
    assert await silence.look(strict) == silence.Done()
    clock.advance(minutes=11)
    assert (await silence.look(strict)).reminded == (run.id,)


async def test_while_everything_is_frozen_the_clock_stands_for_what_stands(strict: Deps, clock: Clock) -> None:
    run, filling = await confirming_run(strict)
    clock.advance(minutes=5)
    await freezing.freeze(strict, who=ADMIN, why="move")
    clock.advance(hours=3)
    assert await silence.look(strict) == silence.Done()

    await freezing.thaw(strict, who=ADMIN)
    assert await silence.look(strict) == silence.Done(), "nobody's time was over meanwhile"
    deadline = (await runs.get(strict, run.id)).deadline
    assert deadline is not None
    assert deadline - strict.now() > timedelta(minutes=24), "all that was left of it"
    clock.advance(minutes=6)
    assert (await silence.look(strict)).reminded == (run.id,)
    await confirming.confirm(strict, run.id, "s1", digest8=filling, who=APPROVER)
    await until(strict, run.id, RunStatus.SUCCEEDED)


async def test_a_new_rest_that_waits_has_as_much_time_after_a_freeze_as_before(calm: Deps, clock: Clock, tmp_path: Path) -> None:
    run = await asked(calm, "g: test.gate name=a\nb: test.change name=b after=g")
    await approved(calm, run.id)
    await redirecting.redirect(calm, run.id, text="add c: test.change name=c", who=REQUESTER, ts="2.2")
    (tmp_path / "a.open").touch()

    async def proposed() -> bool:
        return (await runs.get(calm, run.id)).redirect is Redirect.REVIEW

    await eventually(proposed, "the new rest to wait")
    await freezing.freeze(calm, who=ADMIN, why="move")
    clock.advance(hours=2)
    await silence.look(calm)
    await freezing.thaw(calm, who=ADMIN)
    assert await silence.look(calm) == silence.Done()
    clock.advance(minutes=11)
    assert (await silence.look(calm)).reminded == (run.id,)
    clock.advance(minutes=20)
    assert (await silence.look(calm)).expired == (run.id,)


async def test_the_record_gives_the_state_with_all_that_the_clock_did(strict: Deps, clock: Clock) -> None:
    run, _ = await confirming_run(strict)
    await freezing.freeze(strict, who=ADMIN, why="move")
    clock.advance(hours=1)
    await freezing.thaw(strict, who=ADMIN)
    for _ in range(4):
        clock.advance(minutes=10)
        await silence.look(strict)
    snapshot = await runs.snapshot(strict, run.id, entries=True)
    assert [entry.event for entry in snapshot.entries if entry.actor == "clock"] == [
        Event.PROLONGED, Event.REMINDED, Event.ESCALATED, Event.EXPIRED
    ]  # fmt: skip
    given, _ = replay(snapshot.entries, opened(snapshot.entries[0]))
    assert (given.status, given.version, given.deadline) == (RunStatus.STOPPED, snapshot.run.version, None)


async def test_two_of_two_the_escalation_leaves_the_yes_that_was_given(tmp_path: Path, clock: Clock) -> None:
    text = POLICY + "quorum: {low: 2, medium: 2, high: 2}\n"
    deps = await open_parts(tmp_path, clock=clock, policy_text=text)
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    run = await asked(deps, "test.change name=a")
    await review.approve(deps, run.id, 1, who=APPROVER2, received_at=deps.now())
    clock.advance(minutes=21)
    await silence.look(deps)
    after = await review.approve(deps, run.id, 1, who=DUTY, received_at=deps.now())
    assert after.status is RunStatus.QUEUED
    await supervisor.close()
    await close_parts(deps)
