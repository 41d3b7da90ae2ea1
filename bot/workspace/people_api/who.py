"""Who acts, and where: names and ids in a people call become records."""

from typing import Any

from aiohttp import web

from bot.workspace.records import BOT_USER_ID, Channel, Json, Person
from bot.workspace.web_api import places
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World


def person(world: World, name: str) -> Person:
    """Somebody by id or name, with or without @. Raises SlackError user_not_found."""
    wanted = name.removeprefix("@").lower()
    for found in world.state.people.values():
        if wanted in (found.id.lower(), found.name.lower()):
            return found
    raise SlackError("user_not_found")


def actor(world: World, request: web.Request) -> Person:
    """The person of this request's path who is about to do something. Raises SlackError user_not_found, account_inactive."""
    found = viewer(world, request)
    if found.deleted:
        raise SlackError("account_inactive")
    return found


def viewer(world: World, request: web.Request) -> Person:
    """The person of this request's path. Raises SlackError user_not_found."""
    found = person(world, request.match_info["user"])
    if found.id == BOT_USER_ID:
        raise SlackError("user_not_found", detail="the bot acts through its own protocol")
    return found


def channel(world: World, user: Person, name: str) -> Channel:
    """A conversation by id, `#name` or name, or `@bot` for the direct message; only one that this person is in.

    Raises SlackError channel_not_found.
    """
    found = _direct(world, user, name) or world.state.channels.get(name) or _named(world, name.removeprefix("#"))
    if found is None or user.id not in found.members:
        raise SlackError("channel_not_found")
    return found


def message(world: World, user: Person, ts: str, channel_name: str) -> tuple[Channel, Json]:
    """A message by its timestamp, and where it is; without a channel it is looked for everywhere that this person is.

    Raises SlackError channel_not_found, message_not_found.
    """
    if channel_name:
        where = channel(world, user, channel_name)
        return where, places.message(world, where, ts)
    for where in world.state.channels.values():
        if user.id in where.members and world.state.message(where.id, ts) is not None:
            return where, places.message(world, where, ts)
    raise SlackError("message_not_found")


async def body(request: web.Request) -> Call:
    """The JSON object of a request as arguments; an empty body is an empty object. Raises SlackError invalid_json."""
    try:
        raw: Any = await request.json() if request.can_read_body else {}
    except ValueError:
        raise SlackError("invalid_json") from None
    if not isinstance(raw, dict):
        raise SlackError("json_not_object")
    return Call(method=request.path, token="", args=raw)


def _direct(world: World, user: Person, name: str) -> Channel | None:
    bot = world.state.bot
    if name.removeprefix("@").lower() in (bot.id.lower(), bot.name.lower(), bot.real_name.lower()) and not user.is_bot:
        return places.direct(world, user)
    return None


def _named(world: World, name: str) -> Channel | None:
    return next((found for found in world.state.channels.values() if found.name == name and not found.is_im), None)
