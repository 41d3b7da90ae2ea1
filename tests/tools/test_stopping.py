"""Stop as a whole: tools of every kind at work side by side, all told to end, and nothing goes on behind the screen (C024, C048)."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict
from structlog.testing import capture_logs

from bot.errors import ToolFailed
from bot.tools.calls import Calls
from bot.tools.registry import Cancelled, Registry, TimedOut, ToolContext, tool
from tests.doubles.waiting import eventually
from tests.tools.conftest import context
from tests.tools.test_processes import Stubborn, gone, stays_as_it_is

Open = Callable[..., Registry]


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


def write(path: Path) -> None:
    with path.open("a") as file:
        file.write("x")


async def written(path: Path) -> None:
    async def probe() -> bool:
        return path.exists()

    await eventually(probe, f"{path.name} to be written")


async def test_within_the_grace_no_file_grows_and_who_waits_never_starts(open_registry: Open, tmp_path: Path) -> None:
    """C024"""
    stubborn, files = Stubborn(tmp_path), {kind: tmp_path / kind for kind in ("asynchronous", "synchronous", "waiting")}

    @tool(name="t.async", effect="write", description="d")
    async def wide(args: Nothing, ctx: ToolContext) -> None:
        while True:
            write(files["asynchronous"])
            await asyncio.sleep(0.005)

    @tool(name="t.sync", effect="write", description="d")
    def narrow(args: Nothing, ctx: ToolContext) -> None:
        while True:
            ctx.check()
            write(files["synchronous"])
            ctx.cancelled.wait(0.005)

    @tool(name="t.command", effect="execute", description="d", at_once=1)
    async def command(args: Nothing, ctx: ToolContext) -> None:
        await ctx.run(stubborn.argv)
        write(files["waiting"])

    @tool(name="t.fails", effect="write", description="d")
    async def fails(args: Nothing, ctx: ToolContext) -> None:
        raise asyncio.CancelledError

    registry = open_registry(wide, narrow, command, fails, grace_s=5)
    names = ("t.async", "t.sync", "t.command", "t.command", "t.fails")
    contexts = [context(key=f"{at}") for at in range(len(names))]
    calls = [asyncio.create_task(registry.call(name, {}, ctx)) for name, ctx in zip(names, contexts, strict=True)]
    pids = await stubborn.running()
    await written(files["asynchronous"])
    await written(files["synchronous"])
    await asyncio.wait({calls[4]})

    async with asyncio.timeout(10):
        for each in calls:
            each.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(each) for each in ended] == [asyncio.CancelledError] * 4 + [ToolFailed]
    assert [ctx.started for ctx in contexts] == [True, True, True, False, True]
    assert registry.stuck == ()
    await gone(pids)
    for path in (files["asynchronous"], files["synchronous"], stubborn.grows):
        await stays_as_it_is(path)
    assert not files["waiting"].exists()


async def test_a_call_that_waits_for_a_thread_never_starts_once_it_is_stopped(open_registry: Open) -> None:
    """C024"""
    started, go = threading.Semaphore(0), threading.Event()

    @tool(name="t.blocks", effect="write", description="d")
    def blocks(args: Nothing, ctx: ToolContext) -> None:
        started.release()
        go.wait(20)

    registry = open_registry(blocks, threads=1)
    first = asyncio.create_task(registry.call("t.blocks", {}, context(key="1")))

    async def at_work() -> bool:
        return started.acquire(blocking=False)

    await eventually(at_work, "the first to start")
    ctx = context(key="2")
    second = asyncio.create_task(registry.call("t.blocks", {}, ctx))
    await asyncio.wait({second}, timeout=0.05)
    second.cancel()
    await asyncio.wait({second})
    go.set()
    await first

    assert second.cancelled()
    assert not ctx.started
    assert not started.acquire(blocking=False)


async def test_a_thread_that_is_told_to_stop_before_it_begins_does_not_begin() -> None:
    begun: list[str] = []
    calls, ctx = Calls(threads=1, grace_s=1), context()
    ctx.cancelled.set()

    with pytest.raises(Cancelled):
        await calls.run(lambda: begun.append("begun"), ctx, name="t.x", timeout_s=5)

    assert begun == []
    assert not ctx.started
    await calls.close()


async def test_admins_hear_of_a_thread_that_does_not_heed_its_time(open_registry: Open) -> None:
    """C048: marked, its slot not reused, admins told; and told again when it has ended after all."""
    go = threading.Event()

    @tool(name="t.blocks", effect="read", description="d")
    def blocks(args: Nothing, ctx: ToolContext) -> None:
        go.wait(20)

    registry = open_registry(blocks, grace_s=0.05)
    with capture_logs() as logs:

        async def told(event: str) -> list[dict[str, object]]:
            async def probe() -> list[dict[str, object]]:
                return [dict(each) for each in logs if each["event"] == event]

            return await eventually(probe, f"the log to say {event}")

        with pytest.raises(TimedOut):
            await registry.call("t.blocks", {}, context(), timeout_s=0.05)
        assert registry.stuck == ("t.blocks",)
        complaint = (await told("tool_unresponsive"))[0]
        go.set()
        await told("tool_ended_late")

    assert (complaint["log_level"], complaint["tool"], complaint["run"], complaint["step"]) == ("error", "t.blocks", "R-1", "s1")
    assert registry.stuck == ()


async def test_a_thread_that_heeds_its_time_is_nobodys_worry(open_registry: Open) -> None:
    @tool(name="t.heeds", effect="read", description="d")
    def heeds(args: Nothing, ctx: ToolContext) -> None:
        ctx.cancelled.wait(20)

    grace_s, over = 0.5, asyncio.Event()
    registry = open_registry(heeds, grace_s=grace_s)
    with capture_logs() as logs:
        with pytest.raises(TimedOut):
            await registry.call("t.heeds", {}, context(), timeout_s=0.05)
        asyncio.get_running_loop().call_later(grace_s, over.set)  # rings after the look at whether it has heeded
        await over.wait()

    assert [each for each in logs if each["log_level"] == "error"] == []
    assert registry.stuck == ()
