"""A town: the real local workspace and the real bot in one process, people who act through the people API, time that can be moved."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot import runs
from bot.app import App
from bot.cli.serving import own_manifest
from bot.core.snapshot import Snapshot
from bot.settings import Settings
from bot.workspace.server import Workspace, start_workspace
from tests.doubles.clock import Clock
from tests.doubles.policies import DEMO_POLICY
from tests.doubles.town import People, Person, settings_for
from tests.doubles.waiting import eventually


@dataclass
class Town:
    """Everything that a conversation needs."""

    folder: Path
    workspace: Workspace
    people: People
    clock: Clock
    environment: dict[str, str]
    app: App

    def person(self, name: str) -> Person:
        return self.people.person(name)

    async def show(self, run_id: str) -> Snapshot:
        return await runs.snapshot(self.app.deps, run_id, entries=True)

    async def until(self, run_id: str, *statuses: str, within_s: float = 15.0) -> Snapshot:
        """The run once it has one of these statuses."""

        async def probe() -> Snapshot | None:
            found = await self.show(run_id)
            return found if found.run.status in statuses else None

        return await eventually(probe, f"{run_id} to be {' or '.join(statuses)}", within_s=within_s)

    async def restart(self) -> None:
        """The bot ends and begins again; the workspace stays."""
        await self.app.stop()
        await self.start()

    async def start(self) -> None:
        """The bot begins again after `app.stop()`."""
        self.app = await App.start(Settings.model_validate(self.environment), now=self.clock)

    def files(self, name: str) -> Path:
        return self.folder / "files" / name

    def lines(self, kind: str) -> list[str]:
        path = self.folder / f"{kind}.log"
        return path.read_text().split() if path.exists() else []


MakeTown = Callable[..., Awaitable[Town]]


@pytest.fixture
async def make_town(tmp_path: Path, clock: Clock) -> AsyncIterator[MakeTown]:
    """Build a town: `await make_town(policy=..., PULLCORD_POOL="2", ...)`."""
    async with AsyncExitStack() as stack:

        async def make(*, policy: str = DEMO_POLICY, files: dict[str, str] | None = None, **environment: Any) -> Town:
            for name, text in (files or {}).items():
                path = tmp_path / "files" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            (tmp_path / "policy.yml").write_text(policy)
            workspace = await start_workspace(data=tmp_path / "workspace", port=0, manifest=own_manifest())
            stack.push_async_callback(workspace.stop)
            given = settings_for(tmp_path, workspace.url, workspace.bot_token, workspace.app_token)
            given |= {"PULLCORD_POLICY": str(tmp_path / "policy.yml"), "PULLCORD_GRACE": "2", **environment}
            app = await App.start(Settings.model_validate(given), now=clock)
            people = People(workspace.url, workspace.people_token)
            stack.push_async_callback(people.close)
            town = Town(tmp_path, workspace, people, clock, given, app)
            stack.push_async_callback(lambda: town.app.stop())
            return town

        yield make


@pytest.fixture
async def town(make_town: MakeTown) -> Town:
    return await make_town(files={"notes/today.md": NOTES})


NOTES = "# Standup\nThe login page was slow on Monday.\nThe cache was cold after the upgrade.\nLee restarted it at nine.\n"
