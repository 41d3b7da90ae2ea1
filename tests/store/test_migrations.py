"""How tables come to be, and how an older file becomes a newer one."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from bot.errors import ConfigurationError
from bot.store import audit, runs, tables
from bot.store import engine as engines
from bot.store.db import Database
from bot.store.migrations import configuration, is_current, upgrade
from tests.store.samples import in_review

ROOT = Path(__file__).parents[2]


def words(path: Path) -> list[str]:
    """The database's whole schema."""
    with sqlite3.connect(path) as file:
        found = [row[0] for row in file.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")]
    file.close()
    return found


async def test_opening_makes_the_folder_and_the_tables_in_wal(tmp_path: Path) -> None:
    db = await Database.open(f"sqlite:///{tmp_path}/new/folder/pullcord.db")

    assert await db.read(lambda conn: conn.exec_driver_sql("PRAGMA journal_mode").scalar()) == "wal"
    assert await db.read(is_current)
    settings = ("foreign_keys", "synchronous", "recursive_triggers")
    assert await db.write(lambda conn: [conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in settings]) == [1, 2, 1]
    await db.close()


def test_upgrading_twice_changes_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/odd %name's/pullcord.db"
    upgrade(url)
    first = words(tmp_path / "odd %name's/pullcord.db")

    upgrade(url)

    assert words(tmp_path / "odd %name's/pullcord.db") == first


def test_two_processes_may_upgrade_at_once(tmp_path: Path, migrated: Path) -> None:
    script = "import sys\nfrom bot.store.migrations import upgrade\nsys.stdin.read()\nupgrade(sys.argv[1])\nprint('done')"
    url = f"sqlite:///{tmp_path}/pullcord.db"
    children = [
        subprocess.Popen([sys.executable, "-c", script, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(3)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None

    said = [child.communicate(timeout=60)[0] for child in children]

    assert said == ["done\n"] * 3
    assert words(tmp_path / "pullcord.db") == words(migrated)


async def test_two_stores_of_one_process_may_open_at_once(tmp_path: Path, migrated: Path) -> None:
    url = f"sqlite:///{tmp_path}/pullcord.db"

    databases = await asyncio.gather(*(Database.open(url) for _ in range(4)))

    for database in databases:
        await database.close()
    assert words(tmp_path / "pullcord.db") == words(migrated)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pullcord")]


def test_the_migrations_make_exactly_the_tables_of_the_code(conn: Connection) -> None:
    context = MigrationContext.configure(conn, opts={"compare_type": True})
    assert compare_metadata(context, tables.metadata) == []
    declared = {str(check.sqltext) for table in tables.metadata.sorted_tables for check in table.constraints if hasattr(check, "sqltext")}
    schema = "\n".join(str(row[0]) for row in conn.exec_driver_sql("SELECT sql FROM sqlite_master"))
    assert len(declared) == 9
    assert [check for check in declared if f"CHECK ({check})" not in schema] == []


def test_the_tables_can_be_made_on_postgres_too() -> None:
    for table in tables.metadata.sorted_tables:
        assert "TIMESTAMP WITHOUT" not in str(CreateTable(table).compile(dialect=postgresql.dialect()))


async def test_a_file_with_runs_in_it_keeps_them_through_an_upgrade(url: str, tmp_path: Path) -> None:
    """An older file: the version before the latest, with a run inside. As long as there is one version, that version again."""
    db = await Database.open(url)
    await db.write(in_review)
    before = await db.read(lambda conn: runs.snapshot(conn, "R-7K2QX", entries=True))
    await db.close()

    upgrade(url)

    db = await Database.open(url)
    assert await db.read(lambda conn: runs.snapshot(conn, "R-7K2QX", entries=True)) == before
    assert await db.read(audit.verify) == []
    await db.close()


def test_each_migration_can_be_applied_from_the_one_before(tmp_path: Path, migrated: Path) -> None:
    """Step by step, as a file would have lived through them."""
    url = f"sqlite:///{tmp_path}/pullcord.db"
    engines.prepare(url)
    engine = engines.writing(url, foreign_keys=False)
    with engine.connect() as conn:
        while not is_current(conn):
            conn.rollback()
            with engines.begin_writing(conn):
                command.upgrade(configuration(conn), "+1")
    engine.dispose()
    assert words(tmp_path / "pullcord.db") == words(migrated)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.write_text("this is a letter to my aunt, and quite long enough to be read as a header"), "cannot be used"),
        (lambda path: path.mkdir(), "cannot be used"),
        (lambda path: (upgrade(f"sqlite:///{path}"), newer(path)), "another version of Pullcord"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path, spoil, says: str) -> None:
    spoil(tmp_path / "pullcord.db")

    with pytest.raises(ConfigurationError, match=says) as refused:
        upgrade(f"sqlite:///{tmp_path}/pullcord.db")

    assert "\n" not in str(refused.value)
    assert str(tmp_path / "pullcord.db") in str(refused.value)


def newer(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("UPDATE alembic_version SET version_num = '9999'")
    file.close()
