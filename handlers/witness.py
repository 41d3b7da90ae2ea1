"""What the audit channel remembers of the record: entries and heads, read from our own posts, whole in their metadata.

Posts from before they carried it are read by their words, as far as those go. Nobody else's message counts, whatever stands in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.core.chain import Head, Seen
from bot.errors import ConfigurationError

PAGE = 200
KEY = re.compile(r"(?P<run>.+):audit\.(?P<seq>\d+)")
WORDS = re.compile(r"entry (?P<seq>\d+)(?: · head)? `(?P<hash>[0-9a-f]{12,64})`")

Json = Mapping[str, Any]


@dataclass
class Testimony:
    """Everything that stands in the channel, oldest first."""

    entries: list[Seen] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)


async def read(client: AsyncWebClient, place: str) -> Testimony:
    """Read the whole channel. Raises what the SDK raises, and `ConfigurationError` if there is no such channel for us."""
    me = await client.auth_test()
    channel = await _channel_id(client, place)
    told = Testimony()
    pages = await client.conversations_history(channel=channel, include_all_metadata=True, limit=PAGE)
    async for page in pages:
        for message in page["messages"]:
            if message.get("bot_id") == me["bot_id"]:
                _hear(told, message)
    told.entries.reverse()
    told.heads.reverse()
    return told


async def _channel_id(client: AsyncWebClient, place: str) -> str:
    wanted = place.removeprefix("#")
    pages = await client.conversations_list(types="public_channel,private_channel", limit=PAGE, exclude_archived=False)
    async for page in pages:
        for channel in page["channels"]:
            if wanted in (channel["id"], channel.get("name")):
                return str(channel["id"])
    raise ConfigurationError(f"{place}: there is no such channel, or it is private without the bot; make it, and /invite the bot in it")


def _hear(told: Testimony, message: Json) -> None:
    payload: Json = (message.get("metadata") or {}).get("event_payload") or {}
    if payload.get("card") != "audit":
        return
    key = KEY.fullmatch(str(payload.get("key") or ""))
    words = WORDS.search(_text_of(message))
    if key and payload.get("hash"):
        told.entries.append(Seen(key["run"], int(key["seq"]), str(payload["hash"])))
    elif key and words:
        told.entries.append(Seen(key["run"], int(words["seq"]), words["hash"]))
    if payload.get("head") and payload.get("head_hash"):
        told.heads.append(Head(int(payload["head"]), str(payload["head_hash"])))


def _text_of(message: Json) -> str:
    parts = [part for block in message.get("blocks", ()) for part in block.get("elements", ())]
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))
