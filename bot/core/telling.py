"""A run's state in sentences: what a step does and how far it is, what it returned, what the run stands for, what is still to come.

Plain words without markup, from facts alone. People stand in the text as their ids. What a step returned is said to be that, cut, and never
more than a quotation. Right for a run in any state, with a plan or without one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core import budget, findings
from bot.core.catalogue import Catalogue, Effect
from bot.core.plan import Plan, Step
from bot.core.references import find
from bot.core.run import Event, Hold, Redirect, RunStatus, StepStatus
from bot.core.snapshot import Snapshot, StepState
from bot.core.wording import cut, joined, late, named, sentence, shown, visible

QUOTED = 200  # characters of a result, of an error, of somebody's words
LISTED = 6  # steps that one sentence names
LOST = {StepStatus.FAILED: "failed", StepStatus.SKIPPED: "left out", StepStatus.CANCELLED: "cancelled", StepStatus.IN_DOUBT: "in doubt"}
STATES = {
    StepStatus.FAILED: "It failed",
    StepStatus.SKIPPED: "It was left out",
    StepStatus.CANCELLED: "It was cancelled",
    StepStatus.IN_DOUBT: "It was started, and nobody knows whether it took effect",
}
ENDED = {
    RunStatus.SUCCEEDED: "The run has finished",
    RunStatus.FAILED: "The run has failed",
    RunStatus.STOPPED: "The run was stopped",
    RunStatus.CANCELLED: "The plan was cancelled before it ran",
    RunStatus.EXPIRED: "Nobody decided in time, so the run has expired",
    RunStatus.REFUSED: "The policy does not allow the plan",
}


@dataclass(frozen=True)
class Facts:
    """What is told from."""

    snapshot: Snapshot
    catalogue: Catalogue
    now: datetime

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those of the revision that stands; none before there is a plan."""
        return self.snapshot.plan.steps if self.snapshot.plan else ()

    def state(self, step: Step) -> StepState:
        """The step's row; one that was never touched if there is none."""
        found = next((state for state in self.snapshot.steps if state.id == step.id), None)
        return found or StepState(id=step.id, number=step.number, tool=step.tool)

    def standing(self, status: StepStatus) -> list[Step]:
        """The steps that stand there now, in the plan's order."""
        return [step for step in self.steps if self.state(step).status is status]


def step_told(step: Step, facts: Facts) -> str:
    """`Step 4 · post sends a message to #ops. It has not run yet; it waits for 3 · brief.`"""
    state = facts.state(step)
    filled_in = step if state.args is None else step.model_copy(update={"args": state.args})
    does = _lowered(_does(filled_in, facts, done=state.status is StepStatus.SUCCEEDED))
    said = [f"Step {named(step)} {does}.", _how_far(step, state, facts)]
    if state.status is StepStatus.PENDING and not facts.snapshot.run.is_final:
        plan = facts.snapshot.plan or Plan(goal="-", steps=())
        filled = [f"its {name.replace('_', ' ')} is {late(value, plan)}" for name, value in step.args.items() if find(value)]
        said += [_raised(f"{joined(filled[:3])}.")] if filled else []
        grade = facts.snapshot.grades.get(step.id)
        said += ["It will stop for a confirmation first."] if grade and grade.confirms else []
    return " ".join(said)


def _how_far(step: Step, state: StepState, facts: Facts) -> str:
    if state.status is StepStatus.SUCCEEDED:
        says = state.observation.says if state.observation and state.observation.says != "done" else ""
        return f"It finished{at(state.finished_at)}{f': {quoted(says)}' if says else ''}."
    if state.status is StepStatus.RUNNING:
        since = f" for {span(facts.now - state.started_at)}" if state.started_at else ""
        return f"It has been running{since}{f': {quoted(state.progress)}' if state.progress else ''}."
    if state.status is not StepStatus.PENDING:
        return f"{STATES[state.status]}{f': {quoted(state.error)}' if state.error else ''}."
    return "It did not run." if facts.snapshot.run.is_final else _not_yet(step, facts)


