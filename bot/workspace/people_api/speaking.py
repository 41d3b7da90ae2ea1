"""People say, edit, delete, react."""

from aiohttp import web

from bot.workspace import posting, typed
from bot.workspace.people_api import who
from bot.workspace.records import Json
from bot.workspace.web_api.reactions import read_name
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World


async def say(world: World, request: web.Request) -> Json:
    user, call = who.actor(world, request), await who.body(request)
    channel = who.channel(world, user, call.needed("channel"))
    said = typed.convert(world.state, call.needed("text"))
    message = posting.post(
        world,
        channel,
        user,
        text=said.text,
        blocks=said.blocks,
        thread_ts=call.text("thread_ts"),
        broadcast=call.flag("reply_broadcast"),
    )
    return {"ts": message["ts"], "channel": channel.id}


async def edit(world: World, request: web.Request) -> Json:
    user, call = who.actor(world, request), await who.body(request)
    channel, message = who.message(world, user, request.match_info["ts"], call.text("channel"))
    if message["user"] != user.id:
        raise SlackError("cant_update_message")
    said = typed.convert(world.state, call.needed("text"))
    posting.edit(world, channel, message, editor=user, text=said.text, blocks=said.blocks)
    return {"ts": message["ts"], "channel": channel.id}


async def delete(world: World, request: web.Request) -> Json:
    user, call = who.actor(world, request), await who.body(request)
    channel, message = who.message(world, user, request.match_info["ts"], call.text("channel"))
    if message["user"] != user.id:
        raise SlackError("cant_delete_message")
    posting.delete(world, channel, message)
    return {"ts": message["ts"], "channel": channel.id}


async def react(world: World, request: web.Request) -> Json:
    """`name` (or `reaction`) is the emoji; `remove: true` takes it back."""
    user, call = who.actor(world, request), await who.body(request)
    channel, message = who.message(world, user, request.match_info["ts"], call.text("channel"))
    posting.react(world, channel, message, user=user, name=read_name(_emoji(call)), remove=call.flag("remove"))
    return {"ts": message["ts"], "channel": channel.id}


def _emoji(call: Call) -> str:
    return call.text("name") or call.text("reaction") or call.needed("emoji")
