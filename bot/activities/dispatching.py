"""The dispatcher: starts ready steps, records how they end, and stops at the first sign of a brake. It knows no model.

One segment is the time from *queued* (or a person's letting go) to the next pause or end. Each turn writes, in one transaction, the steps
that ended and the steps that this makes ready. A start is a move in the door's table, so a brake that was recorded a microsecond earlier
refuses it. The intent is stored before the call and the outcome after: whatever is found *running* when a segment begins was cut off by
the end of a process, and is run again only if that is harmless; otherwise it is in doubt.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy import Connection

from bot import runs
from bot.activities import moves
from bot.activities.allowing import Purse
from bot.activities.holding import begin_wait, hold, hold_for_confirmation
from bot.activities.moves import Change
from bot.activities.reusing import Earlier
from bot.activities.steps import Ended, call, settle_orphan
from bot.core.ids import StepId
from bot.core.keys import keys
from bot.core.plan import Step, digest
from bot.core.readiness import Next, Scene, decide
from bot.core.rest import refused_calls
from bot.core.run import Event, Hold, NotAllowed, Run, RunStatus, StepStatus, advance_step
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.errors import Unavailable
from bot.store import door, locks
from bot.store import runs as rows

log = structlog.get_logger()

ACTIVE = frozenset({RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.STOPPING})
CUT_OFF = "the process ended while this step ran"
MOST_CUT_OFF = 5  # starts of one read
LOOK_AGAIN_S = 5.0  # for a step that waits for another run's key


def _keep_place(_parks: bool) -> None:
    """Nobody wants the place."""


async def dispatch(deps: Deps, run_id: str, *, share: Callable[[], int], park: Callable[[bool], None] = _keep_place) -> None:
    """Run one segment: until the run pauses, stops or has no step left. `share()`: how many steps of it may run at once.

    `park(True)` is called when nothing of it runs because other runs hold its keys, `park(False)` when it goes on: until then it needs no
    place.
    """
    snapshot = await runs.snapshot(deps, run_id, entries=True)
    if snapshot.run.status is RunStatus.QUEUED:
        try:
            await deps.store.write(lambda conn: door.change(conn, run_id, Event.STARTED, actor="pullcord", at=deps.now()))
        except (NotAllowed, door.Frozen):  # paused, stopped or cancelled while it waited for its place; or everything is held
            return
        snapshot = await runs.snapshot(deps, run_id, entries=True)
    if snapshot.run.status in ACTIVE and snapshot.plan is not None:
        await Segment(deps, snapshot, share, park).run_through()


class Segment:
    """One run between two waits. Only this object starts and ends its steps, so their states are kept in memory and written through."""

    def __init__(self, deps: Deps, snapshot: Snapshot, share: Callable[[], int], park: Callable[[bool], None] = _keep_place) -> None:
        assert snapshot.plan is not None
        self.deps, self.plan, self.share, self.park = deps, snapshot.plan, share, park
        self.run = snapshot.run
        self.grades, self.approved_tools = snapshot.grades, snapshot.tool_digests
        self.digest = digest(self.plan, self.approved_tools)  # of what is really stored: the row only says what it should be
        self.states: dict[StepId, StepStatus] = {step.id: step.status for step in snapshot.steps}
        self.attempts: dict[StepId, int] = {step.id: step.attempt for step in snapshot.steps}
        self.args: dict[StepId, dict[str, Any]] = {step.id: step.args or {} for step in snapshot.steps}
        self.observations: dict[str, Any] = {s.id: s.observation.value for s in snapshot.steps if s.observation}
        self.refused = refused_calls(snapshot.entries)
        self.earlier, self.purse = Earlier(deps, snapshot, self.plan), Purse(deps, snapshot, self.plan)
        self.waiting: list[StepId] = []  # steps that another run's key keeps from starting
        self.parked = False  # ... and nothing else of this run is at work
        self.cut: set[str] = {s.id for s in snapshot.steps if s.observation and s.observation.cut}
        self.tasks: dict[asyncio.Task[Ended], Step] = {}
        self.cancelled: set[asyncio.Task[Ended]] = set()
        self.unwritten: list[Ended] = []  # outcomes that are not on record yet
        self.awake = asyncio.Event()  # a step has ended, or the bell rang
        self.rings = 0  # how often the bell rang for this run
        self.known = 0  # ... up to the state of `run` that we know
        self.over = False

    async def run_through(self) -> None:
        """Turn after turn until the run waits or ends; whatever happens, no task of ours outlives the segment."""
        deaf = self.deps.bell.listen(self._hear, run_id=self.run.id)
        try:
            await self._recover()
            while not self.over:
                await self._turn()
                self._park()
                if not self.over:
                    await self._wait()
        finally:
            deaf()
            await self._abandon()

    def _park(self) -> None:
        parks = bool(self.waiting) and not self.tasks
        if parks != self.parked:
            self.parked = parks
            self.park(parks)

    def _hear(self, run_id: str) -> None:
        if run_id == self.run.id:
            self.rings += 1
            self.awake.set()

    async def _recover(self) -> None:
        """Settle the steps that an earlier process left *running*."""
        for step in self.plan.steps:
            if self.states[step.id] not in (StepStatus.RUNNING, StepStatus.IN_DOUBT):
                continue
            spec = self.deps.tools.catalogue.get(step.tool)
            if self.states[step.id] is StepStatus.RUNNING and spec is not None and spec.repeatable:
                self.unwritten.append(self._again(step))
                continue
            if self.states[step.id] is StepStatus.RUNNING:
                self.unwritten.append(Ended(step, Event.STEP_IN_DOUBT, error=CUT_OFF))
                await self._write([])
            settled = await settle_orphan(self.deps, self.run.id, step, self.args[step.id])
            self.unwritten += [settled] if settled is not None else []
        if self.unwritten:
            await self._write([])

    def _again(self, step: Step) -> Ended:
        """A read that was cut off runs again; one that was cut off each time may be what ends the process (P10)."""
        if self.attempts[step.id] >= MOST_CUT_OFF:
            return Ended(step, Event.STEP_FAILED, error=f"{CUT_OFF}, {self.attempts[step.id]} times")
        return Ended(step, Event.STEP_REQUEUED)

    async def _turn(self) -> None:
        """Record what ended, then start, skip, hold or finish: one transaction."""
        self.awake.clear()
        self._collect()
        if self.run.status not in ACTIVE and not self.tasks and not self.unwritten:
            self.over = True  # somebody else has settled it
            return
        if self.run.status is RunStatus.STOPPING:
            self._cancel_once()
        if self.run.status is RunStatus.RUNNING:
            await self.purse.look()
        following = self._decide()
        if await self.purse.meet([args for _, args in following.starts] + [following.held_args or {}]):
            following = self._decide()
        if following.hold is Hold.CONFIRM and self.unwritten:
            await self._write([])  # what has happened goes on record before a preview, which may take its time
            following = self._decide()
        changes = await self._follow(following)
        if changes or self.unwritten:
            if await self._write(changes) and not self.tasks:
                self.awake.set()  # nothing will wake us: look for what comes next
        elif not self.tasks and not self.share():
            self.over = True  # the bot is going down: the row says running, and the next start goes on from it

    def _collect(self) -> None:
        """Take the outcomes of the steps that have ended; they are kept until they are on record, whatever happens in between."""
        for task in [task for task in self.tasks if task.done()]:
            del self.tasks[task]
            self.unwritten.append(task.result())

    def _decide(self) -> Next:
        """What comes next, by the state that the outcomes lead to."""
        if self.run.status is not RunStatus.RUNNING:
            return Next(settled=not self.tasks)
        states, observations = self._after(self.unwritten)
        tools, catalogue = self.approved_tools, self.deps.tools.catalogue
        cut = self.cut | {each.step.id for each in self.unwritten if each.observation and each.observation.cut}
        judge, allowance = self.purse.judge, self.purse.allowance(self.run, self.attempts, self.unwritten)
        known = (self.run, self.plan, states, observations, self.grades, catalogue, tools, self.digest, self.refused, cut)
        scene = Scene(*known, judge=judge, allowance=allowance)
        following = decide(scene, room=self.share() - len(self.tasks))
        waits = following.hold is Hold.CONFIRM and self.tasks
        return Next() if waits else following  # a confirm shows what would change: first let what runs come to its end

    def _cancel_once(self) -> None:
        """Ask each running step to end. Only once: a second cancellation would cut short the look at what the first one left."""
        for task in self.tasks:
            if task not in self.cancelled:
                self.cancelled.add(task)
                task.cancel()

    def _after(self, outcomes: list[Ended]) -> tuple[dict[StepId, StepStatus], dict[str, Any]]:
        states, observations = dict(self.states), dict(self.observations)
        for outcome in outcomes:
            states[outcome.step.id] = advance_step(states[outcome.step.id], outcome.event)
            if outcome.observation is not None:
                observations[outcome.step.id] = outcome.observation.value
        return states, observations

    async def _follow(self, following: Next) -> list[Change]:
        """The decision as moves for the door."""
        if following.settled:
            return [Change(Event.SETTLED)]
        if following.hold is not None and following.held_step is not None:
            held = await self._held(following, following.hold, self.plan.step(following.held_step))
            return [held] if self.tasks else [held, Change(Event.SETTLED)]
        changes = [Change(Event.STEP_SKIPPED, step=door.StepChange(id=step)) for step in following.skips]
        at = self.deps.now()
        changes += [moves.failed(step, error, at=at) for step, error in following.fails]
        for step, args in following.starts:
            if again := await self.earlier.outdated(step, self.grades, self.attempts):
                changes += [Change(Event.STEP_OUTDATED, {"for": step.id}, door.StepChange(id=name)) for name in again]
            else:
                changes.append(await self._start(step, args))
        if following.done and not self.tasks:
            changes.append(Change(Event.STEPS_DONE))
        return changes

    async def _start(self, step: Step, args: dict[str, Any]) -> Change:
        """Start the step; where this run has done the same before, and what it read is as it was, its result stands in (P5)."""
        done = await self.earlier.done_before(step, args)
        if done is not None:
            kept = door.StepChange(id=step.id, args=args, finished_at=done.finished_at, observation=done.observation)
            return Change(Event.STEP_KEPT, {"kept_from": done.id}, kept)
        change = door.StepChange(id=step.id, attempt=self.attempts[step.id] + 1, args=args, started_at=self.deps.now())
        return Change(Event.STEP_STARTED, step=change, keys=keys(self.deps.tools.catalogue[step.tool], args, self.deps.policy))

    async def _held(self, following: Next, reason: Hold, step: Step) -> Change:
        args = following.held_args
        if reason is Hold.CONFIRM and args is not None:
            return await hold_for_confirmation(self.deps, self.run, step, args, self.grades[step.id], risen=following.held_grade)
        facts = self.purse.facts_of(reason, self.run, self.attempts, self.unwritten)
        return hold(self.run, reason, step.id, tries=self.attempts[step.id], facts=facts)

    async def _write(self, changes: list[Change]) -> bool:
        """Put what has ended and the moves through the door together, then act on those that it let through. True if it let any."""
        before, written = self.rings, tuple(self.unwritten)
        changes = [*(moves.of_end(outcome, at=self.deps.now(), spent=self.purse.total(outcome)) for outcome in written), *changes]
        self.run, applied = await self.deps.store.write(lambda conn: self._apply(conn, changes))
        del self.unwritten[: len(written)]
        if applied and self.known == before and self.rings == before + 1:
            self.known = self.rings  # the one ring is our own
        for change in applied:
            self._applied(change)
        if len(applied) + len(self.waiting) < len(changes):
            self.awake.set()  # somebody braked, or let go: look again at once
        return bool(applied)

    def _apply(self, conn: Connection, changes: list[Change]) -> tuple[Run, list[Change]]:
        """What has happened goes on record whatever the run is by now; what was decided, only if nothing has moved the run since."""
        applied: list[Change] = []
        self.waiting = []
        run = rows.get(conn, self.run.id)
        fresh = run.version == self.run.version
        for decided in changes:
            if decided.braked and not fresh:
                break
            change, taken = self._with_keys(conn, decided)
            if change is None:
                continue
            try:
                run = self._move(conn, change)
            except NotAllowed:
                if not change.braked:
                    raise
                locks.give_back(conn, self.run.id, taken)
                break
            applied.append(change)
        return run, applied

    def _move(self, conn: Connection, change: Change) -> Run:
        run = door.change(
            conn,
            self.run.id,
            change.event,
            actor="pullcord",
            at=self.deps.now(),
            data=change.data,
            step=change.step,
            tell=change.tell,
            guard=self._guard(conn, change),
        )
        begin_wait(conn, self.deps, run, change)
        return run

    def _with_keys(self, conn: Connection, change: Change) -> tuple[Change | None, Sequence[str]]:
        """Take the keys that a start needs. None: another run holds one, and the step waits; where it would wait for ever, it fails."""
        if not change.keys or change.step is None:
            return change, ()
        taken = locks.take(conn, self.run.id, change.step.id, change.keys, at=self.deps.now())
        if not isinstance(taken, locks.Taken):
            return change, taken
        if taken.for_ever:
            return moves.failed(change.step.id, moves.for_ever(taken), at=self.deps.now()), ()
        self.waiting.append(change.step.id)
        return None, ()

    def _guard(self, conn: Connection, change: Change) -> Callable[[Run], None] | None:
        """What is looked at once more inside the transaction: is it what was approved, and do the windows still have room for it?"""
        if change.step is None or change.event not in (Event.STEP_STARTED, Event.STEP_KEPT):
            return None
        step, args = self.plan.step(change.step.id), change.step.args or {}

        def guard(run: Run) -> None:
            self._still_approved(run)
            if change.event is Event.STEP_STARTED:
                self.purse.must_fit(conn, run, step, args, self.grades.get(step.id))

        return guard

    def _still_approved(self, run: Run) -> None:
        """Compared again before each step: what runs is what was approved, and is what is stored."""
        if run.approved is None or run.approved != self.digest:
            raise NotAllowed(run.status, Event.STEP_STARTED, run.reason)

    def _applied(self, change: Change) -> None:
        if change.event in (Event.SETTLED, Event.STEPS_DONE):
            self.over = True
        if change.step is None or change.event is Event.HELD:
            return
        step = self.plan.step(change.step.id)
        self.states[step.id] = advance_step(self.states[step.id], change.event)
        self.earlier.ended(step.id, change.step.finished_at)
        self.purse.paid(change.step)
        if change.event is Event.STEP_STARTED and isinstance(change.step.args, dict):
            self._go(step, change.step.args)
        elif change.event is Event.STEP_OUTDATED:
            self.observations.pop(step.id, None)
        elif (observation := change.step.observation) is not None:
            self.observations[step.id] = observation.value
            self.cut |= {step.id} if observation.cut else set()

    def _go(self, step: Step, args: dict[str, Any]) -> None:
        self.attempts[step.id] += 1
        work = call(self.deps, self.run.id, step, args, attempt=self.attempts[step.id])
        task = self.deps.tasks.start(work, name=f"{self.run.id}.{step.id}")
        task.add_done_callback(lambda _: self.awake.set())
        self.tasks[task] = step

    async def _wait(self) -> None:
        """Until a step has ended or the bell rings; after a ring that is not our own, look at the row again."""
        with suppress(TimeoutError):  # a key that another process has let go rings no bell here
            async with asyncio.timeout(LOOK_AGAIN_S if self.waiting else None):
                await self.awake.wait()
        if self.known != self.rings:
            self.known = self.rings  # before the look: a ring during it is another reason to look
            self.run = await runs.get(self.deps, self.run.id)

    async def _abandon(self) -> None:
        """The segment is cut short: cancel what still runs, and put on record how it ended, as far as that can be known now.

        What cannot be stored any more keeps saying *running*; the next start settles it.
        """
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=self.deps.settings.grace_s)
        ended = [task.result() for task in self.tasks if task.done() and not task.cancelled() and not task.exception()]
        stopping = self.run.status is RunStatus.STOPPING
        # Nobody stopped these steps: what took no effect runs again at the next start.
        again = {each.step.id for each in ended if each.event is Event.STEP_CANCELLED and not stopping}
        self.unwritten += [replace(each, event=Event.STEP_REQUEUED) if each.step.id in again else each for each in ended]
        self.tasks.clear()
        if self.unwritten:
            try:
                await self._write([])
            except (Unavailable, NotAllowed) as fault:
                log.warning("outcomes_not_recorded", run=self.run.id, steps=[each.step.id for each in self.unwritten], error=str(fault))
