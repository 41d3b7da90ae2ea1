"""From a run's audit entries back to its state: the proof that the record leaves nothing out.

The door writes into each entry what the change was made of; here the same table is walked again, entry by entry. Entries without a
`version` changed nothing (a refused click, a note).
"""

from collections.abc import Iterable

from bot.core.ids import StepId
from bot.core.run import Event, Run, StepStatus, advance, advance_step
from bot.core.snapshot import Entry


def opened(entry: Entry) -> Run:
    """The run as its first entry (`opened`) describes it. KeyError if that entry is no such entry."""
    return Run.model_validate(entry.data["run"])


def replay(entries: Iterable[Entry], opened: Run) -> tuple[Run, dict[StepId, StepStatus]]:
    """The run and its steps' statuses after these entries, oldest first; `opened` is the run as it was opened.

    Raises `NotAllowed` if the entries hold a move that the table does not have. Where a run's cards stand (channel, thread) is not part
    of the record.
    """
    known, run = tuple(entries), opened
    for entry in known:
        if _moves(entry):
            run = advance(run, Event(entry.event), entry.data).model_copy(update={"updated_at": entry.at})
    return run, steps(known)


def steps(entries: Iterable[Entry]) -> dict[StepId, StepStatus]:
    """The steps' statuses after these entries, oldest first. Raises `NotAllowed` if they hold a move that the table does not have."""
    found = dict[StepId, StepStatus]()
    for data, event in ((entry.data, entry.event) for entry in entries if _moves(entry)):
        if "plan_steps" in data:  # another revision: what it left out is gone, what it added is pending
            again = data.get("again", ())  # failed steps that the new plan tries in another way
            found = {
                StepId(name): StepStatus.PENDING if name in again else found.get(StepId(name), StepStatus.PENDING)
                for name in data["plan_steps"]
            }
        if "step_to" in data:
            step = StepId(data["step"])
            found[step] = advance_step(found.get(step, StepStatus.PENDING), Event(event))
    return found


def _moves(entry: Entry) -> bool:
    return "version" in entry.data and entry.event != Event.OPENED
