"""The only place where everything is put together, and taken apart in the right order.

Start: database, policy, tools, Slack, listeners, supervisor and presenter, clock; the socket last, so that no click comes before there is
somebody to answer it. Stop is that ladder downwards: no new clicks, no new steps, a grace for what runs, the last cards, the database.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import structlog
from aiohttp import web
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot import pulse, rules, schedule
from bot.bell import Bell
from bot.core.drafts import Classifier, Planner
from bot.core.ids import new_run_id
from bot.core.policy import Policy
from bot.core.snapshot import Synthesizer
from bot.deps import Deps
from bot.errors import ConfigurationError
from bot.llm.offline import OfflinePlanner
from bot.llm.report import Reporter
from bot.llm.rules import RulesClassifier
from bot.metrics import Meter
from bot.one_process import hold
from bot.rules import Rules
from bot.settings import Settings
from bot.store.db import Database
from bot.supervisor import Supervisor
from bot.tasks import Tasks
from bot.tools import masks
from bot.tools.builtin import builtin_tools
from bot.tools.registry import Registry, load_file
from bot.tools.secrets import open_secrets
from bot.tools.text import Summarize
from handlers import http
from handlers.presenter import Presenter
from handlers.register import register
from handlers.slack import Slack, build_app, connect, open_slack, unconnected
from handlers.slack_tools import slack_tools

log = structlog.get_logger()


def utc_now() -> datetime:
    """The clock of the real world."""
    return datetime.now(UTC)  # noqa: TID251 - the one clock that Deps hands out


def read_policy(path: Path | None) -> Policy:
    """The policy file, or the team profile where there is none. Raises `ConfigurationError` with file, line and fix."""
    return rules.read(path).policy


async def _nothing() -> None:
    """There is nothing to close."""


@dataclass(frozen=True)
class Roles:
    """Who plans, who writes the answer, who summarizes: a model, or our own rules where there is none."""

    planner: Planner
    classifier: Classifier
    synthesizer: Synthesizer
    summarize: Summarize | None = None
    close: Callable[[], Awaitable[None]] = _nothing


def roles(settings: Settings) -> Roles:
    """The roles that the settings choose. A bot without a model does not wait for a model's library to load."""
    if not settings.model_planner:
        return Roles(OfflinePlanner(), RulesClassifier(), Reporter())
    from bot.llm import client, planner, synthesizer, worker
    from bot.llm.classifier import ModelClassifier

    model = client.ModelClient(settings)
    written, short = synthesizer.Synthesizer(client=model), partial(worker.summarize, model)
    return Roles(planner.ModelPlanner(model), ModelClassifier(model), written, short, model.close)


def registry(settings: Settings, summarize: Summarize | None = None) -> Registry:
    """The built-in tools and those of the files that the settings name, without Slack's."""
    settings.files_root.mkdir(parents=True, exist_ok=True)
    tools = Registry(builtin_tools(files_root=settings.files_root, summarize=summarize), grace_s=settings.grace_s / 2)
    for path in settings.tool_paths:
        for each in load_file(path):
            tools.add(each)
    return tools


def with_slack(tools: Registry, policy: Policy) -> Registry:
    """The same registry with the definitions of Slack's tools, which cannot be called without a connection."""
    for each in slack_tools(unconnected(Rules(policy)), Tasks()):
        tools.add(each)
    return tools


async def open_deps(settings: Settings, chosen: Roles, *, now: Any = utc_now) -> Deps:
    """Everything but Slack. Close the store when done."""
    bell = Bell()
    found = rules.read(settings.policy)
    tools = registry(settings, chosen.summarize)
    return Deps(
        settings=settings,
        store=await Database.open(settings.database_url, on_change=bell.ring),
        tools=tools,
        secrets=open_secrets(os.environ, source=settings.secrets, keyring=settings.keyring),
        rules=found,
        planner=chosen.planner,
        classifier=chosen.classifier,
        synthesizer=chosen.synthesizer,
        bell=bell,
        tasks=Tasks(),
        now=now,
        new_run_id=new_run_id,
    )


def lock(settings: Settings) -> IO[str] | None:
    """Hold the embedded database for this process alone: a second bot on it would take the first one's running steps for lost.

    Raises `ConfigurationError` if another process holds it. The lock ends with the process, however it ends.
    """
    prefix = "sqlite:///"
    if not settings.database_url.startswith(prefix):
        return None
    path = Path(settings.database_url.removeprefix(prefix)).with_suffix(".lock")
    return hold(path, says="another bot runs on this database; stop it first, or use another --data folder")


