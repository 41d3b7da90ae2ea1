"""One step's call: what its end is, when it is tried again, what is known to be fresh, and that a Stop is never lost on the way."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from bot import runs
from bot.activities import steps
from bot.activities.steps import call, look_ahead, still_fresh
from bot.commands import controls
from bot.core.plan import Step
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import Observation
from bot.deps import Deps
from bot.errors import ToolFailed
from bot.tools.registry import Preview, Tool, ToolContext, tool
from tests.activities.test_dispatching import ask, started
from tests.conftest import until
from tests.doubles.parts import MEMBER
from tests.doubles.waiting import eventually

Lines = Callable[[str], list[str]]


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Door:
    """Something that is reached, and held until it is opened; also from threads."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        self.opened.wait(20)

    async def is_reached(self) -> None:
        async def probe() -> bool:
            return self.reached.is_set()

        await eventually(probe, "the door to be reached")


def step(of: Tool | str, *, args: dict[str, Any] | None = None, retries: int = 0) -> Step:
    return Step(id="x", number=1, tool=of if isinstance(of, str) else of.spec.name, args=args or {}, retries=retries)  # type: ignore[arg-type]


def failing(deps: Deps, *, times: int, keys: list[str], **kind: Any) -> Tool:
    """A tool of ours that fails so many times; `keys` gets the idempotency key of each try."""

    @tool(name="our.failing", description="d", **kind)
    async def fails(args: Nothing, ctx: ToolContext) -> str:
        keys.append(ctx.key)
        if len(keys) <= times:
            raise ToolFailed("the service is busy")
        return "at last"

    deps.tools.add(fails)
    return fails


def telling(deps: Deps, tell: Callable[[], Any], *, does: Callable[[], object] = lambda: None, timeout_s: float = 120) -> Tool:
    """A synchronous read of ours whose freshness is what `tell` says."""

    @tool(name="our.telling", effect="read", description="d", timeout_s=timeout_s)
    def reads(args: Nothing, ctx: ToolContext) -> str:
        does()
        return "seen"

    @reads.freshness
    def state(args: Nothing, ctx: ToolContext) -> Any:
        ctx.progress("looking")
        return tell()

    deps.tools.add(reads)
    return reads


async def live(deps: Deps, lines: Lines) -> Run:
    """A run that is under way, and stays so."""
    run = await ask(deps, "test.readgate name=r")
    await started(lines, "readgate", "r")
    return run


async def cancelled_at(door: Door, work: Awaitable[Any]) -> Any:
    """What comes of the work when it is cancelled there."""
    task = asyncio.ensure_future(work)
    await door.is_reached()
    task.cancel()
    async with asyncio.timeout(15):
        return (await asyncio.gather(task, return_exceptions=True))[0]


# ---- freshness


async def test_a_read_is_marked_with_what_its_source_was_before_it(deps: Deps) -> None:
    source = ["old"]
    reads = telling(deps, lambda: source[0], does=lambda: source.append(source.pop() + ", changed while it was read"))

    ended = await call(deps, "R-1", step(reads), {}, attempt=1)

    assert ended.event is Event.STEP_SUCCEEDED
    assert ended.observation is not None
    assert ended.observation.fresh == "old"
    assert not await still_fresh(deps, "R-1", step(reads), {}, ended.observation)
    assert deps.progress == {}, "the words of a look are nobody's progress"


async def test_a_file_that_was_read_is_fresh_until_it_changes(deps: Deps, tmp_path: Path) -> None:
    file, args = tmp_path / "files" / "a.md", {"path": "a.md"}
    file.write_text("one")
    ended = await call(deps, "R-1", step("files.read"), args, attempt=1)
    assert ended.observation is not None

    async def fresh() -> bool:
        assert ended.observation is not None
        return await still_fresh(deps, "R-1", step("files.read"), args, ended.observation)

    assert await fresh()
    file.write_text("two")
    assert not await fresh()
    file.write_text("one")
    assert await fresh()
    file.unlink()
    assert not await fresh()
    assert not await still_fresh(deps, "R-1", step("files.read"), {"path": "../b"}, ended.observation)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("files.write", {"path": "a.md", "text": "x"}),  # what is done is done
        ("files.delete", {"path": "gone.md"}),
        ("web.fetch", {"url": "https://example.com"}),  # cannot tell
        ("text.summarize", {"text": "x"}),  # nothing but its arguments
        ("time.wait", {"seconds": 1}),  # waited is waited
        ("no.such_tool", {}),
    ],
)
async def test_what_cannot_tell_is_taken_as_done(deps: Deps, name: str, args: dict[str, Any]) -> None:
    if name in deps.tools.catalogue and deps.tools.catalogue[name].tells_freshness:
        fresh = await deps.tools.freshness(name, args, steps.context(deps, "R-1", step(name), args))
    else:
        fresh = None

    assert await still_fresh(deps, "R-1", step(name), args, Observation(value=None, fresh=fresh))


