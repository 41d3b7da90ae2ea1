"""What one step costs in the whole product but Slack: supervisor, dispatcher, door, audit, a tool that does nothing.

Beside it plain asyncio, which stores nothing, in the same process and the same minute.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from bot import runs
from bot.bell import Bell
from bot.commands import intake
from bot.core import policy
from bot.core.ids import new_run_id
from bot.core.policy import Member
from bot.core.run import RunStatus
from bot.deps import Deps
from bot.llm.offline import OfflinePlanner
from bot.llm.report import Reporter
from bot.settings import Settings
from bot.store.db import Database
from bot.supervisor import Supervisor
from bot.tasks import Tasks
from bot.tools.registry import Registry, ToolContext, tool

PERSON = Member(id="U0REQUESTER", team="T0HOME")


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: str


async def open_deps(folder: Path, entries: list[float]) -> Deps:
    """Deps around one tool that notes when it is entered and returns at once."""

    @tool(name="bench.nothing", effect="read")
    async def nothing(args: Nothing, ctx: ToolContext) -> Nothing:
        """Do nothing. Use it to measure. Not for work."""
        entries.append(time.perf_counter())
        return args

    bell = Bell()
    settings = Settings.model_validate({"PULLCORD_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}", "PULLCORD_POOL": 1000})
    return Deps(
        settings=settings,
        store=await Database.open(settings.database_url, on_change=bell.ring),
        tools=Registry([nothing]),
        policy=policy.default("team"),
        planner=OfflinePlanner(),
        synthesizer=Reporter(),
        bell=bell,
        tasks=Tasks(),
        now=lambda: datetime.now(UTC),
        new_run_id=new_run_id,
    )


def chain(steps: int, run: int) -> str:
    """A plan of sequential steps in plain notation."""
    lines = [f"s{n}: bench.nothing n=r{run}-{n}" + (f" after=s{n - 1}" if n else "") for n in range(steps)]
    return "\n".join(lines)


async def ask(deps: Deps, plan: str) -> str:
    """Open a run and return its id."""
    run = await intake.open_run(deps, ask=plan, who=PERSON, team="T", channel="C", thread_ts="1", source_ts=None, event_key=None)
    assert run is not None
    return run.id


async def ended(deps: Deps, ids: set[str]) -> None:
    """Wait, by the bell, until all these runs have ended."""
    rung = asyncio.Event()
    deaf = deps.bell.listen(lambda _: rung.set())
    try:
        while any(run.id in ids for run in await runs.live(deps)):
            rung.clear()
            async with asyncio.timeout(300):
                await rung.wait()
    finally:
        deaf()
    final = {run.id: run.status for run in await runs.listing(deps, limit=10_000) if run.id in ids}
    assert set(final.values()) == {RunStatus.SUCCEEDED}, final


async def alone(deps: Deps, entries: list[float], *, repeats: int, steps: int) -> list[float]:
    """Gaps between the entries of successive steps, runs one after another; milliseconds."""
    gaps: list[float] = []
    for n in range(repeats):
        entries.clear()
        await ended(deps, {await ask(deps, chain(steps, n))})
        gaps += [(b - a) * 1000 for a, b in zip(entries, entries[1:], strict=False)]
    return gaps


async def together(deps: Deps, entries: list[float], *, count: int, steps: int) -> float:
    """Steps per second with that many runs at once, from the first step's entry to the last one's."""
    entries.clear()
    ids = {await ask(deps, chain(steps, n)) for n in range(count)}
    await ended(deps, ids)
    return len(entries) / (max(entries) - min(entries))


async def plain(*, count: int, steps: int) -> tuple[float, float]:
    """The same shape in plain asyncio: gap in milliseconds, steps per second."""
    entries: list[float] = []

    async def one() -> None:
        for _ in range(steps):
            entries.append(time.perf_counter())
            await asyncio.sleep(0)

    await one()
    gap = statistics.median((b - a) * 1000 for a, b in zip(entries, entries[1:], strict=False))
    entries.clear()
    await asyncio.gather(*(one() for _ in range(count)))
    return gap, len(entries) / (max(entries) - min(entries))


async def measure(given: argparse.Namespace) -> None:
    """Run both and print the table."""
    entries: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        deps = await open_deps(Path(folder), entries)
        supervisor = Supervisor(deps)
        deps.tasks.start(supervisor.run(), name="supervisor")
        gaps = sorted(await alone(deps, entries, repeats=given.repeats, steps=given.steps))
        rate = await together(deps, entries, count=given.runs, steps=given.steps)
        await supervisor.close()
        await deps.tasks.close()
        await deps.tools.close()
        await deps.store.close()
    gap, plain_rate = await plain(count=given.runs, steps=given.steps)
    table = Table("", "one run: p50 ms per step", "p99 ms", f"{given.runs} runs x {given.steps}: steps/s")
    p99 = gaps[int(len(gaps) * 0.99) - 1]
    table.add_row("Pullcord: intent and outcome stored, audited", f"{statistics.median(gaps):.3f}", f"{p99:.3f}", f"{rate:,.0f}")
    table.add_row("plain asyncio: nothing stored", f"{gap:.4f}", "", f"{plain_rate:,.0f}")
    Console().print(table)


def main(argv: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench steps", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs at once")
    parser.add_argument("--steps", type=int, default=10, help="steps of each")
    parser.add_argument("--repeats", type=int, default=20, help="runs one after another")
    asyncio.run(measure(parser.parse_args(argv)))
