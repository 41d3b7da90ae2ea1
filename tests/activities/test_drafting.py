"""From an ask to a plan: two rounds at most, raw replies kept, and no way past validation and policy."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import runs
from bot.activities.drafting import draft
from bot.commands import intake, interjections, review, silence
from bot.core.drafts import Brief, Draft, Question
from bot.core.notation import parse
from bot.core.plan import Plan
from bot.core.run import Hold, RunStatus
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.errors import ModelFault, Refused
from tests.doubles.clock import Clock
from tests.doubles.parts import MEMBER, REQUESTER, close_parts, open_parts


class Scripted:
    """A planner that says what it was told to say, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *replies: Draft | Exception) -> None:
        self.replies = list(replies)
        self.briefs: list[Brief] = []

    async def draft(self, brief: Brief) -> Draft:
        self.briefs.append(brief)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def says(plan: Plan | str) -> Draft:
    parsed = parse(plan, goal="a goal") if isinstance(plan, str) else plan
    return Draft(raw=f"raw of {parsed.goal}", plan=parsed, planner="scripted", tokens_in=10, tokens_out=5)


@pytest.fixture
async def make(tmp_path: Path, clock: Clock) -> AsyncIterator[object]:
    opened: list[Deps] = []

    async def open_with(*replies: Draft | Exception, policy: str | None = None) -> tuple[Deps, Scripted]:
        planner = Scripted(*replies)
        deps = await open_parts(tmp_path, clock=clock, planner=planner, **({"policy_text": policy} if policy else {}))
        opened.append(deps)
        return deps, planner

    yield open_with
    for deps in opened:
        await close_parts(deps)


async def drafted(deps: Deps, ask: str = "do it") -> Snapshot:
    run = await intake.open_run(deps, ask=ask, who=REQUESTER, team="T", channel="C0OPS", thread_ts=None, source_ts=None, event_key=None)
    assert run is not None
    await draft(deps, run.id)
    return await runs.snapshot(deps, run.id, entries=True)


async def test_a_fault_goes_back_once_as_a_fact_and_the_second_plan_is_shown(make) -> None:  # type: ignore[no-untyped-def]
    deps, planner = await make(says("test.chnage name=a"), says("test.change name=a"))

    found = await drafted(deps)

    assert found.run.status is RunStatus.IN_REVIEW
    assert [attempt.ok for attempt in found.attempts] == [False, True]
    assert found.attempts[0].raw
    assert "test.chnage" in str(planner.briefs[1].earlier[0].faults)


async def test_the_second_fault_ends_the_run_with_both_raw_replies_kept(make) -> None:  # type: ignore[no-untyped-def]
    deps, planner = await make(says("test.chnage name=a"), says("test.change nam=a"))

    found = await drafted(deps)

    assert found.run.status is RunStatus.FAILED
    assert len(planner.briefs) == 2
    assert [bool(attempt.raw) for attempt in found.attempts] == [True, True]


@pytest.mark.parametrize("kind", ["no_answer", "refused", "cut", "unreachable"])
async def test_a_model_that_gives_nothing_usable_ends_clearly_C027_C028(make, kind: str) -> None:  # type: ignore[no-untyped-def]
    deps, _ = await make(ModelFault(kind, "nothing usable", raw="{"), ModelFault(kind, "again nothing", raw=""))

    found = await drafted(deps)

    assert found.run.status is RunStatus.FAILED
    assert found.attempts[0].raw == "{"
    assert found.plan is None
    assert not found.steps


async def test_an_empty_plan_is_no_plan_C028(make) -> None:  # type: ignore[no-untyped-def]
    deps, _ = await make(says(Plan(goal="nothing", steps=())), says(Plan(goal="nothing", steps=())))

    found = await drafted(deps)

    assert found.run.status is RunStatus.FAILED


async def test_a_plan_that_policy_denies_is_refused_with_the_reason(make) -> None:  # type: ignore[no-untyped-def]
    deps, _ = await make(says("test.change name=a"), policy="profile: team\napprovers: ['@ops-leads']\ntools:\n  'test.*': {mode: deny}\n")

    found = await drafted(deps)

    assert found.run.status is RunStatus.REFUSED
    assert "test.change" in str(found.entries[-1].data)


async def test_a_question_waits_for_the_requester_and_its_answer_reaches_the_planner(make) -> None:  # type: ignore[no-untyped-def]
    asks = Draft(raw="?", question=Question(says="Which one?", choices=("a", "b")), planner="scripted")
    deps, planner = await make(asks, says("test.change name=a"))

    found = await drafted(deps)
    assert (found.run.status, found.run.reason) == (RunStatus.PLANNING, Hold.QUESTION)
    with pytest.raises(Refused, match="not_allowed"):
        await interjections.reply(deps, found.run.id, text="b", who=MEMBER, ts="1")
    outcome = await interjections.reply(deps, found.run.id, text="the first", who=REQUESTER, ts="1")
    await draft(deps, found.run.id)

    assert outcome.kind == "answered"
    assert planner.briefs[1].answers == ("the first",)
    assert (await runs.get(deps, found.run.id)).status is RunStatus.IN_REVIEW


async def test_a_question_that_nobody_answers_ends_by_itself(make, clock: Clock) -> None:  # type: ignore[no-untyped-def]
    deps, _ = await make(Draft(raw="?", question=Question(says="Which one?"), planner="scripted"))
    found = await drafted(deps)

    clock.advance(days=2)
    await silence.expire(deps)

    assert (await runs.get(deps, found.run.id)).status is RunStatus.EXPIRED


async def test_a_reply_after_cancel_decides_nothing(make) -> None:  # type: ignore[no-untyped-def]
    deps, planner = await make(says("test.change name=a"))
    run = await intake.open_run(deps, ask="x", who=REQUESTER, team="T", channel="C", thread_ts=None, source_ts=None, event_key=None)
    assert run is not None
    reply = planner.replies[0]

    async def slow(brief: Brief) -> Draft:
        await review.cancel(deps, run.id, None, who=REQUESTER, reason="too late")
        return reply

    planner.draft = slow
    await draft(deps, run.id)

    found = await runs.snapshot(deps, run.id)
    assert found.run.status is RunStatus.CANCELLED
    assert found.plan is None


async def test_the_same_event_opens_one_run_C001(deps: Deps) -> None:
    first = await intake.open_run(deps, ask="x", who=REQUESTER, team="T", channel="C", thread_ts=None, source_ts="1.1", event_key="T:C:1.1")
    again = await intake.open_run(deps, ask="x", who=REQUESTER, team="T", channel="C", thread_ts=None, source_ts="1.1", event_key="T:C:1.1")

    assert first is not None
    assert again is None
    assert len(await runs.listing(deps)) == 1
