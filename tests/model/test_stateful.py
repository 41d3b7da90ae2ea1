"""The whole bot under any order of events: real database, supervisor, dispatcher and commands; only the tools are doubles.

Hypothesis chooses what people do, when tools answer, and when the process dies. After each event the record and the world are compared.
"""

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from pydantic import BaseModel, ConfigDict
from structlog.testing import capture_logs

from bot import runs
from bot.commands import confirming, controls, editing, freezing, intake, redirecting, review
from bot.core.run import FINAL, Hold, Redirect, Run, RunStatus, StepStatus
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.errors import Refused, ToolFailed
from bot.store import audit
from bot.store.migrations import upgrade
from bot.supervisor import Supervisor
from bot.tools.registry import Tool, ToolContext, tool
from tests.doubles.clock import Clock
from tests.doubles.parts import APPROVER, MEMBER, REQUESTER, close_parts, open_parts
from tests.doubles.waiting import eventually
from tests.model.record import broken_promises
from tests.model.world import ADMIN

POLICY = """\
profile: team
approvers: ["@ops-leads"]
quorum: {high: 1}
limits: {redirects: 3}
tools:
  "try.send": {mode: ask}
  "try.risky": {mode: confirm}
"""
PLANS = (
    "r: try.read name=r\na: try.send name={{r.name}}\nb: try.send name=b after=a !break",
    "a: try.send name=a\nb: try.risky name=b after=a",
    "a: try.send name=a\nb: try.send name=b\nc: try.read name=c after=a,b",
)
REPLIES = ("skip b", "add d: try.send name=d", "add e: try.read name=r", "instead b: try.send name=other")
MOST_RUNS = 2
ACTIVE = (RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.STOPPING)
COMMANDS = {"pause": controls.pause, "resume": controls.resume, "stop": controls.stop, "never mind": redirecting.withdraw}
HAPPENS = (
    *("answer the hold", "answer the hold", "approve", "reply", "resume", "the gate") * 2,
    *("ask", "pause", "edit", "breakpoint", "thaw", "settle") * 2,
    *("freeze", "stop", "never mind", "the world", "the process ends"),
)
numbers = st.integers(0, 5)
likely = st.sampled_from((True, True, False))


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


