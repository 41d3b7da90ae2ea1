"""People decide on a plan: approve, ask for changes, cancel, or say nothing until it expires. The same for the new rest of a live run.

An approval names the digest of one revision. Everything that could make a click mean something else than what was shown (another revision,
an expired card, a changed tool, somebody else's decision a moment ago) is looked at inside the transaction that records it.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from bot.changing import must_take_changes, take_changes
from bot.core import policy, rest
from bot.core.audit import audit_post
from bot.core.comparison import asked, level_of
from bot.core.completeness import is_complete
from bot.core.ids import StepId
from bot.core.plan import Plan
from bot.core.risk import Level
from bot.core.run import TRANSITIONS, Event, NotAllowed, Redirect, Run, RunStatus
from bot.core.snapshot import Approval, NewPost, Revision
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person
from bot.proposing import adopt, standing
from bot.store import audit, cord, door, runs


async def approve(deps: Deps, run_id: str, revision: int, *, who: policy.Member, received_at: datetime, opened_all: bool = False) -> Run:
    """One yes to that revision; the last one that the quorum needs queues the run, or puts the new rest of a live run into force.

    Raises `Refused` with what stands in the way. `received_at` judges expiry: a click made in time counts, however long it took to get
    here (C019). `opened_all`: this person has opened every page of the full review, which a plan too long for its card needs (P2).
    """
    return await by_person(deps, lambda conn: _approve(conn, deps, run_id, revision, who, received_at, opened_all))


@dataclass(frozen=True)
class _Waiting:
    """What a yes is about: the revision, the steps that are asked (None: the whole plan), the risk, who said yes already."""

    new: Revision
    asked: tuple[StepId, ...] | None
    level: Level
    already: frozenset[str]


def _approve(conn: Connection, deps: Deps, run_id: str, revision: int, who: policy.Member, received_at: datetime, opened_all: bool) -> Run:
    run = runs.get(conn, run_id)
    waiting = _must_be_allowed(conn, deps, run, revision, who, received_at)
    new = waiting.new
    _must_be_seen(new.plan, run, revision, opened_all)
    count, needed = len(waiting.already) + 1, deps.policy.quorum.get(waiting.level, 1)
    runs.add_approval(conn, run_id, Approval(actor=who.id, revision=revision, digest=new.digest, at=received_at))
    if count >= needed and waiting.asked is not None:
        return adopt(conn, deps, run, new, actor=who.id, asked=waiting.asked)
    data: dict[str, Any] = {"revision": revision, "digest": new.digest, "count": count, "needed": needed}
    if count >= needed:
        data |= {"approved": new.digest, "deadline": None}
    event = Event.APPROVED if count >= needed else Event.APPROVAL_GIVEN
    tell = audit_post(deps.audit_place, run_id, event)
    return door.change(conn, run_id, event, actor=who.id, at=deps.now(), data=data, tell=tell)


def _must_be_allowed(conn: Connection, deps: Deps, run: Run, revision: int, who: policy.Member, received_at: datetime) -> _Waiting:
    """What this person may say yes to; raises the refusal that fits when they may not, or when it is too late."""
    given = [approval for approval in runs.approvals(conn, run.id) if approval.kind == "plan"]
    found = next((one for one in runs.revisions(conn, run.id) if one.revision == revision), None)
    new = _must_be_open(run, found, revision, who, received_at, given, conn)
    changed = [name for name, value in new.tool_digests.items() if deps.tools.digests().get(name) != value]
    if changed:
        raise Refused("tool_changed", run=run.id, tools=changed, revision=revision)
    already = frozenset(approval.actor for approval in given if (approval.revision, approval.digest) == (revision, new.digest))
    must = _asked(conn, deps, run, new)
    level = level_of(new, must) if must is not None else new.risk
    makers = _makers(conn, run, new, level)
    if no := policy.may_approve(deps.policy, who, requester=run.requester, level=level, already=already, editors=makers):
        raise Refused(no, run=run.id, revision=revision, did="approve", risk=level.value, until=run.deadline)
    return _Waiting(new, must, level, already)


def _asked(conn: Connection, deps: Deps, run: Run, new: Revision) -> tuple[StepId, ...] | None:
    """The steps that a yes to the new rest of a live run is about; None where the whole plan waits."""
    if run.redirect is None:
        return None
    done = [state.id for state in runs.steps(conn, run.id) if state.status not in rest.OPEN_TO_CHANGE]
    return asked(standing(conn, run), new, deps.tools.catalogue, done=done)


def _makers(conn: Connection, run: Run, new: Revision, level: Level) -> set[str]:
    """Who made this plan by hand since people last approved one, and (for what is high) whose reply it follows: they do not approve it.

    To ask for changes is to review, and keeps nobody from it.
    """
    since = run.revision if run.redirect is not None else 0
    makers = set(rest.hand_authors(runs.revisions(conn, run.id), since=since, upto=new.revision))
    if level is Level.HIGH and run.redirect is not None:
        makers |= {reply.actor for reply in rest.opened(audit.entries(conn, run.id)).replies}
    return makers


def _must_be_open(
    run: Run, new: Revision | None, revision: int, who: policy.Member, received_at: datetime, given: list[Approval], conn: Connection
) -> Revision:
    """The revision, if it waits for people; else raises the refusal that fits."""
    current = run.proposed or run.revision
    facts: dict[str, Any] = {"run": run.id, "revision": revision, "current": current, "status": run.status, "did": "approve"}
    waits = run.status is RunStatus.IN_REVIEW or run.redirect is Redirect.REVIEW
    if new is None or revision != current or (run.redirect is not None and not waits):
        raise Refused("stale", **facts)
    mine = next((approval for approval in given if (approval.actor, approval.revision) == (who.id, revision)), None)
    if waits:
        if run.deadline is not None and received_at > run.deadline:
            raise Refused("expired", at=run.deadline, **facts)
        if mine is not None:
            raise Refused("quorum", at=mine.at, **facts)
        return new
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


async def may_approve(deps: Deps, run_id: str, revision: int, *, who: policy.Member) -> bool:
    """Would this person's yes to that revision count now, if they have seen all of it? For forms; the yes itself asks anew."""

    def look(conn: Connection) -> bool:
        try:
            _must_be_allowed(conn, deps, runs.get(conn, run_id), revision, who, deps.now())
        except Refused:
            return False
        return True

    return await deps.store.read(look)


