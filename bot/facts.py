"""What grading must know of the world beside the plan, asked before any transaction: whom words reach, what is new, what is used up.

Slack is asked for a bounded time and its silence counts for nothing; the store is asked once. What is found can only raise a grade, so a
fact that is missing never lets anything through that a person would have had to see without it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection

from bot import runs
from bot.core.facts import Facts
from bot.core.places import channels
from bot.core.plan import Plan
from bot.core.run import Run
from bot.deps import Deps
from bot.store import history, windows


async def gather(deps: Deps, plan: Plan, *, run: Run | None, requester: str, channel: str) -> Facts:
    """The facts for this plan of this requester, asked for in `channel` (an id). `run`: the run it belongs to, if there is one yet."""
    named, besides = channels_of(step.args for step in plan.steps), run.id if run else ""
    reach = await deps.reach([*named, *([channel] if channel else [])])
    asked = reach.get(channel)

    def look(conn: Connection) -> Facts:
        return Facts(
            requester=requester,
            asked_in=f"#{asked.name}" if asked and asked.name else channel,
            reach={name: reach[name] for name in named if name in reach},
            approved_before=history.approved_tools(conn, {step.tool for step in plan.steps}, besides=besides),
            spent=windows.spent(conn, deps.policy, requester, now=deps.now(), catalogue=deps.tools.catalogue, besides=besides or None),
        )

    return await deps.store.read(look)


async def of_run(deps: Deps, plan: Plan, run_id: str) -> Facts:
    """The facts for a plan of a run that there is already. Raises `Refused("unknown_run")`."""
    run = await runs.get(deps, run_id)
    return await gather(deps, plan, run=run, requester=run.requester, channel=run.channel)


def channels_of(calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """The channels that these arguments name, each once; those that are filled in later cannot be asked about yet."""
    return list(dict.fromkeys(name for args in calls for name in channels(args)))
