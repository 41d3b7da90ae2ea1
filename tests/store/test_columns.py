"""What comes back from a column is what went in, or it does not go in."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import JSON, Connection, insert, select, text, update
from sqlalchemy.exc import IntegrityError, StatementError

from bot.core.risk import Level
from bot.core.run import Event, Hold, RunStatus, StepStatus
from bot.store import door, runs, tables
from bot.store.columns import UtcDateTime
from tests.store.samples import BY, NOW, a_plan, a_run, in_review, later, opened, revise, running

RUN = "R-7K2QX"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize("zone", [UTC, ZoneInfo("Asia/Tokyo"), timezone(timedelta(hours=-9, minutes=-30))])
def test_a_deadline_is_the_same_moment_in_utc_whatever_zone_it_came_in(conn: Connection, zone: Any) -> None:
    """C043, on a host in New York."""
    opened(conn)
    deadline = later(minutes=30).astimezone(zone)
    door.change(conn, RUN, Event.QUESTION_ASKED, **BY, data={"deadline": deadline})

    found = runs.get(conn, RUN)

    assert found.deadline == deadline
    assert found.deadline is not None
    assert found.deadline.utcoffset() == timedelta(0)
    assert conn.exec_driver_sql("SELECT deadline FROM runs").scalar() == "2026-11-30 10:32:03.456789"
    assert [run.id for run in runs.due(conn, deadline)] == [RUN]
    assert runs.due(conn, deadline - timedelta(microseconds=1)) == []


def test_a_time_without_a_zone_is_refused(conn: Connection) -> None:
    """C043."""
    opened(conn)
    with pytest.raises(StatementError, match="has no zone"):
        conn.execute(update(tables.runs).values(deadline=datetime(2026, 11, 30, 10, 0)))  # noqa: DTZ001


def test_every_time_in_the_store_has_the_one_type() -> None:
    """C043."""
    times = [column for table in tables.metadata.sorted_tables for column in table.c if "DATETIME" in str(column.type)]
    assert len(times) == 20
    assert all(isinstance(column.type, UtcDateTime) for column in times)


# Entries of the record are never changed at all.
JSON_COLUMNS = [
    column for table in tables.metadata.sorted_tables if table is not tables.audit for column in table.c if isinstance(column.type, JSON)
]


@pytest.mark.parametrize("column", JSON_COLUMNS, ids=str)
def test_json_is_replaced_whole(conn: Connection, column: Any) -> None:
    """C044: a change inside a value that was read changes nothing; a new value is there when it is read again."""
    seed_every_table(conn)
    first = {"steps": [{"id": "one", "status": "pending"}], "list": [1]}
    conn.execute(update(column.table).values({column: first}))
    read = conn.execute(select(column)).scalars().first()

    read["steps"][0]["status"] = "done"
    read["list"].append(2)

    assert conn.execute(select(column)).scalars().first() == first
    conn.execute(update(column.table).values({column: read}))
    assert conn.execute(select(column)).scalars().first() == read


def test_nothing_in_json_is_null_in_the_database(conn: Connection) -> None:
    opened(conn)
    assert conn.exec_driver_sql("SELECT answer IS NULL FROM runs").scalar() == 1


def seed_every_table(conn: Connection) -> None:
    run = in_review(conn)
    row = {"run_id": run.id, "round": 1, "at": NOW, "reply": {}}
    conn.execute(insert(tables.attempts), row)
    post = {
        "run_id": run.id,
        "card": "run",
        "key": "k",
        "channel": "C",
        "in_thread": True,
        "shown": -1,
        "state": "wanted",
        "data": {},
        "tries": 0,
    }
    conn.execute(insert(tables.posts), post)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET status = 'Approved '",
        "UPDATE runs SET reason = 'because'",
        "UPDATE runs SET risk = 'none'",
        "UPDATE steps SET status = 'done'",
        "UPDATE revisions SET risk = 'none'",
        "INSERT INTO approvals (run_id, revision, digest, kind, step, actor, at) VALUES ('R-7K2QX', 1, 'd', 'maybe', '', 'U', '2026')",
        "INSERT INTO approvals (run_id, revision, digest, kind, step, actor, at) VALUES ('R-7K2QX', 9, 'd', 'plan', '', 'U', '2026')",
        "UPDATE posts SET state = 'lost'",
        "UPDATE steps SET revision = 7",
        "DELETE FROM revisions",
        "UPDATE runs SET ask = NULL",
    ],
)
def test_the_database_refuses_what_the_model_would(conn: Connection, statement: str) -> None:
    """C047: unknown words, and rows that point nowhere."""
    seed_every_table(conn)
    with pytest.raises(IntegrityError):
        conn.execute(text(statement))


def test_the_model_refuses_unknown_words_too(conn: Connection) -> None:
    """C047."""
    opened(conn)
    revise(conn, RUN, a_plan("one"))
    with pytest.raises(ValueError, match="risk"):
        door.change(conn, RUN, Event.PLANNED, **BY, data={"revision": 1, "risk": "none"})
    with pytest.raises(ValueError, match="status"):
        a_run(status="Approved ")


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("runs", "status", RunStatus),
        ("runs", "reason", Hold),
        ("runs", "risk", Level),
        ("steps", "status", StepStatus),
        ("revisions", "risk", Level),
    ],
)
def test_the_migrated_database_knows_every_word(conn: Connection, table: str, column: str, words: Any) -> None:
    """A new word in the code needs a migration; this fails until it has one."""
    running(conn)
    for word in words:
        conn.execute(text(f"UPDATE {table} SET {column} = :word"), {"word": word.value})


def test_the_answers_are_the_same_when_the_process_itself_lives_elsewhere(url: str) -> None:
    """C043: written by a process in Tokyo, read by one in New York."""
    script = (
        "import asyncio, sys\nfrom bot.store import runs\nfrom bot.store.db import Database\nfrom tests.store.samples import in_review\n"
        "async def main():\n"
        "    db = await Database.open(sys.argv[1])\n"
        "    if sys.argv[2] == 'write': await db.write(in_review)\n"
        "    print((await db.read(lambda conn: runs.get(conn, 'R-7K2QX'))).deadline.isoformat())\n"
        "    await db.close()\n"
        "asyncio.run(main())\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script, url, verb], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout.strip()
        for verb, zone in (("write", "Asia/Tokyo"), ("read", "America/New_York"))
    ]
    assert said == ["2026-11-30T10:32:03.456789+00:00"] * 2
