"""Questions about runs. Nothing here changes anything."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from bot.core import figures as sums
from bot.core import stepping_in
from bot.core.figures import Figures
from bot.core.ids import StepId
from bot.core.run import Run, StepStatus
from bot.core.snapshot import Entry, Freeze, Snapshot, StepState
from bot.deps import Deps
from bot.store import audit, cord, history, replies, runs
from bot.store import figures as told


async def snapshot(deps: Deps, run_id: str, *, entries: bool = False) -> Snapshot:
    """All that is known of a run, with the progress words of its running steps. Raises `Refused("unknown_run")`."""
    found = await deps.store.read(lambda conn: runs.snapshot(conn, run_id, entries=entries))
    steps = tuple(_with_progress(deps, run_id, step) for step in found.steps)
    return found.model_copy(update={"steps": steps})


def _with_progress(deps: Deps, run_id: str, step: StepState) -> StepState:
    words = deps.progress.get((run_id, step.id))
    return step.model_copy(update={"progress": words}) if words and step.status is StepStatus.RUNNING else step


async def get(deps: Deps, run_id: str) -> Run:
    """The run's own row. Raises `Refused("unknown_run")`."""
    return await deps.store.read(lambda conn: runs.get(conn, run_id))


async def by_thread(deps: Deps, channel: str, thread_ts: str) -> Run | None:
    """The newest run whose thread has that root, or None."""
    return await deps.store.read(lambda conn: runs.by_thread(conn, channel, thread_ts))


async def live(deps: Deps, *, requester: str | None = None, channel: str | None = None) -> list[Run]:
    """Runs that have not ended, oldest first, narrowed to a requester or a channel."""
    found = await deps.store.read(runs.open_runs)
    return [run for run in found if requester in (None, run.requester) and channel in (None, run.channel)]


async def listing(deps: Deps, *, requester: str | None = None, limit: int = 100) -> Sequence[Run]:
    """The newest runs first; only those that this person asked for, if one is named."""
    return await deps.store.read(lambda conn: runs.listing(conn, requester=requester, limit=limit))


async def queued(deps: Deps) -> list[Run]:
    """Runs that wait for a place in the pool, oldest first."""
    return await deps.store.read(runs.queued)


async def frozen(deps: Deps) -> Freeze | None:
    """The freeze that holds everything now, or None."""
    return await deps.store.read(cord.frozen)


async def unheard(deps: Deps) -> Sequence[str]:
    """Runs with replies that nobody has made out yet."""
    return await deps.store.read(replies.waiting_runs)


async def suggestions(deps: Deps, found: Snapshot) -> dict[StepId, str]:
    """Before which steps of the plan (or of the new rest that is proposed) a breakpoint is suggested from history, and why."""
    plan = found.proposal.plan if found.proposal else found.plan
    if plan is None:
        return {}
    tools = [step.tool for step in plan.steps]
    habits = await deps.store.read(lambda conn: history.habits(conn, tools, but=found.run.id))
    return stepping_in.suggestions(plan, habits, set_already=found.run.breakpoints)


async def figures(deps: Deps, *, days: int) -> Figures:
    """What the record of the last days says of how people and policy work together."""
    since = deps.now() - timedelta(days=days)
    found = await deps.store.read(lambda conn: told.stories(conn, since=since))
    return await asyncio.to_thread(sums.figures, found, deps.tools.catalogue, since=since.date())


async def entry(deps: Deps, run_id: str, seq: int) -> Entry:
    """One audit entry of a run, or ("-") of the bot. KeyError if there is none."""
    found = await deps.store.read(lambda conn: audit.entry(conn, run_id, seq))
    if found is None:
        raise KeyError(f"{run_id}.{seq}")
    return found
