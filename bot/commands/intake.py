"""Somebody asks: a run is opened, and that is all. Planning is slow work and starts by itself once the row is there."""

from typing import Any, Unpack

from sqlalchemy import Connection

from bot import opening
from bot.core.audit import audit_post
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import NewPost
from bot.deps import Deps
from bot.opening import Asked
from bot.store import door, runs


async def open_run(deps: Deps, **asked: Unpack[Asked]) -> Run | None:
    """A new run, see `bot.opening.open_run`; None if its `event_key` opened one before. Raises `Refused`."""
    return await deps.store.write(lambda conn: opening.open_run(conn, deps, **asked))


async def forget(deps: Deps, *, channel: str, source_ts: str, actor: str) -> Run | None:
    """The asking message was deleted. Before approval the draft is dropped; an approved run goes on: a deletion is no decision (C015)."""
    return await deps.store.write(lambda conn: _withdraw(conn, deps, channel, source_ts, actor))


def _withdraw(conn: Connection, deps: Deps, channel: str, source_ts: str, actor: str) -> Run | None:
    run = runs.by_source(conn, channel, source_ts)
    if run is None or run.status not in (RunStatus.PLANNING, RunStatus.IN_REVIEW):
        return None
    data: dict[str, Any] = {"reason": "the asking message was deleted", "deadline": None}
    tell = audit_post(deps.audit_place, run.id, Event.CANCELLED)
    return door.change(conn, run.id, Event.CANCELLED, actor=actor or run.requester, at=deps.now(), data=data, tell=tell)


async def edited(deps: Deps, *, channel: str, source_ts: str, text: str, actor: str) -> Run | None:
    """The asking message was edited. A stored plan never changes by that (C016); the thread is told what to do for a new one."""

    def work(conn: Connection) -> Run | None:
        run = runs.by_source(conn, channel, source_ts)
        if run is None or run.is_final or deps.secrets.typed(text.strip(), run.id) in (run.ask, ""):
            return None
        post = NewPost(
            run=run.id,
            card="note",
            key=f"{run.id}:note.edited.{run.version}",
            channel=run.channel,
            data={"kind": "ask_edited", "actor": actor},
        )
        door.note(conn, run.id, actor=actor, at=deps.now(), data={"did": "edit the ask", "kind": "ask_edited"}, tell=[post])
        return run

    return await deps.store.write(work)
