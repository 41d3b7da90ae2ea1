"""The clock. Whatever is due lies in our tables; APScheduler only says when to look at them, and is rebuilt at every start.

One job rings at the next moment at which something is due, and is set anew after each look and whenever a run changes; another looks every
few seconds, for what other processes have stored and for what passed while nobody looked. Looking is idempotent: what several processes
notice is done by one of them.
"""

from datetime import datetime, timedelta

import structlog
from apscheduler.events import EVENT_SCHEDULER_SHUTDOWN
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot import witness
from bot.commands import retention, silence
from bot.deps import Deps
from bot.store import timers

log = structlog.get_logger()

LOOK_EVERY_S = 2
NIGHTLY_H = 3  # UTC
HEARD_WITHIN_S = 0.5  # rings of a burst are heard together
ONCE = {"max_instances": 1, "coalesce": True, "misfire_grace_time": None}  # late is better than never


def start(deps: Deps) -> AsyncIOScheduler:
    """A running scheduler that reminds, escalates and expires, publishes the record's head every hour and checks the record every night.

    What policy keeps no longer is let go every hour.

    Call `shutdown(wait=False)` on it to end it.
    """
    scheduler = AsyncIOScheduler(timezone="UTC")
    clock = Clock(deps, scheduler)
    scheduler.add_job(clock.look, "interval", seconds=LOOK_EVERY_S, id="look", **ONCE)
    scheduler.add_job(witness.publish_head, "cron", minute=0, args=[deps], id="head", **ONCE)
    scheduler.add_job(witness.check_record, "cron", hour=NIGHTLY_H, args=[deps], id="record", **ONCE)
    scheduler.add_job(_sweep, "interval", hours=1, args=[deps], id="sweep", next_run_time=deps.now(), **ONCE)
    scheduler.add_listener(lambda _: clock.close(), EVENT_SCHEDULER_SHUTDOWN)
    scheduler.start()
    return scheduler


async def _sweep(deps: Deps) -> None:
    if done := await retention.sweep(deps):
        log.info("let_go", what=done)


class Clock:
    """Looks when something is due, and knows when that will be next."""

    def __init__(self, deps: Deps, scheduler: AsyncIOScheduler) -> None:
        self._deps, self._scheduler = deps, scheduler
        self._set_for: datetime | None = None
        self._heard = False
        self.close = deps.bell.listen(self._hear)

    async def look(self) -> None:
        """Do what is due, and set the bell for what is due next."""
        done = await silence.look(self._deps)
        for what, run_ids in (("expired", done.expired), ("reminded", done.reminded), ("escalated", done.escalated)):
            if run_ids:
                log.info(what, runs=list(run_ids))
        await self.set()

    async def set(self) -> None:
        """Ring at the next moment at which something is due, if there is one."""
        self._heard = False
        at = await self._deps.store.read(lambda conn: timers.next_at(conn, self._deps.now()))
        if at is not None and at != self._set_for:
            self._scheduler.add_job(self.look, "date", run_date=at, id="due", replace_existing=True, **ONCE)
        self._set_for = at

    def _hear(self, run_id: str) -> None:  # noqa: ARG002 — whichever run it is
        """A run has changed: something may be due earlier than before. One look at the tables serves a burst."""
        if not self._heard:
            self._heard = True
            soon = self._deps.now() + timedelta(seconds=HEARD_WITHIN_S)
            self._scheduler.add_job(self.set, "date", run_date=soon, id="set", replace_existing=True, **ONCE)
