"""People decide on a plan: approve, cancel, or say nothing until it expires.

An approval names the digest of one revision. Everything that could make a click mean something else than what was shown (another revision,
an expired card, a changed tool, somebody else's decision a moment ago) is looked at inside the transaction that records it.
"""

from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from bot.core import policy
from bot.core.audit import audit_post
from bot.core.completeness import is_complete
from bot.core.ids import Digest
from bot.core.plan import Plan
from bot.core.risk import Level
from bot.core.run import TRANSITIONS, Event, NotAllowed, Run, RunStatus
from bot.core.snapshot import Approval, NewPost
from bot.deps import Deps
from bot.errors import Refused
from bot.store import audit, door, runs


async def approve(deps: Deps, run_id: str, revision: int, *, who: policy.Member, received_at: datetime, opened_all: bool = False) -> Run:
    """One yes to that revision; the last one that the quorum needs queues the run. Raises `Refused` with what stands in the way.

    `received_at` judges expiry: a click made in time counts, however long it took to get here (C019).
    `opened_all`: this person has opened every page of the full review, which a plan too long for its card needs (P2).
    """
    return await deps.store.write(lambda conn: _approve(conn, deps, run_id, revision, who, received_at, opened_all))


def _approve(conn: Connection, deps: Deps, run_id: str, revision: int, who: policy.Member, received_at: datetime, opened_all: bool) -> Run:
    run = runs.get(conn, run_id)
    given = [approval for approval in runs.approvals(conn, run_id) if approval.kind == "plan"]
    _must_be_open(conn, run, revision, who, received_at, given)
    plan, _, tool_digests = runs.revision(conn, run_id, revision)
    digest = run.digest or Digest("")
    changed = [name for name, value in tool_digests.items() if deps.tools.digests().get(name) != value]
    if changed:
        raise Refused("tool_changed", run=run_id, tools=changed, revision=revision)
    already = {approval.actor for approval in given if approval.digest == digest}
    level = run.risk or Level.HIGH
    if no := policy.may_approve(deps.policy, who, requester=run.requester, level=level, already=already):
        raise Refused(no, run=run_id, revision=revision, did="approve", risk=level.value, until=run.deadline)
    _must_be_seen(plan, run, revision, opened_all)
    needed = deps.policy.quorum.get(level, 1)
    last = len(already) + 1 >= needed
    approval = Approval(actor=who.id, revision=revision, digest=digest, at=received_at)
    runs.add_approval(conn, run_id, approval)
    data: dict[str, Any] = {"revision": revision, "digest": digest, "count": len(already) + 1, "needed": needed}
    if last:
        data |= {"approved": digest, "deadline": None}
    event = Event.APPROVED if last else Event.APPROVAL_GIVEN
    tell = audit_post(deps.audit_place, run_id, event)
    return door.change(conn, run_id, event, actor=who.id, at=deps.now(), data=data, tell=tell)


def _must_be_open(conn: Connection, run: Run, revision: int, who: policy.Member, received_at: datetime, given: list[Approval]) -> None:
    """Raise the refusal that fits when this revision no longer waits for anybody."""
    facts: dict[str, Any] = {"run": run.id, "revision": revision, "current": run.revision, "status": run.status, "did": "approve"}
    if revision != run.revision:
        raise Refused("stale", **facts)
    mine = next((approval for approval in given if approval.actor == who.id and approval.digest == run.digest), None)
    if run.status is RunStatus.IN_REVIEW:
        if run.deadline is not None and received_at > run.deadline:
            raise Refused("expired", at=run.deadline, **facts)
        if mine is not None:
            raise Refused("quorum", at=mine.at, **facts)
        return
    if run.status in (RunStatus.CANCELLED, RunStatus.EXPIRED):
        entry = next((entry for entry in reversed(audit.entries(conn, run.id)) if entry.event == run.status.value), None)
        kind = "expired" if run.status is RunStatus.EXPIRED else "late_cancelled"
        raise Refused(kind, by=entry.actor if entry else "", at=entry.at if entry else run.updated_at, **facts)
    if mine is not None:
        raise Refused("double", at=mine.at, **facts)
    if given:
        raise Refused("late_approved", by=given[-1].actor, at=given[-1].at, **facts)
    raise Refused("not_waiting", **facts)


