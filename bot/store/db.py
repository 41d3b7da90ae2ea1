"""The database as two verbs: `write` and `read`, each given a synchronous function of one connection.

All writes go through one thread. Whoever waits at that moment shares one transaction and one flush, each inside a savepoint of its own,
so that one who is refused rolls back only what is theirs. A write has happened when `write` returns: after the commit, never before.
Reads have threads and connections of their own, which cannot write, and see the database as it was at one moment.
Work functions get no way to await; nothing slow, and above all no network, belongs inside them (`in_transaction` lets a guard check).
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, PriorityQueue
from typing import Any, Self, TypeVar, cast

import structlog
from sqlalchemy import Connection, Engine

from bot.errors import PullcordError, Unavailable
from bot.store import engine as engines
from bot.store.migrations import upgrade

log = structlog.get_logger()
T = TypeVar("T")

READERS = 4
BATCH = 24  # callers that share a transaction at most, some 30 ms of work: whoever may go first waits no longer than for one such
FIRST, IN_TURN, AT_THE_END = range(3)

_here = threading.local()


def in_transaction() -> bool:
    """Is this thread inside a work function just now?"""
    return getattr(_here, "inside", False)


def noted(conn: Connection) -> set[str]:
    """The ids of the runs that this work changed: the bell rings for each after the commit, and for none if the work raises."""
    return cast("set[str]", conn.info.setdefault("noted", set()))


@dataclass(slots=True)
class _Job:
    work: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    result: Any = None
    fault: Exception | None = None
    noted: set[str] = field(default_factory=set)


class Database:
    """An open database. Belongs to the event loop in which it was opened."""

    def __init__(self, *, writer: Engine, readers: Engine, on_change: Callable[[str], None] | None, patience_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_change = on_change
        self._patience_s = patience_s
        self._writer, self._readers = writer, readers
        self._conn: Connection | None = None  # the writer thread's own
        self._queue: PriorityQueue[tuple[int, int, _Job | None]] = PriorityQueue()
        self._number = count()  # those of one rank in the order in which they came
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="pullcord-read")
        self._thread = threading.Thread(target=self._serve, name="pullcord-write", daemon=True)
        self._closed = False

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        on_change: Callable[[str], None] | None = None,
        synchronous: str = "FULL",
        patience_s: float = engines.PATIENCE_S,
    ) -> Self:
        """Open the database of that URL, made or migrated first where needed.

        `on_change(run_id)` is called on the event loop's thread after the commit of each work that changed the run. A write that finds the
        database locked by another process is tried again for `patience_s` seconds. Raises `ConfigurationError`.
        """
        await asyncio.to_thread(upgrade, url)
        writer = engines.writing(url, synchronous=synchronous)
        database = cls(writer=writer, readers=engines.reading(url, connections=READERS), on_change=on_change, patience_s=patience_s)
        database._thread.start()
        return database

    async def write(self, work: Callable[[Connection], T], *, first: bool = False) -> T:
        """Carry out the work in a write transaction and give back what it returns, once that is committed.

        `first`: before whatever else is queued, as a person's brake must be. What the work raises is raised here, and what it had written
        is gone. A work that was queued is carried out even if nobody waits for it any more. Raises `Unavailable` when the store is closed,
        or busy beyond its bounds.
        """
        self._check_open()
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put((FIRST if first else IN_TURN, next(self._number), _Job(work, future)))
        return await future

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Give back what the work reads; it sees one moment and cannot write. Raises `Unavailable` when the store is closed."""
        self._check_open()
        return await self._loop.run_in_executor(self._reading, self._read, work)

    async def close(self) -> None:
        """Finish what is queued, then let go of the file. Further calls of `write` and `read` raise `Unavailable`."""
        if not self._closed:
            self._closed = True
            self._end()
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._reading.shutdown)
        self._writer.dispose()
        self._readers.dispose()

    def _end(self) -> None:
        self._queue.put((AT_THE_END, next(self._number), None))

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("the store is closed; start Pullcord again")

    def _read(self, work: Callable[[Connection], T]) -> T:
        with self._readers.connect() as conn, engines.begin_reading(conn):
            return _call(work, conn)

    # From here to `_settle`: the writer thread.

    def _serve(self) -> None:
        while batch := self._gather():
            try:
                self._carry_out(batch)
            except Exception as fault:  # whatever it is, those who wait must hear of it
                for job in batch:
                    job.fault = job.fault or fault
                self._disconnect()
            try:
                self._loop.call_soon_threadsafe(self._settle, batch)
            except RuntimeError:
                log.warning("writes_without_listener", count=len(batch))  # the event loop is gone; the commit stands
        self._disconnect()

    def _gather(self) -> list[_Job]:
        """The next batch: everyone who waits, up to a bound; empty when the store closes."""
        *_, job = self._queue.get()
        batch = [job] if job else []
        while batch and len(batch) < BATCH:
            try:
                *_, job = self._queue.get_nowait()
            except Empty:
                break
            if job is None:
                self._end()  # for the next round
                break
            batch.append(job)
        return batch

    def _carry_out(self, batch: Sequence[_Job]) -> None:
        conn = self._conn = self._conn or self._writer.connect()
        with engines.patiently(lambda: engines.begin_writing(conn), within_s=self._patience_s) as transaction:
            if len(batch) > 1:
                for job in batch:
                    _among_others(conn, job)
            elif not _alone(conn, batch[0]):
                transaction.rollback()

    def _disconnect(self) -> None:
        conn, self._conn = self._conn, None
        try:
            if conn is not None:
                conn.close()
        except Exception:  # the thread must live on: the next batch opens a connection of its own
            log.warning("connection_not_closed", exc_info=True)

    # The event loop's thread again.

    def _settle(self, batch: Sequence[_Job]) -> None:
        for job in batch:
            if job.future.done():  # whoever waited was cancelled
                if job.fault and not isinstance(job.fault, PullcordError):
                    log.error("abandoned_write_failed", exc_info=job.fault)
            elif job.fault:
                job.future.set_exception(job.fault)
            else:
                job.future.set_result(job.result)
        if self._on_change:  # once for each work that changed the run: who counts can tell others' changes from their own
            for run_id in (run_id for job in batch if not job.fault for run_id in job.noted):
                self._on_change(run_id)


def _alone(conn: Connection, job: _Job) -> bool:
    """The only one in its transaction needs no savepoint. False: it raised, roll everything back."""
    conn.info["noted"] = job.noted
    try:
        job.result = _call(job.work, conn)
    except Exception as fault:  # the caller's, who gets it
        job.fault = fault
    return job.fault is None


def _among_others(conn: Connection, job: _Job) -> None:
    driver = engines.driver(conn)  # `begin_nested` would cost more than all of a small work's statements
    driver.execute("SAVEPOINT work")
    if not _alone(conn, job):
        driver.execute("ROLLBACK TO work")
    driver.execute("RELEASE work")


def _call(work: Callable[[Connection], T], conn: Connection) -> T:
    _here.inside = True
    try:
        return work(conn)
    except StopIteration as fault:
        raise RuntimeError("a work function let StopIteration out") from fault  # a future cannot carry it
    finally:
        _here.inside = False
