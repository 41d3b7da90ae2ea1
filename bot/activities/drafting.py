"""From an ask to a plan that may be shown: planner → validation → grading → review, or a clear end.

A reply that does not hold goes back to the planner once, as facts; the second fault ends the run with both raw replies kept. Every round is
stored before the next begins, so a crash in between costs at most the round that was out. The same serves when reviewers ask for changes;
then a planner that finds nothing leaves the revision before as it was.
"""

from datetime import timedelta

from sqlalchemy import Connection

from bot import facts, runs, timing
from bot.activities.rounds import as_attempt, as_draft, attempts_since, cannot, round_of, said
from bot.core import rest, waits
from bot.core.audit import audit_post
from bot.core.drafts import Brief, Draft
from bot.core.facts import NOTHING, Facts
from bot.core.ids import PULLCORD
from bot.core.plan import Plan
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import NewPost, Snapshot
from bot.core.validation import validate
from bot.deps import Deps
from bot.proposing import Graded, for_review, graded, store
from bot.store import door
from bot.store import runs as rows

QUESTION_WAIT = timedelta(hours=24)


async def draft(deps: Deps, run_id: str) -> None:
    """Plan until there is a plan, a question, or an end. Returns at once if the run is not being planned."""
    snapshot = await runs.snapshot(deps, run_id, entries=True)
    if snapshot.run.status is not RunStatus.PLANNING or snapshot.run.reason is not None:
        return
    mine = attempts_since(snapshot, Event.CHANGES_ASKED)
    done = sum(attempt.question is None for attempt in mine)
    brief = await _brief(deps, snapshot)
    earlier = tuple(as_draft(attempt) for attempt in mine)
    most = max(deps.policy.limits.rounds, done + 1)  # a limit that was lowered meanwhile still leaves the round that ends it
    for number in range(done + 1, most + 1):
        reply = await round_of(deps, brief.model_copy(update={"earlier": earlier}))
        reply = _as_whole_plan(deps, snapshot, reply)
        last = number >= most or reply.planner == "offline" or cannot(reply)
        known = await facts.of_run(deps, reply.plan, run_id) if reply.plan is not None and not reply.faults else NOTHING
        if await _record(deps, snapshot, reply, known, number=len(snapshot.attempts) + len(earlier) - len(mine) + 1, last=last):
            return
        earlier = (*earlier, reply)


async def _brief(deps: Deps, snapshot: Snapshot) -> Brief:
    """What the planner is told; of the run that this one follows, what it found and what people said no to."""
    follows = snapshot.entries[0].data.get("follows") if snapshot.entries else None
    earlier = await runs.snapshot(deps, follows, entries=True) if follows else None
    return Brief(
        ask=snapshot.run.ask,
        catalogue=deps.tools.catalogue,
        refusals=_refusals(earlier) if earlier else (),
        answers=said(snapshot, Event.QUESTION_ANSWERED, "answer"),
        now=deps.now().isoformat(timespec="minutes"),
        before=earlier.answer.text if earlier and earlier.answer else "",
        current=snapshot.plan,
        changes=said(snapshot, Event.CHANGES_ASKED, "words"),
        secrets=tuple(sorted(deps.secrets.names(snapshot.run.id))),
    )


def _refusals(earlier: Snapshot) -> tuple[str, ...]:
    """Why its plan was cancelled, and which of its calls were refused."""
    cancelled = [reason for reason in said(earlier, Event.CANCELLED, "reason") if reason]
    return (*cancelled, *(call.says() for call in rest.refused_calls(earlier.entries)))