@pytest.mark.parametrize(("before", "now", "is_fresh"), [("a", "a", True), ("a", "b", False), ("a", None, False), (None, "a", False)])
async def test_only_the_same_state_is_fresh(deps: Deps, before: str | None, now: str | None, is_fresh: bool) -> None:
    reads = telling(deps, lambda: now)

    assert await still_fresh(deps, "R-1", step(reads), {}, Observation(value=None, fresh=before)) is is_fresh


async def test_a_tool_that_says_it_cannot_tell_is_taken_as_done(deps: Deps) -> None:
    reads = telling(deps, lambda: None)

    assert await still_fresh(deps, "R-1", step(reads), {}, Observation(value=None))


async def test_a_freshness_that_breaks_or_hangs_keeps_no_step_from_its_work_and_vouches_for_nothing(deps: Deps) -> None:
    door = Door()
    door.opened.set()
    reads = telling(deps, door.pass_through, timeout_s=0.3)
    door.opened.clear()

    ended = await call(deps, "R-1", step(reads), {}, attempt=1)

    assert ended.event is Event.STEP_SUCCEEDED
    assert ended.observation is not None
    assert ended.observation.fresh is None
    assert not await still_fresh(deps, "R-1", step(reads), {}, ended.observation)
    door.opened.set()


# ---- tries


async def test_a_read_is_tried_again_with_the_same_key(supervised: Deps, lines: Lines) -> None:
    run, keys = await live(supervised, lines), list[str]()
    reads = failing(supervised, times=2, keys=keys, effect="read")

    ended = [await call(supervised, run.id, step(reads, retries=2), {}, attempt=attempt) for attempt in (1, 2, 3)]

    assert [each.event for each in ended] == [Event.STEP_REQUEUED, Event.STEP_REQUEUED, Event.STEP_SUCCEEDED]
    assert ended[0].error == "the service is busy"
    assert len(set(keys)) == 1
    assert steps.context(supervised, run.id, step(reads), {"other": 1}).key != keys[0]


@pytest.mark.parametrize(
    ("kind", "tries", "end"),
    [
        ({"effect": "read"}, 3, Event.STEP_FAILED),
        ({"effect": "write", "idempotent": True}, 3, Event.STEP_FAILED),
        ({"effect": "write"}, 1, Event.STEP_FAILED),
        ({"effect": "send"}, 1, Event.STEP_FAILED),
    ],
)
async def test_only_what_may_be_repeated_is_tried_again_and_not_for_ever(
    supervised: Deps, lines: Lines, kind: dict[str, Any], tries: int, end: Event
) -> None:
    run, keys = await live(supervised, lines), list[str]()
    tries_again = failing(supervised, times=9, keys=keys, **kind)
    for attempt in range(1, 6):
        ended = await call(supervised, run.id, step(tries_again, retries=2), {}, attempt=attempt)
        if ended.event is not Event.STEP_REQUEUED:
            break

    assert (ended.event, len(keys)) == (end, tries)


async def test_what_would_end_the_same_again_is_not_tried_again(deps: Deps) -> None:
    for args in ({"path": 1}, {"path": "../out"}):
        ended = await call(deps, "R-1", step("files.read", retries=5), args, attempt=1)
        assert ended.event is Event.STEP_FAILED


async def test_the_dispatcher_tries_a_failing_read_again_until_it_succeeds(supervised: Deps) -> None:
    keys: list[str] = []
    failing(supervised, times=2, keys=keys, effect="read")

    run = await ask(supervised, "our.failing retries=3")
    await until(supervised, run.id, RunStatus.SUCCEEDED)

    state = (await runs.snapshot(supervised, run.id)).steps[0]
    assert (state.attempt, len(keys), len(set(keys))) == (3, 3, 1)


async def resting(deps: Deps, run: Run) -> tuple[asyncio.Task[steps.Ended], float]:
    """A call that rests for 3.2 s before its next try, and when that began."""
    reads = failing(deps, times=9, keys=[], effect="read")
    task = asyncio.create_task(call(deps, run.id, step(reads, retries=5), {}, attempt=5))

    async def probe() -> bool:
        return deps.progress.get((run.id, "x")) == "failed, tries again (5 of 5)"

    await eventually(probe, "the step to rest")
    return task, monotonic()


async def test_stop_cuts_the_rest_between_two_tries_short(supervised: Deps, lines: Lines) -> None:
    task, began = await resting(supervised, await live(supervised, lines))

    task.cancel()
    ended = await task

    assert monotonic() - began < 2
    assert (ended.event, ended.error) == (
        Event.STEP_CANCELLED,
        "cancelled before it was tried again; the last try: the service is busy",
    )
    assert supervised.progress == {}


