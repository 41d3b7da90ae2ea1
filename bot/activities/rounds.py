"""Rounds of planning, whoever plans what: one reply of the planner, how it is stored, and how the next round is told of it."""

import structlog

from bot.core.drafts import Brief, Draft, Fault
from bot.core.run import Event
from bot.core.snapshot import Attempt, Snapshot
from bot.deps import Deps
from bot.errors import ModelFault
from bot.tools.masks import redact

log = structlog.get_logger()


def attempts_since(snapshot: Snapshot, event: Event) -> tuple[Attempt, ...]:
    """The planning rounds since that event happened last; all of them if it never did. Each time the rounds may be used anew."""
    seen = before = 0
    for entry in snapshot.entries:
        seen += entry.event == Event.ATTEMPTED
        before = seen if entry.event == event else before
    return snapshot.attempts[before:]


def cannot(reply: Draft) -> bool:
    """The planner says that the tools cannot do it: asking once more changes nothing."""
    return any(fault.field == "cannot" for fault in reply.faults)


def as_draft(attempt: Attempt) -> Draft:
    """A stored round, as the planner is told of it."""
    faults = tuple(Fault(says=says) for says in attempt.faults)
    return Draft(raw=attempt.raw, faults=faults, question=attempt.question, planner=attempt.planner)


def as_attempt(reply: Draft, number: int) -> Attempt:
    """A reply, as it is stored."""
    return Attempt(
        round=number,
        ok=is_good(reply),
        raw=redact(reply.raw),
        faults=tuple(redact(str(fault)) for fault in reply.faults),
        parts=reply.parts,
        question=reply.question,
        suggestion=reply.suggestion,
        planner=reply.planner,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
    )


def is_good(reply: Draft) -> bool:
    """Is there a plan with something in it, and nothing wrong with it?"""
    return reply.plan is not None and not reply.faults and bool(reply.plan.steps)


async def round_of(deps: Deps, brief: Brief) -> Draft:
    """One reply of the planner; one that gave nothing usable comes back as a draft whose fault says so."""
    try:
        return await deps.planner.draft(brief)
    except ModelFault as fault:
        log.warning("planner_gave_nothing", kind=fault.kind, planner=deps.planner.name)
        spent = {"tokens_in": fault.tokens_in, "tokens_out": fault.tokens_out}
        return Draft(raw=fault.raw, faults=(Fault(says=str(fault)),), planner=deps.planner.name, **spent)


def said(snapshot: Snapshot, event: Event, name: str) -> tuple[str, ...]:
    """What people said at those events, oldest first."""
    return tuple(str(entry.data[name]) for entry in snapshot.entries if entry.event == event)
