"""What cards need to know of the past, read from the run's audit entries: who did what last, when, and in which words.

A snapshot may come without entries (redraws of a moving card do not need them); then nothing is known, and cards say less. What is posted
once and never redrawn is made from the run `as_of` its entry: it reads the same, however late it is posted.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.core import budget, replay
from bot.core.ids import StepId
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import Approval, Entry, Revision, Snapshot

LASTING = ("id", "ask", "requester", "team", "channel", "thread_ts", "source_ts", "created_at")  # of a run, whatever becomes of it
CORRECTIONS = ("edited", "gone")  # of a reply that was said before


def last(snapshot: Snapshot, *events: Event) -> Entry | None:
    """The newest entry of one of these events."""
    return next((entry for entry in reversed(snapshot.entries) if entry.event in events), None)


def reason_of(entry: Entry | None) -> str:
    """The words that a person gave with a decision, if any."""
    return str(entry.data.get("reason") or entry.data.get("note") or "") if entry else ""


def given(snapshot: Snapshot, revision: int, digest: str | None) -> list[Approval]:
    """The yeses to that very revision: another one of the same plan, graded anew, has the same digest, and none of them."""
    return [one for one in snapshot.approvals if (one.kind, one.revision, one.digest) == ("plan", revision, digest)]


def until(entry: Entry) -> datetime:
    """When the wait was over that this entry ended: by its deadline, however late somebody looked."""
    said = entry.data.get("until")
    return datetime.fromisoformat(said) if isinstance(said, str) else entry.at


def started_at(snapshot: Snapshot) -> datetime | None:
    """When the first step started."""
    return min((step.started_at for step in snapshot.steps if step.started_at), default=None)


def ended_at(snapshot: Snapshot) -> datetime | None:
    """When the last step ended."""
    return max((step.finished_at for step in snapshot.steps if step.finished_at), default=None)


def tokens(snapshot: Snapshot) -> int:
    """Model tokens of planning, answering, and the tools of its steps."""
    return budget.tokens(snapshot)


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
    numbers = [int(entry.data["revision"]) for entry in snapshot.entries if entry.seq < seq and "plan_steps" in entry.data]
    return snapshot.revised(numbers[-1]) if numbers else None


def as_of(snapshot: Snapshot, seq: int) -> Snapshot:
    """The run as it was when that entry had just been written: its status, the plans there were, the one that stood, each step's status.

    Nothing else is in it, and nothing that came later: no hold, no approval but by its entry, no answer.
    """
    entries = tuple(entry for entry in snapshot.entries if entry.seq <= seq)
    stands = stood(snapshot, seq + 1)
    moves = [entry.data["to"] for entry in entries if entry.data.get("to")]
    known = {name: getattr(snapshot.run, name) for name in LASTING}
    known |= {"status": RunStatus(moves[-1])} if moves else {}
    known |= {"revision": stands.revision, "digest": stands.digest, "risk": stands.risk} if stands else {}
    newest = max((int(entry.data.get(name) or 0) for entry in entries for name in ("revision", "proposed")), default=0)
    reached = replay.steps(entries)
    return Snapshot(
        run=Run(**known, updated_at=entries[-1].at if entries else snapshot.run.created_at),
        plan=stands.plan if stands else None,
        grades=stands.grades if stands else {},
        tool_digests=stands.tool_digests if stands else {},
        revisions=tuple(one for one in snapshot.revisions if one.revision <= newest),
        steps=tuple(one.model_copy(update={"status": reached[one.id]}) for one in snapshot.steps if one.id in reached),
        entries=entries,
    )


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
