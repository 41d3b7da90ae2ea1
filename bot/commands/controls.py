"""The cord: pause, stop, resume, and everything else by which a person lets a held run go on.

Anyone in the channel may brake; letting go is narrower (the requester and the approvers). Each command is one change through the door:
once it has returned, no further step starts (P4), because starting a step is a compare-and-set on the same row.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot.core import policy
from bot.core.audit import audit_post
from bot.core.catalogue import Effect
from bot.core.completeness import fits_card
from bot.core.ids import Digest, StepId, short
from bot.core.plan import fingerprint
from bot.core.risk import Level
from bot.core.run import Event, Hold, NotAllowed, Run, RunStatus
from bot.core.snapshot import Approval, Observation
from bot.deps import Deps
from bot.errors import Refused
from bot.store import door, runs
from bot.tools.masks import redact, redacted

Guard = Callable[[Run], str | None]


async def pause(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """No further step starts; what runs finishes. Raises `Refused` when there is nothing to pause."""
    return await _change(deps, run_id, Event.PAUSE_ASKED, who=who, did="pause", guard=lambda _: policy.may_brake(deps.policy, who))


async def stop(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """No further step starts; what runs is cancelled and accounted for. Before anything ran, the plan is cancelled instead."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        early = run.status in (RunStatus.PLANNING, RunStatus.IN_REVIEW)
        may = policy.may_decide(deps.policy, who, requester=run.requester) if early else policy.may_brake(deps.policy, who)
        if may:
            raise Refused(may, run=run_id, did="stop")
        event = Event.CANCELLED if early else Event.STOP_ASKED
        data = {"reason": "stopped", "deadline": None} if early else {"deadline": None}
        return _move(conn, deps, run, event, who=who, did="stop", data=data)

    return await deps.store.write(work)


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


async def confirm(
    deps: Deps,
    run_id: str,
    step: str,
    *,
    digest8: str,
    who: policy.Member,
    opened_all: bool = False,
    received_at: datetime | None = None,
) -> Run:
    """Agree to the filled-in arguments whose digest begins with `digest8`; other values would need another confirmation.

    `received_at` (now, if not given) judges expiry, as for an approval (C019).

    `opened_all`: this person has opened every page of the values, which values too long for their card need (P2).
    """
    shown = None if opened_all else await _shown_on_card(deps, run_id, step)
    received_at = received_at or deps.now()

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_hold(run, step, Event.CONFIRMED, did="confirm")
        if run.deadline is not None and received_at > run.deadline:
            raise Refused("expired", run=run_id, step=step, at=run.deadline, did="confirm")
        filled = _filling(conn, run_id, step)
        if not filled.startswith(digest8):
            raise Refused("confirm_void", run=run_id, step=step)
        level = runs.revision(conn, run_id, run.revision)[1][step].level
        given = [a for a in runs.approvals(conn, run_id) if a.kind == "confirm" and a.digest == filled]
        already = {approval.actor for approval in given}
        if no := policy.may_approve(deps.policy, who, requester=run.requester, level=level, already=already):
            raise Refused(no, run=run_id, step=step, did="confirm", risk=level.value)
        if not opened_all and shown != filled:
            raise Refused("open_first", run=run_id, step=step, did="confirm")
        approval = Approval(actor=who.id, revision=run.revision, digest=filled, at=deps.now(), kind="confirm", step=StepId(step))
        runs.add_approval(conn, run_id, approval)
        data = {"step": step, "filling": filled, "passes": f"{step}:{filled[:8]}", "deadline": None}
        change = door.StepChange(id=StepId(step))
        return _move(conn, deps, run, Event.CONFIRMED, who=who, did="confirm", data=data, step=change)

    return await deps.store.write(work)


async def _shown_on_card(deps: Deps, run_id: str, step: str) -> Digest | None:
    """The filling of that step as it is now, if its card shows it in full. Judged masked, as the card shows it."""
    snapshot = await deps.store.read(lambda conn: runs.snapshot(conn, run_id))
    state = next((state for state in snapshot.steps if state.id == step), None)
    if state is None or state.args is None:
        return None
    filled = fingerprint(state.args)
    cards = [post.data for post in snapshot.posts if post.card == "confirm" and post.data["step"] == step]
    card = next((data for data in cards if data["filling"] == short(filled)), {})
    spec = deps.tools.catalogue.get(state.tool)
    seen = redacted({"args": state.args, "preview": card.get("preview") or {}})
    sends = spec is not None and spec.effect is Effect.SEND
    return filled if fits_card(seen["args"], sends=sends, after=seen["preview"].get("after")) else None


