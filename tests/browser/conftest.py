"""A Chromium, a real workspace on a free port, the tiny bot connected to it, and pages that must stay without errors."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace.server import Workspace, start_workspace
from tests.browser import tiny_app
from tests.browser.demo_process import DemoProcess
from tests.browser.watching import open_watched

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
OpenPage = Callable[..., Awaitable[Page]]


def find_chromium() -> str | None:
    named = os.environ.get("PULLCORD_CHROMIUM")
    places = [named] if named else ["/usr/bin/chromium", *map(shutil.which, ("chromium", "chromium-browser", "google-chrome")), MAC_CHROME]
    return next((place for place in places if place and Path(place).exists()), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path; without one these tests are skipped, or fail where PULLCORD_REQUIRE_BROWSER=1."""
    found = find_chromium()
    if found:
        return found
    words = "no Chromium found; install one or name it in PULLCORD_CHROMIUM"
    if os.environ.get("PULLCORD_REQUIRE_BROWSER") == "1":
        pytest.fail(words)
    pytest.skip(words)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        await launched.close()


@pytest_asyncio.fixture(loop_scope="session")
async def workspace(chromium: str, tmp_path: Path) -> AsyncIterator[Workspace]:
    manifest = tmp_path / "manifest.yml"
    manifest.write_text(tiny_app.MANIFEST)
    running = await start_workspace(data=tmp_path / "data", port=0, manifest=manifest)
    yield running
    await running.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def client(workspace: Workspace) -> AsyncIterator[AsyncWebClient]:
    """The tiny bot, connected; yields its client."""
    web = AsyncWebClient(token=workspace.bot_token, base_url=f"{workspace.url}/api/")
    handler = AsyncSocketModeHandler(tiny_app.build(web), app_token=workspace.app_token)
    await handler.connect_async()
    await workspace.wait_connected()
    yield web
    await handler.close_async()


@pytest.fixture
def complaints() -> list[str]:
    """What the pages complained about; a test that provokes something takes it out again."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, workspace: Workspace, client: AsyncWebClient, complaints: list[str]) -> AsyncIterator[OpenPage]:
    """`await open_page("approver")`: a page in a browser profile of its own.

    At the end none of them may have logged an error or a warning, opened a dialog, or asked anything of another server.
    """
    contexts = []

    async def open_one(person: str = "requester", **more: Any) -> Page:
        page = await open_watched(browser, workspace.front_page, complaints, person=person, **more)
        contexts.append(page.context)
        return page

    yield open_one
    for context in contexts:
        await context.close()
    assert complaints == []


@pytest_asyncio.fixture(loop_scope="session")
async def demo(chromium: str, tmp_path: Path) -> AsyncIterator[DemoProcess]:
    """The demo, started as people start it, on a fresh folder."""
    running = DemoProcess(tmp_path / "data")
    await running.start()
    yield running
    await running.end()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, demo: DemoProcess, complaints: list[str]) -> AsyncIterator[OpenPage]:
    """`await visit("approver")`: the demo's page, watched as `open_page` is."""
    contexts = []

    async def visit_as(person: str = "requester", **more: Any) -> Page:
        page = await open_watched(browser, demo.front_page, complaints, person=person, **more)
        contexts.append(page.context)
        return page

    yield visit_as
    for context in contexts:
        await context.close()
    assert complaints == []
