"""Time limits, cancellation, tools that will not stop, tools that block: nothing of it holds the loop or a slot that it must not."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from pydantic import BaseModel, ConfigDict

from bot.errors import ToolFailed
from bot.tools.registry import CannotTell, NotStarted, Registry, TimedOut, Tool, ToolContext, Unresponsive, tool
from tests.doubles.waiting import eventually
from tests.tools.conftest import context

Open = Callable[..., Registry]


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Hold:
    """Tools that start, say so, and hold until they are let go."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.ended = threading.Event()

    @property
    def tools(self) -> list[Tool]:
        @tool(name="t.waits", effect="write", description="d")
        async def waits(args: Nothing, ctx: ToolContext) -> None:
            self.started.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.set()

        @tool(name="t.blocks", effect="write", description="d")
        def blocks(args: Nothing, ctx: ToolContext) -> str:
            self.started.set()
            self.go.wait(20)
            self.ended.set()
            return "late"

        @tool(name="t.heeds", effect="write", description="d")
        def heeds(args: Nothing, ctx: ToolContext) -> None:
            self.started.set()
            while True:
                ctx.check()
                ctx.cancelled.wait(5)

        @tool(name="t.swallows", effect="write", description="d")
        async def swallows(args: Nothing, ctx: ToolContext) -> None:
            self.started.set()
            while not self.go.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue
            self.ended.set()

        @tool(name="t.completes", effect="write", description="d")
        async def completes(args: Nothing, ctx: ToolContext) -> str:
            self.started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "it was sent all the same"
            return "never"

        return [waits, blocks, heeds, swallows, completes]


async def happened(event: threading.Event, what: str) -> None:
    async def probe() -> bool:
        return event.is_set()

    await eventually(probe, what)


@pytest.fixture
def hold() -> Hold:
    return Hold()


async def cancelled(registry: Registry, name: str, hold: Hold, ctx: ToolContext) -> BaseException:
    """What comes of a call that is cancelled once it has started."""
    calling = asyncio.create_task(registry.call(name, {}, ctx))
    await happened(hold.started, f"{name} to start")
    calling.cancel()
    done = await asyncio.gather(calling, return_exceptions=True)
    assert isinstance(done[0], BaseException)
    return done[0]


async def test_cancelling_the_caller_cancels_an_asynchronous_tool(open_registry: Open, hold: Hold) -> None:
    ctx = context()

    fault = await cancelled(open_registry(*hold.tools), "t.waits", hold, ctx)

    assert isinstance(fault, asyncio.CancelledError)
    assert hold.ended.is_set()
    assert ctx.cancelled.is_set()
    assert ctx.outcome is None


async def test_a_synchronous_tool_that_checks_ends_with_its_caller(open_registry: Open, hold: Hold) -> None:
    registry = open_registry(*hold.tools)

    fault = await cancelled(registry, "t.heeds", hold, context())

    assert isinstance(fault, asyncio.CancelledError)
    assert registry.stuck == ()


@pytest.mark.parametrize("name", ["t.swallows", "t.blocks"])
async def test_a_tool_that_will_not_stop_is_called_so_within_the_grace_time(open_registry: Open, hold: Hold, name: str) -> None:
    """C048"""
    registry = open_registry(*hold.tools, grace_s=0.1)

    async with asyncio.timeout(5):
        fault = await cancelled(registry, name, hold, context())

    assert isinstance(fault, Unresponsive)
    assert registry.stuck == (name,)
    hold.go.set()
    await happened(hold.ended, "the tool to end by itself")


async def test_what_is_still_at_work_cannot_be_verified_as_not_happened(open_registry: Open, hold: Hold) -> None:
    tools = {each.spec.name: each for each in hold.tools}
    tools["t.blocks"].verify(lambda args, ctx: None)
    registry = open_registry(*tools.values(), grace_s=0.05)
    await cancelled(registry, "t.blocks", hold, context(key="k1"))

    with pytest.raises(CannotTell, match="still at work"):
        await registry.verify("t.blocks", {}, context(key="k1"))
    assert await registry.verify("t.blocks", {}, context(key="k2")) is None

    hold.go.set()
    await happened(hold.ended, "the tool to end by itself")


async def test_a_result_at_the_instant_of_cancelling_is_not_lost(open_registry: Open, hold: Hold) -> None:
    """C048"""
    ctx = context()

    fault = await cancelled(open_registry(*hold.tools), "t.completes", hold, ctx)

    assert isinstance(fault, asyncio.CancelledError)
    assert ctx.outcome is not None
    assert ctx.outcome.value == "it was sent all the same"


