"""The one place that decides whether what a person does counts: who, where, when, about what, and how many are still missing.

Every way to decide comes through here, whichever surface it began on: a card, the last page of a form, a command, a word, a shortcut. Each
`must_…` is asked inside the transaction that records the act, and raises the `Refused` that fits, which becomes a private answer with the
next move, and an audit entry. Who made a plan is told apart from who says yes to it by the policy's `may_not`, the same on every path.

The order is the story of a decision: is this still what is asked (revision, digest, values, tool), was it in time (by when the click was
received, C019), may this person, have they seen all of it, have they written it where that is wanted. Braking asks only who.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection

from bot import shown, timing
from bot.core import confirms, hands, policy, rest, waits, writing
from bot.core.completeness import is_complete
from bot.core.hands import Hands
from bot.core.ids import Digest
from bot.core.policy import Member
from bot.core.risk import Level
from bot.core.run import TRANSITIONS, Event, Hold, Redirect, Run, RunStatus
from bot.core.snapshot import Revision
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import must_hold
from bot.proposing import is_live, standing
from bot.shown import Values, Waiting
from bot.store import audit, replies, runs
from bot.tools.masks import redact

Act = Literal["approve", "decide", "brake", "freeze"]
EARLY = (RunStatus.PLANNING, RunStatus.IN_REVIEW)


# saying yes to a plan


def must_approve(
    conn: Connection,
    deps: Deps,
    run: Run,
    revision: int,
    who: Member,
    received_at: datetime,
    *,
    typed: str | None = None,
    opened_all: bool = False,
    to_be_typed: bool = False,
) -> Waiting:
    """May this person's yes to that revision, or to the new rest of a live run, count now?

    `opened_all`: they have opened every page. `to_be_typed`: what must be typed for it is still to come.
    """
    waiting = _must_be_asked(conn, deps, run, revision, who, received_at)
    if not opened_all and not is_complete(waiting.new.plan):
        raise Refused("open_first", run=run.id, revision=revision)
    if not to_be_typed:
        _must_be_typed(waiting.wants, typed, run=run.id, revision=revision, did="approve", level=waiting.level)
    return waiting


def would_approve(conn: Connection, deps: Deps, run: Run, revision: int, who: Member) -> bool:
    """Would this person's yes count now, once they have seen all of it and typed what is wanted? For forms; the yes itself asks anew."""
    try:
        _must_be_asked(conn, deps, run, revision, who, deps.now())
    except Refused:
        return False
    return True


def is_written(conn: Connection, deps: Deps, run: Run, revision: int) -> bool:
    """Is a yes to that revision typed and not only pressed, whoever gives it?"""
    new = next((one for one in runs.revisions(conn, run.id) if one.revision == revision), None)
    return new is not None and shown.level_asked(conn, deps, run, new)[1] in deps.policy.step_up


def _must_be_asked(conn: Connection, deps: Deps, run: Run, revision: int, who: Member, received_at: datetime) -> Waiting:
    deps = _under_one_policy(deps)
    given = [approval for approval in runs.approvals(conn, run.id) if approval.kind == "plan"]
    new = shown.must_be_open(conn, run, revision, who, received_at, given)
    shown.must_be_as_shown(deps, new, new.tool_digests, run=run.id, revision=revision)
    must, level = shown.level_asked(conn, deps, run, new)
    already = frozenset(approval.actor for approval in given if (approval.revision, approval.digest) == (revision, new.digest))
    made = hands.of_revision(run, runs.revisions(conn, run.id), audit.entries(conn, run.id), revision)
    late = timing.escalated(conn, run, waits.of_review(revision))
    facts: dict[str, Any] = {"run": run.id, "revision": revision, "did": "approve", "until": run.deadline}
    _must_be_able(deps, who, made, level, already=already, escalated=late, **facts)
    step = writing.riskiest(new.plan, new.grades, [one.id for one in new.plan.steps] if must is None else must)
    wants = _typeable(run, writing.wanted(run.id, step, deps.tools.catalogue)) if level in deps.policy.step_up else ""
    return Waiting(new, must, level, already, deps.policy.quorum.get(level, 1), wants)


# saying yes, or no, to the real values of one step


