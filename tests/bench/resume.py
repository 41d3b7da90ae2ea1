"""From a click on Resume to the next step: many runs at work, and others that stand and are let go one after the other.

Measured is the time from when the click was due until the run's next tool is entered; its start is on record by then.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from bot.commands import controls
from tests.bench import seeding, world
from tests.bench.figures import Figure, parser, percentile, report
from tests.bench.world import PERSON, Entry


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("resume", __doc__)
    options.add_argument("--runs", type=int, default=100, help="runs at work beside those that are let go")
    options.add_argument("--step-ms", type=float, default=1000, help="what one step takes")
    options.add_argument("--clicks", type=int, default=200, help="runs that stand, each let go once")
    options.add_argument("--pace", type=float, default=20, help="clicks a second")
    given = options.parse_args(argv)
    report(given, asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> list[Figure]:
    """Let each run go when its click is due, and see when it goes on."""
    entries: list[Entry] = []
    plan = world.chain("bench.nothing", 50)
    with tempfile.TemporaryDirectory() as folder:
        async with world.opened(Path(folder), entries, step_s=given.step_ms / 1000) as deps:
            at_work = await seeding.seed(deps, "LIVE", given.runs, plan, seeding.RUNNING)
            standing = await seeding.seed(deps, "HELD", given.clicks, plan, seeding.PAUSED)
            async with world.supervised(deps):
                await world.until(lambda: len(world.first(entries)) == len(at_work), "every run at work")
                due: dict[str, float] = {}
                async with asyncio.TaskGroup() as clicks:
                    async for n, at in world.at_pace(given.clicks, given.pace):
                        due[standing[n]] = at
                        clicks.create_task(controls.resume(deps, standing[n], who=PERSON))
                await world.until(lambda: due.keys() <= world.first(entries).keys(), "every run to go on")
    began = world.first(entries)
    took = [(began[run] - at) * 1000 for run, at in due.items()]
    return [
        Figure("click on Resume to the next step started, p50", percentile(took, 50), "ms"),
        Figure("click on Resume to the next step started, p95", percentile(took, 95), "ms", at_most=30),
        Figure("runs let go", len(took)),
    ]
