"""What cards need to know of the past, read from the run's audit entries: who did what last, when, and in which words.

A snapshot may come without entries (redraws of a moving card do not need them); then nothing is known, and cards say less.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.core.ids import StepId
from bot.core.run import Event
from bot.core.snapshot import Entry, Revision, Snapshot

STANDS_SINCE = (Event.PLANNED, Event.REVISED, Event.RELEASED, Event.REDIRECTED)
CORRECTIONS = ("edited", "gone")  # of a reply that was said before


def last(snapshot: Snapshot, *events: Event) -> Entry | None:
    """The newest entry of one of these events."""
    return next((entry for entry in reversed(snapshot.entries) if entry.event in events), None)


def reason_of(entry: Entry | None) -> str:
    """The words that a person gave with a decision, if any."""
    return str(entry.data.get("reason") or entry.data.get("note") or "") if entry else ""


def started_at(snapshot: Snapshot) -> datetime | None:
    """When the first step started."""
    return min((step.started_at for step in snapshot.steps if step.started_at), default=None)


def ended_at(snapshot: Snapshot) -> datetime | None:
    """When the last step ended."""
    return max((step.finished_at for step in snapshot.steps if step.finished_at), default=None)


def tokens(snapshot: Snapshot) -> int:
    """Model tokens of planning and answering."""
    planned = sum(attempt.tokens_in + attempt.tokens_out for attempt in snapshot.attempts)
    answered = snapshot.answer.tokens_in + snapshot.answer.tokens_out if snapshot.answer else 0
    return planned + answered


def after(snapshot: Snapshot, seq: int, *events: Event) -> Entry | None:
    """The first entry of one of these events that came later than that entry."""
    return next((entry for entry in snapshot.entries if entry.seq > seq and entry.event in events), None)


def asks(snapshot: Snapshot, *, until: int | None = None) -> list[Entry]:
    """What was said (or edited) in the redirect that was open at that entry, oldest first; now, if no entry is named."""
    said: list[Entry] = []
    for entry in snapshot.entries:
        if until is not None and entry.seq >= until:
            break
        if entry.event in (Event.REDIRECTED, Event.WITHDRAWN):
            said = []
        elif entry.event == Event.REDIRECT_ASKED and entry.data.get("how") in CORRECTIONS:
            said = _corrected(said, entry)
        elif entry.event == Event.REDIRECT_ASKED:
            said.append(entry)
    return said


def _corrected(said: list[Entry], entry: Entry) -> list[Entry]:
    """The same after one of the replies was edited or deleted."""
    text, ts = str(entry.data.get("text") or ""), entry.data.get("ts")
    changed = [one.model_copy(update={"data": {**one.data, "text": text}}) if one.data.get("ts") == ts else one for one in said]
    return changed if text else [one for one in changed if one.data.get("ts") != ts]


def stood(snapshot: Snapshot, seq: int) -> Revision | None:
    """The revision that stood just before that entry."""
    numbers = [entry.data.get("revision") for entry in snapshot.entries if entry.seq < seq and entry.event in STANDS_SINCE]
    known = [number for number in numbers if isinstance(number, int)]
    return snapshot.revised(known[-1]) if known else next(iter(snapshot.revisions), None)


def before(snapshot: Snapshot, revision: int) -> Revision | None:
    """The revision that was there before the one of that number."""
    earlier = [one for one in snapshot.revisions if one.revision < revision]
    return max(earlier, key=lambda one: one.revision, default=None)


def kept(snapshot: Snapshot) -> Mapping[StepId, StepId]:
    """Steps that were taken as done → the step whose observation each of them has."""
    found: dict[StepId, StepId] = {}
    for entry in snapshot.entries:
        if entry.event == Event.STEP_KEPT and entry.data.get("step"):
            found[StepId(entry.data["step"])] = StepId(str(entry.data.get("kept_from") or entry.data["step"]))
        elif entry.event == Event.STEP_STARTED:
            found.pop(StepId(str(entry.data.get("step"))), None)
    return found
