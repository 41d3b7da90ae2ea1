"""People decide on a plan: approve, ask for changes, cancel. The same for the new rest of a live run.

An approval names the digest of one revision. Everything that could make a click mean something else than what was shown (another revision,
an expired card, a changed tool, somebody else's decision a moment ago) is looked at by the guard inside the transaction that records it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot import guard
from bot.changing import take_changes
from bot.core import policy
from bot.core.audit import audit_post
from bot.core.run import Event, Run
from bot.core.snapshot import Approval
from bot.deps import Deps
from bot.moving import by_person
from bot.proposing import adopt
from bot.shown import Waiting
from bot.store import door, runs
from bot.tools.masks import redact


async def approve(
    deps: Deps,
    run_id: str,
    revision: int,
    *,
    who: policy.Member,
    received_at: datetime,
    opened_all: bool = False,
    typed: str | None = None,
) -> Run:
    """One yes to that revision; the last one that the quorum needs queues the run, or puts the new rest of a live run into force.

    Raises `Refused` with what stands in the way. `received_at` judges expiry: a click made in time counts, however long it took to get
    here (C019). `opened_all`: this person has opened every page of the full review, which a plan too long for its card needs (P2).
    `typed`: what they wrote, where a yes is given in writing.
    """

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        waiting = guard.must_approve(conn, deps, run, revision, who, received_at, typed=typed, opened_all=opened_all)
        return _approve(conn, deps, run, waiting, who, received_at)

    return await by_person(deps, work)


def _approve(conn: Connection, deps: Deps, run: Run, waiting: Waiting, who: policy.Member, received_at: datetime) -> Run:
    new, count, needed = waiting.new, len(waiting.already) + 1, waiting.needed
    runs.add_approval(conn, run.id, Approval(actor=who.id, revision=new.revision, digest=new.digest, at=received_at))
    if count >= needed and waiting.asked is not None:
        return adopt(conn, deps, run, new, actor=who.id, asked=waiting.asked, typed=bool(waiting.wants))
    written = {"typed": True} if waiting.wants else {}
    data: dict[str, Any] = {"revision": new.revision, "digest": new.digest, "count": count, "needed": needed, **written}
    if count >= needed:
        data |= {"approved": new.digest, "deadline": None}
    event = Event.APPROVED if count >= needed else Event.APPROVAL_GIVEN
    tell = audit_post(deps.audit_place, run.id, event)
    return door.change(conn, run.id, event, actor=who.id, at=deps.now(), data=data, tell=tell)


async def may_approve(deps: Deps, run_id: str, revision: int, *, who: policy.Member) -> bool:
    """Would this person's yes to that revision count now, if they have seen all of it? For forms; the yes itself asks anew."""
    return await deps.store.read(lambda conn: guard.would_approve(conn, deps, runs.get(conn, run_id), revision, who))


async def is_written(deps: Deps, run_id: str, revision: int) -> bool:
    """Is a yes to that revision given in writing, whoever gives it? Asks nothing but the store."""
    return bool(deps.policy.step_up) and await deps.store.read(lambda conn: guard.is_written(conn, deps, runs.get(conn, run_id), revision))


async def to_be_written(
    deps: Deps, run_id: str, revision: int, *, who: policy.Member, received_at: datetime, opened_all: bool = False
) -> Waiting:
    """What this person says yes to, and what they must type for it. Raises whatever else stands in the way of their yes."""

    def look(conn: Connection) -> Waiting:
        run = runs.get(conn, run_id)
        return guard.must_approve(conn, deps, run, revision, who, received_at, opened_all=opened_all, to_be_typed=True)

    return await deps.store.read(look)


async def ask_changes(
    deps: Deps, run_id: str, revision: int, *, words: str, who: policy.Member, received_at: datetime | None = None
) -> Run:
    """The planner makes another revision by these words; until it is there, nothing can be approved.

    Raises `Refused`: `no_revisions_left` once the planner has made as many as the policy allows, with the words, so that none are lost.
    """

    said = deps.secrets.typed(words, run_id)
    facts: Any = {"words": said, "who": who, "received_at": received_at}
    return await by_person(deps, lambda conn: take_changes(conn, deps, runs.get(conn, run_id), revision, **facts))


async def may_ask_changes(deps: Deps, run_id: str, revision: int, *, who: policy.Member) -> None:
    """Raise what `ask_changes` would raise now, so that nobody is asked for words that could only be turned down."""
    await deps.store.read(lambda conn: guard.must_take_changes(conn, deps, runs.get(conn, run_id), revision, who, deps.now()))


async def cancel(deps: Deps, run_id: str, revision: int | None, *, who: policy.Member, reason: str) -> Run:
    """Drop the plan, or the planning, before anything ran; the reason is on record. Raises `Refused` once it is too late."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_cancel(deps, run, revision, who)
        data = {"reason": redact(reason), "revision": run.revision, "digest": run.digest, "deadline": None}
        tell = audit_post(deps.audit_place, run_id, Event.CANCELLED)
        return door.change(conn, run_id, Event.CANCELLED, actor=who.id, at=deps.now(), data=data, tell=tell)

    return await by_person(deps, work)


async def may_cancel(deps: Deps, run_id: str, revision: int | None, *, who: policy.Member) -> None:
    """Raise what `cancel` would raise now, so that nobody is asked for a reason that could only be turned down."""
    await deps.store.read(lambda conn: guard.must_cancel(deps, runs.get(conn, run_id), revision, who))