def _not_yet(step: Step, facts: Facts) -> str:
    waits = [other for other in facts.steps if other.id in step.needs and facts.state(other).status is not StepStatus.SUCCEEDED]
    if waits:
        return f"It has not run yet; it waits for {joined(map(named, waits))}."
    if facts.snapshot.run.held_step == step.id:
        return f"It has not run yet. {why(facts)}"
    return "It has not run yet; it needs nothing more before it."


def result_told(step: Step, facts: Facts) -> str:
    """`Step 2 · read returned (the first 200 of 1,204 characters): …`"""
    state = facts.state(step)
    if state.observation is None:
        return f"Step {named(step)} has returned nothing. {_how_far(step, state, facts)}"
    whole = " ".join(visible(findings.finding(state.observation.value).strip() or state.observation.says).split())
    if not whole:
        return f"Step {named(step)} returned nothing that can be read."
    told = cut(whole, QUOTED)
    part = f"the first {QUOTED} of {len(whole):,} characters" if told != whole else "all of it"
    return f"Step {named(step)} returned ({part}{'; outside text' if state.observation.untrusted else ''}): {told}"


def why(facts: Facts) -> str:
    """What the run stands for, or how it goes on: `It is paused: there is a breakpoint before step 4 · post, and Continue goes on.`"""
    run = facts.snapshot.run
    if run.is_final:
        return f"{ENDED[run.status]}{at(run.updated_at)}."
    if run.status in (RunStatus.PAUSING, RunStatus.PAUSED):
        begun = "It is paused" if run.status is RunStatus.PAUSED else "It pauses as soon as what runs has finished"
        return f"{begun}: {_reason(facts)}{_redirect(facts)}{_frozen_too(facts)}."
    if run.status is RunStatus.QUEUED:
        return (
            f"It waits: {_frozen(facts)}."
            if facts.snapshot.freeze
            else f"It waits for a free place, with {facts.snapshot.ahead} before it."
        )
    until = f" until{at(run.deadline)[3:]}" if run.deadline else ""
    says = {
        RunStatus.PLANNING: "A question waits for an answer." if run.reason is Hold.QUESTION else "The plan is being made.",
        RunStatus.IN_REVIEW: f"The plan, revision {run.revision}, waits for approval{until}.",
        RunStatus.RUNNING: _waits_for_key(facts) or "It is running.",
        RunStatus.STOPPING: "It is being stopped.",
        RunStatus.ANSWERING: "All steps are over; the answer is being written.",
    }
    return says[run.status]


def _reason(facts: Facts) -> str:
    run = facts.snapshot.run
    held = next((step for step in facts.steps if step.id == run.held_step), None)
    step = f"step {named(held)}" if held else "a step"
    error = facts.state(held).error if held else None
    asked = next((entry for entry in reversed(facts.snapshot.entries) if entry.event == Event.PAUSE_ASKED), None)
    says: dict[Hold | None, str] = {
        Hold.PERSON: f"{asked.actor if asked else 'somebody'} pulled the cord{at(asked.at) if asked else ''}, and Resume lets it go on",
        Hold.BREAKPOINT: f"there is a breakpoint before {step}, and Continue goes on",
        Hold.CONFIRM: f"{step} waits until somebody has seen its filled-in arguments and confirms them",
        Hold.UNATTENDED: "it has done as much as it may without anybody looking, and Continue goes on",
        Hold.STEP_FAILED: f"{step} failed{f' ({quoted(error)})' if error else ''}, and Retry, Skip or a change of the rest is needed",
        Hold.IN_DOUBT: f"nobody knows whether {step} took effect, and somebody has to say so",
        Hold.BUDGET: f"it has used up {_used_up(facts)}, and an approver may let it go on once",
        Hold.FREEZE: _frozen(facts),
        Hold.SHUTDOWN: "the bot is being restarted, and it goes on by itself",
        Hold.REDIRECT: "somebody wants the rest to be different",
    }
    return says.get(run.reason, "it waits for somebody")


