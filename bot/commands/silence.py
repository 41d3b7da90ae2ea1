"""Nobody answers: the approvers are reminded once, the second list is asked, and then the wait ends; silence never approves an effect (P9).

Whoever looks, and however often, each of these happens once. What passed while nobody looked is not made up for: of several things that
are due, the last one happens.
"""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from bot import timing
from bot.core import policy, waits
from bot.core.audit import audit_post
from bot.core.ids import CLOCK
from bot.core.risk import Level
from bot.core.run import Event, NotAllowed, Run, RunStatus
from bot.core.snapshot import NewPost
from bot.core.waits import Timer
from bot.deps import Deps
from bot.store import door, runs, timers
from bot.timing import ESCALATE, REMIND

MOST_ASKED_AT_ONCE = 3  # reminders and escalations in one channel within ASKED_WITHIN_S: many waiting cards are no alarm
ASKED_WITHIN_S = 60
EVENTS = {REMIND: (Event.REMINDED, "reminder"), ESCALATE: (Event.ESCALATED, "escalation")}


@dataclass(frozen=True)
class Done:
    """What one look has led to, as ids of runs."""

    expired: tuple[str, ...] = ()
    reminded: tuple[str, ...] = ()
    escalated: tuple[str, ...] = ()


async def look(deps: Deps) -> Done:
    """Do all that is due by now. Safe to call from anywhere, any number of times."""
    expired = await expire(deps)
    asked = {}
    due = await deps.store.read(lambda conn: timers.due(conn, deps.now()))
    for run_id in dict.fromkeys(timer.run for timer in due):
        asked[run_id] = await deps.store.write(partial(_ask_once_more, deps=deps, run_id=run_id))
    reminded, escalated = (tuple(run_id for run_id, kind in asked.items() if kind == wanted) for wanted in (REMIND, ESCALATE))
    return Done(tuple(expired), reminded, escalated)


async def expire(deps: Deps) -> list[str]:
    """End every wait whose deadline has passed; safe to call from anywhere, any number of times. Returns the ids that expired."""
    ended: list[str] = []
    for run in await deps.store.read(lambda conn: runs.due(conn, deps.now())):
        if await deps.store.write(partial(_expire, deps=deps, run_id=run.id)):
            ended.append(run.id)
    return ended


def _ask_once_more(conn: Connection, *, deps: Deps, run_id: str) -> str | None:
    """Remind or escalate, whichever comes last of what is due; returns what was done, if anything."""
    run, now = runs.get(conn, run_id), deps.now()
    due, wait = timers.due_of(conn, run_id, now), timing.wait_of(conn, run)
    timers.close(conn, [timer for timer in due if timer.wait != wait])
    if wait is None or timing.is_held(conn, run) or timing.is_over(conn, run, now):
        return None
    here = {timer.kind: timer for timer in due if timer.wait == wait}
    who = {REMIND: timing.whom(deps.policy), ESCALATE: deps.policy.escalation}  # as the policy has it now
    timers.close(conn, [here.pop(kind) for kind in tuple(here) if not who[kind]])
    if not here or _asked_enough(conn, deps, run):
        return None
    timer = here.get(ESCALATE) or here[REMIND]
    if not timers.fire(conn, timer, at=now):
        return None
    timers.close(conn, [other for other in here.values() if other is not timer])
    _tell(conn, deps, run, timer, list(who[timer.kind]))
    return timer.kind


def _asked_enough(conn: Connection, deps: Deps, run: Run) -> bool:
    """Twenty cards that wait do not ping twenty times in one second: what is over the measure comes with a later look."""
    since = deps.now() - timedelta(seconds=ASKED_WITHIN_S)
    return timers.fired_in(conn, run.channel, since=since) >= MOST_ASKED_AT_ONCE


def _tell(conn: Connection, deps: Deps, run: Run, timer: Timer, who: list[str]) -> None:
    """The entry, and one new post, which pings; a review that stands in a channel of its own is asked for there."""
    event, kind = EVENTS[timer.kind]
    places = deps.review_places or ("thread",)
    aside = places[0] if timer.wait.startswith("review.") and "thread" not in places else None
    data: dict[str, Any] = {"wait": timer.wait, "who": who, "until": run.deadline}
    data |= {"step": step} if (step := waits.confirmed(run)) is not None else {}
    note = NewPost(
        run=run.id,
        card="note",
        key=f"{run.id}:note.{kind}.{timer.wait}.{run.version}",
        channel=aside or run.channel,
        in_thread=aside is None,
        data={"kind": kind, "wait": timer.wait},
    )
    tell = [note, *audit_post(deps.audit_place, run.id, event)]
    door.change(conn, run.id, event, actor=CLOCK, at=deps.now(), data=data, tell=tell)


def _expire(conn: Connection, *, deps: Deps, run_id: str) -> bool:
    run = runs.get(conn, run_id)
    if run.deadline is None or run.deadline > deps.now() or timing.is_held(conn, run):
        return False
    data: dict[str, Any] = {"was": run.status, "reason": run.reason, "until": run.deadline, "deadline": None}
    event, posts = Event.EXPIRED, _tell_expired(run)
    if run.status is RunStatus.IN_REVIEW and _silence_releases(conn, deps, run):
        event, posts = Event.RELEASED, []
        data |= {"revision": run.revision, "digest": run.digest, "risk": run.risk, "approved": run.digest}
    try:
        tell = [*audit_post(deps.audit_place, run_id, event), *posts]
        door.change(conn, run_id, event, actor=CLOCK, at=deps.now(), data=data, tell=tell)
    except NotAllowed:  # somebody decided between the look and the turn: then there is nothing to expire
        return False
    timers.arm(conn, run_id, [])
    return event is Event.EXPIRED


def _silence_releases(conn: Connection, deps: Deps, run: Run) -> bool:
    """May this plan go on because nobody answered? Only if every step reads by the tools' own word, and the policy says so (P9)."""
    plan, _, tool_digests = runs.revision(conn, run.id, run.revision)
    same = all(deps.tools.digests().get(name) == value for name, value in tool_digests.items())
    is_low = run.risk is Level.LOW  # by all that was known when people were asked
    return same and is_low and policy.evaluate(plan, deps.tools.catalogue, deps.policy).silence_releases


def _tell_expired(run: Run) -> list[NewPost]:
    return [NewPost(run=run.id, card="note", key=f"{run.id}:note.expired", channel=run.channel, data={"kind": "expired"})]
