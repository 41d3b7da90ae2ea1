"""What tests of the command line share: a caller, and a folder in which two runs have ended."""

import asyncio
import shutil
from pathlib import Path

import pytest

from bot import runs
from bot.activities.drafting import draft
from bot.commands import intake, review
from bot.core.run import RunStatus
from bot.deps import Deps
from bot.supervisor import Supervisor
from tests.cli.calling import Caller
from tests.conftest import until
from tests.doubles.clock import Clock
from tests.doubles.parts import APPROVER, REQUESTER, close_parts, open_parts
from tests.doubles.policies import DEMO_POLICY

PLAN = """save: files.write path=out/hello.md text=hello
read: files.read path=out/hello.md after=save
"""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    return Caller(monkeypatch, capsys)


@pytest.fixture(scope="session")
def _ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ended")
    (folder / "policy.yml").write_text(DEMO_POLICY)
    asyncio.run(_play(folder))
    return folder


@pytest.fixture
def folder(_ended: Path, tmp_path: Path) -> Path:
    """A folder of a small installation: one run that succeeded, one whose ask was not understood."""
    return Path(shutil.copytree(_ended, tmp_path / "data"))


async def _play(folder: Path) -> None:
    deps = await open_parts(folder, clock=Clock())
    supervisor = Supervisor(deps)
    deps.tasks.start(supervisor.run(), name="supervisor")
    try:
        run_id = await _ask(deps, PLAN)
        await review.approve(deps, run_id, 1, who=APPROVER, received_at=deps.now())
        await until(deps, run_id, RunStatus.SUCCEEDED)
        await _ask(deps, "frobnicate it \x1b[31m")
    finally:
        await supervisor.close()
        await close_parts(deps)


async def _ask(deps: Deps, ask: str) -> str:
    run = await intake.open_run(
        deps, ask=ask, who=REQUESTER, team="T0HOME", channel="C0OPS", thread_ts="1.1", source_ts=None, event_key=None
    )
    assert run is not None
    await draft(deps, run.id)
    return (await runs.get(deps, run.id)).id
