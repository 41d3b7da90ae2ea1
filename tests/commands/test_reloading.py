"""A policy that is changed while the bot runs: all of it or nothing, and whatever waits for people is asked about by the new one."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot import rules, runs
from bot.commands import confirming, redirecting, reloading, review
from bot.core.plan import fingerprint
from bot.core.policy import Member
from bot.core.risk import Level
from bot.core.run import Event, Hold, Redirect, Run, RunStatus
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.errors import Refused
from bot.rules import Rules
from bot.store import audit, posts
from bot.supervisor import Supervisor
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.waiting import eventually

ADMIN = Member(id="U0ADMIN", team="T0HOME", is_admin=True)
BASE = 'profile: team\napprovers: ["@ops-leads"]\nplaces: {audit: "#audit"}\n'
HIGH = BASE + "quorum: {high: 2}\nrules:\n  - when: {tool: test.change}\n    risk: high\n    why: it changes things\n"
DENIES = BASE + 'tools:\n  "test.change": {mode: deny}\n'
Write = Callable[[str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Change the policy file."""

    def to(text: str) -> None:
        (tmp_path / "policy.yml").write_text(text)

    return to


@pytest.fixture
async def ruled(tmp_path: Path, clock: Clock, write: Write) -> AsyncIterator[Deps]:
    """A bot with a policy file, which a supervisor attends to."""
    write(BASE)
    deps = await open_parts(tmp_path, clock=clock)
    deps.rules.swap(rules.read(tmp_path / "policy.yml"))
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps
    await supervisor.close()
    await close_parts(deps)


async def shown(deps: Deps, run: Run) -> Snapshot:
    return await runs.snapshot(deps, run.id, entries=True)


async def of_the_bot(deps: Deps) -> list[str]:
    return [entry.event for entry in await deps.store.read(lambda conn: audit.entries(conn, audit.NO_RUN))]


async def test_a_review_that_is_riskier_now_gets_a_new_revision_a_card_and_a_deadline(ruled: Deps, write: Write, clock: Clock) -> None:
    run = await asked(ruled, "test.change name=a")
    clock.advance(minutes=9)
    write(HIGH)

    done = await reloading.reload(ruled, who=ADMIN)

    assert (done.fault, done.waiting, done.regraded, done.denied) == ("", 1, (run.id,), ())
    after = await shown(ruled, run)
    assert (after.run.status, after.run.revision, after.run.risk) == (RunStatus.IN_REVIEW, 2, Level.HIGH)
    assert (after.run.digest, after.plan) == (run.digest, after.revisions[0].plan), "the same plan"
    assert after.run.deadline is not None
    assert run.deadline is not None
    assert after.run.deadline > run.deadline
    assert [post.data["revision"] for post in after.posts if post.card == "review"] == [1, 2]
    assert (after.entries[-1].event, after.entries[-1].actor) == (Event.REGRADED, "pullcord")


async def test_a_yes_that_was_given_before_does_not_count_for_the_new_revision(ruled: Deps, write: Write) -> None:
    write(BASE + "quorum: {medium: 2}\n")
    await reloading.reload(ruled, who=ADMIN)
    run = await asked(ruled, "test.change name=a")
    await review.approve(ruled, run.id, 1, who=APPROVER, received_at=ruled.now())
    write(HIGH)
    await reloading.reload(ruled, who=ADMIN)

    with pytest.raises(Refused, match="stale"):
        await review.approve(ruled, run.id, 1, who=APPROVER2, received_at=ruled.now())
    first = await review.approve(ruled, run.id, 2, who=APPROVER2, received_at=ruled.now())
    assert first.status is RunStatus.IN_REVIEW, "one of two, again"
    second = await review.approve(ruled, run.id, 2, who=APPROVER, received_at=ruled.now())
    assert second.status is RunStatus.QUEUED


@pytest.mark.parametrize(
    "change",
    [HIGH.replace("@ops-leads", "@other"), f"{HIGH}step_up: [high]\n", f"{HIGH}may_not: {{high: [requester, approver]}}\n"],
    ids=["who gave it is no approver any more", "it has to be typed now", "who gave it may not any more"],
)
async def test_a_yes_that_would_be_another_one_now_is_asked_anew(ruled: Deps, write: Write, change: str) -> None:
    write(HIGH)
    await reloading.reload(ruled, who=ADMIN)
    run = await asked(ruled, "test.change name=a")
    await review.approve(ruled, run.id, 1, who=APPROVER, received_at=ruled.now())
    write(change)

    done = await reloading.reload(ruled, who=ADMIN)

    assert done.regraded == (run.id,)
    with pytest.raises(Refused, match="stale"):
        await review.approve(ruled, run.id, 1, who=APPROVER2, received_at=ruled.now())


