"""Tools that take only so many calls at one time: the bound wraps the call, runs take turns, and who stops waiting never starts (C051)."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict
from structlog.testing import capture_logs

from bot.core.snapshot import Observation
from bot.errors import ConfigurationError
from bot.tools.registry import NotStarted, Registry, TimedOut, Tool, ToolContext, Unresponsive, tool
from bot.tools.turns import Turns
from tests.doubles.waiting import eventually
from tests.tools.conftest import NOON

Open = Callable[..., Registry]


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


def of_run(run: str, said: list[str] | None = None) -> ToolContext:
    return ToolContext(run_id=run, step_id="s", key=run, now=lambda: NOON, on_progress=None if said is None else said.append)


class Narrow:
    """A tool with a few places, whose calls start, say so, and end when they are let go."""

    def __init__(self, at_once: int) -> None:
        self.started: list[str] = []
        self.at_work = 0
        self.most = 0
        self.doors: dict[str, asyncio.Event] = {}
        self.open = False  # every call ends at once
        self.stays = False  # no call heeds its end
        self.tool = self._tool(at_once)

    def _tool(self, at_once: int) -> Tool:
        @tool(name="t.narrow", effect="read", description="d", at_once=at_once)
        async def narrow(args: Named, ctx: ToolContext) -> str:
            self.started.append(args.name)
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            try:
                await self._hold(args.name)
            finally:
                self.at_work -= 1
            return args.name

        return narrow

    async def _hold(self, name: str) -> None:
        door = self.doors.setdefault(name, asyncio.Event())
        while not (self.open or door.is_set()):
            try:
                await asyncio.wait_for(door.wait(), 0.01)
            except TimeoutError:
                continue
            except asyncio.CancelledError:
                if not self.stays:
                    raise

    def call(self, registry: Registry, name: str, ctx: ToolContext, **more: Any) -> asyncio.Task[Observation]:
        return asyncio.create_task(registry.call("t.narrow", {"name": name}, ctx, **more))

    async def has_started(self, name: str) -> None:
        async def probe() -> bool:
            return name in self.started

        await eventually(probe, f"{name} to start")


async def settled() -> None:
    """Everything that can go on without anybody's help has."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_never_more_calls_than_the_tool_takes_and_all_of_them_in_the_end(open_registry: Open) -> None:
    narrow = Narrow(3)
    registry = open_registry(narrow.tool)
    calls = [narrow.call(registry, f"{at}", of_run(f"R-{at % 7}")) for at in range(200)]
    await narrow.has_started("2")
    await settled()
    assert narrow.started == ["0", "1", "2"]

    narrow.open = True
    seen = await asyncio.gather(*calls)

    assert Counter(each.value for each in seen) == Counter(str(at) for at in range(200))
    assert narrow.most == 3


async def test_a_small_run_does_not_wait_behind_all_calls_of_a_large_one(open_registry: Open) -> None:
    narrow = Narrow(1)
    registry = open_registry(narrow.tool)
    large = [narrow.call(registry, f"large{at}", of_run("R-LARGE")) for at in range(50)]
    await narrow.has_started("large0")
    small = [narrow.call(registry, f"small{at}", of_run("R-SMALL")) for at in range(2)]
    await settled()

    narrow.open = True
    await asyncio.gather(*large, *small)

    assert narrow.started[:6] == ["large0", "large1", "small0", "large2", "small1", "large3"], "the runs take turns"
    assert [name for name in narrow.started if name.startswith("large")] == [f"large{at}" for at in range(50)]


async def test_waiting_is_not_the_tools_time_and_is_told(open_registry: Open) -> None:
    narrow = Narrow(1)
    registry = open_registry(narrow.tool)
    said: list[str] = []
    first = narrow.call(registry, "first", of_run("R-1"))
    await narrow.has_started("first")
    second = narrow.call(registry, "second", of_run("R-2", said), timeout_s=0.2)

    await asyncio.wait({second}, timeout=0.5)
    assert not second.done()
    assert said == ["waits for its turn"]
    narrow.doors["first"].set()
    await narrow.has_started("second")
    assert said == ["waits for its turn", ""]
    with pytest.raises(TimedOut, match=r"within 0\.2 s"):
        await second
    assert (await first).value == "first"


async def test_waiting_has_a_bound_of_its_own(open_registry: Open) -> None:
    narrow = Narrow(1)
    registry = Registry([narrow.tool], turn_s=0.05)
    first = narrow.call(registry, "first", of_run("R-1"))
    await narrow.has_started("first")
    ctx = of_run("R-2")

    with pytest.raises(NotStarted, match=r"t\.narrow was not started: 1 of its calls may be at work at one time, and none made room"):
        await narrow.call(registry, "second", ctx)

    assert not ctx.started
    narrow.open = True
    await first
    assert (await narrow.call(registry, "third", of_run("R-2"))).value == "third"
    assert narrow.started == ["first", "third"]
    await registry.close()


