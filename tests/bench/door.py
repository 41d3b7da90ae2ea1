"""What one step costs at the door: its start and its end, each with its audit entry, in a durable transaction.

Beside it the same loop in plain asyncio, which stores nothing: the difference is the price of the record.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection

from bot.core.ids import StepId
from bot.core.run import Event
from bot.core.snapshot import Observation
from bot.store import door
from bot.store.db import Database
from tests.bench.figures import Figure, parser, percentile, report
from tests.store.samples import running

Pair = Callable[[str, str], Awaitable[None]]
RESULT = Observation(value={"text": "x" * 400, "lines": 12}, says="12 lines", sha256="0" * 64, size=430)


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser("door", __doc__)
    options.add_argument("--runs", type=int, default=200, help="runs at once")
    options.add_argument("--steps", type=int, default=10, help="steps of each")
    options.add_argument("--alone", type=int, default=1000, help="steps of the run that has the store for itself")
    options.add_argument("--data", type=Path, default=None, help="folder for the database; default: a temporary one")
    given = options.parse_args(argv)
    figures = asyncio.run(_plain(given))
    for synchronous in ("FULL", "NORMAL"):
        with tempfile.TemporaryDirectory(dir=given.data) as folder:
            figures += asyncio.run(_stored(given, f"sqlite:///{folder}/door.db", synchronous))
    report(given, figures)


async def _plain(given: argparse.Namespace) -> list[Figure]:
    async def pair(_run: str, _step: str) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    return await _measure("plain asyncio, nothing stored", given, pair)


async def _stored(given: argparse.Namespace, url: str, synchronous: str) -> list[Figure]:
    database = await Database.open(url, on_change=lambda _run: None, synchronous=synchronous)
    try:
        await database.write(lambda conn: running(conn, "R-ALONE", steps=_names(given.alone)))
        for n in range(given.runs):
            await database.write(lambda conn, n=n: running(conn, f"R-{n}", steps=_names(given.steps)))
        return await _measure(f"the door, synchronous={synchronous}", given, lambda run, step: _pair(database, run, step))
    finally:
        await database.close()


async def _measure(name: str, given: argparse.Namespace, pair: Pair) -> list[Figure]:
    took = []
    for step in _names(given.alone):
        begun = time.perf_counter()
        await pair("R-ALONE", step)
        took.append((time.perf_counter() - begun) * 1000)

    async def chain(run: str) -> None:
        for step in _names(given.steps):
            await pair(run, step)

    steps = given.runs * given.steps
    begun, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(chain(f"R-{n}") for n in range(given.runs)))
    per_s, cpu_ms = steps / (time.perf_counter() - begun), (time.process_time() - cpu) * 1000 / steps
    return [
        Figure(f"{name}: one run, p50 of a step", percentile(took, 50), "ms"),
        Figure("... p99", percentile(took, 99), "ms"),
        Figure(f"... {given.runs} runs x {given.steps} steps", per_s, "steps/s"),
        Figure("... processor time of a step", cpu_ms, "ms"),  # of all threads: says something on a busy machine too
    ]


async def _pair(database: Database, run: str, step: str) -> None:
    """One step as the dispatcher does it: stored before the call, and after."""
    await database.write(lambda conn: _start(conn, run, step))
    await database.write(lambda conn: _end(conn, run, step))


def _start(conn: Connection, run: str, step: str) -> None:
    moved = door.StepChange(id=StepId(step), attempt=1, args={"path": f"{step}.md"}, started_at=_now())
    door.change(conn, run, Event.STEP_STARTED, actor="pullcord", at=_now(), step=moved)


def _end(conn: Connection, run: str, step: str) -> None:
    moved = door.StepChange(id=StepId(step), finished_at=_now(), observation=RESULT)
    door.change(conn, run, Event.STEP_SUCCEEDED, actor="pullcord", at=_now(), step=moved)


def _names(count: int) -> tuple[str, ...]:
    return tuple(f"s{n}" for n in range(1, count + 1))


def _now() -> datetime:
    return datetime.now(UTC)
