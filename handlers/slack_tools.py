"""Slack as a place where steps work: say something in a channel, read a channel, read a thread.

What is posted goes through `outgoing`, so that no text from a model, a page or a file pings anybody, broadcasts, hides where a link leads,
or makes a live link to a host that nobody named (C012). Each message carries the step's key in its metadata: after a crash, or an answer
that never came, it is looked for there, and not sent again.
"""

import asyncio
import re
from collections.abc import Awaitable, Mapping
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.errors import ToolFailed
from bot.tasks import Tasks
from bot.tools.definition import Tool, tool
from bot.tools.registry import TimedOut, ToolContext
from handlers import typed
from handlers.slack import Slack
from handlers.trouble import FAILURES, NOT_HERE, Trouble, trouble
from handlers.views.links import hosts_in
from handlers.views.text import outgoing

CHANNEL = re.compile(r"#[^\s#@<>|]{1,80}|[CG][A-Z0-9]{2,}")
EVENT_TYPE = "pullcord_step"
LOOK_BACK = timedelta(days=2)
LOOK_AFTER_S = 2.0
SETTLE_S = 3.0
MOST_PAGES = 25
PICKER: dict[str, JsonValue] = {"picker": "channel"}  # forms let people choose it
RATE_LIMIT_TRIES = 3

Json = dict[str, Any]


