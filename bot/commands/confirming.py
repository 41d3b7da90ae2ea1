"""A risky step holds just before it runs: agree to exactly its filled-in values, or refuse them (P3).

A yes names the digest of the values, so that other values need another one; what the card does not show in full cannot be confirmed from
it. A no is kept with its reason, and the same call is not proposed again in this run (C021).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot.core import policy
from bot.core.catalogue import Effect
from bot.core.completeness import fits_card
from bot.core.ids import Digest, StepId, short
from bot.core.plan import call_fingerprint, fingerprint
from bot.core.risk import Level
from bot.core.run import Event, Run
from bot.core.snapshot import Approval
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person, move, must_hold
from bot.proposing import PLANNER
from bot.store import door, runs
from bot.tools.masks import redact, redacted


async def confirm(
    deps: Deps,
    run_id: str,
    step: str,
    *,
    digest8: str,
    who: policy.Member,
    revision: int | None = None,
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
        must_hold(run, step, Event.CONFIRMED, did="confirm")
        if run.deadline is not None and received_at > run.deadline:
            raise Refused("expired", run=run_id, step=step, at=run.deadline, did="confirm")
        filled = _filling(conn, run_id, step)
        if not filled.startswith(digest8) or revision not in (None, run.revision):
            raise Refused("confirm_void", run=run_id, step=step)
        plan, grades, tools = runs.revision(conn, run_id, run.revision)
        level, tool = grades[step].level, plan.step(step).tool
        if deps.tools.digests().get(tool) != tools.get(tool):
            raise Refused("tool_changed", run=run_id, step=step, tools=[tool], revision=run.revision, did="confirm")
        given = [
            a for a in runs.approvals(conn, run_id) if (a.kind, a.step, a.revision, a.digest) == ("confirm", step, run.revision, filled)
        ]
        already = {approval.actor for approval in given}
        if no := policy.may_approve(
            deps.policy, who, requester=run.requester, level=level, already=already, editors=_makers(conn, run, step, level)
        ):
            raise Refused(no, run=run_id, step=step, did="confirm", risk=level.value)
        if not opened_all and shown != filled:
            raise Refused("open_first", run=run_id, step=step, did="confirm")
        approval = Approval(actor=who.id, revision=run.revision, digest=filled, at=deps.now(), kind="confirm", step=StepId(step))
        runs.add_approval(conn, run_id, approval)
        data = {"step": step, "filling": filled, "passes": f"{step}:{filled[:8]}", "deadline": None}
        change = door.StepChange(id=StepId(step))
        return move(conn, deps, run, Event.CONFIRMED, who=who, did="confirm", data=data, step=change)

    return await by_person(deps, work)


def _makers(conn: Connection, run: Run, step: str, level: Level) -> set[str]:
    """Who gave a high-risk step its values by hand does not also confirm them."""
    brought = next((state.revision for state in runs.steps(conn, run.id) if state.id == step), run.revision)
    author = next((one.author for one in runs.revisions(conn, run.id) if one.revision == brought), PLANNER)
    return {author} - {PLANNER} if level is Level.HIGH else set()


async def _shown_on_card(deps: Deps, run_id: str, step: str) -> Digest | None:
    """The filling of that step as it is now, if its card shows it in full. Judged masked, as the card shows it."""
    snapshot = await deps.store.read(lambda conn: runs.snapshot(conn, run_id))
    state = next((state for state in snapshot.steps if state.id == step), None)
    if state is None or state.args is None:
        return None
    filled = fingerprint(state.args)
    cards = [post.data for post in snapshot.posts if post.card == "confirm" and post.data["step"] == step]
    same = [data for data in cards if (data["filling"], data.get("revision")) == (short(filled), snapshot.run.revision)]
    card = same[-1] if same else {}
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
        data = {"step": step, "filling": filled, "reason": reason, "deadline": None, **_call(conn, run, step)}
        change = door.StepChange(id=StepId(step), error=f"refused: {reason}" if reason else "refused")
        return move(conn, deps, run, Event.CONFIRM_REFUSED, who=who, did="refuse", data=data, step=change)

    return await by_person(deps, work)


async def may_refuse(deps: Deps, run_id: str, step: str, digest8: str, *, who: policy.Member) -> None:
    """Raise what `refuse` would raise now, so that nobody is asked for a reason that could only be turned down."""
    await deps.store.read(lambda conn: _must_be_refusable(conn, deps, runs.get(conn, run_id), step, digest8, who))


def _must_be_refusable(conn: Connection, deps: Deps, run: Run, step: str, digest8: str, who: policy.Member) -> Digest:
    """The digest of the filling that may be refused; raises the refusal that fits when it cannot be."""
    must_hold(run, step, Event.CONFIRM_REFUSED, did="refuse")
    filled = _filling(conn, run.id, step)
    if not filled.startswith(digest8):
        raise Refused("confirm_void", run=run.id, step=step)
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, run=run.id, step=step, did="refuse")
    return filled


def _call(conn: Connection, run: Run, step: str) -> dict[str, Any]:
    """What was refused, as it was filled in and as it was planned, so that it is known again."""
    planned = runs.revision(conn, run.id, run.revision)[0].step(step)
    state = next(state for state in runs.steps(conn, run.id) if state.id == step)
    calls = [call_fingerprint(planned.tool, state.args or {}), call_fingerprint(planned.tool, planned.args)]
    return {"tool": planned.tool, "calls": calls}


def _filling(conn: Connection, run_id: str, step: str) -> Digest:
    state = runs.step(conn, run_id, step)
    return fingerprint(state.args if state else None)
