"""No click ends in silence, whatever breaks while it is answered."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.core.run import Event
from bot.errors import Refused, Unavailable
from bot.store.db import Database
from handlers import errors
from handlers.context import Place
from handlers.desk import Desk
from tests.doubles.town import text_of
from tests.handlers.conftest import Hall, MakeHall
from tests.handlers.test_posting import asked

HERE = Place(actor="U0MEMBER", channel="C0OPS")


@pytest.fixture
async def quiet(make_hall: MakeHall) -> Hall:
    return await make_hall(supervised=False, presented=False)


async def refuse(run_id: str) -> None:
    raise Refused("not_allowed", run=run_id, did="approve")


async def find_it_busy() -> None:
    raise Unavailable("the database is busy; try again in a moment")


@asynccontextmanager
async def locked(hall: Hall) -> AsyncIterator[Desk]:
    """The same hall while another process holds the database, and our own patience is short."""
    url = hall.deps.settings.database_url
    store = await Database.open(url, patience_s=0.05)
    other = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield Desk(replace(hall.deps, store=store), hall.slack)
    finally:
        other.close()
        await store.close()


async def test_a_busy_store_is_no_fault_and_asks_for_another_click(quiet: Hall) -> None:
    await errors.guarded(Desk(quiet.deps, quiet.slack), find_it_busy(), place=HERE, did="approve")

    told = text_of(await quiet.person("member").told("busy beyond its bounds"))
    assert "try again in a few seconds" in told
    assert "admin" not in told


async def test_a_refusal_that_cannot_be_recorded_is_answered_all_the_same(quiet: Hall) -> None:
    run = await asked(quiet)
    async with locked(quiet) as desk:
        await errors.guarded(desk, refuse(run.id), place=HERE, did="approve")

    await quiet.person("member").told("busy beyond its bounds")
    assert not any(entry.event == Event.CLICK_REFUSED for entry in (await quiet.show(run.id)).entries)


async def test_a_refusal_that_slack_does_not_take_becomes_an_apology(quiet: Hall) -> None:
    run = await asked(quiet)
    await quiet.spoil(method="chat.postEphemeral", error="fatal_error")
    await errors.guarded(Desk(quiet.deps, quiet.slack), refuse(run.id), place=HERE, did="approve")

    await quiet.person("member").told("Something broke in Pullcord")
    assert (await quiet.show(run.id)).entries[-1].event == Event.CLICK_REFUSED
