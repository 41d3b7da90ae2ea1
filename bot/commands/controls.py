"""The cord: pause, stop, resume, and everything else by which a person lets a held run go on.

Anyone in the channel may brake; letting go is narrower (the requester and the approvers). Each command is one change through the door:
once it has returned, no further step starts (P4), because starting a step is a compare-and-set on the same row.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from bot.core import policy
from bot.core.ids import StepId
from bot.core.plan import Step, fingerprint, ready
from bot.core.rest import OPEN_TO_CHANGE
from bot.core.risk import Level
from bot.core.run import Event, Run, RunStatus, StepStatus
from bot.core.snapshot import Observation
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person, move, must_hold
from bot.store import door, history, runs
from bot.tools.masks import redact

Guard = Callable[[Run], str | None]


async def pause(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """No further step starts; what runs finishes. Raises `Refused` when there is nothing to pause."""
    return await _change(deps, run_id, Event.PAUSE_ASKED, who=who, did="pause", guard=_brakes(deps, who))


async def stop(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """No further step starts; what runs is cancelled and accounted for. Before anything ran, the plan is cancelled instead."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        early = run.status in (RunStatus.PLANNING, RunStatus.IN_REVIEW)
        may = _decides(deps, who)(run) if early else _brakes(deps, who)(run)
        if may:
            raise Refused(may, run=run_id, did="stop")
        event = Event.CANCELLED if early else Event.STOP_ASKED
        data = {"reason": "stopped", "deadline": None} if early else {"deadline": None}
        if not early:
            history.stepped_in(conn, run_id, _at_hand(conn, run), how=event, at=deps.now())
        return move(conn, deps, run, event, who=who, did="stop", data=data)

    return await by_person(deps, work)


async def resume(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """A paused (or pausing) run goes on."""
    return await _change(deps, run_id, Event.RESUMED, who=who, did="resume", guard=_decides(deps, who))


async def proceed(deps: Deps, run_id: str, step: str | None, *, who: policy.Member) -> Run:
    """Go on past the breakpoint (or other planned hold) at which the run stands."""
    return await _let_go(deps, run_id, Event.CONTINUED, step, who=who, did="continue", passes=step)


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
    return await _let_go(
        deps, run_id, Event.HAPPENED, step, who=who, did="settle", change=change, approver=True, facts={"note": note}, tries=tries
    )


async def may_settle(deps: Deps, run_id: str, step: str, *, who: policy.Member) -> None:
    """Raise what `happened` would raise now, so that nobody is asked for words that could only be turned down."""
    run = await deps.store.read(lambda conn: runs.get(conn, run_id))
    _must_let_go(deps, run, Event.HAPPENED, step, who=who, did="settle", approver=True)


async def not_happened(deps: Deps, run_id: str, step: str, *, who: policy.Member, tries: int | None = None) -> Run:
    """The step in doubt took no effect; it may run (again). An answer to an earlier doubt settles no later one (P6)."""
    change = door.StepChange(id=StepId(step))
    return await _let_go(deps, run_id, Event.NOT_HAPPENED, step, who=who, did="settle", change=change, approver=True, tries=tries)


async def set_breakpoint(deps: Deps, run_id: str, step: str, *, who: policy.Member) -> Run:
    """Pause before that step, if it has not started. Makes no new revision: a breakpoint changes nothing that was approved."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if no := _brakes(deps, who)(run):
            raise Refused(no, run=run_id, did="breakpoint")
        state = runs.step(conn, run_id, step)
        if state is None or state.status not in OPEN_TO_CHANGE:
            raise Refused("step_started", run=run_id, step=step)
        data = {"breakpoints": tuple(dict.fromkeys((*run.breakpoints, StepId(step)))), "step": step}
        planned = runs.revision(conn, run_id, run.revision)[0].steps
        history.stepped_in(conn, run_id, [one for one in planned if one.id == step], how=Event.BREAKPOINT_SET, at=deps.now())
        return move(conn, deps, run, Event.BREAKPOINT_SET, who=who, did="breakpoint", data=data)

    return await by_person(deps, work)


def _brakes(deps: Deps, who: policy.Member) -> Guard:
    return lambda run: policy.may_brake(deps.policy, who, requester=run.requester)


def _decides(deps: Deps, who: policy.Member) -> Guard:
    return lambda run: policy.may_decide(deps.policy, who, requester=run.requester)


async def _let_go(
    deps: Deps,
    run_id: str,
    event: Event,
    step: str | None,
    *,
    who: policy.Member,
    did: str,
    passes: str | None = None,
    change: door.StepChange | None = None,
    approver: bool = False,
    facts: dict[str, Any] | None = None,
    tries: int | None = None,
) -> Run:
    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_let_go(deps, run, event, step, who=who, did=did, approver=approver)
        if tries is not None and any(state.id == step and state.attempt != tries for state in runs.steps(conn, run_id)):
            raise Refused("moved_on", run=run_id, step=step, held=step, did=did)
        data = {"step": step, **({"passes": passes} if passes else {}), **(facts or {})}
        return move(conn, deps, run, event, who=who, did=did, data=data, step=change)

    return await by_person(deps, work)


def _must_let_go(deps: Deps, run: Run, event: Event, step: str | None, *, who: policy.Member, did: str, approver: bool) -> None:
    """Raise the refusal that fits when this person may not let this hold go, or the run does not stand there."""
    if approver:
        no = policy.may_approve(deps.policy, who, requester=run.requester, level=Level.LOW)
    else:
        no = policy.may_decide(deps.policy, who, requester=run.requester)
    if no:
        raise Refused(no, run=run.id, did=did)
    must_hold(run, step, event, did=did)


async def _change(deps: Deps, run_id: str, event: Event, *, who: policy.Member, did: str, guard: Guard) -> Run:
    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if no := guard(run):
            raise Refused(no, run=run_id, did=did)
        if event is Event.PAUSE_ASKED:
            history.stepped_in(conn, run_id, _at_hand(conn, run), how=event, at=deps.now())
        return move(conn, deps, run, event, who=who, did=did, data={})

    return await by_person(deps, work)


def _at_hand(conn: Connection, run: Run) -> list[Step]:
    """The steps at which the cord was pulled: what comes next, or the one that the run is held at."""
    if not run.revision:
        return []
    plan = runs.revision(conn, run.id, run.revision)[0]
    states = runs.statuses(conn, run.id)
    finished = [step for step, status in states.items() if status is StepStatus.SUCCEEDED]
    following = ready(plan, finished=finished, touched=[step for step, status in states.items() if status is not StepStatus.PENDING])
    return [step for step in plan.steps if step.id == run.held_step] or following
