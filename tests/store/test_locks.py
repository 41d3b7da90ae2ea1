"""Keys as rows: one holder at a time, all or none, free once the run has ended, and no circle in which everybody waits."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, insert, select, update

from bot.core.run import Event, RunStatus
from bot.store import door, locks, posts, runs, tables
from bot.store.db import Database, noted
from bot.store.locks import Taken
from tests.store.processes import Start, go
from tests.store.samples import BY, NOW, running, start

A, B, C = "R-AAAAA", "R-BBBBB", "R-CCCCC"


def three(conn: Connection) -> None:
    for name in (A, B, C):
        running(conn, name)


def take(conn: Connection, run: str, *keys: str, step: str = "one") -> Taken | list[str]:
    found = locks.take(conn, run, step, keys, at=NOW)
    return found if isinstance(found, Taken) else list(found)


def end(conn: Connection, run: str) -> None:
    for event in (Event.STOP_ASKED, Event.SETTLED):
        door.change(conn, run, event, **BY)


def test_a_key_has_one_holder_who_may_take_it_again(conn: Connection) -> None:
    three(conn)
    assert take(conn, A, "k") == ["k"]
    assert take(conn, A, "k", "l") == ["l"]
    assert take(conn, B, "k") == Taken("k", A)
    assert locks.held(conn, A) == ["k", "l"]


def test_all_keys_are_taken_or_none(conn: Connection) -> None:
    three(conn)
    take(conn, A, "m")

    assert take(conn, B, "a", "m", "z") == Taken("m", A)

    assert locks.held(conn, B) == []
    assert take(conn, C, "a", "z") == ["a", "z"]


def test_the_end_of_a_run_frees_its_keys_and_rings_for_those_who_wait(conn: Connection) -> None:
    three(conn)
    take(conn, A, "k")
    take(conn, B, "k")
    noted(conn).clear()

    end(conn, A)

    assert locks.held(conn, A) == []
    assert B in noted(conn)
    assert C not in noted(conn)
    assert take(conn, B, "k") == ["k"]


def test_a_pause_frees_nothing(conn: Connection) -> None:
    three(conn)
    take(conn, A, "k")
    for event in (Event.PAUSE_ASKED, Event.SETTLED):
        door.change(conn, A, event, **BY)

    assert take(conn, B, "k") == Taken("k", A)


def test_who_waits_is_told_once_that_the_card_must_be_drawn_anew(conn: Connection) -> None:
    three(conn)
    take(conn, A, "k")
    noted(conn).clear()
    take(conn, B, "k")
    assert noted(conn) == {B}
    noted(conn).clear()

    take(conn, B, "k")

    assert noted(conn) == set()


def test_what_is_said_of_the_holder(conn: Connection) -> None:
    three(conn)
    take(conn, A, "k")
    start(conn, "one", A)
    card = posts.NewPost(run=A, card="run", key=f"{A}:run", channel="C_OPS", ts="17.1", in_thread=False)
    posts.add(conn, card)
    take(conn, B, "k")

    (wait,) = runs.snapshot(conn, B).lock_waits

    assert (wait.step, wait.key, wait.holder, wait.requester, wait.since) == ("one", "k", A, "U_REQ", NOW)
    assert (wait.channel, wait.card_ts, wait.thread_ts) == ("C_OPS", "17.1", None)
    assert runs.snapshot(conn, A).lock_waits == ()


@pytest.mark.parametrize("others", [(B,), (B, C)], ids=["two", "three"])
def test_whoever_would_close_a_circle_is_told(conn: Connection, others: tuple[str, ...]) -> None:
    """A waits for B, who waits for C, who would wait for A: nobody would ever go on."""
    three(conn)
    ring = (A, *others)
    for name in ring:
        take(conn, name, f"of {name}")
    for name, following in zip(ring, others, strict=False):
        found = take(conn, name, f"of {following}", step="two")
        assert isinstance(found, Taken)
        assert not found.for_ever

    assert take(conn, ring[-1], f"of {A}", step="two") == Taken(f"of {A}", A, for_ever=True)


def test_a_step_that_does_not_wait_any_more_closes_no_circle(conn: Connection) -> None:
    three(conn)
    take(conn, A, "a")
    take(conn, B, "b")
    take(conn, A, "b", step="two")
    conn.execute(update(tables.steps).where(tables.steps.c.run_id == A, tables.steps.c.step_id == "two").values(status="skipped"))

    assert take(conn, B, "a", step="two") == Taken("a", A)


def test_what_did_not_start_after_all_is_given_back(conn: Connection) -> None:
    three(conn)
    take(conn, A, "k")
    new = take(conn, A, "k", "l")
    assert isinstance(new, list)

    locks.give_back(conn, A, new)

    assert locks.held(conn, A) == ["k"]


def test_a_key_of_a_run_that_has_ended_is_free_however_it_came_to_be_there(conn: Connection) -> None:
    three(conn)
    end(conn, A)
    conn.execute(insert(tables.locks), [{"key": key, "run_id": A, "step_id": "one", "at": NOW} for key in ("k", "l")])

    assert take(conn, B, "k") == ["k"]
    assert locks.settle(conn) == 1
    assert conn.execute(select(func.count()).select_from(tables.locks)).scalar_one() == 1
    assert locks.settle(conn) == 0


async def test_two_processes_never_work_under_one_key(db: Database, start_child: Start, tmp_path: Path) -> None:
    """P4: forty runs of two processes, one key; each takes its turn, and no two are ever at work together."""
    names = [f"R-{n:05}" for n in range(40)]
    for name in names:
        await db.write(lambda conn, name=name: running(conn, name))
    children = [start_child("under_one_key", str(tmp_path), *names[at::2]) for at in range(2)]

    go(*children)

    for one in children:
        assert one.rest() == ["done"]
    assert {(await db.read(lambda conn, name=name: runs.get(conn, name))).status for name in names} == {RunStatus.STOPPED}
    with sqlite3.connect(tmp_path / "pullcord.db") as file:
        assert file.execute("select count(*) from locks").fetchone() == (0,)
        assert file.execute("select count(*) from lock_waits").fetchone() == (0,)
    file.close()
