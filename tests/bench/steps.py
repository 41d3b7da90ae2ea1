"""What one step costs in the whole product but Slack: supervisor, dispatcher, door, audit, a tool that does nothing.

Beside it plain asyncio, which stores nothing, in the same process and the same minute.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from bot import runs
from bot.core.run import RunStatus
from bot.deps import Deps
from tests.bench import seeding, world
from tests.bench.figures import Figure, parser, percentile, report
from tests.bench.world import Entry


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("steps", __doc__)
    options.add_argument("--runs", type=int, default=200, help="runs at once")
    options.add_argument("--steps", type=int, default=10, help="steps of each")
    options.add_argument("--repeats", type=int, default=20, help="runs one after another")
    given = options.parse_args(argv)
    report(given, asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> list[Figure]:
    """One run after another, then all at once; and the same without a record."""
    entries: list[Entry] = []
    with tempfile.TemporaryDirectory() as folder:
        async with world.opened(Path(folder), entries) as deps, world.supervised(deps):
            gaps = await _alone(deps, entries, given)
            begun = time.process_time()
            rate = await _together(deps, entries, given)
            cpu = (time.process_time() - begun) / (given.runs * given.steps)
    gap, plain_rate = await _plain(given)
    return [
        Figure("overhead of a step, one run at a time, p50", percentile(gaps, 50) * 1000, "ms", at_most=0.6),
        Figure("... p99", percentile(gaps, 99) * 1000, "ms"),
        Figure(f"{given.runs} runs x {given.steps} steps", rate, "steps/s", at_least=4000),
        Figure("... processor time of a step", cpu * 1000, "ms"),
        Figure("plain asyncio, nothing stored: p50", gap * 1000, "ms"),
        Figure(f"... {given.runs} runs x {given.steps} steps", plain_rate, "steps/s"),
    ]


async def _alone(deps: Deps, entries: list[Entry], given: argparse.Namespace) -> list[float]:
    """Seconds between the entries of successive steps, runs one after another."""
    gaps: list[float] = []
    for n in range(given.repeats):
        entries.clear()
        await _carry_out(deps, f"ALONE{n}.", 1, given.steps)
        gaps += [after.at - before.at for before, after in zip(entries, entries[1:], strict=False)]
    return gaps


async def _together(deps: Deps, entries: list[Entry], given: argparse.Namespace) -> float:
    """Steps per second with that many runs at once, from the first step's entry to the last one's."""
    entries.clear()
    await _carry_out(deps, "MANY", given.runs, given.steps)
    return _rate([entry.at for entry in entries])


async def _carry_out(deps: Deps, kind: str, count: int, steps: int) -> None:
    """Put that many runs in line and wait, by the bell, until they have ended well."""
    rung = asyncio.Event()
    deaf = deps.bell.listen(lambda _: rung.set())
    try:
        ids = set(await seeding.seed(deps, kind, count, world.chain("bench.nothing", steps), seeding.QUEUED))
        for run_id in ids:
            deps.bell.ring(run_id)
        while any(run.id in ids for run in await runs.live(deps)):
            rung.clear()
            async with asyncio.timeout(300):
                await rung.wait()
    finally:
        deaf()
    final = {run.status for run in await runs.listing(deps, limit=count) if run.id in ids}
    assert final == {RunStatus.SUCCEEDED}, final


async def _plain(given: argparse.Namespace) -> tuple[float, float]:
    """The same shape in plain asyncio: gap in seconds, steps per second."""
    times: list[float] = []

    async def one() -> None:
        for _ in range(given.steps):
            times.append(time.perf_counter())
            await asyncio.sleep(0)

    await one()
    gap = percentile([after - before for before, after in zip(times, times[1:], strict=False)], 50)
    times.clear()
    await asyncio.gather(*(one() for _ in range(given.runs)))
    return gap, _rate(times)


def _rate(times: list[float]) -> float:
    return len(times) / (max(times) - min(times)) if len(times) > 1 else 0.0
