"""A real database file for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.db import Database


@pytest.fixture
def url(tmp_path: Path) -> str:
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
