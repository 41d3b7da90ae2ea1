"""An ask that is split into many runs passes below no threshold: what one requester did elsewhere is looked at when a step starts."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from bot import runs
from bot.commands import confirming, controls
from bot.core import policy
from bot.core.risk import Level
from bot.core.run import Event, Hold, Run, RunStatus, StepStatus
from bot.deps import Deps
from bot.tools.registry import ToolContext, tool
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, APPROVER2, REQUESTER

Lines = Callable[[str], list[str]]
SETTLED = (RunStatus.SUCCEEDED, RunStatus.PAUSED)


class Payment(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    amount: float


PAID: list[str] = []


@tool(name="test.pay", effect="write", says="Pays {name}", target="name")
async def pay(args: Payment, ctx: ToolContext) -> Payment:
    """Pay an amount. Use it in tests of windows. Not for real work."""
    PAID.append(args.name)
    return args


@tool(name="test.bill", effect="read", says="Looks up the bill of {name}", target="name")
async def bill(args: Payment, ctx: ToolContext) -> Payment:
    """Look up a bill. Use it in tests of windows. Not for real work."""
    return args


def windowed(deps: Deps, window: str) -> None:
    text = f'profile: team\napprovers: ["@ops-leads"]\nquorum: {{high: 2}}\ntools: {{"test.*": {{mode: ask}}}}\nwindows: [{window}]\n'
    deps.rules.policy = policy.parse(text, source="policy.yml")
    for each in (pay, bill):
        if each.spec.name not in deps.tools.catalogue:
            deps.tools.add(each)
    PAID.clear()


async def ten(deps: Deps) -> list[Run]:
    """Ten runs of one step each, all planned before the first is approved, and then approved at once."""
    found = [await asked(deps, f"c: test.change name=c{n}") for n in range(10)]
    assert {run.risk for run in found} == {Level.MEDIUM}, "nothing was used up when they were graded"
    await asyncio.gather(*(approved(deps, run.id) for run in found))
    return [await until(deps, run.id, *SETTLED) for run in found]


async def test_ten_runs_of_one_step_do_what_one_run_of_ten_may(supervised: Deps, lines: Lines) -> None:
    windowed(supervised, "{tool: test.change, most: 3, within: 1h, then: deny, why: three changes an hour}")

    ended = await ten(supervised)

    assert len(lines("change")) == 3
    held = [run for run in ended if run.status is RunStatus.PAUSED]
    assert [run.reason for run in held] == [Hold.STEP_FAILED] * 7
    error = (await runs.snapshot(supervised, held[0].id)).state("c").error
    assert error == "the policy does not allow test.change here: three changes an hour (window 1)"


async def test_what_goes_beyond_waits_for_as_many_people_as_high_risk_needs(supervised: Deps, lines: Lines) -> None:
    windowed(supervised, "{tool: test.change, most: 3, within: 1h, then: high, why: three changes an hour}")

    held = [run for run in await ten(supervised) if run.status is RunStatus.PAUSED]

    assert len(lines("change")) == 3
    assert [run.reason for run in held] == [Hold.CONFIRM] * 7
    found = await runs.snapshot(supervised, held[0].id, entries=True)
    said = [entry.data for entry in found.entries if entry.event == Event.HELD][-1]
    assert (said["level"], said["reasons"][0]) == ("high", "three changes an hour")
    await _confirm(supervised, held[0], APPROVER)
    assert len(lines("change")) == 3, "one is not enough"
    await _confirm(supervised, held[0], APPROVER2)
    await until(supervised, held[0].id, RunStatus.SUCCEEDED)
    assert len(lines("change")) == 4


async def _confirm(deps: Deps, run: Run, who: policy.Member) -> None:
    card = next(post for post in (await runs.snapshot(deps, run.id)).posts if post.card == "confirm")
    await confirming.confirm(deps, run.id, "c", digest8=card.data["filling"], who=who)


async def test_the_window_moves_on(supervised: Deps, lines: Lines, clock: Clock) -> None:
    windowed(supervised, "{tool: test.change, most: 3, within: 1h, then: deny}")
    held = [run for run in await ten(supervised) if run.status is RunStatus.PAUSED]

    clock.advance(minutes=61)
    await controls.retry(supervised, held[0].id, "c", who=REQUESTER)
    await until(supervised, held[0].id, RunStatus.SUCCEEDED)

    assert len(lines("change")) == 4


async def test_one_after_the_other_the_fourth_is_asked_about_as_what_it_is(supervised: Deps, lines: Lines) -> None:
    windowed(supervised, "{tool: test.change, most: 3, within: 1h, then: high}")
    for n in range(3):
        run = await asked(supervised, f"c: test.change name=c{n}")
        await approved(supervised, run.id)
        await until(supervised, run.id, RunStatus.SUCCEEDED)

    fourth = await asked(supervised, "c: test.change name=c3")

    assert (fourth.status, fourth.risk) == (RunStatus.IN_REVIEW, Level.HIGH)


async def test_what_others_do_uses_up_nothing(supervised: Deps, lines: Lines) -> None:
    windowed(supervised, "{tool: test.change, most: 1, within: 1h, then: deny}")
    run = await asked(supervised, "c: test.change name=a")
    await approved(supervised, run.id)
    await until(supervised, run.id, RunStatus.SUCCEEDED)
    from bot.commands import intake

    other = await intake.open_run(
        supervised,
        ask="c: test.change name=b",
        who=policy.Member(id="U0OTHER", team="T0HOME"),
        team="T0HOME",
        channel="C0OPS",
        thread_ts="2.2",
        source_ts=None,
        event_key=None,
    )
    assert other is not None
    await until(supervised, other.id, RunStatus.IN_REVIEW)
    await approved(supervised, other.id)
    await until(supervised, other.id, RunStatus.SUCCEEDED)

    assert lines("change") == ["a", "b"]


@pytest.mark.parametrize("amount", ["100", "-100"])
async def test_amounts_that_are_filled_in_later_are_added_up_when_they_are_known(supervised: Deps, amount: Any) -> None:
    """Nobody could see them in the plan: the third payment is beyond what one requester may pay."""
    windowed(supervised, "{tool: test.pay, sum: args.amount, most: 250, within: 1h, then: deny, why: too much for one hour}")
    steps = [f'b{n}: test.bill name=b{n} amount={amount}\np{n}: test.pay name=p{n} amount="{{{{b{n}.amount}}}}"' for n in range(3)]
    run = await asked(supervised, "\n".join([*steps[:1], *(f"{text} after=p{n}" for n, text in enumerate(steps[1:]))]))
    assert run.risk is Level.MEDIUM
    await approved(supervised, run.id)

    held = await until(supervised, run.id, RunStatus.PAUSED)

    assert (held.reason, held.held_step, PAID) == (Hold.STEP_FAILED, "p2", ["p0", "p1"])
    found = await runs.snapshot(supervised, run.id)
    assert found.state("p2").status is StepStatus.FAILED
    assert "too much for one hour" in (found.state("p2").error or "")


async def test_a_step_that_is_tried_again_and_again_uses_the_window_up_too(supervised: Deps, lines: Lines) -> None:
    windowed(supervised, '{tool: "test.fails", most: 3, within: 1h, then: deny, why: three at most}')
    run = await asked(supervised, "a: test.fails name=a")
    await approved(supervised, run.id)
    for tries in (1, 2, 3):
        held = await until(supervised, run.id, RunStatus.PAUSED)
        assert (held.reason, (await runs.snapshot(supervised, run.id)).state("a").attempt) == (Hold.STEP_FAILED, tries)
        await controls.retry(supervised, run.id, "a", who=APPROVER)

    await until(supervised, run.id, RunStatus.PAUSED)
    state = (await runs.snapshot(supervised, run.id)).state("a")
    assert state.attempt == 3
    assert "three at most" in (state.error or "")