async def test_another_list_of_approvers_leaves_a_review_alone_that_nobody_has_approved(ruled: Deps, write: Write) -> None:
    run = await asked(ruled, "test.change name=a")
    write(BASE.replace("@ops-leads", "@other"))
    assert (await reloading.reload(ruled, who=ADMIN)).regraded == ()
    assert (await shown(ruled, run)).run.revision == 1


async def test_another_quorum_alone_asks_anew_too(ruled: Deps, write: Write) -> None:
    run = await asked(ruled, "test.change name=a")
    write(BASE + "quorum: {medium: 2}\n")
    assert (await reloading.reload(ruled, who=ADMIN)).regraded == (run.id,)
    assert (await runs.get(ruled, run.id)).revision == 2


async def test_what_is_graded_as_before_is_left_alone_whatever_else_the_file_says(ruled: Deps, write: Write) -> None:
    run = await asked(ruled, "test.change name=a")
    write("# other words\n" + BASE + "limits: {steps: 40}\n")

    done = await reloading.reload(ruled, who=ADMIN)

    assert (done.waiting, done.regraded, done.denied) == (1, (), ())
    assert await runs.get(ruled, run.id) == run
    assert ruled.policy.limits.steps == 40


async def test_a_plan_that_is_denied_now_waits_no_longer_and_its_requester_is_told(ruled: Deps, write: Write) -> None:
    run = await asked(ruled, "test.change name=a")
    write(DENIES)

    assert (await reloading.reload(ruled, who=ADMIN)).denied == (run.id,)

    after = await shown(ruled, run)
    assert after.run.status is RunStatus.REFUSED
    assert "the policy does not allow test.change" in after.entries[-1].data["faults"][0]
    assert [post.data["kind"] for post in after.posts if post.card == "note"] == ["denied"]


async def test_a_looser_policy_lets_nothing_run_by_itself(ruled: Deps, write: Write) -> None:
    write(BASE + 'tools:\n  "test.look": {mode: ask}\n')
    await reloading.reload(ruled, who=ADMIN)
    run = await asked(ruled, "test.look name=a")
    write(BASE)
    await reloading.reload(ruled, who=ADMIN)
    after = await runs.get(ruled, run.id)
    assert (after.status, after.revision) == (RunStatus.IN_REVIEW, 2), "people see that it is looser, and still say yes"


BROKEN = [
    ("quorum: 2\n", "line 1: 'quorum' is not a mapping"),
    ("approvers: [@ops]\n", "line 1"),
    (BASE + "timers:\n  medium: {then: approve}\n", "silence"),
    ("profile: [\n", "line"),
]


@pytest.mark.parametrize(("text", "fault"), BROKEN)
async def test_a_broken_file_changes_nothing_and_says_where(ruled: Deps, write: Write, text: str, fault: str) -> None:
    run, before = await asked(ruled, "test.change name=a"), ruled.policy
    write(text)

    done = await reloading.reload(ruled, who=ADMIN)

    assert fault in done.fault
    assert done.fault.startswith("policy.yml, line"), "no path of the machine"
    assert ruled.policy is before
    assert await runs.get(ruled, run.id) == run
    assert await of_the_bot(ruled) == ["reload_refused"]


async def test_a_file_that_is_gone_changes_nothing(ruled: Deps, tmp_path: Path) -> None:
    before = ruled.policy
    (tmp_path / "policy.yml").unlink()
    assert "cannot be read" in (await reloading.reload(ruled, who=ADMIN)).fault
    assert ruled.policy is before


async def test_only_an_admin_reloads_and_only_a_file(ruled: Deps, write: Write) -> None:
    write(DENIES)
    with pytest.raises(Refused, match="not_admin"):
        await reloading.reload(ruled, who=MEMBER)
    assert ruled.policy.tools == {}
    ruled.rules.swap(Rules(ruled.policy))
    with pytest.raises(Refused, match="no_policy_file"):
        await reloading.reload(ruled, who=ADMIN)


