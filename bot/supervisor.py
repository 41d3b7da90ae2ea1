"""One task per live run: the run's status names the activity. Boot, a ring of the bell and the sweep all do the same: look at the row.

Runs wait in *queued* for one of the pool's places; a free place goes to the requester who holds the fewest, then to the oldest ask. A run
that a person lets go of does not wait in line again: it goes on at once, and takes the next place that becomes free.
Nobody else calls an activity, so a restart loses nothing: whatever was open is looked at again.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from functools import partial
from typing import Any

import structlog

from bot import runs
from bot.activities.answering import answer
from bot.activities.dispatching import ACTIVE, dispatch
from bot.activities.drafting import draft
from bot.activities.giving_up import give_up
from bot.activities.hearing import hear
from bot.activities.redrafting import redraft
from bot.bell import Ear
from bot.changing import is_being_planned
from bot.commands.freezing import hold_for_restart, lift_restart, settle_for_restart
from bot.core.run import Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.store import locks

log = structlog.get_logger()

SWEEP_S = 5.0
BACK_OFF_S = (1.0, 5.0, 30.0)  # after a fault in an activity; the last one repeats


class Supervisor:
    """Starts activities and watches them. `run` is a task of the app; `close` takes the ladder down."""

    def __init__(self, deps: Deps) -> None:
        self.deps = deps
        self.live: dict[str, asyncio.Task[None]] = {}
        self.holders: dict[str, str] = {}  # run → requester, for runs that hold a place in the pool
        self.faults: Counter[str] = Counter()
        self.resting: dict[str, float] = {}  # run → loop time before which it is left alone
        self.hearing: dict[str, asyncio.Task[None]] = {}  # replies are made out beside whatever else the run does
        self.freed = False  # a place in the pool became free since it was last filled
        self.closing = False

    async def run(self) -> None:
        """Look at every open run at once, then at those that the bell names, and every few seconds at all of them again."""
        ear = Ear(self.deps.bell)
        loop = asyncio.get_running_loop()
        heard: set[str] = set()
        swept = loop.time()
        await lift_restart(self.deps)
        await self.deps.store.write(locks.settle)
        try:
            while not self.closing:
                await self.look(heard)
                heard = await ear.next(within_s=SWEEP_S)
                if loop.time() - swept > SWEEP_S:  # also when it never is quiet
                    swept, heard = loop.time(), set()
        finally:
            ear.close()

    async def look(self, heard: set[str]) -> None:
        """Give every open run (or those heard of) what its status asks for. Runs that are attended to hear the bell themselves."""
        found = [run for run_id in heard - self.live.keys() if (run := await self._known(run_id))] if heard else await runs.live(self.deps)
        for run in found:
            self._attend(run)
        await self._hear(swept=not heard)
        if not heard or self.freed or any(run.status is RunStatus.QUEUED for run in found):
            self.freed = False
            await self._fill_pool()

    async def _known(self, run_id: str) -> Run | None:
        """The run, or None for an id that is not in this database: a card of another one may still be clicked."""
        try:
            return await runs.get(self.deps, run_id)
        except Refused:
            return None

    def _attend(self, run: Run) -> None:
        if run.id in self.live or self._rests(run.id) or self.closing:
            return
        if run.status is RunStatus.PLANNING and run.reason is None:
            self._start(run, draft(self.deps, run.id))
        elif run.status in ACTIVE:
            self._hold_place(run)
            self._start(run, dispatch(self.deps, run.id, share=self._share, park=partial(self._park, run)))
        elif run.status is RunStatus.ANSWERING:
            self._start(run, answer(self.deps, run.id))
        elif is_being_planned(run):
            self._start(run, redraft(self.deps, run.id))

    async def _hear(self, *, swept: bool) -> None:
        """Have the replies made out that wait for it; the table is asked only now and then, what was said just now is known."""
        waiting = {*self.deps.unheard, *(await runs.unheard(self.deps) if swept else ())}
        for run_id in waiting - self.hearing.keys():
            if not self.closing:
                self.deps.unheard.discard(run_id)
                self.hearing[run_id] = self.deps.tasks.start(self._heard(run_id), name=f"{run_id}.hearing")

    async def _heard(self, run_id: str) -> None:
        try:
            await hear(self.deps, run_id)
        except Exception:
            log.exception("hearing_failed", run=run_id)  # the reply waits in its table; the next sweep tries again
        finally:
            self.hearing.pop(run_id, None)
            if run_id in self.deps.unheard:  # something more was said in the last moment
                self.deps.bell.ring(run_id)

    async def _fill_pool(self) -> None:
        """Give free places to queued runs, fairly between requesters."""
        if len(self.holders) >= self.deps.settings.pool or self.closing:
            return
        waiting = [run for run in await runs.queued(self.deps) if run.id not in self.live and not self._rests(run.id)]
        if waiting and await runs.frozen(self.deps) is not None:
            return  # nothing starts; the thaw rings for every run
        held = Counter(self.holders.values())
        while waiting and len(self.holders) < self.deps.settings.pool:
            chosen = min(waiting, key=lambda run: (held[run.requester], run.updated_at, run.id))
            waiting.remove(chosen)
            held[chosen.requester] += 1
            self._hold_place(chosen)
            self._start(chosen, dispatch(self.deps, chosen.id, share=self._share, park=partial(self._park, chosen)))

    def _hold_place(self, run: Run) -> None:
        self.holders[run.id] = run.requester

    def _park(self, run: Run, parks: bool) -> None:
        """While a run only waits for another run's key its place is free: the other one may need it to come to its end."""
        if not parks:
            self._hold_place(run)
        elif self.holders.pop(run.id, None) is not None:
            self.freed = True
            self.deps.bell.ring(run.id)  # look at the pool

    def _share(self) -> int:
        """How many steps one run may have out: its own bound, or its part of the bound on all; none once the bot is going down."""
        if self.closing:
            return 0
        settings = self.deps.settings
        return min(settings.parallel, max(1, settings.steps // max(1, len(self.holders))))

    def _rests(self, run_id: str) -> bool:
        return asyncio.get_running_loop().time() < self.resting.get(run_id, 0)

    def _start(self, run: Run, activity: Coroutine[Any, Any, None]) -> None:
        self.live[run.id] = self.deps.tasks.start(self._watch(run.id, activity), name=f"{run.id}.{run.status}")

    async def _watch(self, run_id: str, activity: Coroutine[Any, Any, None]) -> None:
        """Run one activity; a fault in it is logged and the run looked at again after a while, never dropped."""
        structlog.contextvars.bind_contextvars(run=run_id)
        try:
            await activity
            self.faults.pop(run_id, None)
            self.resting.pop(run_id, None)
        except Exception:
            await self._rest(run_id)
        finally:
            self.live.pop(run_id, None)
            self.freed = self.holders.pop(run_id, None) is not None or self.freed
        self.deps.bell.ring(run_id)

    async def _rest(self, run_id: str) -> None:
        """An activity broke: leave the run alone for a while; after the last try it ends, or stands, where a person can see it."""
        self.faults[run_id] += 1
        times = self.faults[run_id]
        rest = BACK_OFF_S[min(times, len(BACK_OFF_S)) - 1]
        self.resting[run_id] = asyncio.get_running_loop().time() + rest
        log.exception("activity_failed", times=times, again_in_s=rest)
        if times >= len(BACK_OFF_S):
            await give_up(self.deps, run_id)

    async def close(self) -> None:
        """Start nothing more, give what runs its grace, then cancel it. What was cut off is settled at the next start."""
        self.closing = True
        await hold_for_restart(self.deps)
        for run_id in tuple(self.live):
            self.deps.bell.ring(run_id)  # segments look up and see that they may start nothing
        running = {*self.live.values(), *self.hearing.values()}
        if running:
            _, late = await asyncio.wait(running, timeout=self.deps.settings.grace_s)
            for task in late:
                task.cancel()
            if late:
                log.warning("cut_off", runs=sorted(run for run, task in self.live.items() if task in late))
                await asyncio.wait(late, timeout=self.deps.settings.grace_s)
        await settle_for_restart(self.deps)
