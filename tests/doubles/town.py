"""A whole Pullcord for a test: the real local workspace, the real bot, and people who act through the people API."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp

from tests.doubles.waiting import eventually

Message = dict[str, Any]


class People:
    """The people API of one local workspace."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}, trust_env=False)

    async def close(self) -> None:
        await self.http.close()

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        async with self.http.request(method, self.url + path, json=body) as answer:
            return json.loads(await answer.text() or "null")

    def person(self, name: str) -> "Person":
        return Person(self, name)


class Person:
    """What one member can do and see."""

    def __init__(self, people: People, name: str) -> None:
        self.people, self.name = people, name

    async def _post(self, path: str, body: Any) -> Any:
        return await self.people.call("POST", f"/people/{self.name}/{path}", body)

    async def say(self, channel: str, text: str, thread_ts: str | None = None) -> str:
        answer = await self._post("messages", {"channel": channel, "text": text, "thread_ts": thread_ts})
        return str(answer["ts"])

    async def command(self, channel: str, command: str, text: str = "") -> Any:
        return await self._post("commands", {"channel": channel, "command": command, "text": text})

    async def edit(self, channel: str, ts: str, text: str) -> Any:
        return await self._post(f"messages/{ts}/edit", {"channel": channel, "text": text})

    async def delete(self, channel: str, ts: str) -> Any:
        return await self._post(f"messages/{ts}/delete", {"channel": channel})

    async def messages(self, channel: str, thread_ts: str | None = None) -> list[Message]:
        query = f"?thread_ts={thread_ts}" if thread_ts else ""
        found = await self.people.call("GET", f"/people/{self.name}/channels/{channel.replace('#', '%23')}/messages{query}")
        return list(found["messages"])

    async def ephemerals(self) -> list[Message]:
        return list((await self.people.call("GET", f"/people/{self.name}/ephemerals"))["messages"])

    async def views(self) -> list[Message]:
        return list((await self.people.call("GET", f"/people/{self.name}/views"))["views"])

    async def everything(self, channel: str) -> list[Message]:
        """Messages of a channel, each followed by the replies in its thread."""
        seen: list[Message] = []
        for message in await self.messages(channel):
            seen.append(message)
            if message.get("reply_count"):
                seen += [reply for reply in await self.messages(channel, message["ts"]) if reply["ts"] != message["ts"]]
        return seen

    async def card(self, channel: str, label: str, *, run: str = "") -> Message:
        """The newest message in the channel or its threads that has a button of that label."""

        async def probe() -> Message | None:
            found = [m for m in await self.everything(channel) if find_button(m, label) and run in text_of(m)]
            return found[-1] if found else None

        return await eventually(probe, f"a card with the button {label!r} in {channel}")

    async def read(self, channel: str, words: str) -> Message:
        """The newest message in the channel or its threads that contains these words."""

        async def probe() -> Message | None:
            found = [m for m in await self.everything(channel) if words in text_of(m)]
            return found[-1] if found else None

        return await eventually(probe, f"a message with {words!r} in {channel}")

    async def told(self, words: str, *, after: int = 0) -> Message:
        """The newest private answer that contains these words, beyond the first `after` ones."""

        async def probe() -> Message | None:
            found = [m for m in (await self.ephemerals())[after:] if words.lower() in text_of(m).lower()]
            return found[-1] if found else None

        return await eventually(probe, f"a private answer to {self.name} with {words!r}")

    async def press(self, label: str, message: Message, channel: str) -> Any:
        block_id, element = button_of(message, label)
        body = {
            "channel": channel,
            "message_ts": message["ts"],
            "action_id": element["action_id"],
            "block_id": block_id,
            "value": element.get("value"),
        }
        return await self._post("actions", body)

    async def submit(self, view_id: str, values: Any) -> Any:
        return await self._post(f"views/{view_id}/submit", {"values": values})

    async def modal(self, words: str = "") -> Message:
        """The modal on top, once it shows these words."""

        async def probe() -> Message | None:
            views = await self.views()
            return views[-1] if views and words in json.dumps(views[-1], ensure_ascii=False) else None

        return await eventually(probe, f"a modal of {self.name} with {words!r}")


def elements(node: Any) -> Iterator[dict[str, Any]]:
    """Every dict inside blocks, depth first."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from elements(value)
    elif isinstance(node, list):
        for value in node:
            yield from elements(value)


def find_button(message: Message, label: str) -> tuple[str, dict[str, Any]] | None:
    for block in message.get("blocks") or []:
        for element in elements(block):
            if element.get("type") == "button" and element["text"]["text"] == label:
                return block.get("block_id", ""), element
    return None


def button_of(message: Message, label: str) -> tuple[str, dict[str, Any]]:
    found = find_button(message, label)
    assert found, f"no button {label!r} in: {text_of(message)[:400]}"
    return found


def buttons(message: Message) -> list[str]:
    return [e["text"]["text"] for b in message.get("blocks") or [] for e in elements(b) if e.get("type") == "button"]


def text_of(message: Message) -> str:
    """All words that a person would read in a message or view."""
    words = [message.get("text") or ""]
    for element in elements(message.get("blocks") or []):
        words += [element[key] for key in ("text", "title") if isinstance(element.get(key), str)]
    return "\n".join(words)


def run_id_in(message: Message) -> str:
    found = re.search(r"\bR-[0-9A-Z]{4,}\b", text_of(message))
    assert found, f"no run id on: {text_of(message)[:300]}"
    return found.group(0)


def settings_for(data: Path, url: str, bot_token: str, app_token: str, **more: str) -> dict[str, str]:
    """The environment of a bot that is to work against that workspace."""
    return {
        "SLACK_API_URL": f"{url}/api/",
        "SLACK_BOT_TOKEN": bot_token,
        "SLACK_APP_TOKEN": app_token,
        "PULLCORD_DATABASE_URL": f"sqlite:///{data / 'pullcord.db'}",
        "PULLCORD_FILES": str(data / "files"),
        "PULLCORD_TOOLS": str(Path(__file__).parent / "tools_for_tests.py"),
        "PULLCORD_PLANNER": "offline",
        "PULLCORD_LOG": "warning",
        **more,
    }


Probe = Callable[[], Awaitable[Any]]
