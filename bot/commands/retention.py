"""Let go of what the policy does not keep any longer. Safe at any time, any number of times, from several processes."""

import asyncio
from functools import partial

import structlog

from bot.deps import Deps
from bot.store import full_texts, retention

log = structlog.get_logger()


async def sweep(deps: Deps) -> list[str]:
    """Drop observation values, and long texts, whose time has passed; what was done, in words, for the log."""
    keep, now = deps.policy.keep, deps.now()
    values = 0
    while keep.observations is not None:
        some = await deps.store.write(partial(retention.drop_observations, before=now - keep.observations, at=now))
        values += some
        if some < retention.AT_ONCE:
            break
    before = now - keep.full_texts if keep.full_texts is not None else None
    texts = await asyncio.to_thread(full_texts.sweep, deps.settings.observations, before=before)
    said = [(values, "observations"), (texts, "full texts")]
    return [f"{count} {what}" for count, what in said if count]
