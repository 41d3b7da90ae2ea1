"""Conversations as the bot sees them: which it may read, which it may write to, and a direct message that begins when it is first used."""

from bot.workspace.records import BOT_USER_ID, Channel, Json, Person
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World


def visible(world: World, name: str) -> Channel:
    """The conversation of this id or `#name`, if the bot may know of it. Raises SlackError channel_not_found."""
    found = world.state.channels.get(name) or _named(world, name.removeprefix("#"))
    if found is None or (BOT_USER_ID not in found.members and (found.is_private or found.is_im)):
        raise SlackError("channel_not_found")
    return found


def writable(world: World, call: Call, name: str) -> Channel:
    """Where the bot may post: a conversation that it is in, or the direct message of a user id.

    Raises SlackError channel_not_found, not_in_channel, is_archived.
    """
    if name in world.state.people:
        return direct(world, person(world, name, error="channel_not_found"))
    channel = visible(world, name)
    if channel.is_archived:
        raise SlackError("is_archived")
    may_post_anywhere = "chat:write.public" in world.manifest.bot_scopes and call.method == "chat.postMessage"
    if BOT_USER_ID not in channel.members and not may_post_anywhere:
        raise SlackError("not_in_channel")
    return channel


def readable(world: World, name: str) -> Channel:
    """Where the bot may read history. Raises SlackError channel_not_found, not_in_channel."""
    channel = visible(world, name)
    if BOT_USER_ID not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def person(world: World, user_id: str, *, error: str = "user_not_found") -> Person:
    """Raises SlackError of that code for an unknown id."""
    found = world.state.people.get(user_id)
    if found is None:
        raise SlackError(error)
    return found


def direct(world: World, other: Person) -> Channel:
    """The direct message channel of this person and the bot; opened if it was not."""
    channel_id = f"D0{other.id.removeprefix('U0')}"
    known = world.state.channels.get(channel_id)
    if known is not None:
        return known
    fresh = Channel(id=channel_id, name="directmessage", members=(other.id, BOT_USER_ID), user=other.id, created=int(world.clock.real()))
    world.state.put("channels", channel_id, fresh)
    world.hints.tell("channel", users=[other.id], channel=channel_id)
    return fresh


def message(world: World, channel: Channel, ts: str) -> Json:
    """Raises SlackError message_not_found, also for one that was deleted."""
    found = world.state.message(channel.id, ts)
    if found is None or found.get("subtype") == "tombstone":
        raise SlackError("message_not_found")
    return found


def _named(world: World, name: str) -> Channel | None:
    return next((channel for channel in world.state.channels.values() if channel.name == name and not channel.is_im), None)
