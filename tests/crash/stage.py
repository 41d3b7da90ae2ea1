"""A place where a run can be played: a workspace with people, a bot that may die at any moment, and what really happened, in files.

People know nothing of the bot's deaths. They look at their cards, click, and click again if nothing has come of it; what they say in a
thread they say once. Facts are read from the database with a connection that knows no product code.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.cli.serving import own_manifest
from bot.workspace.server import start_workspace
from tests.crash.lives import Bot, Nursery
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import Message, People, Person, find_button, settings_for
from tests.doubles.waiting import eventually

AGAIN_S = 0.8  # a click that had no effect so long is repeated
LOOK_S = 0.15  # between two looks for something to click
LONGEST_S = 100.0
FINAL = ("succeeded", "failed", "stopped", "cancelled", "expired", "refused")
CHANNELS = ("C0OPS", "C0GENERAL", "C0AUDIT")
# Where each tool writes down that it took effect.
EFFECTS = {
    "test.change": "change",
    "test.destroy": "destroy",
    "test.gate": "passed",
    "test.previewed": "previewed",
    "test.verified": "verified",
}


@dataclass(frozen=True)
class Facts:
    """What is stored of the only run there is."""

    run: str = ""
    status: str = ""
    reason: str | None = None
    held_step: str | None = None
    redirect: str | None = None
    thread_ts: str | None = None
    steps: dict[str, tuple[str, str, dict[str, Any]]] = field(default_factory=dict)  # id → tool, status, arguments
    events: Counter[str] = field(default_factory=Counter)
    open: frozenset[str] = frozenset()  # gates that the world has opened

    def step(self, name: str) -> str:
        return self.steps[name][1] if name in self.steps else ""


@dataclass
class Stage:
    """One workspace, one bot, one run."""

    folder: Path
    people: People
    bot: Bot
    says_again_s: float | None = None  # after how long without any answer people say the same once more; None: they never do

    def person(self, name: str) -> Person:
        return self.people.person(name)

    def lines(self, kind: str) -> list[str]:
        """What the tools have written down."""
        path = self.folder / f"{kind}.log"
        return path.read_text().split() if path.exists() else []

    def _database(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.folder / 'pullcord.db'}?mode=ro", uri=True, timeout=30)

    def facts(self) -> Facts:
        """What is stored now."""
        with closing(self._database()) as conn:
            if not conn.execute("SELECT count(*) FROM sqlite_master WHERE name = 'replies'").fetchone()[0]:
                return Facts()
            run = conn.execute("SELECT id, status, reason, held_step, redirect, thread_ts FROM runs").fetchone()
            if run is None:
                return Facts()
            steps = {name: (tool, status, json.loads(args or "{}")) for name, tool, status, args in conn.execute(STEPS)}
            events = Counter(event for (event,) in conn.execute("SELECT event FROM audit WHERE run_id != '-'"))
        return Facts(*run, steps, events, frozenset(path.stem for path in self.folder.glob("*.open")))

    async def until(self, true: Callable[[Facts], bool], act: "Act | None" = None, *, once: bool = False, what: str = "") -> Facts:
        """Look until it is true; meanwhile the bot is started again if it has died, doubts are settled, and `act` is done as people do."""
        next_try, said = 0.0, False

        async def probe() -> Facts | None:
            nonlocal next_try, said
            self.bot.revive()
            found = self.facts()
            if true(found):
                return found
            if time.monotonic() < next_try:
                return None
            if found.status == "paused" and found.reason == "in_doubt":
                await self._settle(found)
                next_try = time.monotonic() + 0.3
            elif act is not None and not (once and said and not self._says_again(next_try)):
                acted = await act(self, found)
                said = said or bool(acted)
                next_try = time.monotonic() + (AGAIN_S if acted is True else acted or LOOK_S)
            return None

        return await eventually(probe, what, within_s=LONGEST_S, every_s=0.05)

    def _says_again(self, last: float) -> bool:
        return self.says_again_s is not None and time.monotonic() > last + self.says_again_s

    async def press(self, name: str, label: str) -> bool:
        """Click the newest button of that label, if there is one and somebody hears it."""
        who = self.person(name)
        card = next((m for m in reversed(await who.everything("#ops")) if find_button(m, label)), None)
        return card is not None and bool((await who.press(label, card, "#ops"))["acked"])

    async def write(self, name: str, label: str, words: str) -> bool | float:
        """Click a button that asks for words, and write them. False until there is something to click."""
        view = await self.newest_view(name)
        if view is None:
            return 0.2 if await self.press(name, label) else False
        await self.person(name).submit(view["id"], in_words(view, words))
        return True

    async def newest_view(self, name: str) -> Message | None:
        views = await self.person(name).views()
        return views[-1] if views else None

    def is_behind(self) -> bool:
        """Is there a post that does not stand in Slack yet?"""
        with closing(self._database()) as conn:
            return bool(conn.execute("SELECT count(*) FROM posts WHERE state IN ('wanted', 'sending')").fetchone()[0])

    async def keys(self) -> list[str]:
        """The keys of all messages that the bot has posted: each names what the message is."""
        found = []
        for channel in CHANNELS:
            roots = await self._ask("conversations.history", channel=channel)
            threads = [each["ts"] for each in roots if each.get("reply_count")]
            found += roots
            for ts in threads:
                found += [each for each in await self._ask("conversations.replies", channel=channel, ts=ts) if each["ts"] != ts]
        return [each["metadata"]["event_payload"]["key"] for each in found if each.get("metadata")]

    async def _ask(self, method: str, **args: str) -> list[Message]:
        url, token = self.bot.environment["SLACK_API_URL"], self.bot.environment["SLACK_BOT_TOKEN"]
        form = {**args, "limit": "200", "include_all_metadata": "true"}
        async with self.people.http.post(url + method, data=form, headers={"Authorization": f"Bearer {token}"}) as answer:
            return list((await answer.json())["messages"])

    async def _settle(self, found: Facts) -> bool | float:
        """Look at the world, and say what is true."""
        assert found.held_step is not None
        tool, _, args = found.steps[found.held_step]
        if await self._happened(tool, args):
            return await self.write("approver", "It happened", "seen with my own eyes")
        return await self.press("approver", "It did not happen")

    async def _happened(self, tool: str, args: dict[str, Any]) -> bool:
        if tool == "slack.post_message":
            return any(message["text"] == args["text"] for message in await self.person("approver").messages(args["channel"]))
        return args["name"] in self.lines(EFFECTS[tool])


Act = Callable[[Stage, Facts], Awaitable[bool | float]]
STEPS = "SELECT step_id, tool, status, args FROM steps ORDER BY number"


def in_words(view: Message, words: str) -> dict[str, Any]:
    """The same words in every text field of a form."""
    fields = [b for b in view["blocks"] if (b.get("element") or {}).get("type") == "plain_text_input"]
    return {b["block_id"]: {b["element"]["action_id"]: {"type": "plain_text_input", "value": words}} for b in fields}


@asynccontextmanager
async def staged(folder: Path, nursery: Nursery, *, policy: str = DEMO_POLICY, grace_s: float = 0.3) -> AsyncIterator[Stage]:
    """A fresh stage in that folder. The bot has not begun."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "policy.yml").write_text(policy)
    workspace = await start_workspace(data=folder / "workspace", port=0, manifest=own_manifest())
    environment = settings_for(folder, workspace.url, workspace.bot_token, workspace.app_token, PULLCORD_GRACE=str(grace_s))
    environment |= {"PULLCORD_POLICY": str(folder / "policy.yml"), "PULLCORD_TEST_FOLDER": str(folder)}
    people = People(workspace.url, workspace.people_token)
    stage = Stage(folder, people, Bot(nursery, environment, folder))
    try:
        yield stage
    finally:
        await stage.bot.close()
        await people.close()
        await workspace.stop()
