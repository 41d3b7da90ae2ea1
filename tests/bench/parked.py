"""Thousands of runs stand paused: they are rows, and cost no task and no memory.

One process, before and after the rows are there, with the sweeps that its supervisor makes meanwhile. What one sweep costs is said too:
that is all such a run ever asks for.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from tests.bench import seeding, world
from tests.bench.children import Child
from tests.bench.figures import Figure, parser, report


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("parked", __doc__)
    options.add_argument("--runs", type=int, default=10_000, help="runs that stand paused")
    options.add_argument("--sweeps", type=int, default=5, help="how often the supervisor looks at all of them")
    given = options.parse_args(argv)
    report(given, asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> list[Figure]:
    """Have a process looked at without and with the runs."""
    with tempfile.TemporaryDirectory() as folder:
        async with world.opened(Path(folder), []) as deps:
            with Child("park", folder, str(given.sweeps)) as child:
                before = await asyncio.to_thread(child.heard)
                await seeding.seed(deps, "HELD", given.runs, world.chain("bench.nothing", 2), seeding.PAUSED)
                child.tell("look")
                after = await asyncio.to_thread(child.heard)
    return [
        Figure("tasks for each run", (after["tasks"] - before["tasks"]) / given.runs, at_most=0),
        Figure("resident memory for each run", (after["rss"] - before["rss"]) / given.runs / 1024, "KB", at_most=1),
        Figure("... of it objects that live on", (after["blocks"] - before["blocks"]) / given.runs),
        Figure("one sweep of the supervisor", after["sweep_s"] * 1000, "ms"),
        Figure("... without them", before["sweep_s"] * 1000, "ms"),
    ]
