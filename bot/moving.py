"""One move of a run by a person, and the refusal that fits when the table does not have it. Every command ends here."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from bot.core import policy
from bot.core.audit import audit_post
from bot.core.run import Event, Hold, NotAllowed, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.store import door

T = TypeVar("T")


async def by_person(deps: Deps, work: Callable[[Connection], T]) -> T:
    """A person's change goes before whatever steps have queued: a click waits for one transaction at most."""
    return await deps.store.write(work, first=True)


def move(
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
    """The change, told to the audit channel. Raises `Refused` with what is true now if it is not possible."""
    try:
        tell = audit_post(deps.audit_place, run.id, event)
        return door.change(conn, run.id, event, actor=who.id, at=deps.now(), data=data, step=step, tell=tell)
    except NotAllowed as no_move:
        raise Refused(why_not(run, event), run=run.id, status=run.status, reason=run.reason, did=did, at=run.updated_at) from no_move


def why_not(run: Run, event: Event) -> str:
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


def must_hold(run: Run, step: str | None, event: Event, *, did: str) -> None:
    """The run must stand at that very step: a click on an older card must not let another hold go. Raises `Refused`."""
    if step is not None and run.held_step != step and run.status is RunStatus.PAUSED:
        raise Refused("moved_on", run=run.id, step=step, held=run.held_step, did=did)
    if run.status is not RunStatus.PAUSED:
        raise Refused(why_not(run, event), run=run.id, status=run.status, did=did)
