"""When people are asked once more: the moments follow from the policy and the risk, and lie in the store from the moment a wait begins.

A reminder goes to the approvers; an escalation to the second list, who may approve too from then on. The end of a wait is the run's own
deadline. Where there is nobody to be asked there is no moment either, so that no card promises one.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

from bot.core import waits
from bot.core.plan import fingerprint
from bot.core.policy import Policy
from bot.core.risk import Level
from bot.core.run import Run, RunStatus
from bot.core.waits import Timer
from bot.store import cord, runs, timers

REMIND, ESCALATE = "remind", "escalate"


def arm(conn: Connection, run: Run, *, wait: str, level: Level, at: datetime, policy: Policy) -> list[Timer]:
    """Store when people are asked once more in this wait, which begins `at`; part of the transaction that begins it."""
    timer = policy.timers[level]
    asked = {REMIND: (timer.remind, whom(policy)), ESCALATE: (timer.escalate, policy.escalation)}
    rows = [Timer(run.id, wait, kind, at + after) for kind, (after, who) in asked.items() if after and who and after < timer.expire]
    timers.arm(conn, run.id, rows)
    return rows


def whom(policy: Policy) -> Collection[str]:
    """Who is reminded, as the policy names them; nobody where nobody may approve."""
    return policy.approvers or (("requester",) if policy.profile == "personal" else ())


def wait_of(conn: Connection, run: Run) -> str | None:
    """For what the run waits now, by name; None if it waits for nobody's yes."""
    revision, step = waits.reviewed(run), waits.confirmed(run)
    if revision is not None:
        return waits.of_review(revision)
    state = runs.step(conn, run.id, step) if step is not None else None
    return waits.of_confirm(state.id, fingerprint(state.args)) if state is not None else None


def escalated(conn: Connection, run: Run, wait: str) -> bool:
    """Has the second list been asked in this wait, so that they may approve too?"""
    return timers.fired(conn, run.id, wait, ESCALATE)


def is_held(conn: Connection, run: Run) -> bool:
    """Does the clock stand still for this run? While everything is frozen nobody may let it go, so its silence says nothing."""
    return run.status is RunStatus.PAUSED and cord.frozen(conn) is not None


def is_over(conn: Connection, run: Run, at: datetime) -> bool:
    """Has the present wait ended by then?"""
    return run.deadline is not None and at > run.deadline and not is_held(conn, run)