class App:
    """The running bot."""

    def __init__(self, deps: Deps, slack: Slack) -> None:
        self.deps, self.slack = deps, slack
        self.supervisor = Supervisor(deps)
        self.presenter = Presenter(deps, slack)
        self.bolt = build_app(deps.settings, slack)
        self.scheduler: AsyncIOScheduler | None = None
        self.socket: Any = None
        self.fronts: list[http.Front] = []  # where Slack is heard over HTTP, and where machines watch
        self.side: list[asyncio.Task[Any]] = []
        self.rungs = AsyncExitStack()  # what `stop` closes last

    @classmethod
    async def start(cls, settings: Settings, *, now: Any = utc_now) -> "App":
        """Build and connect. Raises `ConfigurationError` for anything that the person who started it can mend."""
        async with AsyncExitStack() as stack:  # whatever was opened is closed again if a later rung fails
            held = lock(settings)
            if held is not None:
                stack.callback(held.close)
            masks.hold(settings.own_secrets)
            stack.callback(masks.release, settings.own_secrets)
            chosen = roles(settings)
            stack.push_async_callback(chosen.close)
            deps = await open_deps(settings, chosen, now=now)
            stack.callback(deps.secrets.close)
            stack.push_async_callback(deps.store.close)
            stack.push_async_callback(deps.tools.close)
            stack.push_async_callback(deps.tasks.close)
            slack = await open_slack(settings, deps.rules)
            deps = replace(deps, reach=slack.directory.reach)
            for each in slack_tools(slack, deps.tasks):
                deps.tools.add(each)
            app = cls(deps, slack)
            await app._connect()
            app.rungs = stack.pop_all()
        log.info("connected", team=slack.team_id, planner=deps.planner.name, tools=len(deps.tools.catalogue))
        return app

    async def _connect(self) -> None:
        settings = self.deps.settings
        register(self.bolt, self.deps, self.slack)
        side = {"supervisor": self.supervisor.run(), "presenter": self.presenter.run(), "pulse": pulse.watch()}
        self.side = [self.deps.tasks.start(work, name=name) for name, work in side.items()]
        await self._hear()
        if settings.metrics:
            await self._serve(http.watch(Meter(self.deps)), settings.metrics, name="PULLCORD_METRICS")
        self.scheduler = schedule.start(self.deps)

    async def _hear(self) -> None:
        """Let Slack in: over the socket where there is an app-level token, else over HTTP, for which a signing secret is needed."""
        settings = self.deps.settings
        secret = settings.slack_signing_secret
        if settings.slack_app_token is not None or not settings.http:
            self.socket = await connect(self.bolt, settings)
            return
        if secret is None:
            raise ConfigurationError(
                "SLACK_SIGNING_SECRET: needed to hear Slack over HTTP; it is on the app's page under Basic Information"
            )
        await self._serve([http.listen(self.bolt, http.Gate(secret.get_secret_value()))], settings.http, name="PULLCORD_HTTP")

    async def _serve(self, routes: list[web.RouteDef], address: str, *, name: str) -> None:
        host, port = http.place(address, name=name)
        try:
            self.fronts.append(await http.serve(routes, host=host, port=port))
        except OSError as fault:
            raise ConfigurationError(f"{name}: {address} cannot be used ({fault.strerror}); choose another") from fault

    async def serve(self, until: asyncio.Event) -> None:
        """Run until `until` is set, or until a side task dies: then the bot stops loudly instead of limping."""
        waiting = self.deps.tasks.start(until.wait(), name="until")
        done, _ = await asyncio.wait({waiting, *self.side}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        for task in done - {waiting}:
            task.result()
            raise RuntimeError(f"the {task.get_name()} ended by itself")

    async def stop(self) -> None:
        """Down the ladder. What was cut off is settled at the next start."""
        if self.socket is not None:
            await self.socket.close_async()
        for front in self.fronts:
            await front.close()
        if self.scheduler is not None:
            self.scheduler.shutdown(wait=False)
        await self.supervisor.close()
        await self.presenter.close()
        await self.deps.tasks.close(grace_s=1)
        await self.rungs.aclose()
        log.info("stopped")
