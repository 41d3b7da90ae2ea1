"""What an entry vouches for: the fingerprints of the rows that its change brought, read back from the tables as they will be read later.

Part of the door's transaction. The rows (a revision, a planning round, a yes, the answer) are written before the change that explains them.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select

from bot.core import sealed_rows
from bot.core.plan import fingerprint
from bot.core.states import Event
from bot.store import tables

_OF_RUN: BindParameter[str] = bindparam("run_id")
_revisions, _attempts, _approvals = tables.revisions, tables.attempts, tables.approvals
_REVISION = select(_revisions).where(_revisions.c.run_id == _OF_RUN, _revisions.c.revision == bindparam("revision"))
_ATTEMPT = select(_attempts).where(_attempts.c.run_id == _OF_RUN, _attempts.c.round == bindparam("round"))
_YES = (
    select(_approvals)
    .where(_approvals.c.run_id == _OF_RUN, _approvals.c.actor == bindparam("actor"))
    .order_by(_approvals.c.id.desc())
    .limit(1)
)
_ANSWER = select(tables.runs.c.answer).where(tables.runs.c.id == _OF_RUN)
_SEALING = sealed_rows.YES | sealed_rows.PLANS | sealed_rows.ENDS | {Event.ATTEMPTED}


def of_rows(conn: Connection, run_id: str, event: Event, *, actor: str, data: Mapping[str, Any]) -> dict[str, str] | None:
    """Name → fingerprint of each row that this change of a run brings with it; None for an event that brings none."""
    if event not in _SEALING:
        return None
    sealed: dict[str, str] = {}
    if (n := sealed_rows.revision_named(event, data)) and (row := _one(conn, _REVISION, run_id, revision=n)):
        sealed["revision"] = sealed_rows.revision_seal(row)
    if event is Event.ATTEMPTED and (row := _one(conn, _ATTEMPT, run_id, round=data.get("round"))):
        sealed["attempt"] = sealed_rows.attempt_seal(row)
    if event in sealed_rows.YES and (row := _one(conn, _YES, run_id, actor=actor)):
        sealed["approval"] = sealed_rows.approval_seal(row)
    if event in sealed_rows.ENDS and (row := _one(conn, _ANSWER, run_id)):
        sealed["answer"] = fingerprint(row["answer"])
    return sealed


def _one(conn: Connection, query: Any, run_id: str, **named: Any) -> dict[str, Any] | None:
    found = conn.execute(query, {"run_id": run_id, **named}).mappings().one_or_none()
    return dict(found) if found is not None else None