def must_confirm(
    conn: Connection,
    deps: Deps,
    run: Run,
    step: str,
    digest8: str,
    who: Member,
    received_at: datetime,
    *,
    revision: int | None = None,
    on_card: Digest | None = None,
    opened_all: bool = False,
    typed: str | None = None,
    to_be_typed: bool = False,
) -> Values:
    """May this person's yes to these values count now? `on_card`: the filling that stands in full on its card, if one does."""
    deps = _under_one_policy(deps)
    must_hold(run, step, Event.CONFIRMED, did="confirm")
    shown.must_be_in_time(conn, run, received_at, run=run.id, step=step, did="confirm")
    filling = shown.must_be_these(conn, run, step, digest8)
    if revision not in (None, run.revision):
        raise Refused("confirm_void", run=run.id, step=step)
    stands = standing(conn, run)
    shown.must_be_as_shown(deps, stands, [stands.plan.step(step).tool], run=run.id, step=step, revision=run.revision, did="confirm")
    values = _values(conn, deps, run, stands, step, filling)
    facts: dict[str, Any] = {"run": run.id, "step": step, "did": "confirm"}
    mine = next((one for one in shown.confirms_of(conn, run, step, filling) if one.actor == who.id), None)
    if mine is not None and values.needed > len(values.already):
        raise Refused("quorum", at=mine.at, **facts)
    late = timing.escalated(conn, run, waits.of_confirm(step, filling))
    _must_be_able(deps, who, _made_of_step(conn, run, stands, step), values.level, already=values.already, escalated=late, **facts)
    if not opened_all and on_card != filling:
        raise Refused("open_first", run=run.id, step=step, did="confirm")
    if not to_be_typed:
        _must_be_typed(values.wants, typed, level=values.level, run=run.id, step=step, did="confirm")
    return values


def is_confirmed_in_writing(conn: Connection, deps: Deps, run: Run, step: str) -> bool:
    """Is a yes to the values of that step typed and not only pressed, whoever gives it?"""
    stands = standing(conn, run) if run.revision else None
    return stands is not None and step in stands.grades and shown.filled_level(conn, run, stands, step) in deps.policy.step_up


def _values(conn: Connection, deps: Deps, run: Run, stands: Revision, step: str, filling: Digest) -> Values:
    level = shown.filled_level(conn, run, stands, step)
    state = runs.step(conn, run.id, step)
    wants = writing.wanted(run.id, stands.plan.step(step), deps.tools.catalogue, args=(state.args if state else None) or {})
    agreed = state is not None and confirms.is_agreed(audit.entries(conn, run.id), step, state.revision)
    needed = confirms.needed(deps.policy.quorum, level, stands.grades[step].level if agreed else None)
    already = frozenset(approval.actor for approval in shown.confirms_of(conn, run, step, filling))
    return Values(filling, level, already, needed, _typeable(run, wants) if level in deps.policy.step_up else "")


def must_refuse(conn: Connection, deps: Deps, run: Run, step: str, digest8: str, who: Member, received_at: datetime) -> Digest:
    """The filling that this person may say no to, just before it runs."""
    must_hold(run, step, Event.CONFIRM_REFUSED, did="refuse")
    shown.must_be_in_time(conn, run, received_at, run=run.id, step=step, did="refuse")
    filling = shown.must_be_these(conn, run, step, digest8)
    _must_decide(deps, run, who, did="refuse", step=step)
    return filling


def must_change_arguments(conn: Connection, deps: Deps, run: Run, step: str, digest8: str, who: Member, received_at: datetime) -> None:
    """May this person give the step that waits other values?"""
    must_hold(run, step, Event.CONFIRMED, did="change arguments")
    shown.must_be_in_time(conn, run, received_at, run=run.id, step=step, did="change arguments")
    stands = standing(conn, run)
    shown.must_be_as_shown(deps, stands, stands.tool_digests, run=run.id, step=step, revision=run.revision, did="change arguments")
    if run.reason is not Hold.CONFIRM:
        raise Refused("held_otherwise", run=run.id, reason=run.reason, did="change arguments")
    _must_decide(deps, run, who, did="change arguments", step=step)
    shown.must_be_these(conn, run, step, digest8)


# changing a plan


def must_edit(conn: Connection, deps: Deps, run: Run, who: Member, received_at: datetime, *, base: int) -> None:
    """May this person change the plan under review, or the rest of a run that stands, by hand?"""
    facts: dict[str, Any] = {"base": base, "status": run.status, "did": "edit"}
    _must_decide(deps, run, who, at=run.updated_at, **facts)
    if run.status is RunStatus.PAUSED and run.reason is Hold.IN_DOUBT:
        raise Refused("held_otherwise", run=run.id, reason=run.reason, at=run.updated_at, **facts)
    if run.status not in (RunStatus.IN_REVIEW, RunStatus.PAUSED):
        raise Refused("edit_too_late", run=run.id, at=run.updated_at, **facts)
    shown.must_be_in_time(conn, run, received_at, run=run.id, **facts)


