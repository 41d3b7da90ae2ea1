"""The part of the record that `core.figures` counts, and how things stand now."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, func, select

from bot.core import states
from bot.core.figures import Story, Told
from bot.core.risk import Mode
from bot.core.states import Event
from bot.store import cord, tables

COUNTED = frozenset(
    {Event.PLANNED, Event.REVISED, Event.REGRADED, Event.PLAN_KEPT, Event.REDIRECT_PLANNED, Event.HELD}
    | {Event.RELEASED, Event.APPROVAL_GIVEN, Event.APPROVED, Event.REDIRECTED, Event.CONFIRMED, Event.CONFIRM_REFUSED}
    | {Event.CANCELLED, Event.EXPIRED, Event.PLAN_REFUSED, Event.STEP_STARTED, Event.STEP_KEPT, Event.STEP_FAILED}
)

_audit, _revisions = tables.audit, tables.revisions
_ENTRIES = (
    select(_audit.c.run_id, _audit.c.at, _audit.c.actor, _audit.c.event, _audit.c.data)
    .where(_audit.c.at >= bindparam("since"), _audit.c.event.in_([event.value for event in COUNTED]))
    .order_by(_audit.c.run_id, _audit.c.seq)
)
_NEWEST = select(_revisions.c.run_id, func.max(_revisions.c.revision).label("revision")).group_by(_revisions.c.run_id).subquery()
_PLANS = (
    select(_revisions.c.run_id, _revisions.c.plan, _revisions.c.grades)
    .join(_NEWEST, (_NEWEST.c.run_id == _revisions.c.run_id) & (_NEWEST.c.revision == _revisions.c.revision))
    .where(_revisions.c.at >= bindparam("since"))
)


def stories(conn: Connection, *, since: datetime) -> list[Story]:
    """What is on record since then, run by run. A run that was planned before has no steps here: only its decisions count."""
    plans = {row["run_id"]: row for row in conn.execute(_PLANS, {"since": since}).mappings()}
    rows = conn.execute(_ENTRIES, {"since": since})
    return [_story(run_id, list(told), plans.get(run_id)) for run_id, told in groupby(rows, key=lambda row: str(row.run_id))]


def _story(run_id: str, rows: list[Any], planned: RowMapping | None) -> Story:
    told = tuple(Told(row.at, row.actor, row.event, step=row.data.get("step")) for row in rows)
    if planned is None:
        return Story(run_id, told)
    tools = {step["id"]: step["tool"] for step in planned["plan"]["steps"]}
    asked = frozenset(grade["step"] for grade in planned["grades"] if grade["mode"] != Mode.AUTO)
    return Story(run_id, told, tools, asked)


@dataclass(frozen=True)
class Standing:
    """How things stand now."""

    runs: Mapping[str, int]  # by status
    posts: int  # that wait for Slack
    frozen: bool


LIVE = frozenset(status.value for status in states.LIVE)


def standing(conn: Connection) -> Standing:
    """How many runs there are in each status, what waits for Slack, and whether everything is held."""
    by_status = conn.execute(select(tables.runs.c.status, func.count()).group_by(tables.runs.c.status))
    waiting = select(func.count()).select_from(tables.posts).where(tables.posts.c.state.in_(("wanted", "sending")))
    return Standing(
        runs={str(status): int(number) for status, number in by_status},
        posts=conn.execute(waiting).scalar_one(),
        frozen=cord.frozen(conn) is not None,
    )


def events_after(conn: Connection, entry: int) -> tuple[int, Counter[str]]:
    """How often each event is on record after the audit entry of that id, and the id of the last one that is counted."""
    last = conn.execute(select(func.coalesce(func.max(_audit.c.id), entry))).scalar_one()
    between = (_audit.c.id > entry, _audit.c.id <= last)
    found = conn.execute(select(_audit.c.event, func.count()).where(*between).group_by(_audit.c.event))
    return int(last), Counter({str(event): int(number) for event, number in found})
