"""What a person sees now: conversations, messages, private answers, modals, the Home tab, and hints of changes."""

import asyncio
import json

from aiohttp import web

from bot.workspace import events, modals, posting, shapes
from bot.workspace.people_api import who
from bot.workspace.records import APP_ID, BOT_ID, BOT_USER_ID, Channel, Json, Person
from bot.workspace.web_api import assistant, places
from bot.workspace.wire import SlackError
from bot.workspace.world import World

HEARTBEAT_S = 15.0


async def people(world: World, request: web.Request) -> Json:  # noqa: ARG001
    return {"people": [shapes.user(person) for person in world.state.people.values()]}


async def workspace(world: World, request: web.Request) -> Json:  # noqa: ARG001
    manifest = world.manifest
    return {
        "team": shapes.team(),
        "usergroups": [shapes.group(group) for group in world.state.groups.values()],
        "app": {"name": manifest.bot_name, "bot_user_id": BOT_USER_ID, "bot_id": BOT_ID, "app_id": APP_ID},
        "commands": [command.model_dump(include={"command", "description", "usage_hint"}) for command in manifest.commands],
        "shortcuts": [shortcut.model_dump() for shortcut in manifest.shortcuts],
        "home": manifest.home_enabled,
        "connected": world.sockets.is_open,
    }


async def channels(world: World, request: web.Request) -> Json:
    """Those that the person is in, and the direct message with the bot, which is always there."""
    user = who.viewer(world, request)
    if not user.is_bot and not user.deleted:
        places.direct(world, user)
    return {"channels": [_channel(world, user, channel) for channel in world.state.channels.values() if user.id in channel.members]}


def _channel(world: World, user: Person, channel: Channel) -> Json:
    return shapes.channel(channel, viewer=user.id) | {
        "name": world.state.bot.real_name if channel.is_im else channel.name,
        "is_member": True,
        "num_members": len(channel.members),
        "members": list(channel.members),
        "bot_is_member": BOT_USER_ID in channel.members,
        "last_ts": world.state.last_ts(channel.id),
    }


async def messages(world: World, request: web.Request) -> Json:
    """The top level of a conversation, or with `?thread_ts=` a whole thread, root first; oldest first."""
    user = who.viewer(world, request)
    channel = who.channel(world, user, request.match_info["channel"])
    thread_ts = request.query.get("thread_ts", "")
    if not thread_ts:
        return {"messages": [_message(world, channel, message) for message in world.state.top_level(channel.id)]}
    root = world.state.message(channel.id, thread_ts)
    if root is None:
        raise SlackError("thread_not_found")
    thread = [root, *world.state.replies(channel.id, thread_ts)]
    return {"messages": [_message(world, channel, message) for message in thread], "thread": assistant.thread(world, channel, thread_ts)}


def _message(world: World, channel: Channel, message: Json) -> Json:
    shown = shapes.message(world.state, channel.id, message, metadata=True)
    author = world.state.people.get(message["user"])
    return shown | {"channel": channel.id, "username": message.get("username") or (author.real_name if author else message["user"])}


async def ephemerals(world: World, request: web.Request) -> Json:
    user = who.viewer(world, request)
    name = world.state.bot.real_name
    return {"messages": [{"username": name, **message} for message in posting.ephemerals(world, user.id)]}


async def dismiss(world: World, request: web.Request) -> Json:
    user = who.viewer(world, request)
    posting.drop_ephemeral(world, user.id, request.match_info["ts"])
    return {}


async def views(world: World, request: web.Request) -> Json:
    return {"views": modals.stack(world, who.viewer(world, request).id)}


async def home(world: World, request: web.Request) -> Json:
    return {"view": world.state.table("homes").get(who.viewer(world, request).id)}


async def open_home(world: World, request: web.Request) -> Json:
    """The person looks at the app's Home (or `tab: messages`); the bot is told, and usually publishes then."""
    user, call = who.actor(world, request), await who.body(request)
    if not world.manifest.home_enabled or user.is_bot:
        raise SlackError("not_enabled")
    events.home_opened(world, places.direct(world, user), user=user, tab=call.text("tab", "home"))
    return {"view": world.state.table("homes").get(user.id)}


async def stream(world: World, request: web.Request) -> web.StreamResponse:
    """Server-sent events: hints of what changed for this person."""
    user = who.viewer(world, request)
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    queue = world.hints.listen(user.id)
    try:
        await response.write(b": here\n\n")
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    hint = await queue.get()
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            if hint is None:
                return response
            await response.write(f"data: {json.dumps(hint)}\n\n".encode())
    except ConnectionResetError:  # the page went away
        return response
    finally:
        world.hints.leave(queue)
