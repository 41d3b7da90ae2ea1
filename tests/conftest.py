"""Fixtures that many tests share. No test sees the environment of the person who runs it."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bot.core.run import Run, RunStatus
from bot.deps import Deps
from bot.supervisor import Supervisor
from tests.doubles.clock import Clock
from tests.doubles.parts import close_parts, open_parts
from tests.doubles.waiting import eventually

# A busy machine is no failure: properties are about results, never about time.
# CI tries the same examples each time, as Hypothesis's own profile for it does; everybody else tries new ones.
settings.register_profile("pullcord", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pullcord")

OURS = ("SLACK_", "ANTHROPIC_", "PULLCORD_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
KEPT = ("PULLCORD_CHROMIUM", "PULLCORD_REQUIRE_BROWSER")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", default=False, help="write golden files anew, to be read by a person")


@pytest.fixture
def regenerate(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--regenerate", default=False))


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, no token, no proxy, no `.env` of the person who runs the tests."""
    for name in list(os.environ):
        if (name.startswith(OURS) and name not in KEPT) or name in PROXIES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PULLCORD_TEST_FOLDER", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def deps(tmp_path: Path, clock: Clock) -> AsyncIterator[Deps]:
    parts = await open_parts(tmp_path, clock=clock)
    yield parts
    await close_parts(parts)


@pytest.fixture
async def supervised(deps: Deps) -> AsyncIterator[Deps]:
    """Deps whose runs are attended to by a real supervisor."""
    supervisor = Supervisor(deps)
    running = deps.tasks.start(supervisor.run(), name="supervisor")
    yield deps
    await supervisor.close()
    assert not running.done() or running.exception() is None, "the supervisor died"


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[str], list[str]]:
    """What the test tools wrote down: `lines("change")`."""

    def read(kind: str) -> list[str]:
        path = tmp_path / f"{kind}.log"
        return path.read_text().split() if path.exists() else []

    return read


async def until(deps: Deps, run_id: str, *statuses: RunStatus) -> Run:
    """The run once it has one of these statuses."""
    from bot import runs

    async def probe() -> Run | None:
        run = await runs.get(deps, run_id)
        return run if run.status in statuses else None

    return await eventually(probe, f"{run_id} to be {' or '.join(statuses)}")
