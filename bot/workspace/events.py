"""What the bot is told: Slack's events, in Slack's envelopes' payloads.

Only what the manifest subscribes to, and only from conversations that the bot is in.
"""

from bot.workspace import shapes, typed
from bot.workspace.records import APP_ID, BOT_USER_ID, TEAM_ID, Channel, Json, Person
from bot.workspace.world import World

MESSAGE_EVENTS = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}
IN_MENTION = (
    "user",
    "text",
    "ts",
    "thread_ts",
    "parent_user_id",
    "team",
    "user_team",
    "source_team",
    "client_msg_id",
    "blocks",
    "bot_id",
    "files",
    "channel",
    "event_ts",
)


def message_posted(world: World, channel: Channel, message: Json) -> None:
    """A message event and, where the bot is called in a channel, an app_mention with the same timestamp."""
    event = {key: value for key, value in message.items() if key != "metadata"} | _where(channel, message["ts"])
    if channel.is_ext_shared:
        event |= {"user_team": message["team"], "source_team": message["team"]}
    if message.get("subtype") == "thread_broadcast":
        event["root"] = world.state.message(channel.id, message["thread_ts"])
    _tell(world, channel, MESSAGE_EVENTS[channel.kind], event)
    if not channel.is_im and message["user"] != BOT_USER_ID and typed.mentions(message["text"], BOT_USER_ID):
        mention = {key: event[key] for key in IN_MENTION if key in event}
        _tell(world, channel, "app_mention", mention | {"type": "app_mention"})


def message_changed(world: World, channel: Channel, *, before: Json, after: Json) -> None:
    event = {"type": "message", "subtype": "message_changed", "hidden": True, "message": after, "previous_message": before}
    _tell_hidden(world, channel, event)


def message_deleted(world: World, channel: Channel, *, before: Json) -> None:
    event = {"type": "message", "subtype": "message_deleted", "hidden": True, "deleted_ts": before["ts"], "previous_message": before}
    _tell_hidden(world, channel, event)


def reaction(world: World, channel: Channel, *, kind: str, user: Person, name: str, message: Json) -> None:
    """`kind` is reaction_added or reaction_removed."""
    item = {"type": "message", "channel": channel.id, "ts": message["ts"]}
    event = {"type": kind, "user": user.id, "reaction": name, "item": item, "item_user": message["user"]}
    _tell(world, channel, kind, event | {"event_ts": world.state.next_ts(world.clock.real())})


def home_opened(world: World, direct: Channel, *, user: Person, tab: str) -> None:
    """`direct` is the person's direct message channel with the bot."""
    event: Json = {"type": "app_home_opened", "user": user.id, "channel": direct.id, "tab": tab}
    view = world.state.table("homes").get(user.id)
    if view is not None and tab == "home":
        event["view"] = view
    _tell(world, direct, "app_home_opened", event | {"event_ts": world.state.next_ts(world.clock.real())})


def joined(world: World, channel: Channel, *, user: Person) -> None:
    event = {"type": "member_joined_channel", "user": user.id, "channel": channel.id, "channel_type": "C", "team": user.team_id}
    _tell(world, channel, "member_joined_channel", event | {"event_ts": world.state.next_ts(world.clock.real())})


def _tell_hidden(world: World, channel: Channel, event: Json) -> None:
    ts = world.state.next_ts(world.clock.real())
    clean = {key: _without_metadata(value) for key, value in event.items()}
    _tell(world, channel, MESSAGE_EVENTS[channel.kind], clean | {"ts": ts} | _where(channel, ts))


def _without_metadata(value: object) -> object:
    return {key: inner for key, inner in value.items() if key != "metadata"} if isinstance(value, dict) else value


def _where(channel: Channel, event_ts: str) -> Json:
    return {"channel": channel.id, "channel_type": channel.kind, "event_ts": event_ts}


def _tell(world: World, channel: Channel, subscription: str, event: Json) -> None:
    if subscription not in world.manifest.bot_events or BOT_USER_ID not in channel.members:
        return
    authorization = {"enterprise_id": None, "team_id": TEAM_ID, "user_id": BOT_USER_ID, "is_bot": True, "is_enterprise_install": False}
    world.delivery.publish(
        {
            "token": "legacy",
            "team_id": TEAM_ID,
            "api_app_id": APP_ID,
            "type": "event_callback",
            "event_id": world.new_id("Ev0"),
            "event_time": int(world.clock.real()),
            "event_context": world.new_id("4-"),
            "authorizations": [authorization],
            "is_ext_shared_channel": channel.is_ext_shared,
            "context_team_id": shapes.team()["id"],
            "context_enterprise_id": None,
            "event": event,
        }
    )
