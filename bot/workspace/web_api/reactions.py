"""reactions.*: the bot's own reactions, and everybody's on one message."""

import re

from bot.workspace import posting, shapes
from bot.workspace.records import Channel, Json
from bot.workspace.web_api import places
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World

EMOJI = re.compile(r"[a-z0-9_+'\-]+(::skin-tone-[2-6])?")


async def add(world: World, call: Call) -> Json:
    channel, message = _target(world, call)
    posting.react(world, channel, message, user=world.state.bot, name=read_name(call.text("name")))
    return {}


async def remove(world: World, call: Call) -> Json:
    channel, message = _target(world, call)
    posting.react(world, channel, message, user=world.state.bot, name=read_name(call.text("name")), remove=True)
    return {}


async def get(world: World, call: Call) -> Json:
    channel, message = _target(world, call)
    return {"type": "message", "channel": channel.id, "message": shapes.message(world.state, channel.id, message, metadata=False)}


def read_name(raw: str) -> str:
    """An emoji's name without colons. Raises SlackError invalid_name."""
    name = raw.strip(":")
    if not EMOJI.fullmatch(name):
        raise SlackError("invalid_name")
    return name


def _target(world: World, call: Call) -> tuple[Channel, Json]:
    channel = places.readable(world, call.needed("channel"))
    return channel, places.message(world, channel, call.needed("timestamp"))


METHODS = {"reactions.add": add, "reactions.remove": remove, "reactions.get": get}
