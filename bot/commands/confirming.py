"""A risky step holds just before it runs: agree to exactly its filled-in values, or refuse them (P3).

A yes names the digest of the values, so that other values need another one; what the card does not show in full cannot be confirmed from
it. A no is kept with its reason, and the same call is not proposed again in this run (C021).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot import guard
from bot.core import policy
from bot.core.catalogue import Effect
from bot.core.completeness import fits_card
from bot.core.ids import Digest, StepId, short
from bot.core.plan import call_fingerprint, fingerprint
from bot.core.run import Event, Run
from bot.core.snapshot import Approval
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person, move
from bot.shown import Values
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
    typed: str | None = None,
) -> Run:
    """Agree to the filled-in arguments whose digest begins with `digest8`; other values would need another confirmation.

    `received_at` (now, if not given) judges expiry, as for an approval (C019).

    `opened_all`: this person has opened every page of the values, which values too long for their card need (P2). `typed`: what they wrote,
    where a yes is given in writing. Values that are riskier than what was approved need as many people as their own level does.
    """
    shown = None if opened_all else await _shown_on_card(deps, run_id, step)
    received_at = received_at or deps.now()

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        asked: Any = {"revision": revision, "on_card": shown, "opened_all": opened_all, "typed": typed}
        values = guard.must_confirm(conn, deps, run, step, digest8, who, received_at, **asked)
        return _confirm(conn, deps, run, step, values, who)

    return await by_person(deps, work)


def _confirm(conn: Connection, deps: Deps, run: Run, step: str, values: Values, who: policy.Member) -> Run:
    filling, count = values.filling, len(values.already) + 1
    approval = Approval(actor=who.id, revision=run.revision, digest=filling, at=deps.now(), kind="confirm", step=StepId(step))
    runs.add_approval(conn, run.id, approval)
    data: dict[str, Any] = {"step": step, "filling": filling, **({"typed": True} if values.wants else {})}
    if values.needed > 1:
        data |= {"count": count, "needed": values.needed}
    if count < values.needed:
        return move(conn, deps, run, Event.APPROVAL_GIVEN, who=who, did="confirm", data=data)
    data |= {"passes": f"{step}:{filling[:8]}", "deadline": None}
    return move(conn, deps, run, Event.CONFIRMED, who=who, did="confirm", data=data, step=door.StepChange(id=StepId(step)))


async def may_confirm(deps: Deps, run_id: str, step: str, digest8: str, *, who: policy.Member) -> bool:
    """Would this person's yes to these values count now, if they have seen all of them? For forms; the yes itself asks anew."""

    def look(conn: Connection) -> bool:
        try:
            run = runs.get(conn, run_id)
            guard.must_confirm(conn, deps, run, step, digest8, who, deps.now(), opened_all=True, to_be_typed=True)
        except Refused:
            return False
        return True

    return await deps.store.read(look)


async def is_written(deps: Deps, run_id: str, step: str) -> bool:
    """Is a yes to the values of that step given in writing, whoever gives it? Asks nothing but the store."""
    return bool(deps.policy.step_up) and await deps.store.read(
        lambda conn: guard.is_confirmed_in_writing(conn, deps, runs.get(conn, run_id), step)
    )


async def to_be_written(
    deps: Deps,
    run_id: str,
    step: str,
    *,
    digest8: str,
    who: policy.Member,
    received_at: datetime,
    revision: int | None = None,
    opened_all: bool = False,
) -> Values:
    """What this person says yes to, and what they must type for it. Raises whatever else stands in the way of their yes."""
    on_card = None if opened_all else await _shown_on_card(deps, run_id, step)
    asked: Any = {"revision": revision, "on_card": on_card, "opened_all": opened_all, "to_be_typed": True}
    return await deps.store.read(
        lambda conn: guard.must_confirm(conn, deps, runs.get(conn, run_id), step, digest8, who, received_at, **asked)
    )


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


async def refuse(
    deps: Deps, run_id: str, step: str, *, digest8: str, who: policy.Member, reason: str, received_at: datetime | None = None
) -> Run:
    """Say no to one step just before it runs: it and what depends on it are left out, the rest goes on (C020)."""
    reason = redact(reason)  # it becomes the step's error, which is stored as it may be shown

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        filled = guard.must_refuse(conn, deps, run, step, digest8, who, received_at or deps.now())
        data = {"step": step, "filling": filled, "reason": reason, "deadline": None, **_call(conn, run, step)}
        change = door.StepChange(id=StepId(step), error=f"refused: {reason}" if reason else "refused")
        return move(conn, deps, run, Event.CONFIRM_REFUSED, who=who, did="refuse", data=data, step=change)

    return await by_person(deps, work)


async def may_refuse(deps: Deps, run_id: str, step: str, digest8: str, *, who: policy.Member) -> None:
    """Raise what `refuse` would raise now, so that nobody is asked for a reason that could only be turned down."""
    await deps.store.read(lambda conn: guard.must_refuse(conn, deps, runs.get(conn, run_id), step, digest8, who, deps.now()))


def _call(conn: Connection, run: Run, step: str) -> dict[str, Any]:
    """What was refused, as it was filled in and as it was planned, so that it is known again."""
    planned = runs.revision(conn, run.id, run.revision)[0].step(step)
    state = next(state for state in runs.steps(conn, run.id) if state.id == step)
    calls = [call_fingerprint(planned.tool, state.args or {}), call_fingerprint(planned.tool, planned.args)]
    return {"tool": planned.tool, "calls": calls}