async def test_the_reload_is_on_record_with_the_files_fingerprints_and_told(ruled: Deps, write: Write) -> None:
    run = await asked(ruled, "test.change name=a")
    write(HIGH)
    done = await reloading.reload(ruled, who=None)
    entries = await ruled.store.read(lambda conn: audit.entries(conn, audit.NO_RUN))
    told = await ruled.store.read(lambda conn: posts.of_run(conn, audit.NO_RUN))
    (entry,) = entries
    assert (entry.event, entry.actor) == (Event.RELOADED, "pullcord")
    assert (entry.data["before"], entry.data["after"]) == (done.before, done.after)
    assert len(done.after) == 64
    assert (entry.data["regraded"], entry.data["waiting"]) == ([run.id], 1)
    assert [post.channel for post in told if post.card == "audit"] == ["#audit"]


async def test_another_process_that_reads_the_same_file_does_not_ask_a_second_time(ruled: Deps, write: Write, tmp_path: Path) -> None:
    run = await asked(ruled, "test.change name=a")
    old = rules.read(tmp_path / "policy.yml")
    write(HIGH)
    await reloading.reload(ruled, who=None)
    ruled.rules.swap(old)  # as the other process still has it
    done = await reloading.reload(ruled, who=None)
    assert done.regraded == ()
    assert (await runs.get(ruled, run.id)).revision == 2


async def live(deps: Deps, tmp_path: Path) -> Run:
    """A run with a new rest that waits for people."""
    run = await asked(deps, "g: test.gate name=a\nb: test.look name=b after=g")
    await approved(deps, run.id)
    await redirecting.redirect(deps, run.id, text="add c: test.change name=c", who=REQUESTER)
    (tmp_path / "a.open").touch()

    async def proposed() -> bool:
        return (await runs.get(deps, run.id)).redirect is Redirect.REVIEW

    await eventually(proposed, "the new rest to wait")
    return await runs.get(deps, run.id)


async def test_a_new_rest_that_is_riskier_now_is_asked_on_a_new_card(ruled: Deps, write: Write, tmp_path: Path) -> None:
    run = await live(ruled, tmp_path)
    write(HIGH)
    assert (await reloading.reload(ruled, who=ADMIN)).regraded == (run.id,)

    after = await shown(ruled, run)
    assert (after.run.redirect, after.run.revision, run.proposed, after.run.proposed) == (Redirect.REVIEW, 1, 2, 3)
    assert (after.run.digest, after.run.risk) == (run.digest, run.risk), "what stands is as it was approved"
    assert [post.data["revision"] for post in after.posts if post.card == "redirect"] == [2, 3]
    with pytest.raises(Refused, match="stale"):
        await review.approve(ruled, run.id, 2, who=APPROVER, received_at=ruled.now())


async def test_a_new_rest_that_is_denied_now_leaves_the_run_where_it_stands(ruled: Deps, write: Write, tmp_path: Path) -> None:
    run = await live(ruled, tmp_path)
    write(DENIES)
    assert (await reloading.reload(ruled, who=ADMIN)).denied == (run.id,)

    after = await runs.get(ruled, run.id)
    assert (after.status, after.redirect, after.proposed, after.deadline) == (RunStatus.PAUSED, Redirect.NO_PLAN, None, None)
    gone_on = await redirecting.withdraw(ruled, run.id, who=REQUESTER)
    assert gone_on.status is RunStatus.RUNNING


async def test_a_confirm_that_waits_stays_and_its_click_is_judged_by_the_new_policy(ruled: Deps, write: Write) -> None:
    write(BASE + 'tools:\n  "test.change": {mode: confirm}\n')
    await reloading.reload(ruled, who=ADMIN)
    run = await asked(ruled, "test.change name=a")
    await approved(ruled, run.id)
    held = await until(ruled, run.id, RunStatus.PAUSED)
    assert held.reason is Hold.CONFIRM
    write(BASE.replace("@ops-leads", "@others") + 'tools:\n  "test.change": {mode: confirm}\n')
    assert (await reloading.reload(ruled, who=ADMIN)).waiting == 0

    assert (await runs.get(ruled, run.id)).version == held.version
    state = (await runs.snapshot(ruled, run.id)).state("s1")
    with pytest.raises(Refused, match="not_allowed"):
        await confirming.confirm(ruled, run.id, "s1", digest8=fingerprint(state.args)[:8], who=APPROVER)
