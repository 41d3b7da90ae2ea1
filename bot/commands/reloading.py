"""Another policy takes the place of the one that holds, all of it or nothing, and whatever waits for people is graded anew by it.

A review whose grade or quorum is another one now gets a new revision of the same plan and a fresh card; the yeses to the older card do not
count for it. What the new policy denies does not wait any longer. A reload never lets anything run, however much looser the new file is,
and it rewrites nothing that was approved: the steps of a live run are judged again when they start.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection

from bot import facts, guard, rules
from bot.core import policy, waits
from bot.core.audit import audit_post
from bot.core.comparison import asked, level_of
from bot.core.facts import Facts
from bot.core.ids import PULLCORD, StepId
from bot.core.plan import Plan
from bot.core.policy import Member, Policy, Verdict
from bot.core.rest import OPEN_TO_CHANGE
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import NewPost, Revision
from bot.deps import Deps
from bot.errors import ConfigurationError, Refused
from bot.moving import by_person
from bot.proposing import Graded, for_review, graded, of_the_rest, review_posts, standing
from bot.rules import Rules
from bot.store import audit, door, posts, runs, timers, windows

log = structlog.get_logger()

BEGINS = (Event.PLANNED, Event.REVISED, Event.PLAN_KEPT, Event.REDIRECT_PLANNED, Event.REGRADED)  # a review
LOOKS = 3  # at a review that people change while it is being graded anew; what they make of it then is graded by the new policy


@dataclass(frozen=True)
class Reloaded:
    """What a reload has led to. `fault`: why nothing changed, in one line with file, line and fix."""

    fault: str = ""
    before: str = ""  # digests of the files
    after: str = ""
    waiting: int = 0  # reviews that were looked at
    regraded: tuple[str, ...] = ()  # runs
    denied: tuple[str, ...] = ()


async def reload(deps: Deps, *, who: Member | None) -> Reloaded:
    """Read the policy file again. `who`: the admin who asks for it, None for the person at the machine.

    Raises `Refused`: `not_admin`, or `no_policy_file` where a built-in profile holds. A broken file changes nothing and is told in the
    result.
    """
    if who is not None:
        guard.must_reload(deps, who)
    source = deps.rules.source
    if source is None:
        raise Refused("no_policy_file", did="reload")
    actor = who.id if who else PULLCORD
    try:
        new = await asyncio.to_thread(rules.read, source, called=source.name)
    except ConfigurationError as fault:
        says = str(fault)
        await by_person(deps, lambda conn: _tell(conn, deps, Event.RELOAD_REFUSED, actor, {"file": source.name, "fault": says}))
        return Reloaded(fault=says)
    old = replace(deps.rules)
    deps.rules.swap(new)
    done = await _grade_all(deps, old.policy, new)
    done = replace(done, before=old.digest, after=new.digest)
    await by_person(deps, lambda conn: _record(conn, deps, actor, source.name, done))
    return done


async def by_signal(deps: Deps) -> None:
    """The same for the person at the machine (SIGHUP), who reads in the log what has come of it."""
    try:
        done = await reload(deps, who=None)
    except Refused as no:
        log.warning("policy_not_reloaded", why=no.kind)
        return
    if done.fault:
        log.error("policy_not_reloaded", fault=done.fault, next="mend the file and send the signal again; the policy stays as it was")
    else:
        log.info("policy_reloaded", digest=done.after, regraded=list(done.regraded), denied=list(done.denied))


async def _grade_all(deps: Deps, old: Policy, new: Rules) -> Reloaded:
    """Every review that waits now. Asked of the writer: what was being written under the old policy is there by then."""
    waiting = await deps.store.write(lambda conn: [run.id for run in runs.open_runs(conn) if waits.reviewed(run) is not None])
    found = {run_id: await _grade_anew(deps, run_id, old, new) for run_id in waiting}
    regraded = tuple(run_id for run_id, became in found.items() if became is Event.REGRADED)
    denied = tuple(run_id for run_id, became in found.items() if became in (Event.PLAN_REFUSED, Event.REDIRECT_FAILED))
    return Reloaded(waiting=len(waiting), regraded=regraded, denied=denied)


async def _grade_anew(deps: Deps, run_id: str, old: Policy, new: Rules) -> Event | None:
    """What became of that review: nothing, another revision, or an end."""
    for _ in range(LOOKS):
        run, plan = await deps.store.read(partial(_open_review, run_id=run_id))
        if plan is None:
            return None
        known = await facts.gather(deps, plan, run=run, requester=run.requester, channel=run.channel)
        spent = await deps.store.read(partial(_spent, deps=deps, run=run, old=old))
        was = policy.evaluate(plan, deps.tools.catalogue, old, replace(known, spent=spent))
        others = _who_decides(old) != _who_decides(new.policy)
        decide = partial(_decide, deps=deps, seen=run, plan=plan, was=was, new=new, known=known, others=others)
        is_same, became = await deps.store.write(decide)
        if is_same:
            return became
    return None


def _open_review(conn: Connection, *, run_id: str) -> tuple[Run, Plan | None]:
    run = runs.get(conn, run_id)
    revision = waits.reviewed(run)
    return run, runs.revision(conn, run_id, revision)[0] if revision is not None else None


def _spent(conn: Connection, *, deps: Deps, run: Run, old: Policy) -> dict[int, float]:
    """What the requester has used of the windows that there were: they are known by their places in the file."""
    return windows.spent(conn, old, run.requester, now=deps.now(), catalogue=deps.tools.catalogue, besides=run.id)


def _decide(
    conn: Connection, *, deps: Deps, seen: Run, plan: Plan, was: Verdict, new: Rules, known: Facts, others: bool
) -> tuple[bool, Event | None]:
    """Whether it is still the review that was looked at and the policy that it was looked at for; and what became of it."""
    run = runs.get(conn, seen.id)
    if waits.reviewed(run) != waits.reviewed(seen):
        return False, None
    if deps.rules.digest != new.digest or _by_this_policy(conn, run, new):
        return True, None
    found = graded(deps, plan, known)
    live = run.status is RunStatus.PAUSED
    void = others and _has_a_yes(conn, run)
    return True, (_of_the_rest if live else _before_it_runs)(conn, deps, run, found, was, new, void=void)


def _who_decides(given: Policy) -> tuple[Any, ...]:
    """Whose yes counts, and how it is given: a yes from before may not be one any more where this is another."""
    return given.profile, given.approvers, given.escalation, given.may_not, given.step_up


def _has_a_yes(conn: Connection, run: Run) -> bool:
    return any(yes.kind == "plan" and yes.revision == waits.reviewed(run) for yes in runs.approvals(conn, run.id))


def _by_this_policy(conn: Connection, run: Run, new: Rules) -> bool:
    """Has another process graded it by this file already?"""
    last = next((entry for entry in reversed(audit.entries(conn, run.id)) if entry.event in BEGINS), None)
    return last is not None and last.event == Event.REGRADED and last.data.get("policy") == new.digest


def _before_it_runs(conn: Connection, deps: Deps, run: Run, found: Graded, was: Verdict, new: Rules, *, void: bool) -> Event | None:
    now = found.verdict
    if now.denied:
        return _refuse(conn, deps, run, [str(fault) for fault in now.denied], new)
    if _needs(was) == _needs(now) and not void:
        return None
    facts = {"policy": new.digest, "revision_was": run.revision, "quorum": now.quorum, "quorum_was": was.quorum}
    for_review(conn, deps, run, found, author=PULLCORD, event=Event.REGRADED, facts=facts, releases=False)
    return Event.REGRADED


def _needs(verdict: Verdict) -> tuple[Any, ...]:
    """What people would have to decide differently about."""
    return verdict.level, verdict.quorum, [(grade.step, grade.level, grade.mode) for grade in verdict.grades]


def _refuse(conn: Connection, deps: Deps, run: Run, faults: list[str], new: Rules) -> Event:
    data = {"faults": faults, "deadline": None, "policy": new.digest, "revision": run.revision}
    note = NewPost(run=run.id, card="note", key=f"{run.id}:note.denied", channel=run.channel, data={"kind": "denied"})
    tell = [note, *audit_post(deps.audit_place, run.id, Event.PLAN_REFUSED)]
    door.change(conn, run.id, Event.PLAN_REFUSED, actor=PULLCORD, at=deps.now(), data=data, tell=tell)
    timers.arm(conn, run.id, [])
    return Event.PLAN_REFUSED


def _of_the_rest(conn: Connection, deps: Deps, run: Run, found: Graded, was: Verdict, new: Rules, *, void: bool) -> Event | None:
    done = [state.id for state in runs.steps(conn, run.id) if state.status not in OPEN_TO_CHANGE]
    if faults := [str(fault) for fault in found.verdict.denied if fault.step not in done]:
        return _give_back(conn, deps, run, faults, new)
    proposal = next(one for one in runs.revisions(conn, run.id) if one.revision == run.proposed)
    before, after = (_of_rest(conn, deps, run, _under(proposal, verdict), done) for verdict in (was, found.verdict))
    if (before == after and not void) or not after[0]:  # what would have to be asked no more goes on being asked: a reload lets nothing run
        return None
    of_the_rest(conn, deps, run, found, author=PULLCORD, actor=PULLCORD, regraded={"policy": new.digest, "revision_was": run.proposed})
    return Event.REGRADED


def _of_rest(conn: Connection, deps: Deps, run: Run, new: Revision, done: Collection[StepId]) -> tuple[Any, ...]:
    """Which steps people are asked about, how risky each of them is, and all of them together."""
    must = asked(standing(conn, run), new, deps.tools.catalogue, done=done)
    return must, level_of(new, must), [(new.grades[step].level, new.grades[step].mode) for step in must]


def _under(revision: Revision, verdict: Verdict) -> Revision:
    return revision.model_copy(update={"risk": verdict.level, "grades": {grade.step: grade for grade in verdict.grades}})


def _give_back(conn: Connection, deps: Deps, run: Run, faults: list[str], new: Rules) -> Event:
    """The run stays where it stands; its thread says why the new rest is no more, and what can be said instead."""
    told = review_posts(deps, run, run.revision, card="redirect")[:1]
    told = [post.model_copy(update={"key": f"{post.key}.failed.{run.version}", "data": {"failed": run.version}}) for post in told]
    data = {"faults": faults, "deadline": None, "policy": new.digest}
    tell = [*told, *audit_post(deps.audit_place, run.id, Event.REDIRECT_FAILED)]
    door.change(conn, run.id, Event.REDIRECT_FAILED, actor=PULLCORD, at=deps.now(), data=data, tell=tell)
    timers.arm(conn, run.id, [])
    return Event.REDIRECT_FAILED


def _record(conn: Connection, deps: Deps, actor: str, file: str, done: Reloaded) -> None:
    """The one entry about the whole bot; every open card says who may decide now."""
    data = {"file": file, "before": done.before, "after": done.after, "waiting": done.waiting}
    _tell(conn, deps, Event.RELOADED, actor, {**data, "regraded": done.regraded, "denied": done.denied})
    posts.redraw(conn, [run.id for run in runs.open_runs(conn)])


def _tell(conn: Connection, deps: Deps, event: Event, actor: str, data: dict[str, Any]) -> None:
    tell = audit_post(deps.audit_place, audit.NO_RUN, event)
    door.note(conn, audit.NO_RUN, event, actor=actor, at=deps.now(), data=data, tell=tell)
