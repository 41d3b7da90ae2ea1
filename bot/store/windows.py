"""What one requester has used up of the policy's windows: steps that started within each, and (for grading) those that may start yet.

Counted from the steps' rows of all their runs. Within the transaction that starts a step nobody else can start another one meanwhile, so
two runs cannot both take what only one may have.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, select

from bot.core import grading, windows
from bot.core.catalogue import Catalogue, Effect
from bot.core.ids import StepId
from bot.core.plan import Plan
from bot.core.policy_file import Policy, Window
from bot.core.run import LIVE, StepStatus
from bot.store import tables

_runs, _steps, _revisions = tables.runs, tables.steps, tables.revisions
_LIVE = [status.value for status in LIVE]


class _Work(NamedTuple):
    """One step that counts; `at`: when it started, None if it has not yet."""

    tool: str
    args: dict[str, Any]
    at: datetime | None


def spent(
    conn: Connection, policy: Policy, requester: str, *, now: datetime, catalogue: Catalogue, besides: str | None = None
) -> dict[int, float]:
    """By a window's place in the policy: what this requester's runs (but that one) started within it, or may start yet as approved."""
    if not policy.windows:
        return {}
    work = _started(conn, policy.windows, requester, now, besides) + _approved(conn, requester, besides)
    return _sums(policy, catalogue, work, now)


def started(
    conn: Connection, policy: Policy, requester: str, *, now: datetime, catalogue: Catalogue, besides: str | None = None
) -> dict[int, float]:
    """By a window's place in the policy: what this requester's runs (but that one) really started within it."""
    if not policy.windows:
        return {}
    return _sums(policy, catalogue, _started(conn, policy.windows, requester, now, besides), now)


class Tried(NamedTuple):
    """With which arguments a step has started, and how often: a try that failed may well have done what it was to do."""

    args: dict[str, Any]
    times: int


def tried(conn: Connection, run_id: str) -> dict[StepId, Tried]:
    """The steps of the run that have started."""
    query = select(_steps.c.step_id, _steps.c.args, _steps.c.attempt).where(_steps.c.run_id == run_id, _steps.c.started_at.is_not(None))
    return {StepId(row.step_id): Tried(row.args or {}, row.attempt) for row in conn.execute(query)}


def _sums(policy: Policy, catalogue: Catalogue, work: Sequence[_Work], now: datetime) -> dict[int, float]:
    effects = {each.tool: grading.effect_of(spec, policy) if (spec := catalogue.get(each.tool)) else Effect.EXECUTE for each in work}
    found = dict.fromkeys(range(len(policy.windows)), 0.0)
    for place, window in enumerate(policy.windows):
        mine = [each for each in work if windows.counts(window, each.tool, effects[each.tool])]
        found[place] += sum(windows.amount(window, each.args) for each in mine if each.at is None or each.at > now - window.within)
    return found


def _started(conn: Connection, given: Sequence[Window], requester: str, now: datetime, besides: str | None) -> list[_Work]:
    since = now - max(window.within for window in given)
    query = (
        select(_steps.c.tool, _steps.c.args, _steps.c.started_at, _steps.c.attempt)
        .join(_runs, _runs.c.id == _steps.c.run_id)
        .where(_steps.c.started_at > since, _runs.c.requester == requester)
    )
    if besides is not None:
        query = query.where(_runs.c.id != besides)
    return [_Work(row.tool, row.args or {}, row.started_at) for row in conn.execute(query) for _ in range(max(1, row.attempt))]


def _approved(conn: Connection, requester: str, besides: str | None) -> list[_Work]:
    """Steps of live runs that have not started, with their arguments as far as they are known."""
    waiting = and_(_steps.c.status == StepStatus.PENDING.value, _steps.c.started_at.is_(None))
    query = (
        select(_steps.c.run_id, _steps.c.step_id, _steps.c.tool, _revisions.c.plan)
        .join(_runs, _runs.c.id == _steps.c.run_id)
        .join(_revisions, and_(_revisions.c.run_id == _runs.c.id, _revisions.c.revision == _runs.c.revision))
        .where(_runs.c.status.in_(_LIVE), _runs.c.requester == requester, waiting)
    )
    if besides is not None:
        query = query.where(_runs.c.id != besides)
    plans: dict[str, Plan] = {}
    found = []
    for row in conn.execute(query):
        plan = plans.setdefault(row.run_id, Plan.model_validate(row.plan))
        args = next((step.args for step in plan.steps if step.id == row.step_id), {})
        found.append(_Work(row.tool, args, None))
    return found
