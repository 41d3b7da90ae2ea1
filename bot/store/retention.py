"""What policy lets go once a run has ended: the values of observations. Their digests, sizes and words stay, and so does the whole record.

The chain seals a value and the rest of a result apart (`core.sealed_rows`), so that a value that was let go is no sign of tampering.
"""

from datetime import datetime

from sqlalchemy import Connection, bindparam, or_, select, update

from bot.core.run import FINAL
from bot.core.sealed_rows import DROPPED
from bot.store import tables

AT_ONCE = 200  # rows of one transaction, so that nobody waits for long

_steps, _runs = tables.steps, tables.runs
_dropped = _steps.c.observation["value"][DROPPED].as_string()
_OLD = (
    select(_steps.c.run_id, _steps.c.step_id, _steps.c.observation)
    .join(_runs, _runs.c.id == _steps.c.run_id)
    .where(_runs.c.status.in_(sorted(FINAL)), _runs.c.updated_at < bindparam("before"), _steps.c.observation.is_not(None))
    .where(or_(_dropped.is_(None), _dropped.not_like("____-__-__T%")))
    .order_by(_steps.c.run_id, _steps.c.step_id)
    .limit(AT_ONCE)
)
_LET_GO = update(_steps).where(_steps.c.run_id == bindparam("run"), _steps.c.step_id == bindparam("step"))


def drop_observations(conn: Connection, *, before: datetime, at: datetime) -> int:
    """Let go of observation values of runs that ended earlier than `before`, some at a time; how many. 0: there are none left."""
    instead = {DROPPED: at.isoformat()}
    found = conn.execute(_OLD, {"before": before}).mappings().all()
    for row in found:
        kept = {**row["observation"], "value": instead}
        conn.execute(_LET_GO.values(observation=kept), {"run": row["run_id"], "step": row["step_id"]})
    return len(found)
