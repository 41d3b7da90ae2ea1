"""What cards need to know of the past, read from the run's audit entries: who did what last, when, and in which words.

A snapshot may come without entries (redraws of a moving card do not need them); then nothing is known, and cards say less.
"""

from datetime import datetime

from bot.core.run import Event
from bot.core.snapshot import Entry, Snapshot


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
