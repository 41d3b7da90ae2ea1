"""Planning the rest of a live run again, once nothing of it runs any more: what was said → planner → validation → grading → people.

Only steps that have not started can differ (`core.rest`). What is said while the planner works is not lost: its reply is dropped then, and
the planner is told everything again. Each round is stored before the next begins. Where no rest is found the run stays where it stands.
"""

from sqlalchemy import Connection

from bot import facts, runs
from bot.activities.briefing import brief_of, states_of
from bot.activities.rounds import as_attempt, as_draft, attempts_since, cannot, round_of
from bot.changing import is_being_planned
from bot.core import rest
from bot.core.comparison import compare
from bot.core.drafts import Draft, Fault
from bot.core.facts import NOTHING, Facts
from bot.core.ids import PULLCORD
from bot.core.run import Event, Hold, Run
from bot.core.snapshot import Entry, Snapshot
from bot.core.validation import validate
from bot.deps import Deps
from bot.proposing import Graded, graded, of_the_rest, review_posts
from bot.store import audit, cord, door
from bot.store import runs as rows


async def redraft(deps: Deps, run_id: str) -> None:
    """Plan the rest until there is a revision, or clearly none. Returns at once if that is not what the run waits for."""
    snapshot = await runs.snapshot(deps, run_id, entries=True)
    if not is_being_planned(snapshot.run) or snapshot.plan is None:
        return
    mine = attempts_since(snapshot, Event.REDIRECT_ASKED)
    brief = brief_of(deps, snapshot)
    earlier = tuple(as_draft(attempt) for attempt in mine)
    most = max(deps.policy.limits.rounds, len(mine) + 1)
    for number in range(len(mine) + 1, most + 1):
        reply = await round_of(deps, brief.model_copy(update={"earlier": earlier}))
        reply, known = await _as_whole_plan(deps, snapshot, reply)
        last = number >= most or reply.planner == "offline" or reply.question is not None or cannot(reply)
        if await _record(deps, snapshot, reply, known, number=len(snapshot.attempts) + len(earlier) - len(mine) + 1, last=last):
            return
        earlier = (*earlier, reply)


async def _as_whole_plan(deps: Deps, snapshot: Snapshot, reply: Draft) -> tuple[Draft, Facts]:
    """The drafted rest behind the steps that are fixed, with all that is wrong with it written down; and what it was graded with."""
    if reply.question is not None and not reply.faults:
        return reply.model_copy(update={"faults": (Fault(says=reply.question.says, fix="reply with what is wanted"),)}), NOTHING
    if reply.plan is None or reply.faults or snapshot.plan is None:
        return reply, NOTHING
    states = states_of(snapshot)
    used = rest.used_numbers(snapshot.revisions, snapshot.steps)
    drawn = deps.secrets.typed_plan(reply.plan, snapshot.run.id)
    plan = rest.whole(snapshot.plan, drawn, states, used_numbers=used)
    faults = rest.faults(snapshot.plan, drawn, states)
    limits, names = deps.policy.limits, deps.secrets.names(snapshot.run.id)
    faults += validate(plan, deps.tools.catalogue, max_steps=limits.steps, done=rest.fixed(plan, states), secrets=names)
    faults += rest.refused_again(plan, rest.refused_calls(snapshot.entries), states)
    known = await facts.of_run(deps, plan, snapshot.run.id)
    faults += [fault for fault in graded(deps, plan, known).verdict.denied if fault.step not in rest.fixed(plan, states)]
    return reply.model_copy(update={"plan": plan, "faults": tuple(faults)}), known


async def _record(deps: Deps, snapshot: Snapshot, reply: Draft, known: Facts, *, number: int, last: bool) -> bool:
    """Store the round and what follows from it. True if this is over: adopted, proposed, impossible, or overtaken by another word."""
    run_id = snapshot.run.id
    attempt = as_attempt(reply, number).model_copy(update={"ok": reply.plan is not None and not reply.faults})

    def work(conn: Connection) -> bool:
        run = rows.get(conn, run_id)
        if not is_being_planned(run) or _words(audit.entries(conn, run_id)) != _words(snapshot.entries):
            return True  # withdrawn, stopped, or something more was said: the next look plans with all of it
        rows.add_attempt(conn, run_id, attempt, deps.now())
        data = {"round": number, "ok": attempt.ok, "faults": list(attempt.faults), "planner": reply.planner}
        run = door.change(conn, run_id, Event.ATTEMPTED, actor=PULLCORD, at=deps.now(), data=data)
        if attempt.ok and reply.plan is not None:
            _put_forward(conn, deps, _held_by_freeze(conn, deps, run), snapshot, graded(deps, reply.plan, known))
            return True
        if last:
            _fail(conn, deps, run, list(attempt.faults) or ["no plan for this was found"])
        return last

    return await deps.store.write(work)


def _held_by_freeze(conn: Connection, deps: Deps, run: Run) -> Run:
    """While an admin holds everything, a rest that takes over at once waits for the thaw, like any run that would go on."""
    now = cord.frozen(conn)
    if now is None or run.reason is not Hold.REDIRECT:
        return run
    return door.change(conn, run.id, Event.FROZEN, actor=now.by, at=deps.now(), data={"why": now.why})


def _words(entries: list[Entry] | tuple[Entry, ...]) -> int:
    """How often something was said that changes the rest."""
    return sum(entry.event == Event.REDIRECT_ASKED for entry in entries)


def _put_forward(conn: Connection, deps: Deps, run: Run, snapshot: Snapshot, found: Graded) -> None:
    """The new rest goes to people, or into force; one that changes nothing is as good as never mind."""
    asker = rest.opened(snapshot.entries).replies
    actor = asker[-1].actor if asker else PULLCORD
    plan = found.plan
    stands = snapshot.plan or plan
    if compare(stands, plan).is_same and all(step.breakpoint == stands.step(step.id).breakpoint for step in plan.steps):
        data = {"why": "it is the plan that stands", "deadline": None}
        door.change(conn, run.id, Event.WITHDRAWN, actor=PULLCORD, at=deps.now(), data=data)
        return
    of_the_rest(conn, deps, run, found, author=PULLCORD, actor=actor)


def _fail(conn: Connection, deps: Deps, run: Run, faults: list[str]) -> None:
    """No rest was found: the run stays where it stands, and its thread says why and what can be said instead."""
    posts = review_posts(deps, run, run.revision, card="redirect")
    posts = [post.model_copy(update={"key": f"{post.key}.failed.{run.version}", "data": {"failed": run.version}}) for post in posts[:1]]
    data = {"faults": faults, "deadline": None}
    door.change(conn, run.id, Event.REDIRECT_FAILED, actor=PULLCORD, at=deps.now(), data=data, tell=posts)
