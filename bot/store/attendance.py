"""What a run has started while nobody acted on it: the record says when somebody did."""

from sqlalchemy import Connection, func, select

from bot.core.ids import NOBODY, StepId
from bot.core.run import Event
from bot.store import tables

# What people do without looking at this run, or without being let: it does not count as somebody's being there.
NOT_HERE = tuple(event.value for event in (Event.CLICK_REFUSED, Event.FROZEN, Event.THAWED))

_audit = tables.audit


def alone(conn: Connection, run_id: str) -> tuple[StepId, ...]:
    """The steps that were started since a person last acted on the run, each once, in order."""
    acts = (_audit.c.run_id == run_id, _audit.c.actor.not_in(sorted(NOBODY)), _audit.c.event.not_in(NOT_HERE))
    last = conn.execute(select(func.max(_audit.c.seq)).where(*acts)).scalar_one() or 0
    starts = (_audit.c.run_id == run_id, _audit.c.seq > last, _audit.c.event == Event.STEP_STARTED.value)
    found = conn.execute(select(_audit.c.data).where(*starts).order_by(_audit.c.seq)).scalars()
    return tuple(dict.fromkeys(StepId(data["step"]) for data in found))
