"""One run in one real database that can be put back to any earlier state: the real migrations, the real door, the real commands.

Everything synchronous: nothing waits inside, so what a command does is one step of the walk. Time stands still, so that states that differ
in nothing but their times are one state. A state is kept as the pages of its database; pages that states share are kept once.
"""

import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from bot.bell import Bell
from bot.core import policy
from bot.core.ids import RunId
from bot.core.policy import Member
from bot.deps import Deps
from bot.llm.offline import OfflinePlanner
from bot.llm.report import Reporter
from bot.llm.rules import RulesClassifier
from bot.rules import Rules
from bot.settings import Settings
from bot.store import engine as engines
from bot.store.migrations import upgrade
from bot.tasks import Tasks
from bot.tools.registry import Registry, ToolContext, tool
from tests.doubles.parts import APPROVER, MEMBER, REQUESTER

T = TypeVar("T")
RUN = RunId("R-MODEL")
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=2)  # every wait is over by then
ADMIN = Member(id="U0ADMIN", team="T0HOME", is_admin=True)
PAGE = 512
POLICY = """\
profile: team
approvers: ["@ops-leads"]
quorum: {high: 1}
tools:
  "say.*": {mode: ask}
  "ask.*": {mode: confirm}
"""


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


@tool(name="see.it", effect="read", says="Looks at {name}", target="name")
async def see(args: Named, ctx: ToolContext) -> Named:
    """Look at something by name. Use it in the walk. Not for real work."""
    return args


@tool(name="say.it", effect="send", says="Says {name}", target="name")
async def say(args: Named, ctx: ToolContext) -> Named:
    """Say something by name. Use it in the walk. Not for real work."""
    return args


@tool(name="say.else", effect="send", says="Says {name} elsewhere", target="name")
async def say_else(args: Named, ctx: ToolContext) -> Named:
    """Say something elsewhere. Use it in the walk. Not for real work."""
    return args


@tool(name="ask.first", effect="send", says="Says {name} once confirmed", target="name")
async def ask_first(args: Named, ctx: ToolContext) -> Named:
    """Say something that a person confirms. Use it in the walk. Not for real work."""
    return args


@tool(name="ask.else", effect="send", says="Says {name} elsewhere once confirmed", target="name")
async def ask_else(args: Named, ctx: ToolContext) -> Named:
    """Say something elsewhere that a person confirms. Use it in the walk. Not for real work."""
    return args


class Store:
    """Two verbs over one connection, as `bot.store.db.Database` has them; each call is a transaction of its own."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.seen: deque[Any] = deque()  # what an activity read a while ago: handed out in place of what is true now

    async def write(self, work: Callable[[Connection], T], *, first: bool = False) -> T:  # noqa: ARG002
        transaction = engines.begin_writing(self.conn)
        self.conn.info["noted"] = set()
        try:
            result = work(self.conn)
        except BaseException:
            transaction.rollback()
            raise
        transaction.commit()
        return result

    async def read(self, work: Callable[[Connection], T]) -> T:
        if self.seen:
            seen: T = self.seen.popleft()
            return seen
        with engines.begin_reading(self.conn):
            return work(self.conn)


class World:
    """The database, what commands and activities are given, and the way to go back in time."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pullcord-model-")
        self._engine = engines.writing(f"sqlite:///{Path(self._folder.name) / 'pullcord.db'}")
        self.conn = self._engine.connect()
        self.driver = engines.driver(self.conn)
        self.conn.rollback()
        self.driver.deserialize(_blank())
        self.store = Store(self.conn)
        self.deps = _deps(self.store)
        self.later = replace(self.deps, now=lambda: LATER)
        self._pages: dict[bytes, bytes] = {}

    def close(self) -> None:
        self.conn.close()
        self._engine.dispose()
        self._folder.cleanup()

    def kept(self) -> tuple[bytes, ...]:
        """The database as it is now."""
        whole = self.driver.serialize()
        cut = (whole[at : at + PAGE] for at in range(0, len(whole), PAGE))
        return tuple(self._pages.setdefault(page, page) for page in cut)

    def restore(self, pages: tuple[bytes, ...]) -> None:
        """Make the database what it was."""
        self.driver.deserialize(b"".join(pages))


@cache
def _blank() -> bytes:
    """A database as the migrations make it, in small pages."""
    with tempfile.TemporaryDirectory(prefix="pullcord-model-") as folder:
        file = Path(folder) / "pullcord.db"
        upgrade(f"sqlite:///{file}")
        connection = sqlite3.connect(file, isolation_level=None)
        for words in ("PRAGMA journal_mode=DELETE", f"PRAGMA page_size={PAGE}", "VACUUM"):
            connection.execute(words)
        whole = connection.serialize()
        connection.close()
    return whole


def _deps(store: Any) -> Deps:
    return Deps(
        settings=Settings.model_validate({"PULLCORD_GRACE": 0}),
        store=store,
        tools=Registry([see, say, say_else, ask_first, ask_else]),
        rules=Rules(policy.parse(POLICY, source="policy.yml")),
        planner=OfflinePlanner(),
        classifier=RulesClassifier(),
        synthesizer=Reporter(),
        bell=Bell(),
        tasks=Tasks(),
        now=lambda: NOW,
        new_run_id=lambda: RUN,
    )


PEOPLE = {"asks": REQUESTER, "approves": APPROVER, "looks on": MEMBER, "admin": ADMIN}
