"""One call of one tool, from its stored intent to an outcome that can be recorded.

A tool that says no, breaks, hangs or is cancelled raises nothing here: it ends as an `Ended` with an event of the table.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog

from bot.core.ids import short
from bot.core.plan import Step, fingerprint
from bot.core.run import Event
from bot.core.snapshot import Observation
from bot.deps import Deps
from bot.errors import ToolFailed
from bot.tools.registry import TimedOut, ToolContext, Unresponsive

log = structlog.get_logger()

VERIFY_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Ended:
    """How one start of a step ended."""

    step: Step
    event: Event  # STEP_SUCCEEDED, STEP_FAILED, STEP_CANCELLED, STEP_IN_DOUBT or STEP_REQUEUED
    observation: Observation | None = None
    error: str | None = None


def context(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> ToolContext:
    """What the tool is given. The key is the same for every repeat of one filled-in call."""

    def progress(words: str) -> None:
        deps.progress[(run_id, step.id)] = words  # no ring: the presenter redraws running cards every few seconds anyway

    key = f"{run_id}.{step.id}.{short(fingerprint(args))}"
    return ToolContext(run_id=run_id, step_id=step.id, key=key, on_progress=progress, now=deps.now)


async def call(deps: Deps, run_id: str, step: Step, args: dict[str, Any], *, attempt: int) -> Ended:
    """Call the tool and say how it ended. Cancelling this task asks the tool to end, and waits until it has, within its grace."""
    structlog.contextvars.bind_contextvars(run=run_id, step=step.id)
    spec = deps.tools.catalogue[step.tool]
    ctx = context(deps, run_id, step, args)
    try:
        observation = await deps.tools.call(step.tool, args, ctx, timeout_s=step.timeout_s)
    except ToolFailed as failure:
        log.info("step_failed", tool=step.tool, attempt=attempt, error=str(failure))
        if isinstance(failure, (TimedOut, Unresponsive)) and not spec.repeatable:
            return await _account_for(deps, run_id, step, args, ctx, Event.STEP_FAILED, why=str(failure))
        again = spec.repeatable and attempt <= step.retries
        return Ended(step, Event.STEP_REQUEUED if again else Event.STEP_FAILED, error=str(failure))
    except asyncio.CancelledError:
        # Stop was pressed: the outcome of the call is still ours to account for, so the cancellation ends here.
        return await _account_for(deps, run_id, step, args, ctx, Event.STEP_CANCELLED, why="cancelled while it ran")
    finally:
        deps.progress.pop((run_id, step.id), None)
    return Ended(step, Event.STEP_SUCCEEDED, observation)


async def _account_for(
    deps: Deps, run_id: str, step: Step, args: dict[str, Any], ctx: ToolContext, without_effect: Event, *, why: str
) -> Ended:
    """A call that was cut short. A read did nothing; of an effect we say only what is known or can be verified."""
    if ctx.outcome is not None:
        return Ended(step, Event.STEP_SUCCEEDED, ctx.outcome)
    if deps.tools.catalogue[step.tool].repeatable:
        return Ended(step, without_effect, error=why)
    found = await _verify(deps, run_id, step, args)
    if isinstance(found, Observation):
        return Ended(step, Event.STEP_SUCCEEDED, found)
    if found is None:
        return Ended(step, without_effect, error=f"{why}; it took no effect")
    return Ended(step, Event.STEP_IN_DOUBT, error=f"{why}; whether it took effect could not be confirmed")


async def settle_orphan(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> Ended | None:
    """Ask the tool whether a step whose process died took effect. None: it cannot tell, so a person must."""
    if step.tool not in deps.tools.catalogue:
        return None
    found = await _verify(deps, run_id, step, args)
    if isinstance(found, Observation):
        return Ended(step, Event.STEP_SUCCEEDED, found)
    if found is None:
        return Ended(step, Event.STEP_REQUEUED)
    return None


async def _verify(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> Observation | ToolFailed | None:
    """The observation if it happened, None if it did not, the failure if the tool cannot tell."""
    try:
        async with asyncio.timeout(VERIFY_TIMEOUT_S):
            return await deps.tools.verify(step.tool, args, context(deps, run_id, step, args))
    except TimeoutError:
        return ToolFailed("verification took too long")
    except ToolFailed as failure:
        return failure


async def look_ahead(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> dict[str, Any] | None:
    """What the tool says it would change, as data for the confirm card; None if it cannot tell."""
    try:
        async with asyncio.timeout(VERIFY_TIMEOUT_S):
            preview = await deps.tools.preview(step.tool, args, context(deps, run_id, step, args))
    except (TimeoutError, ToolFailed) as failure:
        log.info("no_preview", run=run_id, step=step.id, error=str(failure))
        return None
    return preview.model_dump(mode="json") if preview is not None else None