async def test_who_stops_waiting_never_starts_and_leaves_its_place_to_others(open_registry: Open) -> None:
    """C024, C051: Stop empties the line."""
    narrow = Narrow(1)
    registry = open_registry(narrow.tool)
    first = narrow.call(registry, "first", of_run("R-1"))
    await narrow.has_started("first")
    contexts = [of_run("R-1") for _ in range(10)]
    stopped = [narrow.call(registry, "stopped", ctx) for ctx in contexts]
    other = narrow.call(registry, "other", of_run("R-2"))
    await settled()

    for task in (first, *stopped):
        task.cancel()
    ended = await asyncio.gather(first, *stopped, return_exceptions=True)
    await narrow.has_started("other")
    narrow.open = True
    await other

    assert all(isinstance(each, asyncio.CancelledError) for each in ended)
    assert narrow.started == ["first", "other"]
    assert not any(ctx.started for ctx in contexts)


async def test_a_place_given_at_the_instant_of_the_cancel_goes_to_the_next() -> None:
    turns = Turns(1)
    await turns.take("R-1")
    second, third = asyncio.create_task(turns.take("R-2")), asyncio.create_task(turns.take("R-3"))
    await settled()

    turns.give_back()  # to the second ...
    second.cancel()  # ... which is told to stop before it hears of it
    await asyncio.gather(second, return_exceptions=True)
    await third

    assert second.cancelled()
    assert (turns.free, turns.waiting) == (False, 0)
    turns.give_back()
    assert turns.free


async def test_who_was_told_to_stop_is_passed_over_before_he_hears_of_it() -> None:
    turns = Turns(1)
    await turns.take("R-1")
    second, third = asyncio.create_task(turns.take("R-2")), asyncio.create_task(turns.take("R-3"))
    await settled()

    second.cancel()
    turns.give_back()
    await asyncio.wait_for(third, 5)
    await asyncio.gather(second, return_exceptions=True)

    assert second.cancelled()
    turns.give_back()
    assert (turns.free, turns.waiting) == (True, 0)


async def test_a_tool_that_does_not_stop_keeps_its_place(open_registry: Open) -> None:
    """C048"""
    narrow = Narrow(1)
    registry = Registry([narrow.tool], grace_s=0.05, turn_s=0.2)
    narrow.stays = True
    stuck = narrow.call(registry, "stuck", of_run("R-1"), timeout_s=5)
    await narrow.has_started("stuck")

    with capture_logs() as logs:
        stuck.cancel()
        with pytest.raises(Unresponsive):
            await stuck
    assert [(each["event"], each["log_level"], each["tool"]) for each in logs] == [("tool_unresponsive", "error", "t.narrow")]
    with pytest.raises(NotStarted, match="1 are held by tools that do not stop"):
        await narrow.call(registry, "next", of_run("R-2"))

    narrow.open = True
    assert (await narrow.call(registry, "last", of_run("R-2"))).value == "last"
    assert narrow.started == ["stuck", "last"]
    await registry.close()


async def test_synchronous_calls_stand_in_line_too(open_registry: Open) -> None:
    most, now = 0, 0

    @tool(name="t.blocks", effect="read", description="d", at_once=2)
    def blocks(args: Named, ctx: ToolContext) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        ctx.cancelled.wait(0.005)
        now -= 1

    registry = open_registry(blocks, threads=8)
    await asyncio.gather(*(registry.call("t.blocks", {"name": "x"}, of_run(f"R-{at}")) for at in range(30)))

    assert most <= 2


async def test_nothing_starts_while_the_bot_goes_down(open_registry: Open) -> None:
    narrow = Narrow(1)
    registry = open_registry(narrow.tool)
    first = narrow.call(registry, "first", of_run("R-1"))
    await narrow.has_started("first")
    waiting = [narrow.call(registry, "waiting", of_run("R-1")) for _ in range(3)]
    await settled()

    await registry.close()

    for task in (*waiting, narrow.call(registry, "late", of_run("R-1"))):
        with pytest.raises(NotStarted, match="the bot is going down"):
            await task
    assert narrow.started == ["first"]
    await asyncio.gather(first, return_exceptions=True)


@pytest.mark.parametrize("at_once", [0, -1])
def test_a_tool_that_takes_no_call_at_all_is_refused(at_once: int) -> None:
    with pytest.raises(ConfigurationError, match="at_once must be 1 or more"):
        Narrow(at_once)
