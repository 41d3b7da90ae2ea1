"""Where people stepped in: paused before a step, stopped there, changed it, set a breakpoint. Breakpoints are suggested from it.

And what people here have said yes to before, so that what is new to them can be told from what is not.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, func, insert, select

from bot.core.plan import Step
from bot.core.run import StepStatus
from bot.core.stepping_in import RUNS, Habit
from bot.store import tables

_table, _steps = tables.stepping_in, tables.steps
_approvals = tables.approvals
_ANY_APPROVAL = select(_approvals.c.id).where(_approvals.c.kind == "plan", _approvals.c.run_id != bindparam("besides")).limit(1)
_covered = and_(_approvals.c.run_id == _steps.c.run_id, _approvals.c.revision >= _steps.c.revision, _approvals.c.kind == "plan")
_RAN_APPROVED = (
    select(_steps.c.step_id)
    .join(_approvals, _covered)
    .where(_steps.c.tool == bindparam("tool"), _steps.c.status == StepStatus.SUCCEEDED.value, _steps.c.run_id != bindparam("besides"))
    .limit(1)
)


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


def approved_tools(conn: Connection, tools: Iterable[str], *, besides: str = "") -> frozenset[str] | None:
    """Of these tools those of which a step ran well after people had approved its plan; None where nobody has approved anything here yet.

    In a new place it could be said of every tool that nobody knows it, which would say nothing. `besides`: a run that does not count.
    """
    if conn.execute(_ANY_APPROVAL, {"besides": besides}).first() is None:
        return None
    known = {tool: conn.execute(_RAN_APPROVED, {"tool": tool, "besides": besides}).first() for tool in set(tools)}
    return frozenset(tool for tool, row in known.items() if row is not None)