def must_take_changes(
    conn: Connection, deps: Deps, run: Run, revision: int, who: Member, received_at: datetime, *, words: str | None = None
) -> None:
    """May this person have the plan under review made again by their words (None: they are still to be typed)?"""
    facts: dict[str, Any] = {"revision": revision, "current": run.revision, "did": "ask for changes", "words": words or ""}
    _must_decide(deps, run, who, **facts)
    if run.status is not RunStatus.IN_REVIEW:
        raise Refused("stale" if not run.is_final else "already_done", run=run.id, status=run.status, at=run.updated_at, **facts)
    if revision != run.revision:
        raise Refused("stale", run=run.id, **facts)
    shown.must_be_in_time(conn, run, received_at, run=run.id, **facts)
    if words is not None and not words.strip():
        raise Refused("no_words", run=run.id, **facts)
    limit = deps.policy.limits.revisions
    if rest.plans_wanted(audit.entries(conn, run.id)) >= limit:
        raise Refused("no_revisions_left", run=run.id, limit=limit, **facts)


def must_redirect(conn: Connection, deps: Deps, run: Run, who: Member, received_at: datetime, *, words: str = "") -> None:
    """May this person change the rest of a live run by what they say?"""
    facts: dict[str, Any] = {"run": run.id, "did": "change", "words": words, "status": run.status}
    if no := policy.may_redirect(deps.policy, who, requester=run.requester):
        raise Refused(no, **facts)
    if not is_live(run):
        raise Refused("already_done" if run.is_final else "not_live", at=run.updated_at, **facts)
    shown.must_be_in_time(conn, run, received_at, **facts)
    limit = deps.policy.limits.redirects
    if rest.used(audit.entries(conn, run.id)) >= limit:
        raise Refused("no_redirects_left", limit=limit, **facts)


def must_withdraw(conn: Connection, deps: Deps, run: Run, who: Member, received_at: datetime, *, revision: int | None) -> None:
    """May this person drop the open redirect? Whoever said something of it may, too. `revision`: the one that the button stood on."""
    facts: dict[str, Any] = {"run": run.id, "status": run.status, "did": "never mind"}
    if revision not in (None, run.proposed):
        raise Refused("stale", revision=revision, current=run.proposed or run.revision, **facts)
    if run.redirect is None and not replies.waiting(conn, run.id):
        raise Refused("nothing_to_withdraw", **facts)
    if run.redirect is Redirect.REVIEW:
        shown.must_be_in_time(conn, run, received_at, **facts)
    said_it = who.id in {reply.actor for reply in rest.opened(audit.entries(conn, run.id)).replies}
    no = policy.may_decide(deps.policy, who, requester=run.requester)
    if no is not None and not (no == "not_allowed" and said_it):
        raise Refused(no, run=run.id, did="never mind")


def must_answer(conn: Connection, deps: Deps, run: Run, who: Member, received_at: datetime) -> None:
    """May this person answer the planner's question?"""
    _must_decide(deps, run, who, did="answer")
    if run.status is not RunStatus.PLANNING or run.reason is not Hold.QUESTION:
        raise Refused("moved_on", run=run.id, did="answer")
    shown.must_be_in_time(conn, run, received_at, run=run.id, did="answer")


def why_no_change(deps: Deps, run: Run, who: Member) -> str | None:
    """Why this person's wish for a change of that run does not count, before anybody makes it out; None if it does."""
    if run.is_final:
        return policy.may_ask(deps.policy, who)
    if run.status is RunStatus.IN_REVIEW:
        return policy.may_decide(deps.policy, who, requester=run.requester)
    return policy.may_redirect(deps.policy, who, requester=run.requester)


def must_cancel(deps: Deps, run: Run, revision: int | None, who: Member) -> None:
    """May this person drop the plan, or the planning, before anything ran? After the deadline too: it comes to the same."""
    _must_decide(deps, run, who, did="cancel")
    if revision is not None and revision != run.revision:
        raise Refused("stale", run=run.id, revision=revision, current=run.revision, did="cancel")
    if (run.status, Event.CANCELLED) in TRANSITIONS:
        return
    kind = "late_cancelled" if run.status is RunStatus.CANCELLED else "already_done" if run.is_final else "already_running"
    raise Refused(kind, run=run.id, status=run.status, did="cancel", at=run.updated_at)


# the cord


def must_brake(deps: Deps, run: Run, who: Member, *, did: str) -> None:
    """May this person pull the cord? Nothing but who they are is asked: a brake must not wait."""
    if no := policy.may_brake(deps.policy, who, requester=run.requester):
        raise Refused(no, run=run.id, did=did)


