"""Planning the rest of a live run again: what of its plan is fixed, and how a drafted rest becomes a whole plan again.

Pure. What has started is a fact and stays in the plan as it was; only pending steps, and failed ones that nothing has answered yet, may be
changed or left out. Numbers are for life: a kept step keeps its own, a new one takes the next that this run has never used.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.core.drafts import Fault, Reply
from bot.core.ids import PULLCORD, StepId
from bot.core.plan import Plan, Step, call_fingerprint, numbered
from bot.core.run import Event, StepStatus
from bot.core.snapshot import Entry, Revision, StepState

OPEN_TO_CHANGE = frozenset({StepStatus.PENDING, StepStatus.FAILED})


@dataclass(frozen=True)
class Opened:
    """The redirect that is open now: its replies, in order, and the revision that those before `since` led to."""

    replies: tuple[Reply, ...] = ()
    since: int = 0  # index of the first reply that no revision follows yet
    proposed: int | None = None  # the last revision that was proposed in this redirect


def opened(entries: Iterable[Entry]) -> Opened:
    """What was said since the last redirect ended, read from the record."""
    replies: list[Reply] = []
    since, proposed = 0, None
    for entry in entries:
        if entry.event in (Event.REDIRECTED, Event.WITHDRAWN):
            replies, since, proposed = [], 0, None
        elif entry.event == Event.REDIRECT_ASKED and entry.data.get("how") == "reply":
            replies.append(Reply(ts=entry.data.get("ts", ""), actor=entry.actor, text=entry.data["text"]))
        elif entry.event == Event.REDIRECT_ASKED and entry.data.get("how") in ("edited", "gone"):
            replies = _corrected(replies, entry)
            since, proposed = 0, None
        elif entry.event == Event.REDIRECT_FAILED:  # what cannot be done is not tried again with the next wish
            replies = replies[:since]
        elif "proposed" in entry.data and entry.event in (Event.REDIRECT_PLANNED, Event.REGRADED):
            since, proposed = len(replies), entry.data["proposed"]
    return Opened(tuple(replies), since, proposed)


def followed(entries: Iterable[Entry], revision: int) -> tuple[Reply, ...]:
    """The replies that led to that revision, which a redirect put into force; none for one that was made otherwise."""
    before: list[Entry] = []
    for entry in entries:
        if entry.event == Event.REDIRECTED and entry.data.get("revision") == revision:
            return opened(before).replies
        before.append(entry)
    return ()


def _corrected(replies: list[Reply], entry: Entry) -> list[Reply]:
    """The replies after one of them was edited, or deleted: what was planned by them is planned again."""
    text = entry.data["text"]
    changed = [reply.model_copy(update={"text": text}) if reply.ts == entry.data["ts"] else reply for reply in replies]
    return [reply for reply in changed if reply.text]


def used(entries: Iterable[Entry]) -> int:
    """How often words have redirected this run, adopted or not, edited replies too: the limit is about the planner's work."""
    return sum(entry.event == Event.REDIRECT_ASKED and entry.data.get("how") in ("reply", "edited", "gone") for entry in entries)


def used_numbers(revisions: Iterable[Revision], steps: Iterable[StepState] = ()) -> set[int]:
    """Every number that a step of this run ever had: people said them, and a removed one means no other step later."""
    return {step.number for revision in revisions for step in revision.plan.steps} | {state.number for state in steps}


def hand_authors(revisions: Iterable[Revision], *, since: int, upto: int) -> tuple[str, ...]:
    """Who wrote one of these revisions by hand, after number `since` and up to `upto`, each once: they do not also approve the last one.

    A later revision by the planner, or by somebody else, washes nobody's hand off what they put in.
    """
    return tuple(dict.fromkeys(one.author for one in revisions if since < one.revision <= upto and one.author != PULLCORD))


