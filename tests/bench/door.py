"""What one step costs at the door: its start and its end, each with its audit entry, in a durable transaction.

Beside it the same loop in plain asyncio, which stores nothing: the difference is the price of the record.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection

from bot.core.ids import StepId
from bot.core.run import Event
from bot.core.snapshot import Observation
from bot.store import door
from bot.store.db import Database
from tests.store.samples import running

Pair = Callable[[str, str], Awaitable[None]]
RESULT = Observation(value={"text": "x" * 400, "lines": 12}, says="12 lines", sha256="0" * 64, size=430)


@dataclass(frozen=True)
class Figures:
    """One row of the table."""

    name: str
    p50_ms: float
    p99_ms: float
    per_s: float
    cpu_ms: float  # of all threads, per step of the second part: says something on a busy machine too


def main(argv: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench door", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs at once")
    parser.add_argument("--steps", type=int, default=10, help="steps of each")
    parser.add_argument("--alone", type=int, default=1000, help="steps of the run that has the store for itself")
    parser.add_argument("--data", type=Path, default=None, help="folder for the database; default: a temporary one")
    given = parser.parse_args(argv)
    found = [asyncio.run(_plain(given))]
    for synchronous in ("FULL", "NORMAL"):
        with tempfile.TemporaryDirectory(dir=given.data) as folder:
            found.append(asyncio.run(_stored(given, f"sqlite:///{folder}/door.db", synchronous)))
    _show(given, found)


def _show(given: argparse.Namespace, found: list[Figures]) -> None:
    table = Table("", "one run: p50 ms", "p99 ms", f"{given.runs} runs x {given.steps}: steps/s", "CPU ms per step")
    for row in found:
        table.add_row(row.name, f"{row.p50_ms:.3f}", f"{row.p99_ms:.3f}", f"{row.per_s:,.0f}", f"{row.cpu_ms:.3f}")
    console = Console(width=120)
    console.print(table)
    console.print(f"load of the last minute {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")


async def _plain(given: argparse.Namespace) -> Figures:
    async def pair(_run: str, _step: str) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    return await _measure("plain asyncio, nothing stored", given, pair)


async def _stored(given: argparse.Namespace, url: str, synchronous: str) -> Figures:
    database = await Database.open(url, on_change=lambda _run: None, synchronous=synchronous)
    try:
        await database.write(lambda conn: running(conn, "R-ALONE", steps=_names(given.alone)))
        for n in range(given.runs):
            await database.write(lambda conn, n=n: running(conn, f"R-{n}", steps=_names(given.steps)))
        return await _measure(f"the door, synchronous={synchronous}", given, lambda run, step: _pair(database, run, step))
    finally:
        await database.close()


async def _measure(name: str, given: argparse.Namespace, pair: Pair) -> Figures:
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
    return Figures(name, statistics.median(took), statistics.quantiles(took, n=100)[98], per_s, cpu_ms)


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
