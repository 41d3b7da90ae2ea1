"""Where people stepped in: paused before a step, stopped there, changed it, set a breakpoint. Breakpoints are suggested from it."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, func, insert, select

from bot.core.plan import Step
from bot.core.run import StepStatus
from bot.core.stepping_in import RUNS, Habit
from bot.store import tables

_table, _steps = tables.stepping_in, tables.steps


def stepped_in(conn: Connection, run_id: str, steps: Iterable[Step], *, how: str, at: datetime) -> None:
    """Remember that somebody stepped in at these steps."""
    rows = [{"run_id": run_id, "step_id": step.id, "tool": step.tool, "how": how, "at": at} for step in steps]
    if rows:
        conn.execute(insert(_table), rows)


def habits(conn: Connection, tools: Iterable[str], *, but: str = "") -> dict[str, Habit]:
    """For each tool: in how many of the last runs that came to it people stepped in at it. `but`: a run that does not count."""
    return {tool: found for tool in sorted(set(tools)) if (found := _habit(conn, tool, but)) is not None}


def _habit(conn: Connection, tool: str, but: str) -> Habit | None:
    came = _steps.c.status != StepStatus.PENDING.value
    reached = select(_steps.c.run_id).where(_steps.c.tool == tool, _steps.c.run_id != but, came)
    stepped = select(_table.c.run_id).where(_table.c.tool == tool, _table.c.run_id != but)
    runs = tables.runs
    lately = select(runs.c.id).where(runs.c.id.in_(reached.union(stepped))).order_by(runs.c.created_at.desc()).limit(RUNS)
    last = conn.execute(lately).scalars().all()
    if not last:
        return None
    query = select(_table.c.how, func.count(_table.c.run_id.distinct()).label("times")).where(
        _table.c.tool == tool, _table.c.run_id.in_(last)
    )
    ways = {row.how: row.times for row in conn.execute(query.group_by(_table.c.how))}
    times = conn.execute(
        select(func.count(_table.c.run_id.distinct())).where(_table.c.tool == tool, _table.c.run_id.in_(last))
    ).scalar_one()
    return Habit(tool=tool, times=times, runs=len(last), how=max(ways, key=lambda how: ways[how], default=""))