def _as_whole_plan(deps: Deps, snapshot: Snapshot, reply: Draft) -> Draft:
    """The reply with every number on its steps (those of the revision before stay), and with all that is wrong with it written down."""
    if reply.plan is None or reply.faults:
        return reply
    used = rest.used_numbers(snapshot.revisions)
    drawn = deps.secrets.typed_plan(reply.plan, snapshot.run.id)
    plan = rest.whole(snapshot.plan or drawn, drawn, {}, used_numbers=used).model_copy(update={"goal": drawn.goal})
    names = deps.secrets.names(snapshot.run.id)
    faults = tuple(validate(plan, deps.tools.catalogue, max_steps=deps.policy.limits.steps, secrets=names))
    return reply.model_copy(update={"plan": plan, "faults": faults})


async def _record(deps: Deps, snapshot: Snapshot, reply: Draft, known: Facts, *, number: int, last: bool) -> bool:
    """Store the round and, in the same transaction, what follows from it. True if planning is over (or waits for a person)."""
    run_id = snapshot.run.id
    attempt = as_attempt(reply, number)

    def work(conn: Connection) -> bool:
        run = rows.get(conn, run_id)
        if run.status is not RunStatus.PLANNING:
            return True  # cancelled while the planner was thinking: its reply decides nothing any more
        rows.add_attempt(conn, run_id, attempt, deps.now())
        data = {"round": number, "ok": attempt.ok, "faults": list(attempt.faults), "planner": reply.planner}
        run = door.change(conn, run_id, Event.ATTEMPTED, actor=PULLCORD, at=deps.now(), data=data)
        if attempt.ok and reply.plan is not None:
            _propose(conn, deps, run, reply.plan, known)
            return True
        if reply.question is not None:
            _ask_back(conn, deps, run, reply)
            return True
        if last:
            _give_back(conn, deps, run, list(attempt.faults))
        return last

    return await deps.store.write(work)


def _ask_back(conn: Connection, deps: Deps, run: Run, reply: Draft) -> None:
    question = reply.question.says if reply.question else ""
    note = NewPost(run=run.id, card="note", key=f"{run.id}:note.question.{run.version}", channel=run.channel, data={"kind": "question"})
    data = {"question": question, "deadline": deps.now() + QUESTION_WAIT}
    door.change(conn, run.id, Event.QUESTION_ASKED, actor=PULLCORD, at=deps.now(), data=data, tell=[note])


def _propose(conn: Connection, deps: Deps, run: Run, plan: Plan, known: Facts) -> None:
    """Grade the plan and put it where policy says: to people, into the pool (it only reads), or away."""
    found = graded(deps, plan, known)
    faults = [str(fault) for fault in found.verdict.denied]
    if faults and run.revision:
        _give_back(conn, deps, run, faults)
    elif faults:
        _refuse(conn, deps, run, found, faults)
    else:
        for_review(conn, deps, run, found, author=PULLCORD, event=Event.PLANNED, facts={})


def _refuse(conn: Connection, deps: Deps, run: Run, found: Graded, faults: list[str]) -> None:
    new = store(conn, run, found, author=PULLCORD, at=deps.now(), adopt=True)
    data = {"revision": new.revision, "digest": new.digest, "risk": new.risk, "faults": faults}
    tell = audit_post(deps.audit_place, run.id, Event.PLAN_REFUSED)
    door.change(conn, run.id, Event.PLAN_REFUSED, actor=PULLCORD, at=deps.now(), data=data, tell=tell)


def _give_back(conn: Connection, deps: Deps, run: Run, faults: list[str]) -> None:
    """No plan was found: the run fails, unless there is a revision that people can decide on as before."""
    if not run.revision:
        door.change(conn, run.id, Event.PLAN_FAILED, actor=PULLCORD, at=deps.now(), data={"faults": faults})
        return
    wait = deps.policy.timers[run.risk].expire if run.risk else QUESTION_WAIT
    data = {"faults": faults, "deadline": deps.now() + wait}
    run = door.change(conn, run.id, Event.PLAN_KEPT, actor=PULLCORD, at=deps.now(), data=data)
    if run.risk is not None:
        timing.arm(conn, run, wait=waits.of_review(run.revision), level=run.risk, at=deps.now(), policy=deps.policy)
