"""The cord: pause, stop, resume, and everything else by which a person lets a held run go on.

Anyone in the channel may brake; letting go is narrower (the requester and the approvers). Each command is one change through the door:
once it has returned, no further step starts (P4), because starting a step is a compare-and-set on the same row.
"""

from typing import Any

from sqlalchemy import Connection

from bot import guard
from bot.core import budget, policy
from bot.core.ids import StepId
from bot.core.plan import Step, fingerprint, ready
from bot.core.rest import OPEN_TO_CHANGE
from bot.core.run import Event, Run, StepStatus
from bot.core.snapshot import Observation
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person, move
from bot.store import audit, door, history, runs
from bot.tools.masks import redact


async def pause(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """No further step starts; what runs finishes. Raises `Refused` when there is nothing to pause."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_brake(deps, run, who, did="pause")
        history.stepped_in(conn, run_id, _at_hand(conn, run), how=Event.PAUSE_ASKED, at=deps.now())
        return move(conn, deps, run, Event.PAUSE_ASKED, who=who, did="pause", data={})

    return await by_person(deps, work)


async def stop(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """No further step starts; what runs is cancelled and accounted for. Before anything ran, the plan is cancelled instead."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        early = run.status in guard.EARLY
        guard.must_stop(deps, run, who)
        event = Event.CANCELLED if early else Event.STOP_ASKED
        data = {"reason": "stopped", "deadline": None} if early else {"deadline": None}
        if not early:
            history.stepped_in(conn, run_id, _at_hand(conn, run), how=event, at=deps.now())
        return move(conn, deps, run, event, who=who, did="stop", data=data)

    return await by_person(deps, work)


async def resume(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """A paused (or pausing) run goes on."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_resume(deps, run, who)
        return move(conn, deps, run, Event.RESUMED, who=who, did="resume", data={})

    return await by_person(deps, work)


async def proceed(deps: Deps, run_id: str, step: str | None, *, who: policy.Member) -> Run:
    """Go on past the hold that the policy or a person planned: a breakpoint, so many steps in a row, a budget that is used up.

    More of a budget is granted once of each kind: then `Refused("budget_spent")`.
    """
    return await _let_go(deps, run_id, Event.CONTINUED, step, who=who, did="continue")


async def retry(deps: Deps, run_id: str, step: str, *, who: policy.Member, tries: int | None = None) -> Run:
    """Try the failed step again. `tries`: the try that the click is about; a later failure is another question."""
    change = door.StepChange(id=StepId(step))
    return await _let_go(deps, run_id, Event.RETRIED, step, who=who, did="retry", change=change, tries=tries)


async def skip(deps: Deps, run_id: str, step: str, *, who: policy.Member, tries: int | None = None) -> Run:
    """Leave the failed step out; what depends on it is left out too."""
    change = door.StepChange(id=StepId(step))
    return await _let_go(deps, run_id, Event.SKIPPED_BY_PERSON, step, who=who, did="skip", change=change, tries=tries)


async def happened(deps: Deps, run_id: str, step: str, *, who: policy.Member, note: str, tries: int | None = None) -> Run:
    """The step in doubt took effect; the note is its observation, masked like any other. `tries`: the doubt that the click is about."""
    note = redact(note)
    observation = Observation(value={"note": note}, says=note[:60] or "settled by a person", sha256=fingerprint({"note": note}))
    change = door.StepChange(id=StepId(step), observation=observation, finished_at=deps.now())
    return await _let_go(deps, run_id, Event.HAPPENED, step, who=who, did="settle", change=change, facts={"note": note}, tries=tries)


async def may_settle(deps: Deps, run_id: str, step: str, *, who: policy.Member) -> None:
    """Raise what `happened` would raise now, so that nobody is asked for words that could only be turned down."""
    await deps.store.read(lambda conn: guard.must_settle(conn, deps, runs.get(conn, run_id), Event.HAPPENED, step, who))


async def not_happened(deps: Deps, run_id: str, step: str, *, who: policy.Member, tries: int | None = None) -> Run:
    """The step in doubt took no effect; it may run (again). An answer to an earlier doubt settles no later one (P6)."""
    change = door.StepChange(id=StepId(step))
    return await _let_go(deps, run_id, Event.NOT_HAPPENED, step, who=who, did="settle", change=change, tries=tries)


async def set_breakpoint(deps: Deps, run_id: str, step: str, *, who: policy.Member) -> Run:
    """Pause before that step, if it has not started. Makes no new revision: a breakpoint changes nothing that was approved."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_brake(deps, run, who, did="breakpoint")
        state = runs.step(conn, run_id, step)
        if state is None or state.status not in OPEN_TO_CHANGE:
            raise Refused("step_started", run=run_id, step=step)
        data = {"breakpoints": tuple(dict.fromkeys((*run.breakpoints, StepId(step)))), "step": step}
        planned = runs.revision(conn, run_id, run.revision)[0].steps
        history.stepped_in(conn, run_id, [one for one in planned if one.id == step], how=Event.BREAKPOINT_SET, at=deps.now())
        return move(conn, deps, run, Event.BREAKPOINT_SET, who=who, did="breakpoint", data=data)

    return await by_person(deps, work)


async def _let_go(
    deps: Deps,
    run_id: str,
    event: Event,
    step: str | None,
    *,
    who: policy.Member,
    did: str,
    change: door.StepChange | None = None,
    facts: dict[str, Any] | None = None,
    tries: int | None = None,
) -> Run:
    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if did == "settle":
            guard.must_settle(conn, deps, run, event, step or "", who, tries=tries)
        else:
            guard.must_let_go(conn, deps, run, event, step, who, did=did, tries=tries)
        passes = _passes(conn, run, step) if event is Event.CONTINUED else None
        data = {"step": step, **({"passes": passes} if passes else {}), **(facts or {})}
        return move(conn, deps, run, event, who=who, did=did, data=data, step=change)

    return await by_person(deps, work)


def _passes(conn: Connection, run: Run, step: str | None) -> str | None:
    """What is let go for good. Raises `Refused("budget_spent")` where that was granted before."""
    record = audit.entries(conn, run.id)
    if budget.is_final(run, kind := budget.used_up(run, record)):
        raise Refused("budget_spent", run=run.id, step=step, what=kind, did="continue")
    return budget.passes(run, record)


def _at_hand(conn: Connection, run: Run) -> list[Step]:
    """The steps at which the cord was pulled: what comes next, or the one that the run is held at."""
    if not run.revision:
        return []
    plan = runs.revision(conn, run.id, run.revision)[0]
    states = runs.statuses(conn, run.id)
    finished = [step for step, status in states.items() if status is StepStatus.SUCCEEDED]
    following = ready(plan, finished=finished, touched=[step for step, status in states.items() if status is not StepStatus.PENDING])
    return [step for step in plan.steps if step.id == run.held_step] or following