async def ask_changes(deps: Deps, run_id: str, revision: int, *, words: str, who: policy.Member) -> Run:
    """The planner makes another revision by these words; until it is there, nothing can be approved.

    Raises `Refused`: `no_revisions_left` once the planner has made as many as the policy allows, with the words, so that none are lost.
    """

    return await by_person(deps, lambda conn: take_changes(conn, deps, runs.get(conn, run_id), revision, words=words, who=who))


async def may_ask_changes(deps: Deps, run_id: str, revision: int, *, who: policy.Member) -> None:
    """Raise what `ask_changes` would raise now, so that nobody is asked for words that could only be turned down."""
    await deps.store.read(lambda conn: must_take_changes(conn, deps, runs.get(conn, run_id), revision, who))


async def cancel(deps: Deps, run_id: str, revision: int | None, *, who: policy.Member, reason: str) -> Run:
    """Drop the plan, or the planning, before anything ran; the reason is on record. Raises `Refused` once it is too late."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_be_droppable(deps, run, revision, who)
        data = {"reason": reason, "revision": run.revision, "digest": run.digest, "deadline": None}
        tell = audit_post(deps.audit_place, run_id, Event.CANCELLED)
        return door.change(conn, run_id, Event.CANCELLED, actor=who.id, at=deps.now(), data=data, tell=tell)

    return await by_person(deps, work)


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
    if run.status is RunStatus.PAUSED and cord.frozen(conn) is not None:
        return False  # nobody may decide now, so silence says nothing
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
