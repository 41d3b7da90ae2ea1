"""Cards are kept true: a message that shows an old version of its run is redrawn, newest state at once, at the pace that Slack allows.

Bursts merge by themselves, since a redraw always draws the run as it is then. Each card is drawn at once when it has been quiet, else a
little over a second later; all cards share the workspace's budget for `chat.update`, and where that is short, those go first that people
wait for: ended runs and runs that wait for somebody. A draw that would change nothing costs no call. No run ever waits for any of this.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import structlog

from bot import outbox, runs
from bot.core.plan import fingerprint
from bot.core.run import RunStatus
from bot.core.snapshot import Post
from bot.errors import Refused
from handlers import scenes
from handlers.desk import Desk
from handlers.pace import Budget
from handlers.trouble import FAILURES, NO_MESSAGE, NOT_HERE, TOO_MUCH, Trouble, trouble
from handlers.views.scene import Scene

log = structlog.get_logger()

CARD_PACE_S = 1.2
PER_MINUTE = 50  # Slack's tier 3 for chat.update, for the whole workspace
BURST = 20
LONGEST_WAIT_S = 300.0
MOST_REMEMBERED = 5_000
UNHURRIED = frozenset({RunStatus.PLANNING, RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.STOPPING, RunStatus.ANSWERING})

Json = dict[str, Any]


class Redrawer:
    """Draws stale cards, and says which may be drawn now. `clock` gives seconds that only grow."""

    def __init__(self, desk: Desk, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk = desk
        self._clock = clock
        self._budget = Budget(per_minute=PER_MINUTE, burst=BURST, clock=clock)
        self._not_before: dict[int, float] = {}
        self._failures: dict[int, int] = {}
        self._looks: dict[int, str] = {}
        self._drawing: set[int] = set()
        self._replaced: set[int] = set()

    @property
    def has_room(self) -> bool:
        """May calls be spent on what nobody waits for?"""
        return self._budget.left > BURST // 2

    async def choose(self, stale: list[Post]) -> list[Post]:
        """Those cards of `stale` that may be drawn now, most wanted first; each counts as being drawn until `draw` has returned."""
        now = self._clock()
        ready = [post for post in stale if post.id not in self._drawing and self._not_before.get(post.id, 0) <= now]
        if len(ready) > self._budget.left:
            unhurried = {run.id for run in await runs.live(self._desk.deps) if run.status in UNHURRIED}
            ready.sort(key=lambda post: (post.run in unhurried, self._not_before.get(post.id, 0)))
        chosen = []
        for post in ready:
            if not self._budget.take():
                break
            self._drawing.add(post.id)
            self._not_before[post.id] = now + CARD_PACE_S
            chosen.append(post)
        return chosen

    def wait_s(self, stale: list[Post]) -> float | None:
        """Seconds until one of these may be drawn; None if none of them can be, or all are being drawn."""
        waits = [self._not_before.get(post.id, 0) - self._clock() for post in stale if post.id not in self._drawing]
        return max(0.01, min(waits), self._budget.wait_s) if waits else None

    def shown(self, post: Post, arguments: Json) -> None:
        """The card was just posted, and looks like this."""
        self._looks[post.id] = appearance(arguments)
        self._not_before[post.id] = self._clock() + CARD_PACE_S

    async def draw(self, *posts: Post) -> None:
        """Bring cards of one run up to its state now: one look at the run serves them all."""
        found = await self._look(posts[0].run)
        await asyncio.gather(*(self._draw_safely(post, found) for post in posts))

    async def _look(self, run_id: str) -> Scene | Exception:
        """The run as it is now, or what kept us from seeing it, which each of its cards must hear of."""
        try:
            return await scenes.of_run(self._desk, run_id)
        except Exception as fault:
            return fault

    async def _draw_safely(self, post: Post, found: Scene | Exception) -> None:
        try:
            if isinstance(found, Exception):
                raise found
            await self._draw(post, found)
            self._failures.pop(post.id, None)
        except Refused as unknown:
            await outbox.failed(self._desk.deps, post.id, str(unknown))
        except FAILURES as failure:
            await self._failed(post, trouble(failure))
        except Exception:
            log.exception("card_broken", run=post.run, card=post.card)
            self._draw_later(post)
        finally:
            self._drawing.discard(post.id)
            self._forget_old()

    async def _draw(self, post: Post, scene: Scene) -> None:
        variants = scenes.messages(scene, post)[0]
        look = appearance(variants[0])
        if self._looks.get(post.id) == look:
            self._budget.give_back()
        else:
            await self._update(post, variants)
            self._looks[post.id] = look
        await outbox.shown(self._desk.deps, post.id, scene.run.version)

    async def _update(self, post: Post, variants: scenes.Variants) -> None:
        """Change the message, in plainer form if Slack finds it too much."""
        wanted = {name: value for name, value in variants[0].items() if not name.startswith("unfurl")}
        try:
            await self._desk.slack.once.chat_update(channel=post.channel, ts=post.ts or "", **wanted)
        except FAILURES as failure:
            code = trouble(failure).code
            if code not in TOO_MUCH or len(variants) == 1:
                raise
            log.error("card_refused", run=post.run, card=post.card, error=code)
            await self._update(post, variants[1:])

    async def _failed(self, post: Post, what: Trouble) -> None:
        """Keep the card on the list: it is drawn again later, or stands anew if its message is gone."""
        if what.retry_after_s is not None:
            self._budget.close_for(what.retry_after_s)
            self._not_before[post.id] = self._clock()
            return
        if what.code in NO_MESSAGE:
            await self._stand_anew(post, what.code)
            return
        self._draw_later(post)
        hint = "invite the bot again with /invite" if what.code in NOT_HERE else ""
        log.warning("card_not_drawn", run=post.run, card=post.card, channel=post.channel, error=what.code, next=hint)

    def _draw_later(self, post: Post) -> None:
        count = self._failures[post.id] = self._failures.get(post.id, 0) + 1
        self._not_before[post.id] = self._clock() + min(LONGEST_WAIT_S, CARD_PACE_S * 2.0 ** min(count, 9))

    async def _stand_anew(self, post: Post, code: str) -> None:
        """Somebody deleted the card: it is posted once more, and no third time."""
        if post.id in self._replaced:
            await outbox.failed(self._desk.deps, post.id, f"{code} twice")
            return
        log.warning("card_deleted", run=post.run, card=post.card, error=code)
        self._replaced.add(post.id)
        self._looks.pop(post.id, None)
        await outbox.sending(self._desk.deps, post.id)

    def _forget_old(self) -> None:
        if len(self._not_before) > MOST_REMEMBERED:
            self._not_before = {key: at for key, at in self._not_before.items() if at > self._clock()}
            self._looks.clear()


def appearance(arguments: Json) -> str:
    """What a person sees of a message, as a fingerprint: block ids and metadata change with each version and show nothing."""
    return fingerprint([arguments.get("text"), [_bare(block) for block in arguments.get("blocks", [])]])


def _bare(block: Json) -> Json:
    return {name: value for name, value in block.items() if name != "block_id"}