async def test_an_asynchronous_tool_times_out_and_is_cancelled(open_registry: Open, hold: Hold) -> None:
    with pytest.raises(TimedOut, match=r"t\.waits did not finish within 0\.05 s"):
        await open_registry(*hold.tools).call("t.waits", {}, context(), timeout_s=0.05)

    assert hold.ended.is_set()


async def test_a_swallowed_timeout_is_unresponsive(open_registry: Open, hold: Hold) -> None:
    registry = open_registry(*hold.tools, grace_s=0.05)

    with pytest.raises(Unresponsive):
        await registry.call("t.swallows", {}, context(), timeout_s=0.05)

    hold.go.set()
    await happened(hold.ended, "the tool to end by itself")


async def test_a_blocking_tool_times_out_and_keeps_its_slot_until_it_ends(open_registry: Open, hold: Hold) -> None:
    """C048, C050"""
    registry = open_registry(*hold.tools, threads=1)

    with pytest.raises(TimedOut):
        await registry.call("t.blocks", {}, context(), timeout_s=0.1)
    assert "t.blocks" in registry.stuck
    with pytest.raises(NotStarted, match="no thread was free"):
        await registry.call("t.heeds", {}, context(), timeout_s=0.1)

    hold.go.set()
    await happened(hold.ended, "the blocking tool to end")
    assert (await registry.call("t.blocks", {}, context(), timeout_s=5)).value == "late"
    assert registry.stuck == ()


async def test_an_abandoned_tool_is_not_heard_any_more(open_registry: Open) -> None:
    go, ended = threading.Event(), threading.Event()
    said: list[str] = []

    @tool(name="t.speaks", effect="read", description="d")
    def speaks(args: Nothing, ctx: ToolContext) -> None:
        ctx.progress("first")
        go.wait(20)
        ctx.progress("from the grave")
        ended.set()

    with pytest.raises(TimedOut):
        await open_registry(speaks).call("t.speaks", {}, context(said), timeout_s=0.1)
    go.set()
    await happened(ended, "the tool to end")

    assert said == ["first"]


async def test_a_blocking_tool_does_not_hold_the_loop(open_registry: Open) -> None:
    """C050: two seconds of blocking, one of them burning the processor; the loop's heart goes on."""
    from time import monotonic, sleep

    @tool(name="t.two", effect="read", description="d")
    def two(args: Nothing, ctx: ToolContext) -> None:
        sleep(1)
        end = monotonic() + 1
        while monotonic() < end:
            sum(range(1000))

    registry = open_registry(two)
    gaps: list[float] = []
    calling = asyncio.create_task(registry.call("t.two", {}, context()))
    last = monotonic()
    async with asyncio.timeout(20):
        while not calling.done():
            await asyncio.sleep(0.01)
            gaps.append(monotonic() - last)
            last = monotonic()

    await calling
    assert len(gaps) > 20
    assert max(gaps) < 1.5


async def test_synchronous_calls_are_bounded_in_number(open_registry: Open) -> None:
    """C051"""
    lock, now, most = threading.Lock(), [0], [0]

    @tool(name="t.counts", effect="read", description="d")
    def counts(args: Nothing, ctx: ToolContext) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        ctx.cancelled.wait(0.01)
        with lock:
            now[0] -= 1

    registry = open_registry(counts, threads=3)
    await asyncio.gather(*(registry.call("t.counts", {}, context()) for _ in range(30)))

    assert 1 <= most[0] <= 3


async def test_a_tool_whose_inside_was_cancelled_fails_and_does_not_cancel_its_caller(open_registry: Open) -> None:
    @tool(name="t.cut", effect="read", description="d")
    async def cut(args: Nothing, ctx: ToolContext) -> None:
        raise asyncio.CancelledError

    with pytest.raises(ToolFailed, match="was cut off"):
        await open_registry(cut).call("t.cut", {}, context())


async def test_closing_ends_what_runs_and_names_what_does_not_end(hold: Hold) -> None:
    registry = Registry(hold.tools, grace_s=0.1)
    waits = asyncio.create_task(registry.call("t.waits", {}, context()))
    await happened(hold.started, "t.waits to start")
    hold.started.clear()
    blocks = asyncio.create_task(registry.call("t.blocks", {}, context()))
    await happened(hold.started, "t.blocks to start")

    assert await registry.close() == ["t.blocks"]

    hold.go.set()
    ended = await asyncio.gather(waits, blocks, return_exceptions=True)
    assert isinstance(ended[0], ToolFailed)
    await registry.close()
