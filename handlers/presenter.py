"""The presenter keeps Slack true: it posts what the outbox holds and redraws what has changed, and nobody waits for it.

It hears the bell and looks; a lost ring costs five seconds, since it looks then anyway. Rows of one channel are posted in the order in
which they were caused, and a channel that Slack slows down, or that the bot is not in, holds up no other. What stands in the tables is the
only list of what is to be done, so a presenter that is started again goes on where the last one was stopped or killed.
"""

import asyncio
import time
from collections.abc import Callable

import structlog

from bot import outbox, runs
from bot.core.run import RunStatus
from bot.core.snapshot import Post
from bot.deps import Deps
from bot.errors import Unavailable
from handlers import posting
from handlers.desk import Desk
from handlers.pace import Budget
from handlers.redrawing import Redrawer
from handlers.slack import Slack

log = structlog.get_logger()

SWEEP_S = 5.0
LOOK_PACE_S = 0.1  # rings of a burst are heard together
POSTS_PER_MINUTE = 60  # one a second in each channel, after a short burst
POSTS_BURST = 5
GRACE_S = 3.0
TICK_S = 5.0  # a card of a run at work is never much older
AT_WORK = frozenset({RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.STOPPING})
LINKED = frozenset({"review", "redirect", "confirm", "answer"})  # the run card says where these stand


class Presenter:
    """Start `run()` as a task; `close()` brings the last cards up to date, as far as a short grace allows, and ends it."""

    def __init__(self, deps: Deps, slack: Slack, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk = Desk(deps, slack)
        self._clock = clock
        self._redrawer = Redrawer(self._desk, clock=clock)
        self._wake = asyncio.Event()
        self._stop_hearing = deps.bell.listen(lambda _: self._wake.set())
        self._paces: dict[str, Budget] = {}
        self._resting: dict[str, float] = {}  # channel → until when
        self._posting: set[str] = set()
        self._linked: set[str] = set()  # runs whose card must name a message that stands since a moment
        self._work: set[asyncio.Task[None]] = set()
        self._next_tick = 0.0
        self._closing = False
        self._looking = asyncio.Lock()

    async def run(self) -> None:
        """Look after each ring, and every few seconds, until closed."""
        while not self._closing:
            wait_s = await self._look_safely()
            try:
                async with asyncio.timeout(min(wait_s, SWEEP_S)):
                    await self._wake.wait()
            except TimeoutError:
                continue
            finally:
                self._wake.clear()
            await asyncio.sleep(LOOK_PACE_S)

    async def close(self, *, grace_s: float = GRACE_S) -> None:
        """Finish what can be finished within the grace; what is left stands in the tables for the next start. Closing twice is fine."""
        if self._closing:
            return
        self._stop_hearing()
        self._closing = True
        self._wake.set()
        ends = self._clock() + grace_s
        while self._clock() < ends and (await self.is_behind()):
            wait_s = await self._look_safely()
            await asyncio.sleep(min(wait_s, LOOK_PACE_S))
        for task in tuple(self._work):
            task.cancel()
        if self._work:
            await asyncio.wait(self._work, timeout=1)

    async def is_behind(self) -> bool:
        """Is there anything that should stand in Slack and does not yet?"""
        deps = self._desk.deps
        return bool(self._work or self._linked or await outbox.waiting(deps) or await outbox.stale(deps))

    async def _look_safely(self) -> float:
        try:
            async with self._looking:
                return await self._look()
        except Unavailable as busy:
            log.warning("presenter_waits", error=str(busy))
            return 1.0

    async def _look(self) -> float:
        """Start whatever may be started now. Returns the seconds after which it is worth looking again."""
        deps = self._desk.deps
        rest_s = self._post_waiting(await outbox.waiting(deps))
        stale = await outbox.stale(deps)
        stale += await self._to_be_linked(stale)
        stale += await self._at_work(stale)
        cards: dict[str, list[Post]] = {}
        for post in await self._redrawer.choose(stale):
            cards.setdefault(post.run, []).append(post)
        for run_id, posts in cards.items():
            if any(post.card == "run" for post in posts):
                self._linked.discard(run_id)
            self._start(self._redrawer.draw(*posts), name=f"draw {run_id}")
        draw_s = self._redrawer.wait_s(stale)
        return min(rest_s, SWEEP_S if draw_s is None else draw_s)

    def _post_waiting(self, waiting: list[Post]) -> float:
        """One task for each channel that has something to be posted and is not at rest."""
        channels: dict[str, list[Post]] = {}
        carded = {post.run for post in waiting if post.card == "run" and not post.tries}
        held: set[str] = set()
        for post in waiting:
            if post.card == "audit" and (post.run in carded or post.channel in held):
                held.add(post.channel)  # an audit post links to the run's card: that one first, and the record in its order
            else:
                channels.setdefault(post.channel, []).append(post)
        now, rest_s = self._clock(), SWEEP_S
        for channel, posts in channels.items():
            rest = max(self._resting.get(channel, 0) - now, self._pace(channel).wait_s)
            if rest > 0:
                rest_s = min(rest_s, rest)
            elif channel not in self._posting:
                self._posting.add(channel)
                self._start(self._post_in(channel, posts), name=f"post {channel}")
        return rest_s

    async def _post_in(self, channel: str, posts: list[Post]) -> None:
        try:
            for post in posts:
                if not self._pace(channel).take():
                    return
                rest_s = await posting.deliver(self._desk, post, shown=self._redrawer.shown)
                if post.card in LINKED:
                    self._linked.add(post.run)
                if rest_s is not None:
                    self._resting[channel] = self._clock() + rest_s
                    return
        finally:
            self._posting.discard(channel)

    async def _to_be_linked(self, stale: list[Post]) -> list[Post]:
        """The run cards that are up to date but for a link."""
        found = []
        for run_id in self._linked - {post.run for post in stale if post.card == "run"}:
            cards = [post for post in await outbox.of_run(self._desk.deps, run_id) if post.card == "run"]
            found += [post for post in cards if post.state == "posted"]
            if all(post.state == "failed" for post in cards):
                self._linked.discard(run_id)
        return found

    async def _at_work(self, stale: list[Post]) -> list[Post]:
        """Now and then the cards of runs at work: on them only the time has changed, and how far a step is. Only while calls are left."""
        if self._closing or self._clock() < self._next_tick or not self._redrawer.has_room:
            return []
        self._next_tick = self._clock() + TICK_S
        known = {post.id for post in stale}
        found: list[Post] = []
        for run in await runs.live(self._desk.deps):
            if run.status in AT_WORK:
                found += [post for post in await outbox.of_run(self._desk.deps, run.id) if post.card == "run" and post.id not in known]
        return [post for post in found if post.state == "posted"]

    def _pace(self, channel: str) -> Budget:
        if channel not in self._paces:
            self._paces[channel] = Budget(per_minute=POSTS_PER_MINUTE, burst=POSTS_BURST, clock=self._clock)
        return self._paces[channel]

    def _start(self, work: object, *, name: str) -> None:
        task = self._desk.deps.tasks.start(work, name=name)  # type: ignore[arg-type]
        self._work.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        self._wake.set()
