"""Somebody asks: a run is opened, and that is all. Planning is slow work and starts by itself once the row is there."""

from functools import partial
from typing import Any

from sqlalchemy import Connection

from bot import runs as runs_now
from bot.core import policy
from bot.core.audit import audit_post
from bot.core.ids import new_run_id
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import NewPost
from bot.deps import Deps
from bot.errors import Refused
from bot.store import door, runs

LONGEST_ASK = 40_000


async def open_run(
    deps: Deps,
    *,
    ask: str,
    who: policy.Member,
    team: str,
    channel: str,
    thread_ts: str | None,
    source_ts: str | None,
    event_key: str | None,
    follows: str | None = None,
) -> Run | None:
    """A new run in *planning*, its run card in the outbox; None if `event_key` opened one before.

    Without `thread_ts` the run card becomes a root message of its own. `follows`: the run that is asked again; the planner is told what it
    found and what people said no to. Raises `Refused` for an empty ask or one who may not ask, and while everything is frozen.
    """
    text = ask.strip()
    if not text:
        raise Refused("plan_empty")
    if len(text) > LONGEST_ASK:
        raise Refused("ask_too_long", length=len(text), limit=LONGEST_ASK)
    if no := policy.may_ask(deps.policy, who):
        raise Refused(no, did="ask")
    if (freeze := await runs_now.frozen(deps)) is not None:
        raise Refused("frozen", did="ask", words=text, **freeze.model_dump())
    at = deps.now()
    run = Run(
        id=deps.new_run_id(),
        ask=text,
        requester=who.id,
        team=team,
        channel=channel,
        thread_ts=thread_ts,
        source_ts=source_ts,
        created_at=at,
        updated_at=at,
    )
    while True:
        try:
            return await deps.store.write(partial(_open, run=run, event_key=event_key, follows=follows))
        except door.IdTaken:
            run = run.model_copy(update={"id": new_run_id(6)})


def _open(conn: Connection, *, run: Run, event_key: str | None, follows: str | None) -> Run | None:
    card = NewPost(run=run.id, card="run", key=f"{run.id}:run", channel=run.channel, in_thread=run.thread_ts is not None)
    return door.open_run(
        conn, run, actor=run.requester, at=run.created_at, data={"ask": run.ask, "follows": follows}, event_key=event_key, tell=[card]
    )


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
        if run is None or run.is_final or text.strip() in (run.ask, ""):
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