def plans_wanted(entries: Iterable[Entry]) -> int:
    """How many plans people have wanted of the planner in one review: the first, and one for each *Ask for changes*, found or not."""
    return 1 + sum(entry.event == Event.CHANGES_ASKED for entry in entries)


def fixed(plan: Plan, states: Mapping[StepId, StepStatus]) -> tuple[StepId, ...]:
    """Steps that have started, or were settled: what comes next cannot change them. A failed one counts if something settled names it."""
    settled = [step for step in plan.steps if states.get(step.id, StepStatus.PENDING) not in OPEN_TO_CHANGE]
    needed = {name for step in settled for name in step.needs}
    failed = {name for name in needed if states.get(name) is StepStatus.FAILED}
    return tuple(step.id for step in plan.steps if step in settled or step.id in failed)


def whole(standing: Plan, rest: Plan, states: Mapping[StepId, StepStatus], *, used_numbers: Collection[int]) -> Plan:
    """The fixed steps of the standing plan, then the rest; a step of the rest that says the same as a fixed one of its id is left out.

    A failed step that the rest does not name is gone from the plan. Numbers are kept by id, new steps take free ones.
    """
    kept = {step.id: step for step in standing.steps}
    stays = [kept[name] for name in fixed(standing, states)]
    done = {step.id for step in stays}
    coming = [_known_number(step, kept) for step in rest.steps if step.id not in done]
    return numbered(standing.model_copy(update={"steps": (*stays, *coming)}), used=used_numbers)


def _known_number(step: Step, kept: Mapping[StepId, Step]) -> Step:
    number = kept[step.id].number if step.id in kept else 0
    return step.model_copy(update={"number": number}) if step.number != number else step


def faults(standing: Plan, rest: Plan, states: Mapping[StepId, StepStatus]) -> list[Fault]:
    """What a rest may not do: give a step that has run another meaning."""
    kept = {name: standing.step(name) for name in fixed(standing, states)}
    found = []
    for step in rest.steps:
        old = kept.get(step.id)
        if old is not None and (old.tool, old.args) != (step.tool, step.args):
            says = f"step {old.number} · {step.id} has run and cannot be changed"
            found.append(Fault(step=step.id, says=says, fix="give the new step an id of its own"))
    return found


@dataclass(frozen=True)
class RefusedCall:
    """A call that somebody said no to just before it ran, and why."""

    step: str
    tool: str
    reason: str
    actor: str
    fingerprints: frozenset[str]  # of the call as it was filled in, and as it was planned

    def says(self) -> str:
        """`slack.post_message was refused for step post: wrong channel`."""
        return f"this very call of {self.tool} was refused (step {self.step})" + (f": {self.reason}" if self.reason else "")


def refused_calls(entries: Iterable[Entry]) -> tuple[RefusedCall, ...]:
    """Every call of this run that was refused, read from the record (C021)."""
    return tuple(
        RefusedCall(
            step=entry.data["step"],
            tool=entry.data.get("tool", ""),
            reason=entry.data.get("reason", ""),
            actor=entry.actor,
            fingerprints=frozenset(entry.data.get("calls", ())),
        )
        for entry in entries
        if entry.event == Event.CONFIRM_REFUSED
    )


def refused_again(plan: Plan, refused: Collection[RefusedCall], states: Mapping[StepId, StepStatus]) -> list[Fault]:
    """Steps still to come that would make a call which somebody refused: the same tool with the same arguments."""
    found = []
    for step in plan.steps:
        no = refusal_of(step.tool, step.args, refused) if states.get(step.id, StepStatus.PENDING) is StepStatus.PENDING else None
        if no is not None:
            found.append(Fault(step=step.id, field="args", says=no.says(), fix="reach the goal in another way, or without it"))
    return found


def refusal_of(tool: str, args: Mapping[str, object], refused: Collection[RefusedCall]) -> RefusedCall | None:
    """The refusal of this very call, if there was one."""
    call = call_fingerprint(tool, args)
    return next((one for one in refused if call in one.fingerprints), None)
