"""How the tables come to be, and how an older file becomes a newer one.

The start-up applies what is missing. Everything happens in one transaction that holds the write lock, so two processes may try at once:
the second waits, finds nothing to do, and goes on.
"""

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from bot.errors import ConfigurationError
from bot.store import engine as engines

_ALONE = threading.Lock()  # alembic keeps its context in globals of the process


def upgrade(url: str) -> None:
    """Bring the database to this version; make it if there is none. Safe to run twice and from several processes.

    Raises `ConfigurationError` if the file cannot be used or belongs to a newer version, `Unavailable` if it stays busy.
    """
    path = engines.database_path(url)
    engine = engines.writing(url, foreign_keys=False)  # a table that is rebuilt is gone for a moment
    try:
        engines.prepare(url)
        with _ALONE:
            engines.patiently(lambda: _upgrade(engine.connect()))
    except CommandError as fault:
        raise ConfigurationError(f"PULLCORD_DATABASE_URL: {path} was made by another version of Pullcord: {fault}") from fault
    except engines.FAULTS as fault:
        cause = fault.orig if isinstance(fault, DBAPIError) else fault
        raise ConfigurationError(f"PULLCORD_DATABASE_URL: {path} cannot be used: {cause}") from fault
    finally:
        engine.dispose()


def _upgrade(conn: Connection) -> None:
    with conn:
        if is_current(conn):
            return  # without the lock: somebody may be writing
        conn.rollback()
        _migrate(conn)


def _migrate(conn: Connection) -> None:
    with engines.begin_writing(conn):
        command.upgrade(configuration(conn), "head")
        broken = conn.exec_driver_sql("PRAGMA foreign_key_check").fetchall() if conn.dialect.name == "sqlite" else []
        if broken:
            raise ConfigurationError(f"the database holds rows that point nowhere, first in {broken[0][0]}; restore it from a copy")


def configuration(conn: Connection | None = None) -> Config:
    """Alembic's settings, without a file. `env.py` migrates on the connection given here."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = conn
    return config


def is_current(conn: Connection) -> bool:
    """Does the database have this version's tables?"""
    wanted = ScriptDirectory.from_config(configuration()).get_current_head()
    return MigrationContext.configure(conn).get_current_revision() == wanted
