"""A run that has used up its budget holds, is granted a quarter more once, and ends (P10)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from bot import runs
from bot.commands import controls
from bot.core import policy
from bot.core.run import Event, Hold, Run, RunStatus
from bot.core.snapshot import Entry
from bot.deps import Deps
from bot.errors import Refused
from bot.tools.registry import ToolContext, tool
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.deeds import approved, asked
from tests.doubles.parts import APPROVER, REQUESTER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]
POLICY = """\
profile: team
approvers: ["@ops-leads"]
prices: {small: {input: 1000, output: 1000}}
tools: {"test.*": {mode: ask}}
"""


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


@tool(name="test.think", effect="write", says="Thinks about {name}", target="name")
async def think(args: Named, ctx: ToolContext) -> Named:
    """Ask a model for 600 tokens. Use it in tests of budgets. Not for real work."""
    ctx.spent(500, 100, model="small")
    return args


def limited(deps: Deps, limits: str) -> None:
    deps.rules.policy = policy.parse(POLICY + f"limits: {limits}\n", source="policy.yml")
    if "test.think" not in deps.tools.catalogue:
        deps.tools.add(think)


async def begun(deps: Deps, plan: str) -> Run:
    run = await asked(deps, plan)
    await approved(deps, run.id)
    return run


async def out_of(deps: Deps, run: Run, kind: str) -> Entry:
    """The run stands since that is used up; what went on record."""
    stands = await until(deps, run.id, RunStatus.PAUSED)
    assert stands.reason is Hold.BUDGET
    found = await runs.snapshot(deps, run.id, entries=True)
    held = [entry for entry in found.entries if entry.event == Event.HELD][-1]
    assert held.data["kind"] == kind
    return held


def thoughts(count: int) -> str:
    return "\n".join(f"t{n}: test.think name=t{n}{f' after=t{n - 1}' if n else ''}" for n in range(count))


async def test_tokens_of_tools_count_and_an_approver_grants_a_quarter_more_once(supervised: Deps) -> None:
    limited(supervised, "{tokens: 1000}")
    run = await begun(supervised, thoughts(4))

    held = await out_of(supervised, run, "tokens")
    assert held.data["spent"]["tokens"] == 1200
    assert held.data["bounds"]["tokens"] == 1000
    assert held.data["more"] is True
    with pytest.raises(Refused, match="not_allowed"):
        await controls.proceed(supervised, run.id, "t2", who=REQUESTER)
    go_on = await controls.proceed(supervised, run.id, "t2", who=APPROVER)
    assert "budget.tokens" in go_on.passed

    held = await out_of(supervised, run, "tokens")
    assert (held.data["spent"]["tokens"], held.data["bounds"]["tokens"], held.data["more"]) == (1800, 1250, False)
    with pytest.raises(Refused, match="budget_spent"):
        await controls.proceed(supervised, run.id, "t3", who=APPROVER)
    assert (await controls.stop(supervised, run.id, who=REQUESTER)).status is RunStatus.STOPPED


async def test_what_tools_cost_counts_as_money_by_the_price_of_their_model(supervised: Deps) -> None:
    limited(supervised, "{money: 1.0}")
    run = await begun(supervised, thoughts(3))

    held = await out_of(supervised, run, "money")

    assert held.data["spent"]["money"] == pytest.approx(1.2)
    state = (await runs.snapshot(supervised, run.id)).state("t1")
    assert (state.tokens, state.money) == (600, pytest.approx(0.6))


async def test_the_last_step_may_use_up_the_budget_and_the_run_ends_well(supervised: Deps) -> None:
    limited(supervised, "{tokens: 600}")
    run = await begun(supervised, thoughts(1))

    await until(supervised, run.id, RunStatus.SUCCEEDED)


async def test_time_at_work_counts_and_waiting_for_people_does_not(supervised: Deps, clock: Clock, lines: Lines, tmp_path: Path) -> None:
    limited(supervised, "{wall: 1h}")
    run = await begun(supervised, "a: test.change name=a\nb: test.gate name=b after=a !break\nc: test.change name=c after=b")

    await until(supervised, run.id, RunStatus.PAUSED)
    clock.advance(hours=5)
    await controls.proceed(supervised, run.id, "b", who=REQUESTER)

    async def at_the_gate() -> bool:
        return "b" in lines("gate")

    await eventually(at_the_gate, "b to start although five hours have passed")
    clock.advance(minutes=61)
    (tmp_path / "b.open").touch()
    held = await out_of(supervised, run, "time")

    assert 3660 <= held.data["spent"]["time"] < 3700
    assert lines("change") == ["a"]


async def test_a_step_that_is_retried_for_ever_comes_to_an_end(supervised: Deps, lines: Lines) -> None:
    """P10: four starts for each step that a plan may have, counted over all tries."""
    limited(supervised, "{steps: 1}")
    run = await begun(supervised, "f: test.fails name=f")
    for _ in range(4):
        stands = await until(supervised, run.id, RunStatus.PAUSED)
        assert stands.reason is Hold.STEP_FAILED
        await controls.retry(supervised, run.id, "f", who=REQUESTER)

        async def settled() -> bool:
            now = await runs.get(supervised, run.id)
            return now.status is RunStatus.PAUSED and now.version > stands.version + 1  # noqa: B023

        await eventually(settled, "the next try to end")

    held = await out_of(supervised, run, "steps")

    assert lines("fails") == ["f"] * 4
    assert (held.data["spent"]["steps"], held.data["bounds"]["steps"]) == (4, 4)
