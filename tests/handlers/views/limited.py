"""Cards of runs that the limits of the policy hold: nobody has looked, a budget is used up, another run has the key."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot.core.ids import RunId, StepId
from bot.core.run import Event, Hold, RunStatus, StepStatus
from bot.core.snapshot import Entry, LockWait
from handlers.views import notes, run_card
from handlers.views.scene import OFFER_BREAKPOINT, OFFER_CHANGE_REST, OFFER_SHOW_STEPS, Card
from tests.handlers.views.stage import MEMBER, RISKY, SMALL, at, entry, held, scene, states

OFFERS = frozenset({OFFER_BREAKPOINT, OFFER_CHANGE_REST, OFFER_SHOW_STEPS})
H, P, S = Hold, StepStatus, RunStatus
ALONE = entry(9, Event.HELD, seconds=600, reason="unattended", step="tell", ran=["write", "deploy"], limit=2)


def out_of(kind: str, *, more: bool = True) -> Entry:
    """What goes on record where a budget is used up."""
    spent = {"tokens": 200_000, "time": 840, "steps": 33, "money": 1.1} | ({"time": 7_205} if kind == "time" else {})
    bounds = {"tokens": 200_000, "time": 7_200, "steps": 200, "money": 5.0}
    return entry(9, Event.HELD, seconds=600, reason="budget", step="post", kind=kind, spent=spent, bounds=bounds, more=more)


def stands(reason: Hold, step: str, *entries: Entry, **fields: Any) -> Card:
    return run_card.run_card(held(reason, step, entries=entries, **fields), offers=OFFERS)


def broke(kind: str, *, more: bool = True) -> Card:
    return stands(H.BUDGET, "post", out_of(kind, more=more), steps=states(SMALL, 3))


def waits_for_key(*, key: str = "deploy:prod", **fields: Any) -> Card:
    """Another run holds what `deploy` needs."""
    wait = LockWait(step=StepId("deploy"), key=key, holder=RunId("R-3C7N"), requester=MEMBER, since=at(140))
    given = scene(S.RUNNING, RISKY, lock_waits=(wait,), **fields)
    holder = "https://example.slack.com/archives/C0OPS/p1796047200000005"
    return run_card.run_card(replace(given, links={**given.links, "holder": holder}), offers=OFFERS)


def note(*, more: bool) -> Card:
    data = {"kind": "needs_you", "reason": "budget", "step": "post", "more": more}
    return notes.note_card(held(H.BUDGET, "post", steps=states(SMALL, 3)), data, offers=OFFERS)


def of_runs() -> dict[str, Callable[[], Card]]:
    return {
        "run_paused_unattended": lambda: stands(H.UNATTENDED, "tell", ALONE, plan=RISKY, steps=states(RISKY, 11)),
        "run_paused_budget": lambda: broke("tokens"),
        "run_paused_budget_time": lambda: broke("time"),
        "run_paused_budget_spent": lambda: broke("money", more=False),
        "run_queued_lock": lambda: waits_for_key(steps=states(RISKY, 8)),
        "run_running_lock": lambda: waits_for_key(steps=states(RISKY, 7, build=P.RUNNING)),
        "note_budget": lambda: note(more=True),
        "note_budget_spent": lambda: note(more=False),
    }
