"""The dispatcher: starts ready steps, records how they end, and stops at the first sign of a brake. It knows no model.

One segment is the time from *queued* (or a person's letting go) to the next pause or end. Each turn writes, in one transaction, the steps
that ended and the steps that this makes ready. A start is a move in the door's table, so a brake that was recorded a microsecond earlier
refuses it. The intent is stored before the call and the outcome after: whatever is found *running* when a segment begins was cut off by
the end of a process, and is run again only if that is harmless; otherwise it is in doubt.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection

from bot import runs
from bot.activities.steps import Ended, call, look_ahead, settle_orphan, still_fresh
from bot.core.catalogue import Effect
from bot.core.ids import StepId, short
from bot.core.plan import Step, digest, fingerprint, step_fingerprint
from bot.core.readiness import Next, Scene, decide
from bot.core.rest import refused_calls
from bot.core.reuse import brought, completed, done_before, read_again
from bot.core.run import Event, Hold, NotAllowed, Run, RunStatus, StepStatus, advance_step
from bot.core.snapshot import NewPost, Snapshot, StepState
from bot.deps import Deps
from bot.errors import Unavailable
from bot.store import door
from bot.store import runs as rows

log = structlog.get_logger()

ACTIVE = frozenset({RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.STOPPING})
CUT_OFF = "the process ended while this step ran"
MOST_CUT_OFF = 5  # starts of one read


@dataclass(frozen=True)
class Change:
    """One move for the door. `braked`: the table may refuse it, because somebody pulled the cord; then nothing after it is tried."""

    event: Event
    data: Mapping[str, Any] = field(default_factory=dict)
    step: door.StepChange | None = None
    tell: Sequence[NewPost] = ()
    braked: bool = True


async def dispatch(deps: Deps, run_id: str, *, share: Callable[[], int]) -> None:
    """Run one segment: until the run pauses, stops or has no step left. `share()`: how many steps of it may run at once."""
    snapshot = await runs.snapshot(deps, run_id, entries=True)
    if snapshot.run.status is RunStatus.QUEUED:
        try:
            await deps.store.write(lambda conn: door.change(conn, run_id, Event.STARTED, actor="pullcord", at=deps.now()))
        except (NotAllowed, door.Frozen):  # paused, stopped or cancelled while it waited for its place; or everything is held
            return
        snapshot = await runs.snapshot(deps, run_id, entries=True)
    if snapshot.run.status in ACTIVE and snapshot.plan is not None:
        await Segment(deps, snapshot, share).run_through()


class Segment:
    """One run between two waits. Only this object starts and ends its steps, so their states are kept in memory and written through."""

    def __init__(self, deps: Deps, snapshot: Snapshot, share: Callable[[], int]) -> None:
        assert snapshot.plan is not None
        self.deps, self.plan, self.share = deps, snapshot.plan, share
        self.run = snapshot.run
        self.grades, self.approved_tools = snapshot.grades, snapshot.tool_digests
        self.digest = digest(self.plan, self.approved_tools)  # of what is really stored: the row only says what it should be
        self.states: dict[StepId, StepStatus] = {step.id: step.status for step in snapshot.steps}
        self.attempts: dict[StepId, int] = {step.id: step.attempt for step in snapshot.steps}
        self.args: dict[StepId, dict[str, Any]] = {step.id: step.args or {} for step in snapshot.steps}
        self.observations: dict[str, Any] = {s.id: s.observation.value for s in snapshot.steps if s.observation}
        self.refused = refused_calls(snapshot.entries)
        self.completed, self.brought = completed(snapshot), brought(snapshot)
        self.results: dict[StepId, StepState] = {s.id: s for s in snapshot.steps if s.status is StepStatus.SUCCEEDED}
        self.finished: dict[StepId, datetime] = {s.id: s.finished_at for s in snapshot.steps if s.finished_at}
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
                if not self.over:
                    await self._wait()
        finally:
            deaf()
            await self._abandon()
            for waiting in self.deps.locks.release(self.run.id):
                self.deps.bell.ring(waiting)

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
        following = self._decide()
        if following.hold is Hold.CONFIRM and self.unwritten:
            await self._write([])  # what has happened goes on record before a preview, which may take its time
            following = self._decide()
        changes = await self._follow(following)
        if changes or self.unwritten:
            await self._write(changes)
            if not self.tasks:
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
        scene = Scene(self.run, self.plan, states, observations, self.grades, catalogue, tools, self.digest, self.refused, cut)
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
            held = await self._hold(following.hold, following.held_step, following.held_args)
            return [held] if self.tasks else [held, Change(Event.SETTLED)]
        changes = [Change(Event.STEP_SKIPPED, step=door.StepChange(id=step)) for step in following.skips]
        at = self.deps.now()
        changes += [
            Change(Event.STEP_FAILED, step=door.StepChange(id=step, error=error, finished_at=at)) for step, error in following.fails
        ]
        for step, args in following.starts:
            if again := await self._outdated(step):
                changes += [Change(Event.STEP_OUTDATED, {"for": step.id}, door.StepChange(id=name)) for name in again]
            elif self._locked(step, args):
                changes.append(await self._start(step, args))
        if following.done and not self.tasks:
            changes.append(Change(Event.STEPS_DONE))
        return changes

    def _locked(self, step: Step, args: Mapping[str, Any]) -> bool:
        """Hold the key that the tool names, if it names one; a step whose key another run holds waits, and the release rings."""
        pattern = self.deps.tools.catalogue[step.tool].lock
        return not pattern or self.deps.locks.take(pattern.format_map(args), self.run.id)

    async def _start(self, step: Step, args: dict[str, Any]) -> Change:
        """Start the step; where this run has done the same before, and what it read is as it was, its result stands in (P5)."""
        done = await self._done_before(step, args)
        if done is not None:
            kept = door.StepChange(id=step.id, args=args, finished_at=done.finished_at, observation=done.observation)
            return Change(Event.STEP_KEPT, {"kept_from": done.id}, kept)
        change = door.StepChange(id=step.id, attempt=self.attempts[step.id] + 1, args=args, started_at=self.deps.now())
        return Change(Event.STEP_STARTED, step=change)

    async def _outdated(self, step: Step) -> tuple[StepId, ...]:
        """Finished reads that a confirmed step uses and that would see something else now: its confirmation is void until they ran again.

        Once for each read: what never stays the same (the time) would otherwise never be confirmed.
        """
        if not self.grades[step.id].confirms:
            return ()
        reads = [each for each in self.plan.steps if each.id in self.results and self.attempts[each.id] == 1 and self._reads(each)]
        changed = [each.id for each in reads if not await self._would_see_the_same(each, self.results[each.id])]
        return read_again(self.plan, step.id, changed, [each.id for each in reads])

    async def _would_see_the_same(self, step: Step, state: StepState) -> bool:
        return state.observation is None or await still_fresh(self.deps, self.run.id, step, state.args or {}, state.observation)

    async def _done_before(self, step: Step, args: dict[str, Any]) -> StepState | None:
        fingerprint = step_fingerprint(step.tool, args, self.approved_tools.get(step.tool, ""))
        done = done_before(self.completed, fingerprint, revision=self.brought.get(step.id, 0))
        if done is None or done.observation is None or not self._nothing_since(done, step):
            return None
        return done if await still_fresh(self.deps, self.run.id, step, args, done.observation) else None

    def _nothing_since(self, done: StepState, step: Step) -> bool:
        """Has nothing ended since the work that would stand in for it that the step waits for, nor (for an effect) anything with an effect?

        Else that work came too early, or something may have undone it.
        """
        last = done.finished_at
        if last is None or any(name not in self.finished or self.finished[name] > last for name in step.needs):
            return False
        later = [other for other in self.plan.steps if other.id in self.finished and self.finished[other.id] > last]
        return self._reads(step) or all(self._reads(other) for other in later)

    def _reads(self, step: Step) -> bool:
        spec = self.deps.tools.catalogue.get(step.tool)
        return spec is not None and spec.effect is Effect.READ

    def _ended(self, outcome: Ended) -> Change:
        """How a step ended, as a move. The brake never refuses this: what has happened is recorded."""
        change = door.StepChange(id=outcome.step.id, finished_at=self.deps.now(), error=outcome.error, observation=outcome.observation)
        return Change(outcome.event, step=change, braked=False)

    async def _hold(self, reason: Hold, step_id: StepId, args: dict[str, Any] | None) -> Change:
        """The run must wait for somebody, and one new post says so."""
        run_id, place = self.run.id, self.run.channel
        data: dict[str, Any] = {"reason": reason, "step": step_id}
        if reason is not Hold.CONFIRM or args is None:
            kind = "in_doubt" if reason is Hold.IN_DOUBT else "needs_you"
            key = f"{run_id}:note.{kind}.{step_id}.{self.attempts[step_id]}.{self.run.version}"
            note = NewPost(run=run_id, card="note", key=key, channel=place, data={"kind": kind, "reason": reason, "step": step_id})
            return Change(Event.HELD, data, tell=[note])
        filling = short(fingerprint(args))
        preview = await look_ahead(self.deps, run_id, self.plan.step(step_id), args)
        level = self.grades[step_id].level
        deadline = self.deps.now() + self.deps.policy.timers[level].expire
        card = NewPost(
            run=run_id,
            card="confirm",
            key=f"{run_id}:confirm.{self.run.revision}.{step_id}.{filling}.{short(fingerprint(preview))}",
            channel=place,
            data={
                "revision": self.run.revision,
                "step": step_id,
                "filling": filling,
                "args": args,
                "preview": preview,
                "deadline": deadline.isoformat(),
            },
        )
        change = door.StepChange(id=step_id, args=args)
        return Change(Event.HELD, {**data, "filling": filling, "deadline": deadline}, change, tell=[card])

    async def _write(self, changes: list[Change]) -> None:
        """Put what has ended and the moves through the door together, then act on those that it let through."""
        before, written = self.rings, tuple(self.unwritten)
        changes = [*(self._ended(outcome) for outcome in written), *changes]
        self.run, applied = await self.deps.store.write(lambda conn: self._apply(conn, changes))
        del self.unwritten[: len(written)]
        if applied and self.known == before and self.rings == before + 1:
            self.known = self.rings  # the one ring is our own
        for change in applied:
            self._applied(change)
        if len(applied) < len(changes):
            self.awake.set()  # somebody braked, or let go: look again at once

    def _apply(self, conn: Connection, changes: list[Change]) -> tuple[Run, list[Change]]:
        """What has happened goes on record whatever the run is by now; what was decided, only if nothing has moved the run since."""
        applied: list[Change] = []
        run = rows.get(conn, self.run.id)
        fresh = run.version == self.run.version
        for change in changes:
            if change.braked and not fresh:
                break
            guard = self._still_approved if change.event in (Event.STEP_STARTED, Event.STEP_KEPT) else None
            try:
                run = door.change(
                    conn,
                    self.run.id,
                    change.event,
                    actor="pullcord",
                    at=self.deps.now(),
                    data=change.data,
                    step=change.step,
                    tell=change.tell,
                    guard=guard,
                )
            except NotAllowed:
                if not change.braked:
                    raise
                break
            applied.append(change)
        return run, applied

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
        self.finished |= {step.id: change.step.finished_at} if change.step.finished_at else {}
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
