"""The run must wait for somebody: the move that says so, with the one new post that tells them. For a confirm that is the card itself."""

from typing import Any

from sqlalchemy import Connection

from bot import timing
from bot.activities.moves import Change
from bot.activities.steps import look_ahead
from bot.core import waits
from bot.core.ids import StepId, short
from bot.core.judging import as_data
from bot.core.plan import Step, fingerprint
from bot.core.risk import Grade
from bot.core.run import Event, Hold, Run
from bot.core.snapshot import NewPost
from bot.deps import Deps
from bot.store import door


def hold(run: Run, reason: Hold, step: StepId, *, tries: int, facts: dict[str, Any] | None = None) -> Change:
    """The run waits at that step for that reason. `tries`: how often it was started; `facts` go on record."""
    kind = "in_doubt" if reason is Hold.IN_DOUBT else "needs_you"
    key = f"{run.id}:note.{kind}.{step}.{tries}.{run.version}"
    more = {"more": facts["more"]} if facts and "more" in facts else {}
    data = {"kind": kind, "reason": reason, "step": step, **more}
    note = NewPost(run=run.id, card="note", key=key, channel=run.channel, data=data)
    return Change(Event.HELD, {"reason": reason, "step": step, **(facts or {})}, tell=[note])


async def hold_for_confirmation(
    deps: Deps, run: Run, step: Step, args: dict[str, Any], grade: Grade, *, risen: Grade | None = None
) -> Change:
    """The run waits until somebody has agreed to exactly these values; the card shows what they would change, where the tool can tell.

    `risen`: the grade that the values made of it, where that is stricter than what was approved.
    """
    grade = risen or grade
    filling = short(fingerprint(args))
    preview = await look_ahead(deps, run.id, step, args)
    deadline = deps.now() + deps.policy.timers[grade.level].expire
    card = NewPost(
        run=run.id,
        card="confirm",
        key=f"{run.id}:confirm.{run.revision}.{step.id}.{filling}.{short(fingerprint(preview))}",
        channel=run.channel,
        data={
            "revision": run.revision,
            "step": step.id,
            "filling": filling,
            "args": args,
            "preview": preview,
            "deadline": deadline.isoformat(),
            **as_data(risen),
        },
    )
    data = {"reason": Hold.CONFIRM, "step": step.id, "filling": filling, "deadline": deadline, **as_data(risen)}
    return Change(Event.HELD, data, door.StepChange(id=step.id, args=args), tell=[card], level=grade.level)


def begin_wait(conn: Connection, deps: Deps, run: Run, change: Change) -> None:
    """Where this move makes people be asked: when they are asked once more. Part of the same transaction."""
    if change.level is not None:
        wait = waits.of_confirm(change.data["step"], change.data["filling"])
        timing.arm(conn, run, wait=wait, level=change.level, at=deps.now(), policy=deps.policy)
