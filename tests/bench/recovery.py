"""The process is killed with SIGKILL while many runs are open; another one starts on what is stored.

Of the runs, a fifth each has a read in flight, has an effect in flight, stands for a person, waits in line, and waits in review. Measured
is the time from the start of the new process's supervisor until each is where it belongs: reads at work again, effects in doubt, the line
moved up into the places that this frees, the others as they were. No effect may be called again.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.bench import seeding, world
from tests.bench.children import Child
from tests.bench.figures import Figure, parser, report

KINDS = 5


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("recovery", __doc__)
    options.add_argument("--runs", type=int, default=1000, help="open runs, a fifth in each state")
    given = options.parse_args(argv)
    report(given, asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> list[Figure]:
    """One life that is cut short, and the next one."""
    each = max(1, given.runs // KINDS)
    with tempfile.TemporaryDirectory() as folder:
        await _seed(Path(folder), each)
        with Child("first_life", folder, str(each)) as first:
            await asyncio.to_thread(first.heard)  # every step is in flight
            first.kill()
        begun = time.monotonic()
        with Child("second_life", folder, str(each)) as second:
            found = await asyncio.to_thread(second.heard)
            second.kill()
    return [
        Figure("supervisor's start to every run live, in doubt or standing", found["took_s"], "s", at_most=2),
        Figure("... from the start of the process", found["ended"] - begun, "s"),
        Figure("runs open", KINDS * each),
        Figure("reads at work again", found["reads"], at_least=each),
        Figure("effects in doubt", found["in_doubt"], at_least=each),
        Figure("effects called again", found["effects_again"], at_most=0),
        Figure("runs that were moved and should stand", found["strayed"], at_most=0),
    ]


async def _seed(folder: Path, each: int) -> None:
    async with world.opened(folder, []) as deps:
        await seeding.seed(deps, "READ", each, world.chain("bench.reads", 2), seeding.RUNNING)
        await seeding.seed(deps, "WRITE", each, world.chain("bench.writes", 2), seeding.RUNNING)
        await seeding.seed(deps, "HELD", each, world.chain("bench.reads", 2), seeding.PAUSED)
        await seeding.seed(deps, "LINE", each, world.chain("bench.reads", 2), seeding.QUEUED)
        await seeding.seed(deps, "CARD", each, world.chain("bench.writes", 2), seeding.IN_REVIEW)
