"""Both sides of the workspace for a test: the people, and a bot that is nothing but Slack's own client libraries."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace import Workspace, start_workspace
from tests.doubles.town import People

MANIFEST = Path(__file__).parent / "manifest.yml"
ANYTHING = re.compile(".*")
Payload = dict[str, Any]
Answering = Callable[[Payload, AsyncWebClient], Awaitable[Payload | None]]  # what to acknowledge with


@asynccontextmanager
async def running(data: Path | None, *, port: int = 0, people: Path | None = None) -> AsyncIterator[Workspace]:
    workspace = await start_workspace(data=data, port=port, manifest=MANIFEST, people=people)
    try:
        yield workspace
    finally:
        await workspace.stop()


@asynccontextmanager
async def people_of(workspace: Workspace) -> AsyncIterator[People]:
    people = People(workspace.url, workspace.people_token)
    try:
        yield people
    finally:
        await people.close()


def client_of(workspace: Workspace) -> AsyncWebClient:
    """Slack's client, pointed at this workspace, with the bot's token."""
    return AsyncWebClient(token=workspace.bot_token, base_url=f"{workspace.url}/api/")


async def refusal(call: Awaitable[Any]) -> Payload:
    """The body of the error that this client call answers."""
    try:
        answer = await call
    except SlackApiError as problem:
        return dict(problem.response.data)
    raise AssertionError(f"it was not refused: {answer.data}")


class Listener:
    """A bolt app that keeps what it hears, in order, and acknowledges commands, clicks and forms with what the test says."""

    def __init__(self, workspace: Workspace, *, answering: Answering) -> None:
        self.client = client_of(workspace)
        self.heard: asyncio.Queue[Payload] = asyncio.Queue()
        self.app = AsyncApp(client=self.client, attaching_conversation_kwargs_enabled=False)
        self.handler = AsyncSocketModeHandler(self.app, workspace.app_token)

        async def handle(ack: Any, body: Payload) -> None:
            answer = await answering(body, self.client) if "event" not in body else None
            self.heard.put_nowait(body)
            await ack(**(answer or {}))

        self.app.event(ANYTHING)(handle)
        self.app.command(ANYTHING)(handle)
        self.app.action(ANYTHING)(handle)
        self.app.view(ANYTHING)(handle)
        self.app.view_closed(ANYTHING)(handle)
        self.app.shortcut(ANYTHING)(handle)

    async def next(self) -> Payload:
        """The next payload that comes in."""
        return await asyncio.wait_for(self.heard.get(), 10)

    async def event(self, kind: str) -> Payload:
        """The next event of that type (or subtype); others are passed over."""
        while True:
            event = (await self.next()).get("event", {})
            if kind in (event.get("type"), event.get("subtype")):
                return event

    async def events(self, *kinds: str) -> dict[str, Payload]:
        """One event of each of these types or subtypes, in whatever order they come."""
        found: dict[str, Payload] = {}
        while set(kinds) - set(found):
            event = (await self.next()).get("event", {})
            found[event.get("subtype", event.get("type", ""))] = event
        return found


async def say_nothing(body: Payload, client: AsyncWebClient) -> None:
    """Acknowledge with nothing."""


@asynccontextmanager
async def listening(workspace: Workspace, *, answering: Answering = say_nothing) -> AsyncIterator[Listener]:
    """A connected bot."""
    listener = Listener(workspace, answering=answering)
    await listener.handler.connect_async()
    await asyncio.wait_for(workspace.wait_connected(), 10)
    try:
        yield listener
    finally:
        await listener.handler.close_async()


@asynccontextmanager
async def raw_socket(workspace: Workspace) -> AsyncIterator[Any]:
    """A Socket Mode connection with no library, for a bot that does not acknowledge; its hello has been read."""
    opened = await AsyncWebClient(base_url=f"{workspace.url}/api/").apps_connections_open(app_token=workspace.app_token)
    async with aiohttp.ClientSession() as http, http.ws_connect(opened["url"]) as socket:
        hello = await socket.receive_json()
        assert hello["type"] == "hello"
        yield socket


def button(label: str = "Approve", *, action_id: str = "approve", value: str = "R-1") -> Payload:
    return {"type": "button", "action_id": action_id, "text": {"type": "plain_text", "text": label}, "value": value}


def card(*elements: Payload, block_id: str = "card") -> list[Payload]:
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": "A card"}},
        {"type": "actions", "block_id": block_id, "elements": list(elements or (button(),))},
    ]


def form(**more: Any) -> Payload:
    """A modal with one required input."""
    entry = {"type": "plain_text_input", "action_id": "why"}
    block = {"type": "input", "block_id": "reason", "label": {"type": "plain_text", "text": "Why"}, "element": entry}
    title, submit = {"type": "plain_text", "text": "Deny"}, {"type": "plain_text", "text": "Send"}
    return {"type": "modal", "callback_id": "deny", "title": title, "submit": submit, "blocks": [block], **more}
