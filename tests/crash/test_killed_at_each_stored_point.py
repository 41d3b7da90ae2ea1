"""SIGKILL at each stored point of the main job: the bot starts again and the run ends rightly. Nothing twice, nothing lost (C052, C017)."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.cli.serving import own_manifest
from bot.core.policy import DEMO_POLICY
from bot.core.run import FINAL, Hold, RunStatus, StepStatus
from bot.core.snapshot import Snapshot
from bot.store import audit, runs
from bot.store.db import Database
from bot.workspace.server import start_workspace
from tests.doubles.town import People, find_button, settings_for, text_of
from tests.doubles.waiting import eventually

ROOT = Path(__file__).parents[2]
PLAN = "look: test.look name=look\nfirst: test.change name=first after=look\nsecond: test.verified name=second after=first\n" + (
    'post: slack.post_message channel=#general text="done {{second.name}}"'
)

POINTS = [
    ("opened", 1),
    ("planned", 1),
    ("approved", 1),
    ("started", 1),
    *[("step_started", count) for count in range(1, 5)],
    *[("step_succeeded", count) for count in range(1, 5)],
    ("steps_done", 1),
    ("answered", 1),
]


class Bot:
    """The bot as a process of its own, started again whenever it has died."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.process: asyncio.subprocess.Process | None = None
        self.deaths = 0

    async def start(self, *point: str) -> None:
        script = str(ROOT / "tests" / "crash" / "bot_that_dies.py")
        env = {**os.environ, **self.environment, "PYTHONPATH": str(ROOT)}
        self.process = await asyncio.create_subprocess_exec(sys.executable, script, *point, env=env, stdout=asyncio.subprocess.PIPE)

    async def ready(self) -> None:
        """Connected, and listening for its point."""
        assert self.process is not None
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            while b"ready" not in (line := await self.process.stdout.readline()):
                assert line, "the bot ended before it was ready"

    async def revive(self) -> None:
        assert self.process is not None
        if self.process.returncode is not None:
            assert self.process.returncode == -9, f"the bot ended by itself with {self.process.returncode}"
            self.deaths += 1
            await self.start()

    async def end(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            await self.process.wait()


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[tuple[People, dict[str, str]]]:
    (tmp_path / "policy.yml").write_text(DEMO_POLICY)
    (tmp_path / "second.open").touch()
    workspace = await start_workspace(data=tmp_path / "workspace", port=0, manifest=own_manifest())
    environment = settings_for(tmp_path, workspace.url, workspace.bot_token, workspace.app_token)
    environment |= {"PULLCORD_POLICY": str(tmp_path / "policy.yml"), "PULLCORD_TEST_FOLDER": str(tmp_path)}
    people = People(workspace.url, workspace.people_token)
    yield people, environment
    await people.close()
    await workspace.stop()


def lines(folder: Path, kind: str) -> list[str]:
    path = folder / f"{kind}.log"
    return path.read_text().split() if path.exists() else []


@pytest.mark.parametrize(("event", "count"), POINTS)
async def test_it_ends_rightly(event: str, count: int, people: tuple[People, dict[str, str]], tmp_path: Path) -> None:
    town, environment = people
    bot = Bot(environment)
    await bot.start(event, str(count))
    await bot.ready()
    requester = town.person("requester")
    await requester.say("#ops", f"@Pullcord {PLAN}")
    store = await Database.open(environment["PULLCORD_DATABASE_URL"])
    try:
        final = await _drive_to_the_end(town, bot, store, tmp_path)
        await _check(town, final, store, tmp_path)
        assert bot.deaths == 1
    finally:
        await bot.end()
        await store.close()


async def _drive_to_the_end(town: People, bot: Bot, store: Database, folder: Path) -> Snapshot:
    """Do what people would: approve what waits, settle what is in doubt by looking at the world."""

    async def probe() -> Snapshot | None:
        await bot.revive()
        found = await store.read(lambda conn: runs.listing(conn))
        if not found:
            return None
        snapshot = await store.read(lambda conn: runs.snapshot(conn, found[0].id))
        if snapshot.run.status is RunStatus.IN_REVIEW:
            await _press_if_shown(town, "Approve")
        if snapshot.run.status is RunStatus.PAUSED and snapshot.run.reason is Hold.IN_DOUBT:
            await _settle(town, snapshot, folder)
        return snapshot if snapshot.run.status in FINAL and bot.deaths else None

    return await eventually(probe, "the run to end", within_s=150, every_s=0.25)


async def _press_if_shown(town: People, label: str) -> bool:
    approver = town.person("approver")
    card = next((m for m in reversed(await approver.everything("#ops")) if find_button(m, label)), None)
    if card is not None:
        await approver.press(label, card, "#ops")
    return card is not None


async def _settle(town: People, snapshot: Snapshot, folder: Path) -> None:
    """Only test.change cannot tell by itself whether it happened; its log is the world."""
    assert snapshot.run.held_step == "first"
    if "first" not in lines(folder, "change"):
        await _press_if_shown(town, "It did not happen")
        return
    approver = town.person("approver")
    if not await approver.views():
        await _press_if_shown(town, "It happened")
    for view in await approver.views():
        values = {
            block["block_id"]: {block["element"]["action_id"]: {"type": "plain_text_input", "value": "seen in the log"}}
            for block in view["blocks"]
            if (block.get("element") or {}).get("type") == "plain_text_input"
        }
        await approver.submit(view["id"], values)


async def _check(town: People, final: Snapshot, store: Database, folder: Path) -> None:
    assert final.run.status is RunStatus.SUCCEEDED
    assert {step.id: step.status for step in final.steps} == dict.fromkeys(("look", "first", "second", "post"), StepStatus.SUCCEEDED)
    assert lines(folder, "change") == ["first"], "an effect happens at most once"
    assert lines(folder, "verified") == ["second"]
    assert await store.read(audit.verify) == []
    approver = town.person("approver")

    async def answered() -> bool:
        return any("Report" in text_of(m) for m in await approver.everything("#ops"))

    await eventually(answered, "the answer in the thread", within_s=60, every_s=0.25)
    everything = await approver.everything("#ops")
    assert len([m for m in everything if "Report" in text_of(m) and final.run.id in text_of(m)]) == 1
    assert len([m for m in await approver.messages("#general") if "done second" in text_of(m)]) == 1
    told = [m for m in await approver.messages("#audit") if "Approved" in text_of(m)]
    assert len(told) == 1