async def test_pause_is_not_held_up_by_the_rest_between_two_tries(supervised: Deps, lines: Lines) -> None:
    run = await live(supervised, lines)
    task, began = await resting(supervised, run)

    supervised.bell.ring(run.id)  # a ring that brakes nothing
    supervised.bell.ring("R-OTHER")
    await asyncio.wait({task}, timeout=0.2)
    assert not task.done()
    await controls.pause(supervised, run.id, who=MEMBER)
    ended = await task

    assert monotonic() - began < 2
    assert ended.event is Event.STEP_REQUEUED


# ---- Stop


async def test_a_step_that_is_stopped_while_it_waits_for_its_turn_was_never_called(deps: Deps) -> None:
    """C024: it is cancelled and not in doubt, though nobody could verify it."""
    door, calls = Door(), list[str]()

    @tool(name="our.narrow", effect="send", description="d", at_once=1)
    def narrow(args: Nothing, ctx: ToolContext) -> None:
        calls.append(ctx.run_id)
        door.pass_through()

    deps.tools.add(narrow)
    first = asyncio.create_task(call(deps, "R-1", step(narrow), {}, attempt=1))
    await door.is_reached()
    second = asyncio.create_task(call(deps, "R-2", step(narrow), {}, attempt=1))

    async def waits() -> bool:
        return deps.progress.get(("R-2", "x")) == "waits for its turn"

    await eventually(waits, "the second to wait")
    second.cancel()
    ended = await second
    door.opened.set()
    await first

    assert (ended.event, ended.error) == (Event.STEP_CANCELLED, "cancelled before the tool was called")
    assert calls == ["R-1"]
    assert deps.progress == {}


async def test_stop_is_not_lost_in_a_freshness_that_does_not_heed_it(deps: Deps) -> None:
    """C048: the tool is not called after all."""
    door, called = Door(), list[str]()
    reads = telling(deps, door.pass_through, does=lambda: called.append("called"))

    ended = await cancelled_at(door, call(deps, "R-1", step(reads), {}, attempt=1))
    door.opened.set()

    assert ended.event is Event.STEP_CANCELLED
    assert called == []


async def test_the_end_of_the_bot_is_not_lost_in_a_preview_that_does_not_heed_it(deps: Deps) -> None:
    """C048"""
    door = Door()

    @tool(name="our.previewed", effect="write", description="d")
    def previewed(args: Nothing, ctx: ToolContext) -> None:
        return None

    @previewed.preview
    def preview(args: Nothing, ctx: ToolContext) -> Preview:
        door.pass_through()
        return Preview(target="x")

    deps.tools.add(previewed)

    ended = await cancelled_at(door, look_ahead(deps, "R-1", step(previewed), {}))
    door.opened.set()

    assert isinstance(ended, asyncio.CancelledError)


async def test_stop_during_the_verification_of_a_step_that_timed_out_is_accounted_for(deps: Deps) -> None:
    door = Door()

    @tool(name="our.slow", effect="send", description="d", timeout_s=30)
    async def slow(args: Nothing, ctx: ToolContext) -> None:
        await asyncio.Event().wait()

    @slow.verify
    async def verify(args: Nothing, ctx: ToolContext) -> None:
        if not door.reached.is_set():
            door.reached.set()
            await asyncio.Event().wait()

    deps.tools.add(slow)
    timed = step(slow).model_copy(update={"timeout_s": 0.05})

    ended = await cancelled_at(door, call(deps, "R-1", timed, {}, attempt=1))

    assert (ended.event, ended.error) == (Event.STEP_CANCELLED, "cancelled while it ran; it took no effect"), "it was asked once more"


async def test_a_read_that_does_not_stop_is_not_tried_again_beside_itself(supervised: Deps, lines: Lines) -> None:
    """C048"""
    run, go, begun = await live(supervised, lines), asyncio.Event(), list[str]()

    @tool(name="our.deaf", effect="read", description="d")
    async def deaf(args: Nothing, ctx: ToolContext) -> None:
        begun.append("begun")
        while not go.is_set():
            try:
                await asyncio.wait_for(go.wait(), 0.01)
            except (TimeoutError, asyncio.CancelledError):
                continue

    supervised.tools.add(deaf)
    timed = step(deaf, retries=5).model_copy(update={"timeout_s": 0.05})

    ended = await call(supervised, run.id, timed, {}, attempt=1)

    assert ended.event is Event.STEP_FAILED
    assert "was told to stop and does not" in str(ended.error)
    assert begun == ["begun"]
    assert supervised.tools.stuck == ("our.deaf",)
    go.set()
