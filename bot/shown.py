"""Is what a click was shown still what is asked? And if not, what became of it meanwhile. Nothing here asks who somebody is: see `guard`.

A click names a revision, or the values of a step. Each function gives back the very thing if it is still asked and still as it was shown,
and else raises the `Refused` that says what is true now.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot import timing
from bot.core import judging
from bot.core.comparison import asked, level_of
from bot.core.ids import Digest, StepId
from bot.core.plan import fingerprint
from bot.core.policy import Member
from bot.core.rest import OPEN_TO_CHANGE
from bot.core.risk import Level
from bot.core.run import Event, Redirect, Run, RunStatus
from bot.core.snapshot import Approval, Revision
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import must_hold
from bot.proposing import standing
from bot.store import audit, runs


@dataclass(frozen=True)
class Waiting:
    """What a yes is about: the revision, the steps that are asked (None: the whole plan), the risk, who said yes already."""

    new: Revision
    asked: tuple[StepId, ...] | None
    level: Level
    already: frozenset[str]
    needed: int
    wants: str  # what must be typed for it; empty where a press is enough


@dataclass(frozen=True)
class Values:
    """What a confirm is about: the filled-in values, how risky they are, who said yes to them already."""

    filling: Digest
    level: Level
    already: frozenset[str]
    needed: int
    wants: str


def must_be_in_time(conn: Connection, waits: Run, received_at: datetime, **facts: Any) -> None:
    """Whatever waits ends at its deadline, swept or not; a click counts by when it was received, however long it took since (C019)."""
    if timing.is_over(conn, waits, received_at):
        raise Refused("expired", **{"run": waits.id, **facts, "at": waits.deadline})


def must_be_as_shown(deps: Deps, plan: Revision, tools: Collection[str], **facts: Any) -> None:
    """These tools are defined as they were when the plan was graded."""
    changed = [name for name in tools if deps.tools.digests().get(name) != plan.tool_digests.get(name)]
    if changed:
        raise Refused("tool_changed", tools=changed, **facts)


def must_be_open(conn: Connection, run: Run, revision: int, who: Member, received_at: datetime, given: list[Approval]) -> Revision:
    """The revision, if it waits for people; else raises what became of it meanwhile."""
    new = next((one for one in runs.revisions(conn, run.id) if one.revision == revision), None)
    current = run.proposed or run.revision
    facts: dict[str, Any] = {"run": run.id, "revision": revision, "current": current, "status": run.status, "did": "approve"}
    waits = run.status is RunStatus.IN_REVIEW or run.redirect is Redirect.REVIEW
    if new is None or revision != current or (run.redirect is not None and not waits):
        raise Refused("stale", **facts)
    mine = next((approval for approval in given if (approval.actor, approval.revision) == (who.id, revision)), None)
    if waits:
        must_be_in_time(conn, run, received_at, **facts)
        if mine is not None:
            raise Refused("quorum", at=mine.at, **facts)
        return new
    if run.status in (RunStatus.CANCELLED, RunStatus.EXPIRED):
        entry = next((entry for entry in reversed(audit.entries(conn, run.id)) if entry.event == run.status.value), None)
        kind = "expired" if run.status is RunStatus.EXPIRED else "late_cancelled"
        raise Refused(kind, by=entry.actor if entry else "", at=entry.at if entry else run.updated_at, **facts)
    if mine is not None:
        raise Refused("double", at=mine.at, **facts)
    if given:
        raise Refused("late_approved", by=given[-1].actor, at=given[-1].at, **facts)
    raise Refused("not_waiting", **facts)


def level_asked(conn: Connection, deps: Deps, run: Run, new: Revision) -> tuple[tuple[StepId, ...] | None, Level]:
    """The steps that a yes is about (None: the whole plan, before anything ran), and their risk."""
    if run.redirect is None:
        return None, new.risk
    done = [state.id for state in runs.steps(conn, run.id) if state.status not in OPEN_TO_CHANGE]
    must = asked(standing(conn, run), new, deps.tools.catalogue, done=done)
    return must, level_of(new, must)


def must_be_these(conn: Connection, run: Run, step: str, digest8: str) -> Digest:
    """The digest of the values that the step would run with, if it is the one that was shown."""
    state = runs.step(conn, run.id, step)
    filling = fingerprint(state.args if state else None)
    if not digest8 or not filling.startswith(digest8):
        raise Refused("confirm_void", run=run.id, step=step)
    return filling


def filled_level(conn: Connection, run: Run, stands: Revision, step: str) -> Level:
    """How risky that step is with its real values."""
    state = runs.step(conn, run.id, step)
    filling = fingerprint(state.args if state else None)
    return judging.held_grade(audit.entries(conn, run.id), stands.grades[step], filling=filling).level


def confirms_of(conn: Connection, run: Run, step: str, filling: Digest) -> list[Approval]:
    """Who said yes to these values already."""
    of_these = ("confirm", step, run.revision, filling)
    return [one for one in runs.approvals(conn, run.id) if (one.kind, one.step, one.revision, one.digest) == of_these]


def must_be_at(conn: Connection, run: Run, event: Event, step: str | None, *, did: str, tries: int | None) -> None:
    """The run stands at that step, and at that try of it: an answer to an earlier failure or doubt is none to a later one (P6)."""
    must_hold(run, step, event, did=did)
    if tries is not None and any(state.id == step and state.attempt != tries for state in runs.steps(conn, run.id)):
        raise Refused("moved_on", run=run.id, step=step, held=step, did=did)
