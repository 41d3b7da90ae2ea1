"""The clock. Deadlines live in our tables; APScheduler only says when to look at them, and is rebuilt at every start.

Looking is idempotent: an expiry that several processes notice is one change, refused to all but the first by the door.
"""

from collections.abc import Awaitable, Callable

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.commands import review
from bot.deps import Deps

log = structlog.get_logger()

LOOK_EVERY_S = 2


def start(deps: Deps) -> AsyncIOScheduler:
    """A running scheduler that expires what nobody decided. Call `shutdown(wait=False)` on it to end it."""
    scheduler = AsyncIOScheduler(timezone="UTC")
    look = _logged(lambda: review.expire(deps))
    scheduler.add_job(look, "interval", seconds=LOOK_EVERY_S, id="expire", max_instances=1, coalesce=True, misfire_grace_time=None)
    scheduler.start()
    return scheduler


def _logged(work: Callable[[], Awaitable[list[str]]]) -> Callable[[], Awaitable[None]]:
    async def look() -> None:
        ended = await work()
        if ended:
            log.info("expired", runs=ended)

    return look
