"""Freeze: an admin holds every run and every start of this bot, and it stays so through restarts until somebody thaws it.

One transaction writes the freeze and moves every run that would go on by itself, so that no step starts after it (P4); whatever would let a
run go meanwhile is refused at the door. Runs that stand for another reason go on standing for it.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from bot import guard
from bot.core import policy
from bot.core.audit import audit_post
from bot.core.ids import CLOCK, PULLCORD
from bot.core.run import Event, Hold, NotAllowed, Run, RunStatus, StepStatus
from bot.core.snapshot import Freeze
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person
from bot.store import audit, cord, door, posts, runs, timers
from bot.tools.masks import redact


@dataclass(frozen=True)
class Held:
    """What a freeze or a thaw met: runs that it moved, runs that it keeps from starting, steps that were running."""

    freeze: Freeze
    moved: int
    queued: int
    running: int

    @property
    def runs(self) -> int:
        """All runs that are held by it (or were)."""
        return self.moved + self.queued


async def freeze(deps: Deps, *, who: policy.Member, why: str) -> Held:
    """Hold everything. Raises `Refused`: `not_admin`, or `already_frozen` with by, at and why."""

    def work(conn: Connection) -> Held:
        guard.must_freeze(deps, who)
        at = deps.now()
        now = cord.freeze(conn, by=who.id, why=redact(why), at=at)
        if now is None:
            there = cord.frozen(conn)
            raise Refused("already_frozen", did="freeze", **(there.model_dump() if there else {}))
        return _tell(conn, deps, Event.FROZEN, who, _move_all(conn, deps, Event.FROZEN, who.id, now))

    return await by_person(deps, work)


async def may_freeze(deps: Deps, *, who: policy.Member) -> None:
    """Raise what `freeze` would raise now, so that nobody is asked for a reason that could only be turned down."""
    guard.must_freeze(deps, who)
    if (there := await deps.store.read(cord.frozen)) is not None:
        raise Refused("already_frozen", did="freeze", **there.model_dump())


async def thaw(deps: Deps, *, who: policy.Member) -> Held:
    """Let everything go on that stood only for the freeze. Raises `Refused`: `not_admin` or `not_frozen`."""

    def work(conn: Connection) -> Held:
        guard.must_freeze(deps, who, did="thaw")
        ended = cord.thaw(conn, by=who.id, at=deps.now())
        if ended is None:
            raise Refused("not_frozen", did="thaw")
        _prolong(conn, deps, ended)
        return _tell(conn, deps, Event.THAWED, who, _move_all(conn, deps, Event.THAWED, who.id, ended))

    return await by_person(deps, work)


def _prolong(conn: Connection, deps: Deps, ended: Freeze) -> None:
    """What stood and waited for a yes that nobody could make count has that much longer, so that nobody's time ran out meanwhile."""
    for run in runs.open_runs(conn):
        if run.status is not RunStatus.PAUSED or run.deadline is None:
            continue
        given = next(entry.at for entry in reversed(audit.entries(conn, run.id)) if entry.data.get("deadline"))
        by = deps.now() - max(ended.at, given)
        data = {"why": "everything was frozen", "deadline": run.deadline + by}
        door.change(conn, run.id, Event.PROLONGED, actor=CLOCK, at=deps.now(), data=data)
        timers.delay(conn, run.id, by)


def _move_all(conn: Connection, deps: Deps, event: Event, actor: str, now: Freeze) -> Held:
    found = runs.open_runs(conn)
    running = sum(
        step.status is StepStatus.RUNNING for run in found if run.status is not RunStatus.PLANNING for step in runs.steps(conn, run.id)
    )
    moved = sum(_moves(conn, deps, run, event, actor, now) for run in found)
    posts.redraw(conn, [run.id for run in found])  # cards of runs that stand for another reason say it too
    return Held(now, moved, sum(run.status is RunStatus.QUEUED for run in found), running)


def _moves(conn: Connection, deps: Deps, run: Run, event: Event, actor: str, now: Freeze) -> bool:
    try:
        door.change(conn, run.id, event, actor=actor, at=deps.now(), data={"why": now.why})
    except NotAllowed:  # it waits for somebody, or has not started: nothing of it would go on by itself
        return False
    return True


def _tell(conn: Connection, deps: Deps, event: Event, who: policy.Member, held: Held) -> Held:
    """The one entry about the whole bot, in the chain that is no run's; open runs' cards and the bell follow by themselves."""
    data = {"why": held.freeze.why, "by": held.freeze.by, "held": held.runs, "running": held.running}
    door.note(conn, audit.NO_RUN, event, actor=who.id, at=deps.now(), data=data, tell=audit_post(deps.audit_place, audit.NO_RUN, event))
    return held


async def lift_restart(deps: Deps) -> int:
    """At the start: let go what the last shutdown held, or hand it to a freeze that outlived it. Returns how many runs."""

    def work(conn: Connection) -> int:
        now = cord.frozen(conn)
        held = [run for run in runs.open_runs(conn) if run.reason is Hold.SHUTDOWN]
        for run in held:
            _lift(conn, deps, run, now)
        return len(held)

    return await deps.store.write(work)


def _lift(conn: Connection, deps: Deps, run: Run, now: Freeze | None) -> None:
    event = Event.RESUMED if now is None else Event.FROZEN
    data = {"why": now.why} if now else {"why": "Pullcord is back"}
    door.change(conn, run.id, event, actor=PULLCORD, at=deps.now(), data=data)


async def hold_for_restart(deps: Deps) -> int:
    """Before the end: what would go on by itself waits for the next start, and its cards say so. Returns how many runs."""

    def work(conn: Connection) -> int:
        running = [run for run in runs.open_runs(conn) if run.status is RunStatus.RUNNING]
        for run in running:
            door.change(conn, run.id, Event.HELD, actor=PULLCORD, at=deps.now(), data={"reason": Hold.SHUTDOWN})
        return len(running)

    return await deps.store.write(work)


async def settle_for_restart(deps: Deps) -> int:
    """At the very end, when nobody attends to runs any more: those of which nothing runs are paused. Returns how many."""

    def work(conn: Connection) -> int:
        held = [run for run in runs.open_runs(conn) if run.status is RunStatus.PAUSING and run.reason is Hold.SHUTDOWN]
        still = [run for run in held if not any(step.status is StepStatus.RUNNING for step in runs.steps(conn, run.id))]
        for run in still:
            door.change(conn, run.id, Event.SETTLED, actor=PULLCORD, at=deps.now())
        return len(still)

    return await deps.store.write(work)