async def refuse(deps: Deps, run_id: str, step: str, *, digest8: str, who: policy.Member, reason: str) -> Run:
    """Say no to one step just before it runs: it and what depends on it are left out, the rest goes on (C020)."""
    reason = redact(reason)  # it becomes the step's error, which is stored as it may be shown

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        filled = _must_be_refusable(conn, deps, run, step, digest8, who)
        data = {"step": step, "filling": filled, "reason": reason, "deadline": None}
        change = door.StepChange(id=StepId(step), error=f"refused: {reason}" if reason else "refused")
        return _move(conn, deps, run, Event.CONFIRM_REFUSED, who=who, did="refuse", data=data, step=change)

    return await deps.store.write(work)


async def may_refuse(deps: Deps, run_id: str, step: str, digest8: str, *, who: policy.Member) -> None:
    """Raise what `refuse` would raise now, so that nobody is asked for a reason that could only be turned down."""
    await deps.store.read(lambda conn: _must_be_refusable(conn, deps, runs.get(conn, run_id), step, digest8, who))


def _must_be_refusable(conn: Connection, deps: Deps, run: Run, step: str, digest8: str, who: policy.Member) -> Digest:
    """The digest of the filling that may be refused; raises the refusal that fits when it cannot be."""
    _must_hold(run, step, Event.CONFIRM_REFUSED, did="refuse")
    filled = _filling(conn, run.id, step)
    if not filled.startswith(digest8):
        raise Refused("confirm_void", run=run.id, step=step)
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, run=run.id, step=step, did="refuse")
    return filled


async def set_breakpoint(deps: Deps, run_id: str, step: str, *, who: policy.Member) -> Run:
    """Pause before that step, if it has not started. Makes no new revision: a breakpoint changes nothing that was approved."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if no := policy.may_brake(deps.policy, who):
            raise Refused(no, run=run_id, did="breakpoint")
        state = next((state for state in runs.steps(conn, run_id) if state.id == step), None)
        if state is None or state.started_at is not None:
            raise Refused("step_started", run=run_id, step=step)
        data = {"breakpoints": tuple(dict.fromkeys((*run.breakpoints, StepId(step)))), "step": step}
        return _move(conn, deps, run, Event.BREAKPOINT_SET, who=who, did="breakpoint", data=data)

    return await deps.store.write(work)


def _filling(conn: Connection, run_id: str, step: str) -> Digest:
    state = next((state for state in runs.steps(conn, run_id) if state.id == step), None)
    return fingerprint(state.args if state else None)


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
        return _move(conn, deps, run, event, who=who, did=did, data=data, step=change)

    return await deps.store.write(work)


def _must_let_go(deps: Deps, run: Run, event: Event, step: str | None, *, who: policy.Member, did: str, approver: bool) -> None:
    """Raise the refusal that fits when this person may not let this hold go, or the run does not stand there."""
    if approver:
        no = policy.may_approve(deps.policy, who, requester=run.requester, level=Level.LOW)
    else:
        no = policy.may_decide(deps.policy, who, requester=run.requester)
    if no:
        raise Refused(no, run=run.id, did=did)
    _must_hold(run, step, event, did=did)


def _must_hold(run: Run, step: str | None, event: Event, *, did: str) -> None:
    """The run must stand at that very step: a click on an older card must not let another hold go."""
    if step is not None and run.held_step != step and run.status is RunStatus.PAUSED:
        raise Refused("moved_on", run=run.id, step=step, held=run.held_step, did=did)
    if run.status is not RunStatus.PAUSED:
        raise Refused(_why_not(run, event), run=run.id, status=run.status, did=did)


async def _change(deps: Deps, run_id: str, event: Event, *, who: policy.Member, did: str, guard: Guard) -> Run:
    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if no := guard(run):
            raise Refused(no, run=run_id, did=did)
        return _move(conn, deps, run, event, who=who, did=did, data={})

    return await deps.store.write(work)


def _move(
    conn: Connection,
    deps: Deps,
    run: Run,
    event: Event,
    *,
    who: policy.Member,
    did: str,
    data: dict[str, Any],
    step: door.StepChange | None = None,
) -> Run:
    try:
        tell = audit_post(deps.audit_place, run.id, event)
        return door.change(conn, run.id, event, actor=who.id, at=deps.now(), data=data, step=step, tell=tell)
    except NotAllowed as no_move:
        raise Refused(_why_not(run, event), run=run.id, status=run.status, reason=run.reason, did=did, at=run.updated_at) from no_move


def _why_not(run: Run, event: Event) -> str:
    """The kind of refusal for a move that the table does not have."""
    if run.is_final:
        return "already_done"
    if run.status is RunStatus.STOPPING:
        return "already_stopping"
    if event is Event.PAUSE_ASKED and run.status in (RunStatus.PAUSING, RunStatus.PAUSED):
        return "already_paused"
    if event is Event.RESUMED and run.reason is not None and run.reason is not Hold.PERSON:
        return "held_otherwise"
    if run.status in (RunStatus.PLANNING, RunStatus.IN_REVIEW):
        return "not_started"
    return "moved_on" if event is not Event.PAUSE_ASKED else "already_done"