class Outside:
    """The world that the tools act on: what was done to it, by key, outlives any process."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.waiting: set[str] = set()  # steps whose call stands at the gate
        self.is_open, self.is_broken = True, False
        self.moved = asyncio.Event()

    async def take(self, ctx: ToolContext) -> None:
        """An effect: counted at once, answered when the gate is open."""
        self.calls[ctx.key] += 1
        place = f"{ctx.run_id}.{ctx.step_id}"
        self.waiting.add(place)
        try:
            while not self.is_open:
                await self.moved.wait()
        finally:
            self.waiting.discard(place)
        if self.is_broken:
            raise ToolFailed("it is broken; mend it first")

    def turn(self, *, is_open: bool) -> None:
        self.is_open = is_open
        if is_open:
            self.moved.set()
        else:
            self.moved.clear()


def tools(outside: Outside) -> list[Tool]:
    @tool(name="try.read", effect="read", says="Looks at {name}", target="name")
    async def read(args: Named, ctx: ToolContext) -> Named:
        """Look at something. Use it in this test. Not for real work."""
        return args

    @tool(name="try.send", effect="send", says="Says {name}", target="name")
    async def send(args: Named, ctx: ToolContext) -> Named:
        """Say something. Use it in this test. Not for real work."""
        await outside.take(ctx)
        return args

    @tool(name="try.risky", effect="send", says="Says {name} once confirmed", target="name")
    async def risky(args: Named, ctx: ToolContext) -> Named:
        """Say something that a person confirms. Use it in this test. Not for real work."""
        await outside.take(ctx)
        return args

    return [read, send, risky]


class Cord(RuleBasedStateMachine):
    """People, tools and the clock around one bot."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="pullcord-cord-"))
        os.environ["PULLCORD_TEST_FOLDER"] = str(self.folder)
        shutil.copy(blank(), self.folder / "pullcord.db")
        self.outside, self.clock = Outside(), Clock()
        self.runs: list[str] = []
        self.do(self._open())

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What somebody does; a polite no is a normal answer."""
        try:
            return self.loop.run_until_complete(work)
        except (Refused, editing.InvalidPlan):
            return None

    async def _open(self) -> None:
        self.deps: Deps = await open_parts(self.folder, clock=self.clock, policy_text=POLICY, PULLCORD_GRACE=0.02)
        for each in tools(self.outside):
            self.deps.tools.add(each)
        self.supervisor = Supervisor(self.deps)
        self.deps.tasks.start(self.supervisor.run(), name="supervisor")

    def run_id(self, n: int) -> str:
        return self.runs[n % len(self.runs)]

    def seen(self, n: int) -> Snapshot:
        found: Snapshot = self.loop.run_until_complete(runs.snapshot(self.deps, self.run_id(n)))
        return found

    # What people do.

    @initialize(plan=st.sampled_from(PLANS))
    def ask_first(self, plan: str) -> None:
        self.ask_for(plan)

    def ask_for(self, plan: str) -> None:
        """A run that is approved as soon as its plan is there."""
        asked = intake.open_run(
            self.deps, ask=plan, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts=None, event_key=None
        )
        run = self.do(asked)
        if run is not None:
            self.runs.append(run.id)
            self.do(self._settled())
            self.do(review.approve(self.deps, run.id, 1, who=APPROVER, received_at=self.clock()))

    @rule(n=numbers, what=st.sampled_from(HAPPENS), text=st.sampled_from(REPLIES), step=st.sampled_from("abc"), yes=likely)
    def something_happens(self, n: int, what: str, text: str, step: str, yes: bool) -> None:
        """One rule for all, so that every walk has all of it."""
        run_id, deps = self.run_id(n), self.deps
        if what in COMMANDS:
            self.do(COMMANDS[what](deps, run_id, who=MEMBER if what == "pause" else REQUESTER))
            return
        does: dict[str, Callable[[], Any]] = {
            "ask": lambda: self.ask_for(PLANS[n % len(PLANS)]) if len(self.runs) < MOST_RUNS else None,
            "answer the hold": lambda: self.answer_the_hold(n, yes),
            "approve": lambda: self.approve_what_waits(n),
            "edit": lambda: self.edit(n, step),
            "reply": lambda: self.do(redirecting.redirect(deps, run_id, text=text, who=REQUESTER)),
            "breakpoint": lambda: self.do(controls.set_breakpoint(deps, run_id, step, who=MEMBER)),
            "freeze": lambda: self.do(freezing.freeze(deps, who=ADMIN, why="drill")),
            "thaw": lambda: self.do(freezing.thaw(deps, who=ADMIN)),
            "the gate": lambda: self.outside.turn(is_open=yes),
            "the world": lambda: setattr(self.outside, "is_broken", not yes),
            "settle": lambda: self.do(self._settled()),
            "the process ends": lambda: self.end_the_process(kills=yes),
        }
        does[what]()

    def edit(self, n: int, name: str) -> None:
        seen = self.seen(n)
        current = seen.proposal or seen.revised(seen.run.revision)
        if current is not None:
            steps = (step.model_copy(update={"args": {"name": "edited"}}) if step.id == name else step for step in current.plan.steps)
            plan = current.plan.model_copy(update={"steps": tuple(steps)})
            self.do(editing.save(self.deps, self.run_id(n), base=current.revision, plan=plan, who=REQUESTER))

    def approve_what_waits(self, n: int) -> None:
        self.do(self._settled())
        run = self.seen(n).run
        self.do(review.approve(self.deps, run.id, run.proposed or run.revision, who=APPROVER, received_at=self.clock()))

    def answer_the_hold(self, n: int, yes: bool) -> None:
        """Whatever the run comes to stand for, one of the two buttons of its card."""
        self.do(self._settled())
        seen = self.seen(n)
        run, step = seen.run, str(seen.run.held_step)
        if run.reason in (Hold.BREAKPOINT, Hold.UNATTENDED):
            self.do(controls.proceed(self.deps, run.id, step, who=REQUESTER))
        elif run.reason is Hold.STEP_FAILED:
            self.do((controls.retry if yes else controls.skip)(self.deps, run.id, step, who=REQUESTER))
        elif run.reason is Hold.IN_DOUBT and yes:
            self.do(controls.happened(self.deps, run.id, step, who=APPROVER, note="seen"))
        elif run.reason is Hold.IN_DOUBT:
            self.do(controls.not_happened(self.deps, run.id, step, who=APPROVER))
        elif run.reason is Hold.CONFIRM:
            filling = [post.data["filling"] for post in seen.posts if post.card == "confirm" and post.data["step"] == step][-1]
            if yes:
                self.do(confirming.confirm(self.deps, run.id, step, digest8=filling, who=APPROVER))
            else:
                self.do(confirming.refuse(self.deps, run.id, step, digest8=filling, who=APPROVER, reason="no"))

    def end_the_process(self, *, kills: bool) -> None:
        """Killed: nothing that is not stored yet will ever be. Else the ladder. Another process begins on the same file."""
        self.do(self._end(kills=kills))
        self.do(self._open())

    async def _end(self, *, kills: bool) -> None:
        if kills:
            await self.deps.store.close()
            self.supervisor.closing = True
        else:
            await self.supervisor.close()
        await self.deps.tasks.close()
        await close_parts(self.deps)

    async def _settled(self) -> None:
        """P10: by itself each run comes to a place where it is people's turn, or the gate's."""

        async def probe() -> bool:
            return all([self._stands(await runs.snapshot(self.deps, name)) for name in self.runs])

        await eventually(probe, "every run to end or to stand")

    def _stands(self, seen: Snapshot) -> bool:
        run = seen.run
        if run.status in FINAL or run.status is RunStatus.IN_REVIEW:
            return True
        if run.status is RunStatus.PAUSED:
            return run.redirect is not Redirect.PLANNING and run.reason is not Hold.SHUTDOWN
        if run.status is RunStatus.QUEUED:
            return seen.freeze is not None
        running = {f"{run.id}.{step.id}" for step in seen.steps if step.status is StepStatus.RUNNING}
        return run.status in ACTIVE and bool(running) and running <= self.outside.waiting and not self.outside.is_open

    # What must hold after each event.

    @invariant()
    def every_promise_holds(self) -> None:
        for name in self.runs:
            calls = dict(self.outside.calls)  # first: what is called meanwhile is on record by then
            seen: Snapshot = self.loop.run_until_complete(runs.snapshot(self.deps, name, entries=True))
            assert broken_promises(seen, self.deps.tools.catalogue, calls) == []
            assert _fits_together(seen.run)
        assert not self.supervisor.faults, "an activity broke"

    def teardown(self) -> None:
        try:
            assert self.loop.run_until_complete(self.deps.store.read(audit.verify)) == []
        finally:
            self.outside.turn(is_open=True)
            self.do(self._end(kills=False))
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()
            shutil.rmtree(self.folder)


def _fits_together(run: Run) -> bool:
    """Status, reason and redirect say one thing."""
    stands = run.status in (RunStatus.PAUSING, RunStatus.PAUSED)
    return stands == (run.reason is not None) and (run.redirect is None or stands) and (run.held_step is None or stands)


_BLANK: list[Path] = []


def blank() -> Path:
    """A database as the migrations make it, made once."""
    if not _BLANK:
        _BLANK.append(Path(tempfile.mkdtemp(prefix="pullcord-blank-")) / "pullcord.db")
        upgrade(f"sqlite:///{_BLANK[0]}")
    return _BLANK[0]


def test_no_order_of_events_breaks_a_promise_C017_C020_C052() -> None:
    """P1–P6 with a model of the world, over random sequences of events, with processes that die."""
    with capture_logs():
        run_state_machine_as_test(Cord, settings=settings(max_examples=25, stateful_step_count=40, deadline=None, phases=(Phase.generate,)))
