"""One call of one tool, from its stored intent to an outcome that can be recorded.

A tool that says no, breaks, hangs or is cancelled raises nothing here: it ends as an `Ended` with an event of the table. A read that failed
and may be tried again rests here for a moment first: the row says *running* meanwhile, Stop cuts the rest short and so does every brake.
What a read saw is marked with the state of its source as it was before the call, so that later work can tell whether it still holds.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import structlog

from bot import runs
from bot.core import budget
from bot.core.catalogue import Effect
from bot.core.ids import short
from bot.core.plan import Step, fingerprint
from bot.core.policy_file import Price
from bot.core.run import Event, RunStatus
from bot.core.snapshot import Observation
from bot.deps import Deps
from bot.errors import ToolFailed, Unavailable
from bot.store import full_texts
from bot.tools.personal import masker
from bot.tools.registry import InvalidArgs, OutOfScope, TimedOut, ToolContext, Unresponsive

log = structlog.get_logger()
T = TypeVar("T")

LOOK_TIMEOUT_S = 10.0  # a verify, a preview, a freshness
REST_S, LONGEST_REST_S = 0.2, 5.0  # before a second try; doubled for each further one, up to the longest
FINAL = (InvalidArgs, OutOfScope, Unresponsive)  # trying again would end the same, or stand beside a call that is still at work


@dataclass(frozen=True)
class Ended:
    """How one start of a step ended."""

    step: Step
    event: Event  # STEP_SUCCEEDED, STEP_FAILED, STEP_CANCELLED, STEP_IN_DOUBT or STEP_REQUEUED
    observation: Observation | None = None
    error: str | None = None
    tokens: int = 0  # that the tool used
    money: float = 0.0  # ... in US dollars


def context(deps: Deps, run_id: str, step: Step, args: dict[str, Any], *, quiet: bool = False, attempt: int | None = None) -> ToolContext:
    """What the tool is given. The key is the same for every repeat of one filled-in call. `quiet`: for looks, whose words nobody shows.

    `attempt`: of a call, whose long result may be kept whole.
    """

    def progress(words: str) -> None:
        deps.progress[(run_id, step.id)] = words  # no ring: the presenter redraws running cards every few seconds anyway

    def keep(text: str) -> str:
        try:
            return full_texts.write(deps.settings.observations, f"{run_id}.{step.id}.{attempt}", text)
        except OSError as fault:
            log.warning("full_text_not_kept", run=run_id, step=step.id, error=str(fault))
            return ""

    key = f"{run_id}.{step.id}.{short(fingerprint(args))}"
    return ToolContext(
        run_id=run_id,
        step_id=step.id,
        key=key,
        on_progress=None if quiet else progress,
        now=deps.now,
        planned=step.args,
        secrets=lambda name: deps.secrets.value(name, run_id),
        hosts=deps.policy.hosts,
        scope=deps.policy.scopes.hosts,
        cover=masker(deps.policy.personal),
        keep=keep if attempt is not None and deps.policy.keep.full_texts is not None else None,
    )


async def call(deps: Deps, run_id: str, step: Step, args: dict[str, Any], *, attempt: int) -> Ended:
    """Call the tool and say how it ended. Cancelling this task asks the tool to end, and waits until it has, within its grace."""
    structlog.contextvars.bind_contextvars(run=run_id, step=step.id)
    ctx = context(deps, run_id, step, args, attempt=attempt)
    fresh = None
    try:
        fresh = await _freshness(deps, run_id, step, args)
        ended = await _try(deps, run_id, step, args, ctx, attempt=attempt)
    except asyncio.CancelledError:
        # Stop was pressed: the outcome of the call is still ours to account for, so the cancellation ends here.
        ended = await _account_for(deps, run_id, step, args, ctx, Event.STEP_CANCELLED, why="cancelled while it ran")
    finally:
        deps.progress.pop((run_id, step.id), None)
    if ended.observation is not None and fresh is not None:
        ended = replace(ended, observation=ended.observation.model_copy(update={"fresh": fresh}))
    return _priced(ended, ctx, deps.policy.prices)


def _priced(ended: Ended, ctx: ToolContext, prices: Mapping[str, Price]) -> Ended:
    """The same with what the tool asked of models."""
    used = ctx.used
    tokens = sum(tokens_in + tokens_out for _, tokens_in, tokens_out in used)
    return replace(ended, tokens=tokens, money=sum(budget.cost(prices, *one) for one in used)) if used else ended


async def _try(deps: Deps, run_id: str, step: Step, args: dict[str, Any], ctx: ToolContext, *, attempt: int) -> Ended:
    """One try, and if it failed what follows from that. Only what may be repeated is tried again, after a rest."""
    repeatable = deps.tools.catalogue[step.tool].repeatable
    try:
        return Ended(step, Event.STEP_SUCCEEDED, await deps.tools.call(step.tool, args, ctx, timeout_s=step.timeout_s))
    except ToolFailed as fault:
        failure = fault
    log.info("step_failed", tool=step.tool, attempt=attempt, error=str(failure))
    if isinstance(failure, (TimedOut, Unresponsive)) and not repeatable:
        return await _account_for(deps, run_id, step, args, ctx, Event.STEP_FAILED, why=str(failure))
    if not repeatable or attempt > step.retries or isinstance(failure, FINAL):
        return Ended(step, Event.STEP_FAILED, error=str(failure))
    try:
        await _rest(deps, run_id, step, attempt=attempt)
    except asyncio.CancelledError:
        return Ended(step, Event.STEP_CANCELLED, error=f"cancelled before it was tried again; the last try: {failure}")
    return Ended(step, Event.STEP_REQUEUED, error=str(failure))


async def _rest(deps: Deps, run_id: str, step: Step, *, attempt: int) -> None:
    """Wait a little before the next try: 0.2 s, 0.4 s, … 5 s. A run that is braked meanwhile is not held up."""
    clock, rang = asyncio.get_running_loop().time, asyncio.Event()
    seconds = min(REST_S * 2 ** (attempt - 1), LONGEST_REST_S)
    until = clock() + seconds
    deps.progress[(run_id, step.id)] = f"failed, tries again ({attempt} of {step.retries})"
    deaf = deps.bell.listen(lambda rung: rang.set() if rung == run_id else None)
    try:
        while (left := until - clock()) > 0 and await _goes_on(deps, run_id):
            try:
                async with asyncio.timeout(left):
                    await rang.wait()
            except TimeoutError:
                return
            rang.clear()
    finally:
        deaf()


async def _goes_on(deps: Deps, run_id: str) -> bool:
    try:
        return (await runs.get(deps, run_id)).status is RunStatus.RUNNING
    except Unavailable:  # the bot is going down
        return False


async def _account_for(
    deps: Deps, run_id: str, step: Step, args: dict[str, Any], ctx: ToolContext, without_effect: Event, *, why: str
) -> Ended:
    """A call that was cut short. A read did nothing, nor did what never began; of an effect we say only what is known or verified."""
    if ctx.outcome is not None:
        return Ended(step, Event.STEP_SUCCEEDED, ctx.outcome)
    if not ctx.started:
        return Ended(step, without_effect, error="cancelled before the tool was called")
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


async def still_fresh(deps: Deps, run_id: str, step: Step, args: dict[str, Any], observation: Observation) -> bool:
    """Would the call see today what this observation saw? Never raises for the tool; takes `LOOK_TIMEOUT_S` at most, and the grace.

    True for a tool that cannot tell, and for whatever has an effect: what is done is done. False where the state is another one, or where a
    tool that can tell could not now: a read is better repeated than believed.
    """
    spec = deps.tools.catalogue.get(step.tool)
    if spec is None or not spec.tells_freshness or spec.effect is not Effect.READ:
        return True
    try:
        now = await _look(deps.tools.freshness(step.tool, args, context(deps, run_id, step, args, quiet=True)))
    except ToolFailed as failure:
        log.info("freshness_unknown", run=run_id, step=step.id, error=str(failure))
        return False
    return now == observation.fresh


async def _freshness(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> str | None:
    """The state of what the step is about to read. Where it cannot be found out, the call will say what is wrong."""
    if not deps.tools.catalogue[step.tool].tells_freshness:
        return None
    try:
        return await _look(deps.tools.freshness(step.tool, args, context(deps, run_id, step, args, quiet=True)))
    except ToolFailed as failure:
        log.info("no_freshness", error=str(failure))
        return None


async def _verify(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> Observation | ToolFailed | None:
    """The observation if it happened, None if it did not, the failure if the tool cannot tell."""
    try:
        return await _look(deps.tools.verify(step.tool, args, context(deps, run_id, step, args, quiet=True)))
    except ToolFailed as failure:
        return failure


async def look_ahead(deps: Deps, run_id: str, step: Step, args: dict[str, Any]) -> dict[str, Any] | None:
    """What the tool says it would change, as data for the confirm card; None if it cannot tell."""
    try:
        preview = await _look(deps.tools.preview(step.tool, args, context(deps, run_id, step, args, quiet=True)))
    except ToolFailed as failure:
        log.info("no_preview", run=run_id, step=step.id, error=str(failure))
        return None
    return preview.model_dump(mode="json") if preview is not None else None


async def _look(asking: Awaitable[T]) -> T:
    """What a tool tells without doing anything, in a bounded time; `ToolFailed` otherwise.

    A tool that does not heed its end fails as *unresponsive*, also where it was we who were cancelled: that must not get lost (C048).
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    try:
        async with asyncio.timeout(LOOK_TIMEOUT_S):
            return await asking
    except TimeoutError as fault:
        raise ToolFailed(f"there was no answer within {LOOK_TIMEOUT_S:g} s") from fault
    except ToolFailed as failure:
        if task and task.cancelling() > before:
            raise asyncio.CancelledError from failure
        raise
