"""Open runs in the state in which a benchmark begins: one is led there through the door, the others are copies of its rows.

Copies share their model's record, so a database that was seeded is good for measuring and not for verifying.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, insert, select

from bot.core.ids import RunId
from bot.core.plan import Plan
from bot.core.run import Event, Run
from bot.deps import Deps
from bot.proposing import graded, store
from bot.store import door, tables
from tests.bench.world import PERSON

IN_REVIEW: tuple[Event, ...] = ()
QUEUED = (Event.APPROVED,)
RUNNING = (*QUEUED, Event.STARTED)
PAUSED = (*RUNNING, Event.PAUSE_ASKED, Event.SETTLED)

COPIED = (tables.revisions, tables.steps, tables.audit)


async def seed(deps: Deps, kind: str, count: int, plan: Plan, moves: tuple[Event, ...] = IN_REVIEW) -> list[str]:
    """Store that many runs with this plan, led to the state after these moves. Returns their ids: KIND and a number."""
    ids = [f"R-{kind}{n}" for n in range(count)]

    def work(conn: Connection) -> None:
        _lead(conn, deps, ids[0], plan, moves)
        _copy(conn, ids[0], ids[1:])

    if ids:
        await deps.store.write(work)
    return ids


def _lead(conn: Connection, deps: Deps, run_id: str, plan: Plan, moves: tuple[Event, ...]) -> None:
    at = deps.now()
    run = Run(id=RunId(run_id), ask="measure", requester=PERSON.id, team="T", channel="C", thread_ts="1", created_at=at, updated_at=at)
    door.open_run(conn, run, actor=PERSON.id, at=at)
    new = store(conn, run, graded(deps, plan), author="pullcord", at=at, adopt=True)
    facts: dict[str, Any] = {"revision": new.revision, "digest": new.digest, "risk": new.risk, "deadline": at + timedelta(hours=1)}
    door.change(conn, run_id, Event.PLANNED, actor="pullcord", at=at, data=facts)
    for event in moves:
        data = {"approved": new.digest, "deadline": None} if event is Event.APPROVED else {}
        door.change(conn, run_id, event, actor=PERSON.id, at=at, data=data)


def _copy(conn: Connection, model: str, ids: Iterable[str]) -> None:
    run = conn.execute(select(tables.runs).where(tables.runs.c.id == model)).mappings().one()
    rows = {table: [_without_id(row) for row in conn.execute(select(table).where(table.c.run_id == model)).mappings()] for table in COPIED}
    names = list(ids)
    if not names:
        return
    conn.execute(insert(tables.runs), [{**run, "id": name} for name in names])
    for table, those in rows.items():
        conn.execute(insert(table), [{**row, "run_id": name} for name in names for row in those])


def _without_id(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "id"}
