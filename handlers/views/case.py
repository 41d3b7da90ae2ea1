"""One refusal with all that is known of it, as safe words for the sentences of a private answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.core.run import Hold, Redirect, Run, RunStatus
from handlers.views import words
from handlers.views.scene import Element, Scene
from handlers.views.text import date, inline, joined, link, ping, plain

NOT = {
    "approve": "Not approved",
    "confirm": "Not confirmed",
    "refuse": "Not refused",
    "cancel": "Not cancelled",
    "edit": "Not edited",
    "ask": "Not started",
    "ask for changes": "Not sent",
    "answer": "Not taken as the answer",
    "pause": "Not paused",
    "resume": "Not resumed",
    "continue": "Not continued",
    "stop": "Not stopped",
    "retry": "Not tried again",
    "skip": "Not skipped",
    "settle": "Not settled",
    "it happened": "Not settled",
    "it did not happen": "Not settled",
    "breakpoint": "No breakpoint set",
    "change": "Not changed",
    "change arguments": "Not changed",
    "never mind": "Not withdrawn",
    "freeze": "Not frozen",
    "thaw": "Not thawed",
    "reload": "Not reloaded",
}
LETTING_GO = frozenset({"resume", "continue", "retry", "skip"})
STATES = {
    RunStatus.PLANNING: "is being planned",
    RunStatus.IN_REVIEW: "waits for approval",
    RunStatus.QUEUED: "is queued",
    RunStatus.RUNNING: "is running",
    RunStatus.PAUSING: "is pausing",
    RunStatus.PAUSED: "is paused",
    RunStatus.STOPPING: "is stopping",
    RunStatus.ANSWERING: "has finished its steps",
    RunStatus.SUCCEEDED: "is done",
    RunStatus.FAILED: "has failed",
    RunStatus.STOPPED: "is stopped",
    RunStatus.CANCELLED: "was cancelled",
    RunStatus.EXPIRED: "has expired",
    RunStatus.REFUSED: "was refused by policy",
}
HOLDS = {
    Hold.PERSON: "somebody paused it",
    Hold.BREAKPOINT: "it waits at a breakpoint",
    Hold.CONFIRM: "a step waits for confirmation",
    Hold.REDIRECT: "the rest is being planned again",
    Hold.UNATTENDED: "it waits until somebody looks at it",
    Hold.STEP_FAILED: "a step failed",
    Hold.IN_DOUBT: "a step is in doubt",
    Hold.BUDGET: "its budget is used up",
    Hold.FREEZE: "everything is frozen",
    Hold.SHUTDOWN: "Pullcord is restarting",
    Hold.QUESTION: "a question waits for an answer",
}


CHANGING = {
    Redirect.PLANNING: "the rest is being planned again",
    Redirect.REVIEW: "the new rest waits for approval",
    Redirect.NO_PLAN: "there is no plan for the rest as somebody wants it",
}


def standing_for(run: Run) -> str:
    """For what a run stands, in half a sentence; with a redirect over somebody's own hold, both."""
    held = HOLDS[run.reason] if run.reason else ""
    if run.redirect is None:
        return held
    return joined(held if run.reason is not Hold.REDIRECT else "", CHANGING[run.redirect], by="; ")


def symbol(scene: Scene) -> str:
    """The mark of the run's state, which stands before its words."""
    return {
        RunStatus.PLANNING: words.WORKS,
        RunStatus.IN_REVIEW: words.WAITS,
        RunStatus.QUEUED: words.WORKS,
        RunStatus.RUNNING: words.RUNS,
        RunStatus.PAUSING: words.STANDS,
        RunStatus.PAUSED: words.STANDS if _stands(scene.run) else words.WAITS,
        RunStatus.ANSWERING: words.WORKS,
        RunStatus.SUCCEEDED: words.YES,
        RunStatus.FAILED: words.WRONG,
        RunStatus.REFUSED: words.WRONG,
    }.get(scene.run.status, words.CLOSED)


def _stands(run: Run) -> bool:
    """Does it stand without waiting for a decision?"""
    if run.redirect is not None and run.redirect is not Redirect.PLANNING:
        return False
    return run.reason in (Hold.PERSON, Hold.FREEZE, Hold.SHUTDOWN) or run.redirect is Redirect.PLANNING


@dataclass(frozen=True)
class Telling:
    """`what` did not happen and why, what is true `now`, what to do `then`; somebody's words to give back; a button if that is the move.

    `reason`: what somebody else gave as the reason, behind a bar of its own."""

    what: str
    now: str
    then: str
    words: str = ""
    button: Element | None = None
    reason: str = ""


@dataclass(frozen=True)
class Case:
    """One refusal with all that is known of it. Every word it gives is safe inside mrkdwn."""

    kind: str
    facts: Mapping[str, Any]
    scene: Scene | None
    commands: Mapping[str, str] = field(default_factory=dict)  # where there is no scene that knows them

    @property
    def run(self) -> str:
        """The run's id."""
        return plain(str(self.facts.get("run") or (self.scene.run.id if self.scene else "the run")), 20)

    @property
    def did(self) -> str:
        """What was tried."""
        return str(self.facts.get("did", "")).casefold()

    @property
    def no(self) -> str:
        """`Not approved`, or whatever was tried."""
        return NOT.get(self.did, "Not done")

    @property
    def at(self) -> str:
        """`, 14:05` when a time is known."""
        at = self.facts.get("at")
        return f", {date(at, now=self.scene.now if self.scene else None)}" if isinstance(at, datetime) else ""

    @property
    def by(self) -> str:
        """` by approver` when somebody is known, linked and not pinged."""
        who = str(self.facts.get("by") or "")
        return f" by {words.profile(self.scene, who) if self.scene else ping(who)}" if who else ""

    @property
    def approvers(self) -> str:
        """Who may approve, in plain words."""
        return self.scene.approvers_plain if self.scene else "the approvers"

    @property
    def requester(self) -> str:
        """Who asked, linked."""
        return words.profile(self.scene, self.scene.run.requester) if self.scene else "the requester"

    @property
    def until(self) -> str:
        """` until 14:32` while a review is open."""
        deadline = self.facts.get("until") or (self.scene.run.deadline if self.scene else None)
        return f" until {date(deadline, now=self.scene.now if self.scene else None)}" if isinstance(deadline, datetime) else ""

    @property
    def state(self) -> str:
        """`R-7K2Q is paused: it waits at a breakpoint.`"""
        if self.scene is None:
            return ""
        held = self.scene.run.status in (RunStatus.PAUSED, RunStatus.PAUSING) and self.scene.run.reason
        return f"{self.run} {STATES[self.scene.run.status]}{f': {standing_for(self.scene.run)}' if held else ''}."

    def card(self, label: str, kind: str = "run") -> str:
        """A link to a card of the run, or the label alone."""
        address = self.scene.links.get(kind) if self.scene else None
        return link(address, label) if address else label

    def name(self, command: str) -> str:
        """What people type for a slash command here."""
        return self.scene.command(command) if self.scene else self.commands.get(command, f"/{command}")

    def command(self, name: str) -> str:
        """The same as code."""
        return inline(self.name(name))
