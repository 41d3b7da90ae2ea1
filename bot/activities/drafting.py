"""From an ask to a plan that may be shown: planner → validation → grading → review, or a clear end.

A reply that does not hold goes back to the planner once, as facts; the second fault ends the run with both raw replies kept. Every round is
stored before the next begins, so a crash in between costs at most the round that was out.
"""

from datetime import timedelta

import structlog
from sqlalchemy import Connection

from bot import runs
from bot.core import policy
from bot.core.audit import audit_post
from bot.core.drafts import Brief, Draft, Fault
from bot.core.plan import Plan, digest, numbered
from bot.core.run import Event, RunStatus
from bot.core.snapshot import Attempt, NewPost, Snapshot
from bot.core.validation import validate
from bot.deps import Deps
from bot.errors import ModelFault
from bot.store import door
from bot.store import runs as rows

log = structlog.get_logger()

QUESTION_WAIT = timedelta(hours=24)


async def draft(deps: Deps, run_id: str) -> None:
    """Plan until there is a plan, a question, or an end. Returns at once if the run is not being planned."""
    snapshot = await runs.snapshot(deps, run_id, entries=True)
    if snapshot.run.status is not RunStatus.PLANNING or snapshot.run.reason is not None:
        return
    rounds = [attempt for attempt in snapshot.attempts if attempt.question is None]
    earlier = [_as_draft(attempt) for attempt in snapshot.attempts]
    most = max(deps.policy.limits.rounds, len(rounds) + 1)  # a limit that was lowered meanwhile still leaves the round that ends it
    for number in range(len(rounds) + 1, most + 1):
        reply = await _round(deps, snapshot, tuple(earlier))
        last = number >= most or reply.planner == "offline" or _cannot(reply)
        if await _record(deps, snapshot, reply, number=len(earlier) + 1, last=last):
            return
        earlier.append(reply)


def _cannot(reply: Draft) -> bool:
    """The planner says that the tools cannot do it: asking once more changes nothing."""
    return any(fault.field == "cannot" for fault in reply.faults)


def _as_draft(attempt: Attempt) -> Draft:
    faults = tuple(Fault(says=says) for says in attempt.faults)
    return Draft(raw=attempt.raw, faults=faults, question=attempt.question, planner=attempt.planner)


async def _round(deps: Deps, snapshot: Snapshot, earlier: tuple[Draft, ...]) -> Draft:
    """One reply, with everything that is wrong with it written down."""
    brief = Brief(
        ask=snapshot.run.ask,
        catalogue=deps.tools.catalogue,
        answers=tuple(str(entry.data["answer"]) for entry in snapshot.entries if entry.event == Event.QUESTION_ANSWERED),
        earlier=earlier,
        now=deps.now().isoformat(timespec="minutes"),
    )
    try:
        reply = await deps.planner.draft(brief)
    except ModelFault as fault:
        log.warning("planner_gave_nothing", kind=fault.kind, planner=deps.planner.name)
        spent = {"tokens_in": fault.tokens_in, "tokens_out": fault.tokens_out}
        return Draft(raw=fault.raw, faults=(Fault(says=str(fault)),), planner=deps.planner.name, **spent)
    if reply.plan is None or reply.faults:
        return reply
    plan = numbered(reply.plan)
    faults = tuple(validate(plan, deps.tools.catalogue, max_steps=deps.policy.limits.steps))
    return reply.model_copy(update={"plan": plan, "faults": faults})


async def _record(deps: Deps, snapshot: Snapshot, reply: Draft, *, number: int, last: bool) -> bool:
    """Store the round and, in the same transaction, what follows from it. True if planning is over (or waits for a person)."""
    run_id = snapshot.run.id
    good = reply.plan is not None and not reply.faults and bool(reply.plan.steps)
    attempt = Attempt(
        round=number,
        ok=good,
        raw=reply.raw,
        faults=tuple(str(fault) for fault in reply.faults),
        parts=reply.parts,
        question=reply.question,
        suggestion=reply.suggestion,
        planner=reply.planner,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
    )

    def work(conn: Connection) -> bool:
        if rows.get(conn, run_id).status is not RunStatus.PLANNING:
            return True  # cancelled while the planner was thinking: its reply decides nothing any more
        rows.add_attempt(conn, run_id, attempt, deps.now())
        data = {"round": number, "ok": good, "faults": list(attempt.faults), "planner": reply.planner}
        door.change(conn, run_id, Event.ATTEMPTED, actor="pullcord", at=deps.now(), data=data)
        if good and reply.plan is not None:
            _propose(conn, deps, snapshot, reply.plan)
            return True
        if reply.question is not None:
            _ask_back(conn, deps, snapshot, reply)
            return True
        if last:
            faults = {"faults": list(attempt.faults)}
            door.change(conn, run_id, Event.PLAN_FAILED, actor="pullcord", at=deps.now(), data=faults)
        return last

    return await deps.store.write(work)


def _ask_back(conn: Connection, deps: Deps, snapshot: Snapshot, reply: Draft) -> None:
    run = snapshot.run
    question = reply.question.says if reply.question else ""
    note = NewPost(run=run.id, card="note", key=f"{run.id}:note.question.{run.version}", channel=run.channel, data={"kind": "question"})
    data = {"question": question, "deadline": deps.now() + QUESTION_WAIT}
    door.change(conn, run.id, Event.QUESTION_ASKED, actor="pullcord", at=deps.now(), data=data, tell=[note])


def _propose(conn: Connection, deps: Deps, snapshot: Snapshot, plan: Plan) -> None:
    """Grade the plan and put it where policy says: to people, into the pool (it only reads), or away."""
    run = snapshot.run
    at = deps.now()
    verdict = policy.evaluate(plan, deps.tools.catalogue, deps.policy)
    called = {step.tool for step in plan.steps}
    tools = {name: value for name, value in deps.tools.digests().items() if name in called}
    fingerprint = digest(plan, tools)
    revision = run.revision + 1
    rows.add_revision(
        conn,
        run.id,
        revision=revision,
        plan=plan,
        digest=fingerprint,
        risk=verdict.level,
        grades=verdict.grades,
        tool_digests=tools,
        author="pullcord",
        at=at,
    )
    data = {"revision": revision, "digest": fingerprint, "risk": verdict.level}
    if verdict.denied:
        faults = [str(fault) for fault in verdict.denied]
        tell = audit_post(deps.audit_place, run.id, Event.PLAN_REFUSED)
        door.change(conn, run.id, Event.PLAN_REFUSED, actor="pullcord", at=at, data={**data, "faults": faults}, tell=tell)
    elif verdict.releases:
        tell = audit_post(deps.audit_place, run.id, Event.RELEASED)
        door.change(conn, run.id, Event.RELEASED, actor="pullcord", at=at, data={**data, "approved": fingerprint}, tell=tell)
    else:
        data["deadline"] = at + verdict.expires_after
        tell = review_posts(deps, run.id, run.channel, revision)
        door.change(conn, run.id, Event.PLANNED, actor="pullcord", at=at, data=data, tell=tell)


def review_posts(deps: Deps, run_id: str, channel: str, revision: int) -> list[NewPost]:
    """The review card in every place that policy names: the run's thread, and channels."""
    key, data = f"{run_id}:review.{revision}", {"revision": revision}
    return [
        NewPost(run=run_id, card="review", key=key, channel=channel, data=data)
        if place == "thread"
        else NewPost(run=run_id, card="review", key=f"{key}@{place}", channel=place, in_thread=False, data=data)
        for place in deps.review_places or ("thread",)
    ]
