"""One writer thread, shared commits, and what each caller may rely on."""

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError, OperationalError

from bot.errors import ConfigurationError, Refused, Unavailable
from bot.store import door, runs
from bot.store import engine as engines
from bot.store.db import Database, in_transaction, noted
from tests.store.samples import NOW, opened


def mark(conn: Connection, key: str) -> str:
    door.first_time(conn, key, at=NOW)
    return key


def marks(conn: Connection) -> list[str]:
    return list(conn.exec_driver_sql("SELECT event_key FROM seen ORDER BY event_key").scalars())


class Gate:
    """Work that holds the writer until the test lets go, so that everyone who comes meanwhile shares the next commit."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.leave = threading.Event()

    def __call__(self, _conn: Connection) -> None:
        self.entered.set()
        assert self.leave.wait(10)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.leave.set()


async def held(db: Database, gate: Gate) -> asyncio.Task[None]:
    task = asyncio.create_task(db.write(gate))
    assert await asyncio.to_thread(gate.entered.wait, 10)
    return task


async def queued(db: Database, work) -> asyncio.Task:
    """A write that stands in the queue when this returns."""
    task = asyncio.create_task(db.write(work))
    await asyncio.sleep(0)
    return task


async def test_a_write_gives_back_its_result_and_is_there_for_readers(db: Database) -> None:
    assert await db.write(lambda conn: mark(conn, "a")) == "a"
    assert await db.read(marks) == ["a"]


async def test_one_that_raises_among_fifty_rolls_back_only_itself(db: Database, gate: Gate, rung: list[str]) -> None:
    """Group commit: they share a transaction, and nothing else. Also C045: parallel reporters."""

    def report(n: int):
        def work(conn: Connection) -> int:
            noted(conn).add(f"R-{n:02}")
            mark(conn, f"{n:02}")
            if n == 7:
                raise Refused("not_allowed", n=n)
            return n

        return work

    holder = await held(db, gate)
    tasks = [await queued(db, report(n)) for n in range(50)]
    gate.leave.set()
    results = await asyncio.gather(holder, *tasks, return_exceptions=True)

    assert isinstance(results[8], Refused)
    assert results[8].facts == {"n": 7}
    assert [n for n in results[1:] if isinstance(n, int)] == [n for n in range(50) if n != 7]
    assert await db.read(marks) == [f"{n:02}" for n in range(50) if n != 7]
    assert rung == [f"R-{n:02}" for n in range(50) if n != 7]


async def test_callers_who_wait_at_the_same_moment_share_one_transaction(db: Database, gate: Gate) -> None:
    holder = await held(db, gate)
    tasks = [await queued(db, lambda conn, n=n: (mark(conn, str(n)), marks(conn))[1]) for n in range(3)]
    before = await db.read(marks)
    gate.leave.set()

    results = await asyncio.gather(holder, *tasks)

    assert before == []
    assert results[1:] == [["0"], ["0", "1"], ["0", "1", "2"]]  # each sees what came before, still uncommitted


async def test_a_database_error_in_one_work_is_that_work_s_alone(db: Database, gate: Gate) -> None:
    def twice(conn: Connection) -> None:
        conn.exec_driver_sql("INSERT INTO seen VALUES ('x', '2026-11-30 10:00:00.000000')")
        conn.exec_driver_sql("INSERT INTO seen VALUES ('x', '2026-11-30 10:00:00.000000')")

    holder = await held(db, gate)
    tasks = [await queued(db, twice), await queued(db, lambda conn: mark(conn, "fine"))]
    gate.leave.set()
    results = await asyncio.gather(holder, *tasks, return_exceptions=True)

    assert isinstance(results[1], IntegrityError)
    assert results[2] == "fine"
    assert await db.read(marks) == ["fine"]


async def test_a_commit_that_fails_is_a_fault_for_everyone_in_it_and_the_next_write_works(db: Database, gate: Gate) -> None:
    def pending_violation(conn: Connection) -> str:
        conn.exec_driver_sql("PRAGMA defer_foreign_keys=ON")  # the check, and so the failure, comes with the commit
        conn.exec_driver_sql("INSERT INTO attempts VALUES ('R-NONE', 1, '2026-11-30 10:00:00.000000', '{}')")
        return "written"

    holder = await held(db, gate)
    tasks = [await queued(db, lambda conn: mark(conn, "innocent")), await queued(db, pending_violation)]
    gate.leave.set()
    results = await asyncio.gather(holder, *tasks, return_exceptions=True)

    assert [type(result) for result in results[1:]] == [IntegrityError, IntegrityError]
    assert await db.write(lambda conn: mark(conn, "next")) == "next"
    assert await db.read(marks) == ["next"]


async def test_a_cancelled_caller_breaks_nothing_and_its_work_is_done(db: Database, gate: Gate) -> None:
    holder = await held(db, gate)
    given_up = await queued(db, lambda conn: mark(conn, "given up"))
    other = await queued(db, lambda conn: mark(conn, "other"))
    given_up.cancel()
    gate.leave.set()

    await asyncio.gather(holder, other)

    assert given_up.cancelled()
    assert await db.read(marks) == ["given up", "other"]


async def test_stop_iteration_from_a_work_function_does_not_hang_its_caller(db: Database) -> None:
    for verb in (db.write, db.read):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await verb(lambda _conn: next(iter(())))


async def test_closing_finishes_what_is_queued_and_refuses_what_comes_later(url: str, gate: Gate) -> None:
    db = await Database.open(url)
    holder = await held(db, gate)
    last = await queued(db, lambda conn: mark(conn, "last"))
    closing = asyncio.create_task(db.close())
    await asyncio.sleep(0)
    gate.leave.set()
    await closing

    assert (await holder, await last) == (None, "last")
    with pytest.raises(Unavailable, match="closed"):
        await db.write(lambda conn: mark(conn, "too late"))
    with pytest.raises(Unavailable, match="closed"):
        await db.read(marks)
    await db.close()


async def test_readers_cannot_write(db: Database) -> None:
    with pytest.raises(OperationalError, match="readonly"):
        await db.read(lambda conn: mark(conn, "sneaky"))


async def test_a_read_sees_one_moment(db: Database) -> None:
    looked, written = threading.Event(), threading.Event()

    def look_twice(conn: Connection) -> tuple[list[str], list[str]]:
        first = marks(conn)
        looked.set()
        assert written.wait(10)
        return first, marks(conn)

    reading = asyncio.create_task(db.read(look_twice))
    assert await asyncio.to_thread(looked.wait, 10)
    await db.write(lambda conn: mark(conn, "meanwhile"))
    written.set()

    assert await reading == ([], [])
    assert await db.read(marks) == ["meanwhile"]


async def test_the_bell_rings_on_the_event_loop_after_the_commit(url: str) -> None:
    heard: list[tuple[str, int]] = []
    db = await Database.open(url, on_change=lambda run_id: heard.append((run_id, threading.get_ident())))

    await db.write(opened)

    assert heard == [("R-7K2QX", threading.get_ident())]
    await db.close()


async def test_plain_data_is_read_long_after_the_store_is_closed(url: str) -> None:
    """C046: no lazy load, nothing attached."""
    db = await Database.open(url)
    await db.write(opened)
    snapshot = await db.read(lambda conn: runs.snapshot(conn, "R-7K2QX", entries=True))
    await db.close()

    assert snapshot.run.requester == "U_REQ"
    assert snapshot.entries[0].data["run"]["ask"] == "tell #ops what changed"


async def test_a_database_that_stays_locked_is_unavailable_and_recovers(url: str) -> None:
    """C042: bounded retry, then a polite answer."""
    db = await Database.open(url, patience_s=0)
    other = engines.writing(url)
    with other.connect() as conn, engines.begin_writing(conn), pytest.raises(Unavailable, match="busy"):
        await db.write(lambda conn: mark(conn, "blocked"))

    assert await db.write(lambda conn: mark(conn, "free")) == "free"
    other.dispose()
    await db.close()


async def test_no_network_inside_a_transaction(db: Database) -> None:
    """`in_transaction` lets a guard refuse it; this is the guard that the whole test run may use."""

    def guard(event: str, _args: tuple[object, ...]) -> None:
        if event == "socket.connect" and in_transaction():
            raise AssertionError("no network inside a transaction")

    def call_out(_conn: Connection) -> None:
        with socket.socket() as caller:
            caller.connect(("127.0.0.1", 9))

    sys.addaudithook(guard)

    assert not in_transaction()
    for verb in (db.write, db.read):
        assert await verb(lambda _conn: in_transaction()) is True
        with pytest.raises(AssertionError, match="no network"):
            await verb(call_out)
    assert await db.write(lambda _conn: in_transaction()) is True


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("postgresql://somewhere/pullcord", "not served"),
        ("sqlite://", "give a file"),
        ("sqlite:///:memory:", "give a file"),
        ("no address", "no database address"),
    ],
)
async def test_an_address_that_cannot_serve_is_refused_with_what_to_do(wrong: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as refused:
        await Database.open(wrong)
    assert "PULLCORD_DATABASE_URL" in str(refused.value)
