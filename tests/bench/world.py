"""The product without Slack, around tools that do nothing, and the clicks of people who are there in any number."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.bell import Bell
from bot.core import policy
from bot.core.ids import StepId, new_run_id
from bot.core.plan import Plan, Step, numbered
from bot.core.policy import Member
from bot.deps import Deps
from bot.llm.offline import OfflinePlanner
from bot.llm.report import Reporter
from bot.rules import Rules
from bot.settings import Settings
from bot.store.db import Database
from bot.supervisor import Supervisor
from bot.tasks import Tasks
from bot.tools.registry import Registry, ToolContext, tool

PERSON = Member(id="U0REQUESTER", team="T0HOME")
POLICY = "profile: team\napprovers: ['@ops-leads']\n"


@dataclass(frozen=True)
class Entry:
    """A tool was entered, at this time of `time.perf_counter`."""

    run: str
    tool: str
    at: float


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: str


class Unasked:
    """Nobody replies in a benchmark."""

    async def classify(self, brief: Any) -> None:
        return None


@asynccontextmanager
async def opened(folder: Path, entries: list[Entry], *, step_s: float = 0, **settings: Any) -> AsyncIterator[Deps]:
    """Deps on the folder's database. `entries` grows by one at each call of a tool; `bench.nothing` takes `step_s` seconds."""
    bell = Bell()
    url = f"sqlite:///{folder / 'bench.db'}"
    given = Settings.model_validate({"PULLCORD_DATABASE_URL": url, "PULLCORD_POOL": 1000, "PULLCORD_STEPS": 1000, **settings})
    tools = Registry([])
    _add_tools(tools, entries, step_s)
    deps = Deps(
        settings=given,
        store=await Database.open(given.database_url, on_change=bell.ring),
        tools=tools,
        rules=Rules(policy.parse(POLICY, source="the benchmark's policy")),
        planner=OfflinePlanner(),
        classifier=Unasked(),
        synthesizer=Reporter(),
        bell=bell,
        tasks=Tasks(),
        now=lambda: datetime.now(UTC),
        new_run_id=new_run_id,
    )
    try:
        yield deps
    finally:
        await deps.tasks.close()
        await deps.tools.close()
        await deps.store.close()


def _add_tools(tools: Registry, entries: list[Entry], step_s: float) -> None:
    def note(ctx: ToolContext, name: str) -> None:
        entries.append(Entry(ctx.run_id, name, time.perf_counter()))

    @tool(name="bench.nothing", effect="read")
    async def nothing(args: Nothing, ctx: ToolContext) -> Nothing:
        """Do nothing for a while. Use it to measure. Not for work."""
        note(ctx, "bench.nothing")
        if step_s:
            await asyncio.sleep(step_s)
        return args

    @tool(name="bench.reads", effect="read")
    async def reads(args: Nothing, ctx: ToolContext) -> Nothing:
        """Never come to an end. Use it for a read in flight. Not for work."""
        note(ctx, "bench.reads")
        await asyncio.Event().wait()
        return args

    @tool(name="bench.writes", effect="write")
    async def writes(args: Nothing, ctx: ToolContext) -> Nothing:
        """Never come to an end. Use it for an effect in flight. Not for work."""
        note(ctx, "bench.writes")
        await asyncio.Event().wait()
        return args

    for each in (nothing, reads, writes):
        tools.add(each)


@asynccontextmanager
async def supervised(deps: Deps) -> AsyncIterator[Supervisor]:
    """A supervisor at work on whatever stands in the database."""
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    try:
        yield supervisor
    finally:
        await supervisor.close()


def first(entries: list[Entry]) -> dict[str, float]:
    """When each run's first tool was entered."""
    found: dict[str, float] = {}
    for entry in entries:
        found.setdefault(entry.run, entry.at)
    return found


def chain(tool_name: str, steps: int) -> Plan:
    """A plan of steps one after the other."""
    found = [
        Step(id=StepId(f"s{n}"), tool=tool_name, args={"n": str(n)}, depends_on=(StepId(f"s{n - 1}"),) if n else ()) for n in range(steps)
    ]
    return numbered(Plan(goal="Measure", steps=tuple(found)))


async def until(seen: Callable[[], bool], what: str, *, within_s: float = 60, every_s: float = 0.01) -> None:
    """Return once it is seen; `TimeoutError` with `what` if it is not in time."""
    end = time.perf_counter() + within_s
    while not seen():
        if time.perf_counter() > end:
            raise TimeoutError(f"waited {within_s:g} s in vain: {what}")
        await asyncio.sleep(every_s)


async def at_pace(count: int, per_s: float) -> AsyncIterator[tuple[int, float]]:
    """Numbers from 0, each with the time at which it was due: who measures from there sees also how late a busy loop was."""
    begun = time.perf_counter()
    for n in range(count):
        due = begun + n / per_s
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        yield n, due
