"""How one call of a tool is kept within bounds: its time, its thread, its cancellation, its end.

A tool that takes only so many calls at one time keeps the others in line; that wait is not the tool's time, and has a bound of its own.
An asynchronous tool runs as a task of its own, so that one which swallows cancellation cannot hold its caller; a synchronous one runs in a
thread of a bounded number, so that one which blocks cannot hold the loop. Nothing is awaited without a bound after a cancel: what does not
end in the grace time is left alone as *stuck*, its thread and its place not counted as free, until it ends by itself; the log says so.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import structlog

from bot.core.snapshot import Observation
from bot.errors import ToolFailed
from bot.tasks import Tasks
from bot.tools.context import Cancelled, ToolContext
from bot.tools.processes import GRACE_S
from bot.tools.turns import Turns

log = structlog.get_logger()

TURN_S = 600.0  # a call waits no longer for its turn


class TimedOut(ToolFailed):
    """The time was up while the tool was at work: nobody knows what it did."""


class NotStarted(ToolFailed):
    """There was no place or no thread for it in time: the tool was never called."""


class Unresponsive(ToolFailed):
    """The tool was told to stop and did not within the grace time. It may still be at work."""


@dataclass(frozen=True)
class Ended:
    """How a call ended: with a value or with a fault."""

    value: Any = None
    fault: BaseException | None = None


Work = Callable[[], Any]  # the call with everything bound; asynchronous if it is a coroutine function


class Calls:
    """Runs calls on the event loop that first uses it. `threads` bounds the synchronous ones, stuck ones included."""

    def __init__(self, *, threads: int, grace_s: float, turn_s: float = TURN_S) -> None:
        self._free = asyncio.Semaphore(threads)
        self._idle = 0  # threads that wait for work
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._grace_s = grace_s
        self._turn_s = turn_s
        self._turns: dict[str, Turns] = {}  # of tools that take only so many calls at one time
        self._closed = False
        self._tasks = Tasks()
        self._live: dict[asyncio.Future[Ended], tuple[str, ToolContext]] = {}

    @property
    def stuck(self) -> tuple[str, ...]:
        """Names of the tools that were told to stop and are still at work."""
        return tuple(name for name, ctx in self._live.values() if ctx.cancelled.is_set())

    def at_work(self, key: str) -> bool:
        """Is a call with that idempotency key still running, stuck or not?"""
        return any(ctx.key == key for _, ctx in self._live.values())

    async def run(self, work: Work, ctx: ToolContext, *, name: str, timeout_s: float, at_once: int | None = None) -> Any:
        """The value of the work, or its fault raised as it was. `at_once`: how many calls under this name may be at work at one time.

        Raises `NotStarted` if it was not this call's turn within the bound on that, or no thread was free in `timeout_s`; `TimedOut` after
        `timeout_s`; `Unresponsive` where the work does not end when it is cancelled, for the time or with its caller. A caller whose work
        did end gets its `CancelledError`. What ended well all the same is in `ctx.outcome`.
        """
        turns = await self._take_turn(ctx, name, at_once) if at_once is not None else None
        clock = asyncio.get_running_loop().time
        until = clock() + timeout_s
        try:
            running = await self._start(work, ctx, name, timeout_s)
        except BaseException:
            if turns is not None:
                turns.give_back()
            raise
        if turns is not None:
            running.add_done_callback(lambda _: turns.give_back())
        self._live[running] = (name, ctx)
        running.add_done_callback(self._live.pop)
        try:
            await asyncio.wait({running}, timeout=max(0.0, until - clock()))
        except asyncio.CancelledError as cancel:
            if not await self._stopped(running, ctx):
                raise self._unresponsive(running, ctx, name) from cancel
            raise
        if not running.done():
            await self._time_is_up(running, ctx, name, timeout_s)
        return _value(running, name)

    async def _time_is_up(self, running: asyncio.Future[Ended], ctx: ToolContext, name: str, timeout_s: float) -> None:
        """Cancel and say so. A thread cannot be ended from outside, so it is left to itself at once."""
        if isinstance(running, asyncio.Task):
            if not await self._stopped(running, ctx):
                raise self._unresponsive(running, ctx, name)
        else:
            ctx.cancelled.set()
            asyncio.get_running_loop().call_later(self._grace_s, self._complain, running, ctx, name)
        raise TimedOut(f"{name} did not finish within {timeout_s:g} s.")

    async def _stopped(self, running: asyncio.Future[Ended], ctx: ToolContext) -> bool:
        """Tell the work to stop; True once it has ended, False if it has not within the grace time."""
        ctx.cancelled.set()
        if isinstance(running, asyncio.Task):
            running.cancel()
        if not running.done():
            await asyncio.wait({running}, timeout=self._grace_s)
        if running.done() and not running.cancelled() and isinstance(running.result().value, Observation):
            ctx.outcome = running.result().value
        return running.done()

    def _unresponsive(self, running: asyncio.Future[Ended], ctx: ToolContext, name: str) -> Unresponsive:
        self._complain(running, ctx, name)
        return Unresponsive(f"{name} was told to stop and does not. It may still be at work; ask an admin to look at it.")

    def _complain(self, running: asyncio.Future[Ended], ctx: ToolContext, name: str) -> None:
        """Tell the admins of a tool that has had its grace and is still at work, and of its end, if there is one."""
        if running.done():
            return
        log.error("tool_unresponsive", tool=name, run=ctx.run_id, step=ctx.step_id, stuck=len(self.stuck))
        running.add_done_callback(lambda _: log.warning("tool_ended_late", tool=name, run=ctx.run_id, step=ctx.step_id))

    async def _take_turn(self, ctx: ToolContext, name: str, at_once: int) -> Turns:
        """Wait until fewer than `at_once` calls of the tool are at work; the place is held until the work has really ended."""
        turns = self._turns.setdefault(name, Turns(at_once))
        waits = not turns.free
        if waits:
            ctx.progress("waits for its turn")
        try:
            async with asyncio.timeout(self._turn_s):
                await turns.take(ctx.run_id)
        except TimeoutError as fault:
            says = f"{at_once} of its calls may be at work at one time, and none made room within {self._turn_s:g} s"
            raise NotStarted(f"{name} was not started: {says}.{self._held()}") from fault
        if waits:
            ctx.progress("")
        return turns

    def _held(self) -> str:
        return f" {len(self.stuck)} are held by tools that do not stop." if self.stuck else ""

    async def _start(self, work: Work, ctx: ToolContext, name: str, timeout_s: float) -> asyncio.Future[Ended]:
        """Set the work going: as a task, or in a thread once one is free."""
        ctx.grace_s = min(GRACE_S, self._grace_s / 2)
        is_task = inspect.iscoroutinefunction(work)
        if not is_task:
            await self._take_thread(name, timeout_s)
        if self._closed:
            if not is_task:
                self._free.release()
            raise NotStarted(f"{name} was not started: the bot is going down.")
        return self._tasks.start(_attend(work, ctx), name=f"tool {name}") if is_task else self._in_thread(work, ctx)

    async def _take_thread(self, name: str, timeout_s: float) -> None:
        try:
            if self._free.locked():
                async with asyncio.timeout(timeout_s):
                    await self._free.acquire()
            else:
                await self._free.acquire()
        except TimeoutError as fault:
            raise NotStarted(f"{name} was not started: no thread was free within {timeout_s:g} s.{self._held()}") from fault

    def _in_thread(self, work: Work, ctx: ToolContext) -> asyncio.Future[Ended]:
        """Hand the work to a thread that waits for some, or to a new one; `_free` has made sure that there may be one."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Ended] = loop.create_future()
        inside = contextvars.copy_context()

        def job() -> None:
            end = inside.run(_attempt, work, ctx)
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._thread_ended, ended, end)

        self._jobs.put(job)
        if self._idle:
            self._idle -= 1
        else:
            # A daemon: a tool that never ends must not keep the process from ending.
            threading.Thread(target=_labor, args=(self._jobs,), name="tools", daemon=True).start()
        return ended

    def _thread_ended(self, ended: asyncio.Future[Ended], end: Ended) -> None:
        self._free.release()
        self._idle += 1
        if not ended.done():
            ended.set_result(end)

    async def close(self) -> list[str]:
        """Tell everything that runs to stop, start nothing more, wait for the grace time. Returns the names of what is still at work."""
        self._closed = True
        for running, (_, ctx) in self._live.items():
            ctx.cancelled.set()
            if isinstance(running, asyncio.Task):
                running.cancel()
        if self._live:
            await asyncio.wait(set(self._live), timeout=self._grace_s)
        for _ in range(self._idle):
            self._jobs.put(None)
        self._idle = 0
        return list(self.stuck)