def _used_up(facts: Facts) -> str:
    kind = budget.used_up(facts.snapshot.run, facts.snapshot.entries)
    return f"its budget of {kind}" if kind else "its budget"


def _waits_for_key(facts: Facts) -> str:
    """Which run it waits for, if nothing of it runs meanwhile."""
    wait = next(iter(facts.snapshot.lock_waits), None)
    if wait is None or facts.standing(StepStatus.RUNNING):
        return ""
    step = next((step for step in facts.steps if step.id == wait.step), None)
    return f"{f'Step {named(step)}' if step else 'It'} waits for {wait.holder}, which holds {shown(wait.key)} until it ends."


def _redirect(facts: Facts) -> str:
    run = facts.snapshot.run
    says = {
        Redirect.PLANNING: "; the rest is being planned again",
        Redirect.REVIEW: f"; the new rest, revision {run.proposed}, waits for approval",
        Redirect.NO_PLAN: "; no plan was found for what was said, so reply with another wish or never mind",
    }
    return says[run.redirect] if run.redirect else ""


def _frozen_too(facts: Facts) -> str:
    """A freeze holds what stands for another reason as well."""
    return f"; besides, {_frozen(facts)}" if facts.snapshot.freeze and facts.snapshot.run.reason is not Hold.FREEZE else ""


def _frozen(facts: Facts) -> str:
    freeze = facts.snapshot.freeze
    if freeze is None:
        return "everything was frozen"
    return f"{freeze.by} froze everything{at(freeze.at)}" + (f" ({quoted(freeze.why)})" if freeze.why else "")


def counted(facts: Facts) -> str:
    """`2 of 4 steps are done, 1 failed.`"""
    done = len(facts.standing(StepStatus.SUCCEEDED))
    lost = "".join(f", {len(found)} {word}" for status, word in LOST.items() if (found := facts.standing(status)))
    return f"{done} of {len(facts.steps)} {'step is' if len(facts.steps) == 1 else 'steps are'} done{lost}."


def running(facts: Facts) -> str:
    """`Running: 3 · brief (writes a summary).`, or nothing."""
    now = facts.standing(StepStatus.RUNNING)
    return f"Running: {listed(now, facts)}." if now else ""


def reach(facts: Facts) -> str:
    """Everything that the plan changes or sends."""
    effects = [step for step in facts.steps if step.tool not in facts.catalogue or facts.catalogue[step.tool].effect is not Effect.READ]
    return f"What it changes or sends: {listed(effects, facts)}." if effects else "Every step only reads."


def listed(steps: Sequence[Step], facts: Facts) -> str:
    """`3 · brief (writes a summary) and 4 · post (sends a message to #ops)`."""
    named_now = [f"{named(step)} ({_lowered(_does(step, facts, done=False))})" for step in steps[:LISTED]]
    return joined([*named_now, *([f"{len(steps) - LISTED} more"] if len(steps) > LISTED else [])])


def quoted(words: str) -> str:
    """Somebody's words on one line, cut, without the last full stop."""
    return shown(words, limit=QUOTED).rstrip(".")


def at(moment: datetime | None) -> str:
    """` at 14:02 UTC`, or nothing."""
    return f" at {moment:%H:%M} UTC" if moment else ""


def span(length: timedelta) -> str:
    """`42 s`, `3 min`, `2 h 5 min`."""
    seconds = max(0, round(length.total_seconds()))
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _does(step: Step, facts: Facts, *, done: bool) -> str:
    spec = facts.catalogue.get(step.tool)
    return sentence(step, spec, done=done) if spec else f"{'Called' if done else 'Calls'} {shown(step.tool)}"


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:]


def _raised(words: str) -> str:
    return words[:1].upper() + words[1:]