def _must_be_seen(plan: Plan, run: Run, revision: int, opened_all: bool) -> None:
    if not opened_all and not is_complete(plan):
        raise Refused("open_first", run=run.id, revision=revision)


async def cancel(deps: Deps, run_id: str, revision: int | None, *, who: policy.Member, reason: str) -> Run:
    """Drop the plan, or the planning, before anything ran; the reason is on record. Raises `Refused` once it is too late."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_be_droppable(deps, run, revision, who)
        data = {"reason": reason, "revision": run.revision, "digest": run.digest, "deadline": None}
        tell = audit_post(deps.audit_place, run_id, Event.CANCELLED)
        return door.change(conn, run_id, Event.CANCELLED, actor=who.id, at=deps.now(), data=data, tell=tell)

    return await deps.store.write(work)


async def may_cancel(deps: Deps, run_id: str, revision: int | None, *, who: policy.Member) -> None:
    """Raise what `cancel` would raise now, so that nobody is asked for a reason that could only be turned down."""
    await deps.store.read(lambda conn: _must_be_droppable(deps, runs.get(conn, run_id), revision, who))


def _must_be_droppable(deps: Deps, run: Run, revision: int | None, who: policy.Member) -> None:
    """Raise the refusal that fits when this person cannot cancel this revision (any more)."""
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, run=run.id, did="cancel")
    if revision is not None and revision != run.revision:
        raise Refused("stale", run=run.id, revision=revision, current=run.revision, did="cancel")
    if (run.status, Event.CANCELLED) in TRANSITIONS:
        return
    kind = "late_cancelled" if run.status is RunStatus.CANCELLED else "already_done" if run.is_final else "already_running"
    raise Refused(kind, run=run.id, status=run.status, did="cancel", at=run.updated_at)


async def expire(deps: Deps) -> list[str]:
    """End every wait whose deadline has passed; safe to call from anywhere, any number of times. Returns the ids that expired."""
    ended: list[str] = []
    for run in await deps.store.read(lambda conn: runs.due(conn, deps.now())):
        if await deps.store.write(partial(_expire, deps=deps, run_id=run.id)):
            ended.append(run.id)
    return ended


def _expire(conn: Connection, *, deps: Deps, run_id: str) -> bool:
    run = runs.get(conn, run_id)
    if run.deadline is None or run.deadline > deps.now():
        return False
    data: dict[str, Any] = {"was": run.status, "reason": run.reason, "until": run.deadline, "deadline": None}
    event, posts = Event.EXPIRED, _tell_expired(run)
    if run.status is RunStatus.IN_REVIEW and _silence_releases(conn, deps, run):
        event, posts = Event.RELEASED, []
        data |= {"revision": run.revision, "digest": run.digest, "risk": run.risk, "approved": run.digest}
    try:
        tell = [*audit_post(deps.audit_place, run_id, event), *posts]
        door.change(conn, run_id, event, actor="clock", at=deps.now(), data=data, tell=tell)
    except NotAllowed:  # somebody decided between the look and the turn: then there is nothing to expire
        return False
    return event is Event.EXPIRED


def _silence_releases(conn: Connection, deps: Deps, run: Run) -> bool:
    """May this plan go on because nobody answered? Only if every step reads by the tools' own word, and the policy says so (P9)."""
    plan, _, tool_digests = runs.revision(conn, run.id, run.revision)
    same = all(deps.tools.digests().get(name) == value for name, value in tool_digests.items())
    return same and policy.evaluate(plan, deps.tools.catalogue, deps.policy).silence_releases


def _tell_expired(run: Run) -> list[NewPost]:
    return [NewPost(run=run.id, card="note", key=f"{run.id}:note.expired", channel=run.channel, data={"kind": "expired"})]
