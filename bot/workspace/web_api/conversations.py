"""conversations.*: what there is, who is in it, what was said."""

from bot.workspace import events, shapes
from bot.workspace.records import BOT_USER_ID, Channel, Json
from bot.workspace.state import State
from bot.workspace.web_api import places
from bot.workspace.web_api.paging import page
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World

KINDS = {"channel": "public_channel", "group": "private_channel", "im": "im"}
MOST_PEOPLE = 8


async def info(world: World, call: Call) -> Json:
    channel = places.visible(world, call.needed("channel"))
    return {"channel": shapes.channel(channel, viewer=BOT_USER_ID)}


async def list_all(world: World, call: Call) -> Json:
    kinds = call.listed("types") or ["public_channel"]
    known = [channel for channel in world.state.channels.values() if channel.kind == "channel" or BOT_USER_ID in channel.members]
    wanted = [channel for channel in known if KINDS[channel.kind] in kinds and not (call.flag("exclude_archived") and channel.is_archived)]
    shown, more = page(call, sorted(wanted, key=_id), key=_id, usual=100, most=1000)
    return {"channels": [shapes.channel(channel, viewer=BOT_USER_ID) for channel in shown], "response_metadata": more}


async def members(world: World, call: Call) -> Json:
    channel = places.visible(world, call.needed("channel"))
    shown, more = page(call, sorted(channel.members), key=str, usual=100, most=1000)
    return {"members": shown, "response_metadata": more}


async def history(world: World, call: Call) -> Json:
    """The channel's top level, newest first."""
    channel = places.readable(world, call.needed("channel"))
    messages = _between(call, world.state.top_level(channel.id))[::-1]
    shown, more = page(call, messages, key=_ts, usual=100, most=999, newest_first=True)
    return _messages(world.state, channel, call, shown) | {"has_more": bool(more["next_cursor"]), "pin_count": 0, "response_metadata": more}


async def replies(world: World, call: Call) -> Json:
    """A thread, its root first. A message without replies is a thread of one."""
    channel = places.readable(world, call.needed("channel"))
    root = world.state.message(channel.id, call.needed("ts"))
    if root is None:
        raise SlackError("thread_not_found")
    if root.get("thread_ts", root["ts"]) != root["ts"]:
        thread = [root]
    else:
        thread = [root, *_between(call, world.state.replies(channel.id, root["ts"]))]
    shown, more = page(call, thread, key=_ts, usual=1000, most=1000)
    return _messages(world.state, channel, call, shown) | {"has_more": bool(more["next_cursor"]), "response_metadata": more}


async def open_direct(world: World, call: Call) -> Json:
    """A direct message; ones of several people are not offered here."""
    if call.text("channel"):
        channel = places.visible(world, call.text("channel"))
        return {"channel": {"id": channel.id}, "no_op": True, "already_open": True}
    users = call.listed("users")
    if not users:
        raise SlackError("users_list_not_supplied")
    if len(users) > MOST_PEOPLE:
        raise SlackError("too_many_users")
    if len(users) > 1:
        raise SlackError("method_not_supported_for_channel_type")
    other = places.person(world, users[0])
    if other.is_bot:
        raise SlackError("cannot_dm_bot")
    if other.deleted:
        raise SlackError("user_disabled")
    channel = places.direct(world, other)
    return {"channel": shapes.channel(channel, viewer=BOT_USER_ID) if call.flag("return_im") else {"id": channel.id}}


async def join(world: World, call: Call) -> Json:
    channel = places.visible(world, call.needed("channel"))
    if channel.is_im or channel.is_private:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise SlackError("is_archived")
    if BOT_USER_ID not in channel.members:
        channel = channel.model_copy(update={"members": (*channel.members, BOT_USER_ID)})
        world.state.put("channels", channel.id, channel)
        events.joined(world, channel, user=world.state.bot)
        world.hints.tell("channel", users=channel.members, channel=channel.id)
    return {"channel": shapes.channel(channel, viewer=BOT_USER_ID)}


def _between(call: Call, messages: list[Json]) -> list[Json]:
    """Those in the span that `oldest`, `latest` and `inclusive` name."""
    oldest, latest = call.text("oldest"), call.text("latest")
    inside = [message for message in messages if (not oldest or message["ts"] >= oldest) and (not latest or message["ts"] <= latest)]
    return inside if call.flag("inclusive") else [message for message in inside if message["ts"] not in (oldest, latest)]


def _messages(state: State, channel: Channel, call: Call, messages: list[Json]) -> Json:
    metadata = call.flag("include_all_metadata")
    return {"messages": [shapes.message(state, channel.id, message, metadata=metadata) for message in messages]}


def _id(channel: Channel) -> str:
    return channel.id


def _ts(message: Json) -> str:
    ts: str = message["ts"]
    return ts


METHODS = {
    "conversations.info": info,
    "conversations.list": list_all,
    "conversations.members": members,
    "conversations.history": history,
    "conversations.replies": replies,
    "conversations.open": open_direct,
    "conversations.join": join,
}