async def _attend(work: Callable[[], Awaitable[Any]], ctx: ToolContext) -> Ended:
    """Whatever the tool does ends here; only a cancel goes through, since it says that the task was cancelled."""
    ctx.started = True
    try:
        return Ended(value=await work())
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as fault:
        return Ended(fault=fault)
    finally:
        ctx.close()


def _attempt(work: Work, ctx: ToolContext) -> Ended:
    """The same in a thread, where an exit would be lost. What was cancelled before it began does not begin."""
    ctx.started = True  # before the look at `cancelled`: whoever cancels in between sees it
    try:
        if ctx.cancelled.is_set():
            ctx.started = False
            return Ended(fault=Cancelled("The step was cancelled."))
        return Ended(value=work())
    except BaseException as fault:
        return Ended(fault=fault)
    finally:
        ctx.close()


def _labor(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def _value(running: asyncio.Future[Ended], name: str) -> Any:
    if running.cancelled():
        raise ToolFailed(f"{name} was cut off: something that it waited for was cancelled.")
    end = running.result()
    if end.fault is not None and not isinstance(end.fault, Exception):  # a panic of the tool's own must not look like one of ours
        raise ToolFailed(f"{name} failed: {type(end.fault).__name__}: {end.fault}") from end.fault
    if end.fault is not None:
        raise end.fault
    return end.value
