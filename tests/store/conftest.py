"""A real database file for each test, copied from one that was migrated once."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bot.store import engine as engines
from bot.store.db import Database
from bot.store.migrations import upgrade
from tests.store.processes import Child, Start


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "pullcord.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def url(tmp_path: Path, migrated: Path) -> str:
    shutil.copy(migrated, tmp_path / "pullcord.db")
    return f"sqlite:///{tmp_path}/pullcord.db"


@pytest.fixture
def rung() -> list[str]:
    """The ids of the runs that the bell rang for."""
    return []


@pytest.fixture
async def db(url: str, rung: list[str]) -> AsyncIterator[Database]:
    database = await Database.open(url, on_change=rung.append)
    yield database
    await database.close()


@pytest.fixture
def conn(url: str) -> Iterator[Connection]:
    """A connection inside a write transaction, for tests of single functions; rolled back at the end."""
    engine = engines.writing(url)
    with engine.connect() as connection:
        transaction = engines.begin_writing(connection)
        yield connection
        transaction.rollback()
    engine.dispose()


@pytest.fixture
def start_child(url: str) -> Iterator[Start]:
    """Begin another process on the same file: `start_child(VERB, ARGUMENT…)`. What is left of them at the end is killed."""
    children: list[Child] = []

    def begin(verb: str, *arguments: str) -> Child:
        children.append(Child(verb, url, *arguments))
        return children[-1]

    yield begin
    for child in children:
        child.process.kill()
        child.process.communicate()
