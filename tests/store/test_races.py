"""Several processes on one file: one truth, nobody hears of a lock, and nothing that was acknowledged is lost."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.core.run import Event, NotAllowed, RunStatus
from bot.core.snapshot import Entry
from bot.store import audit, door, runs
from bot.store.db import Database
from tests.store.processes import Start, go
from tests.store.samples import NOW, in_review, later, opened, running

RUN = "R-7K2QX"


@pytest.fixture
async def two(db: Database, url: str) -> AsyncIterator[tuple[Database, Database]]:
    """Two stores on one file, as two processes have them."""
    other = await Database.open(url)
    yield db, other
    await other.close()


async def test_fifty_approvals_through_two_stores_are_one_approval(two: tuple[Database, Database]) -> None:
    run = await two[0].write(in_review)

    def approve(n: int):
        data = {"approved": run.digest}
        return two[n % 2].write(lambda conn: door.change(conn, RUN, Event.APPROVED, actor=f"U_{n}", at=NOW, data=data))

    results = await asyncio.gather(*(approve(n) for n in range(50)), return_exceptions=True)

    won = [n for n, result in enumerate(results) if not isinstance(result, BaseException)]
    assert len(won) == 1
    assert {type(result) for result in results} == {type(run), NotAllowed}
    approvals = [entry for entry in await two[1].read(lambda conn: audit.entries(conn, RUN)) if entry.event == "approved"]
    assert [entry.actor for entry in approvals] == [f"U_{won[0]}"]


async def test_two_processes_approve_and_exactly_one_wins(db: Database, start_child: Start) -> None:
    """C003: compare-and-set decides; one run, one entry."""
    names = [f"R-{n}" for n in range(30)]
    for name in names:
        await db.write(lambda conn, name=name: in_review(conn, name))
    children = [start_child("approve", actor, *names) for actor in ("U_ONE", "U_TWO")]

    go(*children)
    said = [child.rest() for child in children]

    assert sorted(said[0] + said[1]) == sorted([f"{name} won" for name in names] + [f"{name} late" for name in names])
    for name in names:
        run, entries = await db.read(lambda conn, name=name: (runs.get(conn, name), audit.entries(conn, name)))
        assert (run.status, run.version) == (RunStatus.QUEUED, 3)
        assert [entry.event for entry in entries] == ["opened", "planned", "approved"]
    assert await db.read(audit.verify) == []


async def test_processes_that_read_and_then_write_never_see_a_lock(db: Database, start_child: Start) -> None:
    """C042: forty step ends in two processes, an approval click and a timer sweep in a third."""
    steps = [f"s{n}" for n in range(40)]
    await db.write(lambda conn: running(conn, RUN, steps=tuple(steps)))
    clicked = await db.write(lambda conn: in_review(conn, "R-CLICK"))
    children = [start_child("work", RUN, *steps[half::2]) for half in (0, 1)]
    go(*children)

    await db.write(lambda conn: door.change(conn, "R-CLICK", Event.APPROVED, actor="U_APPR", at=NOW, data={"approved": clicked.digest}))
    for n in range(20):
        await db.write(lambda conn, n=n: sweep(conn, f"R-{n}"))

    assert [await asyncio.to_thread(child.rest) for child in children] == [["done"], ["done"]]
    seen = await db.read(lambda conn: runs.snapshot(conn, RUN))
    assert {step.status for step in seen.steps} == {"succeeded"}
    assert seen.run.version == 4 + 2 * len(steps)
    assert (await db.read(lambda conn: runs.get(conn, "R-19"))).status is RunStatus.EXPIRED
    assert await db.read(audit.verify) == []


def sweep(conn, name: str) -> None:
    """A run that nobody answers, and the timer that finds it."""
    opened(conn, name)
    door.change(conn, name, Event.QUESTION_ASKED, actor="pullcord", at=NOW, data={"deadline": later(minutes=1)})
    for run in runs.due(conn, later(minutes=2)):
        door.change(conn, run.id, Event.EXPIRED, actor="clock", at=later(minutes=2))


async def test_no_step_is_started_after_a_pause_was_recorded_by_another_process(db: Database, start_child: Start) -> None:
    """P4 over process boundaries."""
    steps = tuple(f"s{n}" for n in range(2000))
    await db.write(lambda conn: running(conn, RUN, steps=steps))
    child = start_child("start", RUN, *steps)
    go(child)
    assert await asyncio.to_thread(child.stdout.readline) == "s0\n"

    await db.write(lambda conn: door.change(conn, RUN, Event.PAUSE_ASKED, actor="U_REQ", at=NOW))

    said = await asyncio.to_thread(child.rest)
    assert said[-1] == "braked"
    events = [entry.event for entry in await db.read(lambda conn: audit.entries(conn, RUN))]
    assert events[-1] == "pause_asked"
    assert events.count("step_started") == len(said)


BRAKES = frozenset({Event.PAUSE_ASKED, Event.STOP_ASKED, Event.FROZEN})
LETTING_GO = frozenset({Event.RESUMED, Event.THAWED})


async def test_in_thousands_of_races_no_step_starts_after_the_brake_was_recorded(db: Database, start_child: Start) -> None:
    """P4: two processes on one database, one that starts steps, one that pauses, freezes, lets go and stops."""
    names = [f"R-{n:02}" for n in range(24)]
    for name in names:
        await db.write(lambda conn, name=name: running(conn, name))
    drives, brakes = start_child("drive", *names), start_child("brake", "84", *names)

    go(drives, brakes)
    stopped, started = [await asyncio.to_thread(child.rest) for child in (brakes, drives)]

    found = [braked_starts(await db.read(lambda conn, name=name: audit.entries(conn, name))) for name in names]
    races, late = sum(brakes for brakes, _ in found), sum(starts for _, starts in found)
    record = await db.read(lambda conn: list(audit.export(conn)))
    print(f"{races} brakes, {started[0]}; {late} steps started after the brake was recorded")
    assert stopped == ["stopped"]
    assert races == 24 * 85
    assert int(started[0].removeprefix("started ")) > 500
    assert late == 0
    assert starts_while_frozen(record) == 0
    assert await db.read(audit.verify) == []


def braked_starts(entries: list[Entry]) -> tuple[int, int]:
    """How often the cord was pulled in a run that went on, and how many steps started while it was."""
    braked, brakes, late = False, 0, 0
    for entry in entries:
        if entry.event in BRAKES:
            braked, brakes = True, brakes + 1
        elif entry.event in LETTING_GO:
            braked = False
        elif entry.event == Event.STEP_STARTED:
            late += braked
    return brakes, late


def starts_while_frozen(record: list[Entry]) -> int:
    """How many steps started, in any run, between a freeze and its end; `record` is in the order in which it was written."""
    frozen, late = False, 0
    for entry in record:
        if entry.run == audit.NO_RUN and entry.event in (Event.FROZEN, Event.THAWED):
            frozen = entry.event == Event.FROZEN
        elif entry.event == Event.STEP_STARTED:
            late += frozen
    return late


async def test_fifty_clicks_on_one_card_from_two_processes_are_one_approval_and_49_refusals(db: Database, start_child: Start) -> None:
    """C003: each of the others is told that somebody was faster."""
    await db.write(in_review)
    children = [start_child("click", RUN, first, last) for first, last in (("0", "25"), ("25", "50"))]

    go(*children)
    said = [line.split() for child in children for line in await asyncio.to_thread(child.rest)]

    assert sorted(told for _, told in said) == ["approved", *["late_approved"] * 49]
    seen = await db.read(lambda conn: runs.snapshot(conn, RUN, entries=True))
    assert seen.run.status is RunStatus.QUEUED
    assert [yes.actor for yes in seen.approvals] == [who for who, told in said if told == "approved"]
    assert [entry.event for entry in seen.entries] == ["opened", "planned", "approved"]


async def test_kill_9_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(url: str, start_child: Start) -> None:
    db = await Database.open(url)
    await db.write(opened)
    await db.close()
    child = start_child("scribble", RUN)
    go(child)
    said = [child.stdout.readline() for _ in range(300)]

    child.process.kill()

    said += child.stdout.read().splitlines(keepends=True)
    acknowledged = {int(line) for line in said if line.endswith("\n")}
    db = await Database.open(url)
    stored = [entry.data["number"] for entry in (await db.read(lambda conn: audit.entries(conn, RUN)))[1:]]
    assert len(acknowledged) >= 300
    assert acknowledged <= set(stored)
    assert len(stored) == len(set(stored))
    assert await db.read(audit.verify) == []
    await db.write(lambda conn: door.note(conn, RUN, actor="U_X", at=NOW))
    await db.close()
