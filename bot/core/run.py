"""A run's life as one table: (status, event) → status, for runs and for steps.

Nothing else in the product decides what may follow what. `advance` and `advance_step` are pure; the door in the store calls them inside
the transaction that also writes the audit entry, so a state without its entry cannot exist, and replaying a run's entries gives its state.
"Asked" is stored before "happened": *pausing* and *stopping* are states, and nothing starts in them.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.core.ids import Digest, RunId, StepId
from bot.core.risk import Level
from bot.core.states import FINAL, LIVE, Event, Hold, Redirect, RunStatus, StepStatus
from bot.errors import PullcordError

__all__ = [
    "CARRIED",
    "FINAL",
    "LETS_GO",
    "LIVE",
    "STANDS_BY_ITSELF",
    "STEP_EVENTS",
    "STEP_TRANSITIONS",
    "TRANSITIONS",
    "WHILE_REDIRECT",
    "Event",
    "Hold",
    "NotAllowed",
    "Redirect",
    "Run",
    "RunStatus",
    "StepStatus",
    "advance",
    "advance_step",
    "fits",
]


S, E, H = RunStatus, Event, Hold

TRANSITIONS: Mapping[tuple[RunStatus, Event], RunStatus] = {
    (S.PLANNING, E.ATTEMPTED): S.PLANNING,
    (S.PLANNING, E.QUESTION_ASKED): S.PLANNING,
    (S.PLANNING, E.QUESTION_ANSWERED): S.PLANNING,
    (S.PLANNING, E.PLANNED): S.IN_REVIEW,
    (S.PLANNING, E.RELEASED): S.QUEUED,
    (S.PLANNING, E.PLAN_REFUSED): S.REFUSED,
    (S.PLANNING, E.PLAN_FAILED): S.FAILED,
    (S.PLANNING, E.CANCELLED): S.CANCELLED,
    (S.PLANNING, E.EXPIRED): S.EXPIRED,  # a question that nobody answered
    (S.PLANNING, E.PLAN_KEPT): S.IN_REVIEW,
    (S.IN_REVIEW, E.CHANGES_ASKED): S.PLANNING,
    (S.IN_REVIEW, E.REVISED): S.IN_REVIEW,
    (S.IN_REVIEW, E.APPROVAL_GIVEN): S.IN_REVIEW,
    (S.IN_REVIEW, E.APPROVED): S.QUEUED,
    (S.IN_REVIEW, E.RELEASED): S.QUEUED,  # nobody answered, every step only reads, and policy lets such a plan go on
    (S.IN_REVIEW, E.BREAKPOINT_SET): S.IN_REVIEW,
    (S.IN_REVIEW, E.REMINDED): S.IN_REVIEW,
    (S.IN_REVIEW, E.ESCALATED): S.IN_REVIEW,
    (S.IN_REVIEW, E.REGRADED): S.IN_REVIEW,
    (S.IN_REVIEW, E.PLAN_REFUSED): S.REFUSED,  # by a policy that came later
    (S.IN_REVIEW, E.CANCELLED): S.CANCELLED,
    (S.IN_REVIEW, E.EXPIRED): S.EXPIRED,
    (S.QUEUED, E.STARTED): S.RUNNING,
    (S.QUEUED, E.PAUSE_ASKED): S.PAUSED,
    (S.QUEUED, E.STOP_ASKED): S.STOPPED,
    (S.QUEUED, E.REDIRECT_ASKED): S.PAUSED,
    (S.QUEUED, E.FROZEN): S.PAUSED,
    (S.QUEUED, E.BREAKPOINT_SET): S.QUEUED,
    (S.RUNNING, E.STEP_STARTED): S.RUNNING,
    (S.RUNNING, E.STEP_KEPT): S.RUNNING,
    (S.RUNNING, E.STEP_OUTDATED): S.RUNNING,
    (S.RUNNING, E.PAUSE_ASKED): S.PAUSING,
    (S.RUNNING, E.REDIRECT_ASKED): S.PAUSING,
    (S.RUNNING, E.FROZEN): S.PAUSING,
    (S.RUNNING, E.HELD): S.PAUSING,
    (S.RUNNING, E.STOP_ASKED): S.STOPPING,
    (S.RUNNING, E.STEPS_DONE): S.ANSWERING,
    (S.RUNNING, E.BREAKPOINT_SET): S.RUNNING,
    (S.PAUSING, E.SETTLED): S.PAUSED,
    (S.PAUSING, E.PAUSE_ASKED): S.PAUSING,
    (S.PAUSING, E.REDIRECT_ASKED): S.PAUSING,
    (S.PAUSING, E.WITHDRAWN): S.RUNNING,
    (S.PAUSING, E.FROZEN): S.PAUSING,
    (S.PAUSING, E.THAWED): S.RUNNING,
    (S.PAUSING, E.RESUMED): S.RUNNING,
    (S.PAUSING, E.STOP_ASKED): S.STOPPING,
    (S.PAUSING, E.BREAKPOINT_SET): S.PAUSING,
    (S.PAUSED, E.PAUSE_ASKED): S.PAUSED,
    (S.PAUSED, E.REDIRECT_ASKED): S.PAUSED,
    (S.PAUSED, E.ATTEMPTED): S.PAUSED,  # one round of planning the rest
    (S.PAUSED, E.REDIRECT_PLANNED): S.PAUSED,
    (S.PAUSED, E.REDIRECT_FAILED): S.PAUSED,
    (S.PAUSED, E.APPROVAL_GIVEN): S.PAUSED,
    (S.PAUSED, E.REDIRECTED): S.RUNNING,
    (S.PAUSED, E.WITHDRAWN): S.RUNNING,
    (S.PAUSED, E.FROZEN): S.PAUSED,
    (S.PAUSED, E.THAWED): S.QUEUED,  # all at once would be more than the pool holds
    (S.PAUSED, E.RESUMED): S.RUNNING,
    (S.PAUSED, E.CONTINUED): S.RUNNING,
    (S.PAUSED, E.CONFIRMED): S.RUNNING,
    (S.PAUSED, E.CONFIRM_REFUSED): S.RUNNING,
    (S.PAUSED, E.RETRIED): S.RUNNING,
    (S.PAUSED, E.SKIPPED_BY_PERSON): S.RUNNING,
    (S.PAUSED, E.HAPPENED): S.RUNNING,
    (S.PAUSED, E.NOT_HAPPENED): S.RUNNING,
    (S.PAUSED, E.STOP_ASKED): S.STOPPED,
    (S.PAUSED, E.EXPIRED): S.STOPPED,
    (S.PAUSED, E.BREAKPOINT_SET): S.PAUSED,
    (S.PAUSED, E.REMINDED): S.PAUSED,
    (S.PAUSED, E.ESCALATED): S.PAUSED,
    (S.PAUSED, E.REGRADED): S.PAUSED,
    (S.PAUSED, E.PROLONGED): S.PAUSED,
    (S.STOPPING, E.SETTLED): S.STOPPED,
    (S.ANSWERING, E.ANSWERED): S.SUCCEEDED,
    (S.ANSWERING, E.ANSWERED_FAILED): S.FAILED,
    # What runs may end in every state in which something can run; none of these moves the run.
    **{
        (status, event): status
        for status in (S.RUNNING, S.PAUSING, S.STOPPING)
        for event in (E.STEP_SUCCEEDED, E.STEP_FAILED, E.STEP_CANCELLED, E.STEP_SKIPPED, E.STEP_IN_DOUBT, E.STEP_REQUEUED)
    },
    # A refused attempt is on record and changes nothing, whatever the state.
    **{(status, E.CLICK_REFUSED): status for status in RunStatus},
}

# Which hold each letting-go belongs to: Continue does not resume a confirm, Retry does not pass a breakpoint.
LETS_GO: Mapping[Event, frozenset[Hold]] = {
    E.RESUMED: frozenset({H.PERSON, H.SHUTDOWN}),
    E.THAWED: frozenset({H.FREEZE}),
    E.CONTINUED: frozenset({H.BREAKPOINT, H.UNATTENDED, H.BUDGET}),
    E.CONFIRMED: frozenset({H.CONFIRM}),
    E.CONFIRM_REFUSED: frozenset({H.CONFIRM}),
    E.RETRIED: frozenset({H.STEP_FAILED}),
    E.SKIPPED_BY_PERSON: frozenset({H.STEP_FAILED}),
    E.HAPPENED: frozenset({H.IN_DOUBT}),
    E.NOT_HAPPENED: frozenset({H.IN_DOUBT}),
    E.QUESTION_ANSWERED: frozenset({H.QUESTION}),
}

# Which phase of a redirect each of its events belongs to; asking for one is possible at any time.
WHILE_REDIRECT: Mapping[Event, frozenset[Redirect]] = {
    E.REDIRECT_PLANNED: frozenset(Redirect),
    E.REDIRECT_FAILED: frozenset({Redirect.PLANNING, Redirect.REVIEW}),  # in review: a policy that came later denies it
    E.REDIRECTED: frozenset(Redirect),
    E.WITHDRAWN: frozenset(Redirect),
}

# Nothing in the run's own state would bring these back: only their own letting-go ends them, and a redirect that ends meanwhile leaves the
# run where it stands. Every other hold follows from the steps, and the dispatcher finds it anew: a Pause or a redirect may take its place.
STANDS_BY_ITSELF = frozenset({H.PERSON, H.FREEZE, H.SHUTDOWN})
# A brake that is pulled over one of these changes nothing.
_NEEDLESS: Mapping[Event, frozenset[Hold]] = {
    E.PAUSE_ASKED: frozenset({H.PERSON}),
    E.FROZEN: frozenset(Hold) - {H.REDIRECT, H.SHUTDOWN},  # whatever else it stands for does not end while all is frozen
}


P = StepStatus

STEP_TRANSITIONS: Mapping[tuple[StepStatus, Event], StepStatus] = {
    (P.PENDING, E.STEP_STARTED): P.RUNNING,
    (P.PENDING, E.STEP_KEPT): P.SUCCEEDED,
    (P.PENDING, E.STEP_SKIPPED): P.SKIPPED,
    (P.PENDING, E.STEP_FAILED): P.FAILED,  # its references do not resolve: the tool was never called
    (P.PENDING, E.CONFIRMED): P.PENDING,
    (P.PENDING, E.CONFIRM_REFUSED): P.SKIPPED,
    (P.RUNNING, E.STEP_SUCCEEDED): P.SUCCEEDED,
    (P.RUNNING, E.STEP_FAILED): P.FAILED,
    (P.RUNNING, E.STEP_CANCELLED): P.CANCELLED,
    (P.RUNNING, E.STEP_IN_DOUBT): P.IN_DOUBT,
    (P.RUNNING, E.STEP_REQUEUED): P.PENDING,
    (P.SUCCEEDED, E.STEP_OUTDATED): P.PENDING,  # reads only, and once: see `core.reuse.read_again`
    (P.FAILED, E.RETRIED): P.PENDING,
    (P.FAILED, E.SKIPPED_BY_PERSON): P.SKIPPED,
    (P.IN_DOUBT, E.HAPPENED): P.SUCCEEDED,
    (P.IN_DOUBT, E.NOT_HAPPENED): P.PENDING,
    (P.IN_DOUBT, E.STEP_SUCCEEDED): P.SUCCEEDED,  # verify found it
    (P.IN_DOUBT, E.STEP_REQUEUED): P.PENDING,  # verify found that it did not happen
}
STEP_EVENTS = frozenset(event for _, event in STEP_TRANSITIONS)


class NotAllowed(PullcordError):
    """The table has no such move. Commands turn it into a `Refused` that says what is true now."""

    def __init__(self, status: str, event: Event, reason: Hold | None = None) -> None:
        super().__init__(f"{event} is not possible: the state is {status}" + (f" ({reason})" if reason else ""))
        self.status, self.event, self.reason = status, event, reason


class Run(BaseModel):
    """What is true of a run, small enough to be read and written at each change. Plans and steps have rows of their own."""

    model_config = ConfigDict(frozen=True)

    id: RunId
    version: int = 0  # +1 at each change of state; starting a step is a compare-and-set on it
    status: RunStatus = RunStatus.PLANNING
    reason: Hold | None = None
    held_step: StepId | None = None  # the step that a hold is about
    redirect: Redirect | None = None  # what becomes of the rest, whatever the run stands for
    proposed: int | None = None  # the revision that a redirect wants, while it waits for people; `revision` is the one that stands
    ask: str = ""  # the words of the requester, as typed
    requester: str = ""  # Slack user id
    team: str = ""
    channel: str = ""
    thread_ts: str | None = None  # root of the thread; None until the run card is posted (slash command)
    source_ts: str | None = None  # the asking message, if there was one
    source_author: str | None = None  # whose words the ask is, if they are not the requester's own
    revision: int = 0  # 0: no plan yet
    digest: Digest | None = None  # of the current revision
    approved: Digest | None = None  # the digest that may run
    risk: Level | None = None
    deadline: AwareDatetime | None = None  # when the present wait expires
    breakpoints: tuple[StepId, ...] = ()  # set by people, beside those in the plan
    passed: tuple[str, ...] = ()  # holds that were let go: "<step>" breakpoints; "<step>:<digest>" confirmed fillings
    created_at: AwareDatetime
    updated_at: AwareDatetime

    @property
    def is_final(self) -> bool:
        """No event but a refused click leaves a final state."""
        return self.status in FINAL


# What an event's data sets on the run; anything else in the data is a fact for the record. A deadline may come (or go) with any event.
_PLAN = ("revision", "digest", "risk")
_CARRIES: Mapping[Event, tuple[str, ...]] = {
    E.PLANNED: _PLAN,
    E.REVISED: _PLAN,
    E.REGRADED: (*_PLAN, "proposed"),
    E.PLAN_REFUSED: _PLAN,
    E.RELEASED: (*_PLAN, "approved"),
    E.REDIRECTED: (*_PLAN, "approved"),
    E.REDIRECT_PLANNED: ("proposed",),
    E.APPROVED: ("approved",),
    E.BREAKPOINT_SET: ("breakpoints",),
}
CARRIED = (*_PLAN, "approved", "proposed", "breakpoints", "deadline")


def advance(run: Run, event: Event, data: Mapping[str, Any]) -> Run:
    """The run after the event. Raises `NotAllowed` if the table has no such move. Pure: time comes in as `data["at"]`, if at all."""
    to = TRANSITIONS.get((run.status, event))
    if to is None or not fits(run, event):
        raise NotAllowed(run.status, event, run.reason)
    if event is E.CLICK_REFUSED:
        return run
    changed: dict[str, Any] = {name: data[name] for name in (*_CARRIES.get(event, ()), "deadline") if name in data}
    changed |= _redirect(event, to) | _asked_anew(run, event, data)
    changed |= _hold(run.model_copy(update=changed), event, to, data)
    if changed.get("status", to) is S.RUNNING:
        changed.setdefault("deadline", None)  # a running run waits for nobody
    return Run.model_validate({**run.model_dump(), "status": to, **changed, "version": run.version + 1})


def _asked_anew(run: Run, event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    """Which holds that were let go stand again: at a breakpoint that is set again, and at steps that another revision changed."""
    if event is E.BREAKPOINT_SET:
        return {"passed": tuple(passed for passed in run.passed if passed != data.get("step"))}
    if event is E.REDIRECTED:
        return {"passed": tuple(passed for passed in run.passed if passed.partition(":")[0] not in data.get("changed", ()))}
    return {}


def fits(run: Run, event: Event) -> bool:
    """Does the event, if the table has it at all in this state, belong to what the run waits for?"""
    if event in WHILE_REDIRECT and run.redirect not in WHILE_REDIRECT[event]:
        return False
    if run.status is S.PAUSED and event is E.ATTEMPTED:
        return run.redirect is Redirect.PLANNING
    if run.status is S.PAUSED and event in _WHILE_ASKED:
        return run.redirect is Redirect.REVIEW or (run.reason is H.CONFIRM and event is not E.REGRADED)
    if run.status in (S.PAUSING, S.PAUSED) and run.reason in _NEEDLESS.get(event, ()):
        return False
    if event is E.PLAN_KEPT:
        return run.revision > 0
    return event not in LETS_GO or run.reason in LETS_GO[event]


_WHILE_ASKED = frozenset({E.APPROVAL_GIVEN, E.REMINDED, E.ESCALATED, E.REGRADED})  # on a run that stands: only while people are asked


def _redirect(event: Event, to: RunStatus) -> dict[str, Any]:
    """How far the redirect has come after the event. What ends the run, or the redirect, leaves nothing of it."""
    if event is E.REDIRECT_ASKED:
        return {"redirect": Redirect.PLANNING, "proposed": None}
    if event is E.REDIRECT_PLANNED:
        return {"redirect": Redirect.REVIEW}
    if event is E.REDIRECT_FAILED:
        return {"redirect": Redirect.NO_PLAN, "proposed": None}
    if event in (E.REDIRECTED, E.WITHDRAWN) or to in FINAL or to is S.STOPPING:
        return {"redirect": None, "proposed": None}
    return {}


def _hold(run: Run, event: Event, to: RunStatus, data: Mapping[str, Any]) -> dict[str, Any]:
    """Status, reason, held step and passed holds after the event; `run` already has what the event carries."""
    if event in _BRAKES:
        return _brake(run, event)
    if event in (E.REDIRECTED, E.WITHDRAWN) and run.reason in STANDS_BY_ITSELF:
        return {"status": run.status, "deadline": None}  # adopted or not: who holds the run has not let go
    if event is E.QUESTION_ASKED:
        return {"reason": H.QUESTION}
    if event is E.HELD:
        return {"reason": Hold(data["reason"]), "held_step": data.get("step")}
    if to is S.PAUSING or to is S.PAUSED:
        return {}
    passed = (*run.passed, *([data["passes"]] if data.get("passes") else []))
    if to in (S.RUNNING, S.QUEUED) and run.redirect is not None and run.status in (S.PAUSING, S.PAUSED):
        return {"status": run.status, "reason": H.REDIRECT, "held_step": None, "passed": passed, "deadline": run.deadline}
    return {"reason": None, "held_step": None, "passed": passed}


_BRAKES = frozenset({E.PAUSE_ASKED, E.FROZEN, E.REDIRECT_ASKED})


def _brake(run: Run, event: Event) -> dict[str, Any]:
    """Why the run stands once this brake is pulled. What a redirect waits for goes on waiting; any other deadline ends with its hold."""
    deadline = None if event is E.REDIRECT_ASKED or run.redirect is None else run.deadline
    if event is E.REDIRECT_ASKED and run.reason in STANDS_BY_ITSELF:
        return {"deadline": deadline}
    reason = {E.PAUSE_ASKED: H.PERSON, E.FROZEN: H.FREEZE}.get(event, H.REDIRECT)
    return {"reason": reason, "held_step": None, "deadline": deadline}


def advance_step(status: StepStatus, event: Event) -> StepStatus:
    """The step's status after the event. Raises `NotAllowed` if the table has no such move."""
    to = STEP_TRANSITIONS.get((status, event))
    if to is None:
        raise NotAllowed(status, event)
    return to
