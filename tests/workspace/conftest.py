"""A fresh workspace, its people and a client for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace import Workspace
from tests.doubles.town import People
from tests.workspace.desk import client_of, people_of, running

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack's client sends even loopback through a proxy that the environment names."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    async with running(tmp_path) as started:
        yield started


@pytest.fixture
async def people(workspace: Workspace) -> AsyncIterator[People]:
    async with people_of(workspace) as found:
        yield found


@pytest.fixture
def slack(workspace: Workspace) -> AsyncWebClient:
    return client_of(workspace)
