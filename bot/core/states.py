"""The words of a run's life: where a run and a step may stand, for whom they wait, and what can happen to them.

What may follow what is not here: that is the table in `run`.
"""

from enum import StrEnum


class RunStatus(StrEnum):
    """Where a run stands."""

    PLANNING = "planning"  # the planner works, or a question waits for the requester
    IN_REVIEW = "in_review"  # people decide
    QUEUED = "queued"  # approved or released; waits for a place in the pool
    RUNNING = "running"  # steps start and end
    PAUSING = "pausing"  # no step starts; what runs finishes
    PAUSED = "paused"  # nothing runs; `reason` says for whom it waits
    STOPPING = "stopping"  # no step starts; what runs is cancelled
    ANSWERING = "answering"  # all steps are settled; the answer is written
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"  # ended by a person while it ran
    CANCELLED = "cancelled"  # dropped by a person before it ran
    EXPIRED = "expired"  # nobody decided in time
    REFUSED = "refused"  # policy does not allow the plan


FINAL = frozenset({RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.STOPPED, RunStatus.CANCELLED, RunStatus.EXPIRED, RunStatus.REFUSED})
LIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.PAUSED, RunStatus.STOPPING, RunStatus.ANSWERING})


class Hold(StrEnum):
    """Why a run is pausing or paused (or, for `question`, why planning waits); the card and the next move depend on it."""

    PERSON = "person"
    BREAKPOINT = "breakpoint"
    CONFIRM = "confirm"
    REDIRECT = "redirect"
    UNATTENDED = "unattended"
    STEP_FAILED = "step_failed"
    IN_DOUBT = "in_doubt"
    BUDGET = "budget"
    FREEZE = "freeze"
    SHUTDOWN = "shutdown"
    QUESTION = "question"


class Redirect(StrEnum):
    """How far a redirect has come: a new revision of the rest, caused by a reply, that has not been adopted or withdrawn yet."""

    PLANNING = "planning"  # the rest is being planned again, or will be once nothing runs any more
    REVIEW = "review"  # `proposed` waits for people
    NO_PLAN = "no_plan"  # there is no way to do what was said: another reply, Never mind or Stop


class Event(StrEnum):
    """What happened to a run or to one of its steps."""

    OPENED = "opened"  # somebody asked
    ATTEMPTED = "attempted"  # one planning round gave a reply
    QUESTION_ASKED = "question_asked"  # the planner needs one thing from the requester
    QUESTION_ANSWERED = "question_answered"
    PLANNED = "planned"  # a valid plan waits for people
    RELEASED = "released"  # policy let an all-read plan run at once
    PLAN_REFUSED = "plan_refused"  # policy denies it
    PLAN_FAILED = "plan_failed"  # no valid plan in the rounds there are
    CHANGES_ASKED = "changes_asked"  # a reviewer asks the planner for another revision
    PLAN_KEPT = "plan_kept"  # ... and it found none: the revision before waits again
    REVISED = "revised"  # a person changed the plan under review by hand
    APPROVAL_GIVEN = "approval_given"  # one yes; the quorum is not reached yet
    APPROVED = "approved"  # the last yes that was needed
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    REMINDED = "reminded"  # the clock asked the approvers once more
    ESCALATED = "escalated"  # ... and then the second list too
    REGRADED = "regraded"  # the policy has changed: what waits for people is graded anew
    PROLONGED = "prolonged"  # everything was frozen: what waited then has that much longer
    BREAKPOINT_SET = "breakpoint_set"
    STARTED = "started"  # a place in the pool was free
    PAUSE_ASKED = "pause_asked"
    HELD = "held"  # the dispatcher must wait for somebody: `reason`, `step`
    SETTLED = "settled"  # nothing runs any more
    RESUMED = "resumed"  # a person lets go of Pause
    CONTINUED = "continued"  # goes on past a breakpoint, a budget, an unattended hold
    CONFIRMED = "confirmed"  # the filled-in arguments of one step were seen and agreed to
    CONFIRM_REFUSED = "confirm_refused"
    RETRIED = "retried"
    SKIPPED_BY_PERSON = "skipped_by_person"
    HAPPENED = "happened"  # a person (or verify) says that the step in doubt took effect
    NOT_HAPPENED = "not_happened"
    REDIRECT_ASKED = "redirect_asked"  # a reply (or a form) wants another rest: the brake is pulled
    REDIRECT_PLANNED = "redirect_planned"  # the new rest waits for people, as `proposed`
    REDIRECT_FAILED = "redirect_failed"  # no valid plan for it
    REDIRECTED = "redirected"  # the new rest takes the place of the old one
    WITHDRAWN = "withdrawn"  # never mind: the old rest stands
    FROZEN = "frozen"  # an admin holds everything
    THAWED = "thawed"
    RELOADED = "reloaded"  # (of the whole bot) another policy holds from now on
    RELOAD_REFUSED = "reload_refused"  # ... the file is broken, and nothing changed
    STOP_ASKED = "stop_asked"
    STEPS_DONE = "steps_done"  # no step can start any more
    ANSWERED = "answered"
    ANSWERED_FAILED = "answered_failed"  # an answer stands, but a step failed for good
    STEP_STARTED = "step_started"
    STEP_KEPT = "step_kept"  # the same work was done before in this run, and what it read has not changed
    STEP_OUTDATED = "step_outdated"  # what it read has changed since, and a confirmed step is about to use it: it reads again
    STEP_SUCCEEDED = "step_succeeded"
    STEP_FAILED = "step_failed"
    STEP_CANCELLED = "step_cancelled"
    STEP_SKIPPED = "step_skipped"  # by rule: something it needs did not succeed
    STEP_IN_DOUBT = "step_in_doubt"  # started, and no record of its end
    STEP_REQUEUED = "step_requeued"  # may run again: it only reads, or is idempotent
    CLICK_REFUSED = "click_refused"  # somebody tried what the rules do not allow; changes nothing


class StepStatus(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    RUNNING = "running"  # the intent is stored; the call may be out
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    IN_DOUBT = "in_doubt"  # started, and no record of its end
