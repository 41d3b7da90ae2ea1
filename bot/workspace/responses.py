"""Response URLs: an answer to a command or a click without a token, at an address that only the bot was told.

Five answers within half an hour. The default is a private answer to whoever acted; the message that was clicked can be replaced or deleted.
A command's acknowledgement with a payload is answered in the same way (`show`).
"""

from dataclasses import dataclass

from aiohttp import web

from bot.workspace import posting
from bot.workspace.records import Channel, Json
from bot.workspace.web_api import chat
from bot.workspace.wire import Call, SlackError, read_call
from bot.workspace.world import World

LIFE_S = 1800.0
USES = 5


@dataclass(frozen=True)
class Source:
    """Where an interaction came from."""

    channel: Channel
    user_id: str
    message_ts: str = ""  # the message that was clicked
    is_ephemeral: bool = False


def issue(world: World, source: Source) -> str:
    """A fresh response URL for an interaction from there."""
    response_id = world.new_id("")
    world.state.put(
        "responses",
        response_id,
        {
            "channel": source.channel.id,
            "user": source.user_id,
            "message_ts": source.message_ts,
            "is_ephemeral": source.is_ephemeral,
            "expires": world.clock.now() + LIFE_S,
            "uses": 0,
        },
    )
    _forget_expired(world)
    return f"{world.url}/response/{response_id}"


async def answer(world: World, request: web.Request) -> web.StreamResponse:
    """Answer a POST to a response URL: HTTP 200, or 404 where it is used up, expired or invented, or 400 for a bad message."""
    key = request.match_info["id"]
    record = world.state.table("responses").get(key)
    trouble = _trouble(world, record)
    if record is None or trouble:
        world.log.add("response_url", at=world.clock.real(), ok=False, error=trouble)
        return web.json_response({"ok": False, "error": trouble}, status=404)
    try:
        call = await read_call(request, "response_url")
        world.state.put("responses", key, record | {"uses": record["uses"] + 1})
        source = Source(world.state.channels[record["channel"]], record["user"], record["message_ts"], record["is_ephemeral"])
        show(world, source, call)
    except SlackError as refusal:
        world.log.add("response_url", at=world.clock.real(), ok=False, error=refusal.code)
        return web.json_response(refusal.body(), status=400)
    world.log.add("response_url", at=world.clock.real(), ok=True, user=record["user"], channel=record["channel"])
    return web.json_response({"ok": True})


def show(world: World, source: Source, call: Call) -> None:
    """Do what a response says: delete or replace its source, or say something there. Raises SlackError for a bad message."""
    if call.flag("delete_original"):
        _delete(world, source)
        return
    content = chat.read_content(call)
    if call.flag("replace_original") and source.message_ts:
        _replace(world, source, content, metadata=chat.read_metadata(call))
        return
    thread_ts = call.text("thread_ts")
    root = posting.root_of(world, source.channel, thread_ts) if thread_ts else ""
    if call.text("response_type") == "in_channel":
        posting.post(world, source.channel, world.state.bot, thread_ts=root, metadata=chat.read_metadata(call), **content)
    else:
        posting.whisper(world, source.channel, to=source.user_id, thread_ts=root, **content)


def _trouble(world: World, record: Json | None) -> str:
    if record is None:
        return "invalid_url"
    if world.clock.now() > record["expires"]:
        return "expired_url"
    return "used_url" if record["uses"] >= USES else ""


def _delete(world: World, source: Source) -> None:
    if source.is_ephemeral:
        posting.drop_ephemeral(world, source.user_id, source.message_ts)
        return
    message = world.state.message(source.channel.id, source.message_ts)
    if message is None:
        raise SlackError("message_not_found")
    posting.delete(world, source.channel, message)


def _replace(world: World, source: Source, content: Json, *, metadata: Json) -> None:
    if source.is_ephemeral:
        before = world.state.table("ephemerals").get(f"{source.user_id} {source.message_ts}")
        if before is None:
            raise SlackError("message_not_found")
        kept = {name: value for name, value in before.items() if name not in ("blocks", "attachments")}
        fresh = {name: value for name, value in content.items() if value}
        if "blocks" in fresh:
            fresh["blocks"] = posting.with_ids(world, fresh["blocks"])
        posting.put_ephemeral(world, source.user_id, kept | fresh)
        return
    message = world.state.message(source.channel.id, source.message_ts)
    if message is None:
        raise SlackError("message_not_found")
    changes = content | ({"metadata": metadata} if metadata else {})
    posting.edit(world, source.channel, message, editor=world.state.bot, **changes)


def _forget_expired(world: World) -> None:
    """Expired ones are told from invented ones for a while, then forgotten; the oldest come first."""
    for key, record in list(world.state.table("responses").items()):
        if record["expires"] + LIFE_S > world.clock.now():
            return
        world.state.drop("responses", key)