class _Args(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PostArgs(_Args):
    """What to say, and where."""

    channel: str = Field(description="Where: the channel's name, as #name", json_schema_extra=PICKER)
    text: str = Field(min_length=1, max_length=12_000, description="The words; *bold* and lists work, mentions and hidden links do not")


class Posted(BaseModel):
    """The message as it stands."""

    channel: str
    ts: str
    link: str


class ReadChannelArgs(_Args):
    """Which channel, how many of its newest messages."""

    channel: str = Field(description="Which: #name, or a channel's id", json_schema_extra=PICKER)
    limit: int = Field(default=20, ge=1, le=200, description="How many messages, newest ones")


class ReadThreadArgs(_Args):
    """Which thread."""

    channel: str = Field(description="Where: #name, or a channel's id", json_schema_extra=PICKER)
    thread_ts: str = Field(pattern=r"^\d{6,}\.\d{6}$", description="The timestamp of the message that began the thread")


class Said(BaseModel):
    """One message."""

    ts: str
    by: str
    text: str


class Talk(BaseModel):
    """Messages, oldest first; `text` is the same as lines."""

    channel: str
    text: str
    messages: list[Said]


def slack_tools(slack: Slack, tasks: Tasks) -> list[Tool]:
    """The tools that speak and read in this workspace. `tasks` owns the calls that must come to their end once begun."""
    return [_post_message(slack, tasks), _read_channel(slack), _read_thread(slack)]


def _post_message(slack: Slack, sends: Tasks) -> Tool:
    @tool(name="slack.post_message", effect="send", says="Sends a message to {channel}", target="channel", timeout_s=90)
    async def post_message(args: PostArgs, ctx: ToolContext) -> Posted:
        """Post a message to a Slack channel that the bot is in. Use it to tell people something. Not for direct messages or for threads."""
        channel = await _channel(slack, args.channel)
        message = {
            "channel": channel,
            "text": outgoing(args.text, hosts=_hosts(ctx)),
            "metadata": {"event_type": EVENT_TYPE, "event_payload": {"key": ctx.key, "run": ctx.run_id, "step": ctx.step_id}},
            "unfurl_links": False,
            "unfurl_media": False,
        }
        sending = sends.start(_sent(slack, message), name="slack.post_message")
        return _posted(slack, channel, await _to_its_end(sending, args.channel))

    @post_message.verify
    async def find(args: PostArgs, ctx: ToolContext) -> Posted | None:
        """The message with this step's key, if it stands."""
        channel = await _channel(slack, args.channel)
        ts = await _find(slack, channel, ctx)
        return _posted(slack, channel, ts) if ts else None

    post_message.scope(_by_name)
    return post_message


def _read_channel(slack: Slack) -> Tool:
    @tool(name="slack.read_channel", effect="read", says="Reads the last messages of {channel}", target="channel", untrusted_output=True)
    async def read_channel(args: ReadChannelArgs, ctx: ToolContext) -> Talk:  # noqa: ARG001 - every tool is given its context
        """Read the newest messages of a Slack channel that the bot is in. Use it for what was said lately. Not for threads."""
        channel = await _channel(slack, args.channel)
        answer = await _asked(slack.client.conversations_history(channel=channel, limit=args.limit), args.channel)
        return await _talk(slack, args.channel, list(reversed(answer["messages"])))

    read_channel.scope(_in_bounds)
    return read_channel


def _read_thread(slack: Slack) -> Tool:
    @tool(name="slack.read_thread", effect="read", says="Reads a thread in {channel}", target="channel", untrusted_output=True)
    async def read_thread(args: ReadThreadArgs, ctx: ToolContext) -> Talk:  # noqa: ARG001 - every tool is given its context
        """Read one thread of a Slack channel from the message that began it. Use it for replies. Not for a whole channel."""
        channel = await _channel(slack, args.channel)
        answer = await _asked(slack.client.conversations_replies(channel=channel, ts=args.thread_ts, limit=200), args.channel)
        return await _talk(slack, args.channel, answer["messages"])

    read_thread.scope(_in_bounds)
    return read_thread


def _hosts(ctx: ToolContext) -> list[str]:
    """Hosts whose addresses may be live links: those that policy names, and those that stood in the words that people approved."""
    return [*ctx.hosts, *hosts_in(str(ctx.planned.get("text", "")))]


def _by_name(args: Mapping[str, Any]) -> str | None:
    """Where words are put before people, the channel is named as people and policy rules name it: an id would slip past a rule on #name."""
    channel = args.get("channel")
    if isinstance(channel, str) and not re.fullmatch(r"#[^\s#@<>|]{1,80}", channel):
        return f"'{channel[:40]}' is no channel's name; write it as #name"
    return None


def _in_bounds(args: Mapping[str, Any]) -> str | None:
    """Channels only: no direct messages, no people."""
    channel = args.get("channel")
    if isinstance(channel, str) and not CHANNEL.fullmatch(channel):
        return f"'{channel[:40]}' is no channel; name it as #name, or by an id that begins with C"
    return None


async def _find(slack: Slack, channel: str, ctx: ToolContext) -> str | None:
    """The ts of the message with this step's key, None if there is none. Raises `ToolFailed` where it cannot be known."""
    oldest = f"{(ctx.now() - LOOK_BACK).timestamp():.6f}"
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        call = slack.client.conversations_history(channel=channel, oldest=oldest, include_all_metadata=True, limit=200, cursor=cursor)
        page = await _asked(call, channel)
        for message in page["messages"]:
            if slack.own_key(message) == ctx.key:
                return str(message["ts"])
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return None
    raise ToolFailed(f"Too much was said in {channel} since to find out whether the message stands there.")


async def _channel(slack: Slack, place: str) -> str:
    try:
        found = await slack.directory.channel_id(place)
    except FAILURES as failure:
        raise ToolFailed(_say(trouble(failure), place)) from failure
    if found is None:
        raise ToolFailed(_say(Trouble("channel_not_found"), place))
    return found


async def _sent(slack: Slack, message: Json) -> str | Trouble:
    """The ts of the message, or what kept it from being sent. A rate limit is waited for: Slack took nothing."""
    for _ in range(RATE_LIMIT_TRIES):
        try:
            return str((await slack.once.chat_postMessage(**message))["ts"])
        except FAILURES as failure:
            what = trouble(failure)
            if what.retry_after_s is None:
                return what
            await asyncio.sleep(what.retry_after_s)
    return what


async def _to_its_end(sending: asyncio.Task[str | Trouble], place: str) -> str:
    """The ts. A call that is out cannot be taken back: cancelled or not, its end is waited for, so that it is known.

    Raises `TimedOut` where nobody knows whether the message stands; the step is then settled by `verify`, or by a person.
    """
    try:
        outcome = await asyncio.shield(sending)
    except asyncio.CancelledError:
        await asyncio.wait({sending}, timeout=SETTLE_S)
        if sending.done() and isinstance(sending.result(), str):
            return str(sending.result())
        raise
    if isinstance(outcome, str):
        return outcome
    if outcome.unsure:
        await asyncio.sleep(LOOK_AFTER_S)
        raise TimedOut(f"Slack gave no answer ({outcome.code}), so nobody knows yet whether the message stands in {place}.")
    raise ToolFailed(_say(outcome, place))


async def _asked(call: Awaitable[AsyncSlackResponse], place: str) -> AsyncSlackResponse:
    try:
        return await call
    except FAILURES as failure:
        raise ToolFailed(_say(trouble(failure), place)) from failure


async def _talk(slack: Slack, place: str, messages: list[Json]) -> Talk:
    said = []
    for message in messages:
        author = message.get("user") or message.get("username") or message.get("bot_id") or "somebody"
        text = typed.plain(message.get("text") or "")
        said.append(Said(ts=message["ts"], by=await _name(slack, author), text=text))
    return Talk(channel=place, text="\n".join(f"{one.by}: {one.text}" for one in said), messages=said)


async def _name(slack: Slack, author: str) -> str:
    try:
        return await slack.directory.name(author)
    except FAILURES:
        return author


def _posted(slack: Slack, channel: str, ts: str) -> Posted:
    return Posted(channel=channel, ts=ts, link=slack.link(channel, ts))


def _say(what: Trouble, place: str) -> str:
    """A failure in words, with the move that mends it."""
    if what.code in NOT_HERE:
        return f"Slack says {what.code}: the bot is not in {place}, or there is no such channel. Invite it with /invite there, then retry."
    if what.code == "thread_not_found":
        return f"There is no such thread in {place}."
    return f"Slack says {what.code}."
