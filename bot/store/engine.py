"""How a database is opened: all that is SQLite's own, so that the rest of the store speaks plain SQL.

WAL lets readers look while one writer writes. `synchronous=FULL` because "a step with an effect is stored before it is called" and "an
approval that was acknowledged stands" must survive a power cut, not only a crash; group commit makes that one flush for many callers.
A write transaction takes the lock when it begins: one that reads first and writes later would fail at once when somebody else wrote.
"""

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, NullPool, QueuePool, RootTransaction, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from bot.errors import ConfigurationError, Unavailable

T = TypeVar("T")

FAULTS = (DBAPIError, sqlite3.Error, OSError)  # what a file that cannot be used raises, from whichever layer
BUSY_MS = 1_000  # SQLite itself waits this long for another process
PATIENCE_S = 15.0  # and we ask again for this long
_BUSY_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


def database_path(url: str) -> Path:
    """The file behind the URL. Raises `ConfigurationError` for anything but a SQLite file."""
    try:
        parsed = make_url(url)
    except ArgumentError as fault:
        raise ConfigurationError("PULLCORD_DATABASE_URL: this is no database address; try sqlite:///pullcord-data/pullcord.db") from fault
    if parsed.get_backend_name() != "sqlite":
        raise ConfigurationError(f"PULLCORD_DATABASE_URL: {parsed.get_backend_name()} is not served; give sqlite:///FILE")
    if parsed.database in (None, "", ":memory:") or parsed.query:
        raise ConfigurationError("PULLCORD_DATABASE_URL: give a file, as in sqlite:///pullcord-data/pullcord.db")
    return Path(parsed.database)


def writing(url: str, *, foreign_keys: bool = True, synchronous: str = "FULL") -> Engine:
    """An engine for the writer; its transactions start with `begin_writing`. Nothing is opened yet."""
    pragmas = (
        f"foreign_keys={'ON' if foreign_keys else 'OFF'}",
        f"synchronous={synchronous}",
        f"busy_timeout={BUSY_MS}",
        "recursive_triggers=ON",  # else REPLACE would delete past the triggers that guard the record
    )
    return _engine(url, pragmas, poolclass=NullPool)


def reading(url: str, *, connections: int) -> Engine:
    """An engine whose connections cannot write; its transactions start with `begin_reading`."""
    return _engine(url, ("query_only=ON", f"busy_timeout={BUSY_MS}"), poolclass=QueuePool, pool_size=connections, max_overflow=0)


def _engine(url: str, pragmas: tuple[str, ...], **pool: Any) -> Engine:
    path = database_path(url)
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"check_same_thread": False},
        json_serializer=to_json,
        hide_parameters=True,  # a failed statement must not put arguments into a log
        **pool,
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    return engine


# These speak to the driver itself: an engine-wide "begin" listener would cost every statement of every transaction.


def begin_writing(conn: Connection) -> RootTransaction:
    """A transaction that holds the write lock from its first moment."""
    return _begin(conn, "BEGIN IMMEDIATE")


def begin_reading(conn: Connection) -> RootTransaction:
    """A transaction that sees the database as it was at its first read."""
    return _begin(conn, "BEGIN")


def _begin(conn: Connection, words: str) -> RootTransaction:
    transaction = conn.begin()
    try:
        driver(conn).execute(words)
    except sqlite3.Error:
        transaction.close()
        raise
    return transaction


def driver(conn: Connection) -> sqlite3.Connection:
    """The driver's connection under this one."""
    return cast("sqlite3.Connection", conn.connection.driver_connection)


def to_json(value: Any) -> str:
    """How JSON is stored: ASCII only, so that no half of a surrogate pair in a tool's output can break a write."""
    return json.dumps(value, separators=(",", ":"))


def prepare(url: str) -> None:
    """Make the folder and put the file into WAL mode, which it then keeps."""
    path = database_path(url)
    path.parent.mkdir(parents=True, exist_ok=True)

    def switch() -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            connection.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()

    patiently(switch)


def patiently(work: Callable[[], T], *, within_s: float = PATIENCE_S) -> T:
    """Do the work, again while the database is busy; `Unavailable` when that lasts longer than `within_s` seconds."""
    end = time.monotonic() + within_s
    while True:
        try:
            return work()
        except (DBAPIError, sqlite3.Error) as fault:
            if not is_busy(fault):
                raise
            if time.monotonic() > end:
                raise Unavailable("the database is busy; try again in a moment") from fault
            time.sleep(0.005)  # some locks are refused without SQLite's own waiting


def is_busy(fault: BaseException) -> bool:
    """Is it only that somebody else holds the lock?"""
    cause = fault.orig if isinstance(fault, DBAPIError) else fault
    code = getattr(cause, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _BUSY_CODES
