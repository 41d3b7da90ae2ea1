"""The chains do not fork: many writers in two processes, on the same runs, and one of the two processes killed in the middle (P8)."""

import asyncio
from collections import Counter

from bot.core.chain import NO_RUN
from bot.store import audit
from bot.store.db import Database
from tests.store.processes import Start, go
from tests.store.samples import opened

NAMES = [f"R-{n:02}" for n in range(5)]
EVERY = [*NAMES, NO_RUN]  # the chain that is no run's has no row whose version could be compared: it forks first, if any does


async def stored(db: Database) -> list[tuple[str, str]]:
    """The run and the number of each entry that the writers wrote, by the record."""
    record = await db.read(lambda conn: list(audit.export(conn)))
    return [(entry.run, entry.data["number"]) for entry in record if "number" in entry.data]


async def must_have_no_gap(db: Database) -> None:
    for name in EVERY:
        entries = await db.read(lambda conn, name=name: audit.entries(conn, name))
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert await db.read(audit.verify) == []


async def test_fifty_writers_in_two_processes_leave_chains_without_fork_or_gap(db: Database, start_child: Start) -> None:
    for name in NAMES:
        await db.write(lambda conn, name=name: opened(conn, name))
    children = [start_child("write", mark, "25", "12", *EVERY) for mark in ("a", "b")]

    go(*children)
    said = [line for child in children for line in await asyncio.to_thread(child.rest)]

    found = await stored(db)
    assert Counter(f"{run} {number}" for run, number in found) == Counter(said)
    assert len(said) == len(set(said)) == 2 * 25 * 12
    await must_have_no_gap(db)


async def test_a_process_that_is_killed_among_fifty_writers_breaks_no_chain(db: Database, start_child: Start) -> None:
    for name in NAMES:
        await db.write(lambda conn, name=name: opened(conn, name))
    lives, dies = start_child("write", "a", "25", "12", *EVERY), start_child("write", "b", "25", "400", *EVERY)
    go(lives, dies)
    heard = [dies.stdout.readline() for _ in range(40)]

    dies.process.kill()

    heard += dies.stdout.read().splitlines(keepends=True)
    acknowledged = [line.strip() for line in heard if line.endswith("\n")] + await asyncio.to_thread(lives.rest)
    found = Counter(f"{run} {number}" for run, number in await stored(db))
    assert set(acknowledged) <= set(found)
    assert max(found.values()) == 1
    assert sum(number.startswith("a.") for _, number in await stored(db)) == 25 * 12
    await must_have_no_gap(db)