def must_stop(deps: Deps, run: Run, who: Member) -> None:
    """May this person end the run? Before anything ran that is to cancel it, which is narrower."""
    if run.status in EARLY:
        _must_decide(deps, run, who, did="stop")
    else:
        must_brake(deps, run, who, did="stop")


def must_resume(deps: Deps, run: Run, who: Member) -> None:
    """May this person let a Pause go? Narrower than to brake, and no approval."""
    _must_decide(deps, run, who, did="resume")


def must_let_go(
    conn: Connection, deps: Deps, run: Run, event: Event, step: str | None, who: Member, *, did: str, tries: int | None = None
) -> None:
    """May this person let that hold go? `tries`: the try of the step that the click is about; a later one is another question."""
    if run.reason is Hold.BUDGET:  # more than was allowed for is the approvers' to give
        _must_be_approver(deps, run, who, did=did)
    else:
        _must_decide(deps, run, who, did=did)
    shown.must_be_at(conn, run, event, step, did=did, tries=tries)


def must_settle(conn: Connection, deps: Deps, run: Run, event: Event, step: str, who: Member, *, tries: int | None = None) -> None:
    """May this person say what became of a step in doubt? It is theirs who could say yes to it: by their word it counts, or runs again."""
    stands = standing(conn, run) if run.revision else None
    if stands is None or step not in stands.grades:
        _must_be_approver(deps, run, who, did="settle")
    else:
        level = shown.filled_level(conn, run, stands, step)
        _must_be_able(deps, who, _made_of_step(conn, run, stands, step), level, run=run.id, step=step, did="settle")
    shown.must_be_at(conn, run, event, step, did="settle", tries=tries)


# the whole bot


def must_ask(deps: Deps, who: Member) -> None:
    """May this person begin a run?"""
    if no := policy.may_ask(deps.policy, who):
        raise Refused(no, did="ask")


def must_freeze(deps: Deps, who: Member, *, did: str = "freeze") -> None:
    """May this person hold everything, or let it go?"""
    if no := policy.may_freeze(deps.policy, who):
        raise Refused(no, did=did)


def must_reload(deps: Deps, who: Member) -> None:
    """May this person have the policy read anew? Admins, as for a freeze."""
    must_freeze(deps, who, did="reload")


def would(deps: Deps, act: Act, who: Member, *, run: Run | None = None, level: Level = Level.LOW) -> bool:
    """Does the policy let this person do such a thing at all? For choosing buttons and lists only: the act itself is looked at anew."""
    requester = run.requester if run else ""
    if act == "approve":
        facts: dict[str, Any] = {"requester": requester, "source_author": run.source_author if run else None, "level": level}
        return policy.may_approve(deps.policy, who, **facts) is None
    if act == "decide":
        return policy.may_decide(deps.policy, who, requester=requester) is None
    return (policy.may_freeze(deps.policy, who) if act == "freeze" else policy.may_brake(deps.policy, who, requester=requester)) is None


# inside


def _must_be_able(
    deps: Deps, who: Member, made: Hands, level: Level, *, already: Collection[str] = (), escalated: bool = False, **facts: Any
) -> None:
    """This person's yes to something of that risk, which these people made, counts."""
    no = policy.may_approve(
        deps.policy,
        who,
        requester=made.requester,
        level=level,
        already=already,
        editors=made.editors,
        redirectors=made.redirectors,
        source_author=made.source_author,
        escalated=escalated,
    )
    if no is not None:
        by_word = {"by_word": True} if no == "own_edit" and who.id not in made.editors else {}
        raise Refused(no, risk=level.value, **by_word, **facts)


def _under_one_policy(deps: Deps) -> Deps:
    """The policy may be swapped at any moment by another thread: a decision is made under one."""
    return replace(deps, rules=replace(deps.rules))


def _made_of_step(conn: Connection, run: Run, stands: Revision, step: str) -> Hands:
    everything = runs.revisions(conn, run.id), audit.entries(conn, run.id)
    return hands.of_step(run, *everything, stands.plan, runs.steps(conn, run.id), step)


def _must_decide(deps: Deps, run: Run, who: Member, **facts: Any) -> None:
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, **{"run": run.id, **facts})


def _must_be_approver(deps: Deps, run: Run, who: Member, **facts: Any) -> None:
    _must_be_able(deps, who, Hands(run.requester), Level.LOW, run=run.id, **facts)


def _must_be_typed(wants: str, typed: str | None, **facts: Any) -> None:
    if wants and not writing.is_typed(wants, typed):
        raise Refused("step_up", wants=wants, typed=typed is not None, **facts)


def _typeable(run: Run, wants: str) -> str:
    """Nobody is asked to type what is masked on the card."""
    return wants if redact(wants) == wants else run.id
