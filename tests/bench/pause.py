"""From a click on Pause to "no further step": many runs at work, people who pause them at a steady pace and let them go again.

Measured is the time from when the click was due until the pause is durable, how long after it a tool was still entered (a step that had
started before), and, by the order of each run's record, whether any step started after a pause. Slack's part of a click is not in it.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from sqlalchemy import select

from bot.commands import controls
from bot.core.run import Event
from bot.deps import Deps
from bot.errors import Refused
from bot.store import tables
from tests.bench import seeding, world
from tests.bench.figures import Figure, parser, percentile, report
from tests.bench.world import PERSON, Entry

HELD_S = 0.5  # how long a paused run stands before somebody lets it go


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("pause", __doc__)
    options.add_argument("--runs", type=int, default=500, help="runs live")
    options.add_argument("--steps", type=int, default=50, help="steps of each, one after the other")
    options.add_argument("--step-ms", type=float, default=1000, help="what one step takes; 0: the store is as busy as it can be")
    options.add_argument("--clicks", type=int, default=400, help="how often somebody pauses a run")
    options.add_argument("--pace", type=float, default=50, help="clicks a second")
    given = options.parse_args(argv)
    report(given, asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> list[Figure]:
    """Click, and look at the record."""
    entries: list[Entry] = []
    with tempfile.TemporaryDirectory() as folder:
        async with world.opened(Path(folder), entries, step_s=given.step_ms / 1000) as deps:
            ids = await seeding.seed(deps, "LIVE", given.runs, world.chain("bench.nothing", given.steps), seeding.RUNNING)
            async with world.supervised(deps):
                await world.until(lambda: len(world.first(entries)) == len(ids), "every run at work")
                begun, before = time.perf_counter(), len(entries)
                clicked = await _click(deps, ids, given)
                rate = (len(entries) - before) / (time.perf_counter() - begun)
            starts, late = await deps.store.read(_starts_after_a_pause)
    took = [done - due for _, due, done in clicked]
    after = _entered_after(clicked, entries)
    return [
        Figure("click to pause durable, p50", percentile(took, 50) * 1000, "ms"),
        Figure("click to pause durable, p99", percentile(took, 99) * 1000, "ms", at_most=50),
        Figure("click to the last time that a tool of the run was entered, p99", percentile(after, 99) * 1000, "ms"),
        Figure("steps started after the pause was recorded", late, at_most=0),
        Figure("... of starts on record", starts),
        Figure("pauses", len(clicked)),
        Figure("steps started meanwhile", rate, "/s"),
    ]


async def _click(deps: Deps, ids: list[str], given: argparse.Namespace) -> list[tuple[str, float, float]]:
    """Run, due time and end of each pause that was carried out."""
    clicked: list[tuple[str, float, float]] = []

    async def one(run_id: str, due: float) -> None:
        try:
            await controls.pause(deps, run_id, who=PERSON)
            clicked.append((run_id, due, time.perf_counter()))
            await asyncio.sleep(HELD_S)
            await controls.resume(deps, run_id, who=PERSON)
        except Refused as no:
            if no.kind not in ("already_done", "already_paused", "moved_on"):  # it has ended, or still stands
                raise

    async with asyncio.TaskGroup() as clicks:
        async for n, due in world.at_pace(given.clicks, given.pace):
            clicks.create_task(one(ids[n * 7 % len(ids)], due))
    return clicked


def _entered_after(clicked: list[tuple[str, float, float]], entries: list[Entry]) -> list[float]:
    """For each click how long after it the run's last tool before the letting-go was entered; 0 if none was."""
    times: dict[str, list[float]] = {}
    for entry in entries:
        times.setdefault(entry.run, []).append(entry.at)
    return [max((at - due for at in times[run] if due < at < done + HELD_S), default=0.0) for run, due, done in clicked]


def _starts_after_a_pause(conn) -> tuple[int, int]:
    """Starts on record, and those that come after a pause in their run's record with no letting-go between."""
    table = tables.audit
    rows = conn.execute(select(table.c.run_id, table.c.event).order_by(table.c.run_id, table.c.seq))
    starts = late = 0
    braked = set()
    for run_id, event in rows:
        if event == Event.PAUSE_ASKED:
            braked.add(run_id)
        elif event == Event.RESUMED:
            braked.discard(run_id)
        elif event == Event.STEP_STARTED:
            starts += 1
            late += run_id in braked
    return starts, late
