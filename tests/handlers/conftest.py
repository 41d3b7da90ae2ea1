"""A hall: the real local workspace, the real listeners and the presenter, on a real store. What a test cannot wait for is given to it:
the clock, the planner, and whether runs are attended to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot import outbox, runs
from bot.core.run import Run
from bot.core.snapshot import Snapshot
from bot.deps import Deps
from bot.supervisor import Supervisor
from bot.workspace.server import Workspace, start_workspace
from handlers.presenter import Presenter
from handlers.register import register
from handlers.slack import Slack, build_app, connect, open_slack
from handlers.slack_tools import slack_tools
from tests.doubles.clock import Clock
from tests.doubles.parts import close_parts, open_parts
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import People, Person
from tests.doubles.waiting import eventually

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
Json = dict[str, Any]


@dataclass
class Hall:
    workspace: Workspace
    people: People
    deps: Deps
    slack: Slack
    presenter: Presenter

    def person(self, name: str) -> Person:
        return self.people.person(name)

    async def spoil(self, **fault: Any) -> None:
        """Make the next calls of a Web API method go wrong."""
        answer = await self.people.call("POST", "/faults", fault)
        assert answer["ok"], answer

    async def socket(self, **fault: Any) -> None:
        answer = await self.people.call("POST", "/faults/socket", fault)
        assert answer["ok"], answer

    async def log(self, method: str = "") -> list[Json]:
        """What was called, or sent over the socket, oldest first."""
        entries: list[Json] = (await self.people.call("GET", "/log"))["entries"]
        return [entry for entry in entries if method in (entry.get("method"), "")]

    async def show(self, run_id: str) -> Snapshot:
        return await runs.snapshot(self.deps, run_id, entries=True)

    async def runs(self, how_many: int = 1) -> list[Run]:
        """All runs, newest first, once there are that many."""

        async def probe() -> list[Run] | None:
            found = list(await runs.listing(self.deps))
            return found if len(found) >= how_many else None

        return await eventually(probe, f"{how_many} runs") if how_many else list(await runs.listing(self.deps))

    async def until(self, run_id: str, *statuses: str, within_s: float = 15) -> Snapshot:
        async def probe() -> Snapshot | None:
            found = await self.show(run_id)
            return found if found.run.status in statuses else None

        return await eventually(probe, f"{run_id} to be {' or '.join(statuses)}", within_s=within_s)

    async def settled(self) -> None:
        """Nothing is under way: every listener's work is done and Slack shows what is true."""

        async def probe() -> bool:
            posts = [post for run in await runs.listing(self.deps) for post in await outbox.of_run(self.deps, run.id)]
            if any(post.state in ("wanted", "sending") for post in posts):
                return False
            return not await self.presenter.is_behind() and len(self.deps.tasks) <= 2  # the presenter and the supervisor themselves

        await eventually(probe, "everything to be shown")


MakeHall = Callable[..., Awaitable[Hall]]


@pytest.fixture
async def make_hall(tmp_path: Path, clock: Clock) -> AsyncIterator[MakeHall]:
    """`await make_hall(policy=…, planner=…, synthesizer=…, supervised=False, presented=False)`."""
    async with AsyncExitStack() as stack:

        async def make(
            *, policy: str = DEMO_POLICY, supervised: bool = True, presented: bool = True, synthesizer: Any = None, **more: Any
        ) -> Hall:
            workspace = await start_workspace(data=None, port=0, manifest=MANIFEST)
            stack.push_async_callback(workspace.stop)
            people = People(workspace.url, workspace.people_token)
            stack.push_async_callback(people.close)
            environment = {
                "SLACK_API_URL": f"{workspace.url}/api/",
                "SLACK_BOT_TOKEN": workspace.bot_token,
                "SLACK_APP_TOKEN": workspace.app_token,
            }
            deps = await open_parts(tmp_path, clock=clock, policy_text=policy, **environment, **more)
            deps = replace(deps, synthesizer=synthesizer) if synthesizer else deps
            stack.push_async_callback(close_parts, deps)
            slack = await open_slack(deps.settings, deps.rules)
            for each in slack_tools(slack, deps.tasks):
                deps.tools.add(each)
            presenter = Presenter(deps, slack)
            if presented:
                deps.tasks.start(presenter.run(), name="presenter")
                stack.push_async_callback(presenter.close)
            if supervised:
                supervisor = Supervisor(deps)
                deps.tasks.start(supervisor.run(), name="supervisor")
                stack.push_async_callback(supervisor.close)
            app = build_app(deps.settings, slack)
            register(app, deps, slack)
            socket = await connect(app, deps.settings)
            stack.push_async_callback(socket.close_async)
            return Hall(workspace, people, deps, slack, presenter)

        yield make


@pytest.fixture
async def hall(make_hall: MakeHall) -> Hall:
    return await make_hall()
