"""People use what the bot offers: commands, buttons and menus, shortcuts.

Each waits for the bot's acknowledgement, three seconds at most, and answers whether and when it came.
"""

from typing import Any

from aiohttp import web

from bot.workspace import forms, modals, responses, shapes
from bot.workspace.block_kit.limits import parts
from bot.workspace.manifest import Shortcut
from bot.workspace.people_api import who
from bot.workspace.records import APP_ID, TEAM_DOMAIN, TEAM_ID, Json, Person
from bot.workspace.responses import Source
from bot.workspace.sockets import Reply
from bot.workspace.typed import convert
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World

PICKED = ("value", "selected_", "rich_text_value", "files")


def outcome(reply: Reply) -> Json:
    """The part of an answer that says what became of the envelope."""
    said: Json = {"acked": reply.acked, "ack_ms": reply.ack_ms}
    return said | ({"trouble": reply.trouble} if reply.trouble else {})


def frame(world: World, user: Person, kind: str) -> Json:
    """What every interactive payload carries."""
    return {
        "type": kind,
        "token": "legacy",
        "api_app_id": APP_ID,
        "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
        "action_ts": world.state.next_ts(world.clock.real()),
    }


async def command(world: World, request: web.Request) -> Json:
    user, call = who.actor(world, request), await who.body(request)
    channel = who.channel(world, user, call.needed("channel"))
    name = "/" + call.needed("command").removeprefix("/")
    known = world.manifest.command(name)
    if known is None or user.is_stranger or user.is_bot:
        raise SlackError("unknown_command", detail=f"{name} is not a command of this workspace")
    if call.text("thread_ts"):
        raise SlackError("command_in_thread", detail="slash commands cannot be used in threads")
    source = Source(channel, user.id)
    typed = call.text("text")
    payload = {
        "token": "legacy",
        "team_id": TEAM_ID,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": shapes.channel_name_in_payload(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": name,
        "text": convert(world.state, typed).text if known.should_escape else typed,
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": responses.issue(world, source),
        "trigger_id": world.triggers.issue(user.id),
    }
    reply = await world.sockets.ask("slash_commands", payload)
    answered = outcome(reply) | {"response": reply.payload}
    if reply.payload:
        try:
            responses.show(world, source, Call(method=name, token="", args=reply.payload))
        except SlackError as refusal:
            answered |= {"trouble": refusal.code, "errors": refusal.extra.get("errors", [])}
    return answered


async def press(world: World, request: web.Request) -> Json:
    """A click in a message, an ephemeral one too. What was once shown there may be pressed although the message has changed since."""
    user, call = who.actor(world, request), await who.body(request)
    channel = who.channel(world, user, call.needed("channel"))
    ts = call.needed("message_ts")
    private = world.state.table("ephemerals").get(f"{user.id} {ts}")
    shown = private if private is not None else who.message(world, user, ts, channel.id)[1]
    blocks = shown.get("blocks", [])
    container = {"type": "message", "message_ts": ts, "channel_id": channel.id, "is_ephemeral": private is not None}
    if "thread_ts" in shown:
        container["thread_ts"] = shown["thread_ts"]
    trigger_id = world.triggers.issue(user.id)
    payload = frame(world, user, "block_actions") | {
        "container": container,
        "trigger_id": trigger_id,
        "channel": {"id": channel.id, "name": shapes.channel_name_in_payload(channel)},
        "state": {"values": forms.entered(blocks, forms.initial(blocks), call.args.get("values") or {})},
        "response_url": responses.issue(world, Source(channel, user.id, ts, private is not None)),
        "actions": [action(world, blocks, call)],
    }
    if private is None:  # the message of an ephemeral click is not told
        payload["message"] = shapes.message(world.state, channel.id, shown, metadata=True)
    reply = await world.sockets.ask("interactive", payload)
    return outcome(reply) | {"trigger_id": trigger_id}


async def press_in_view(world: World, request: web.Request) -> Json:
    """A click in an open modal or the Home tab; `values` enters something first, as `state.values`."""
    user, call = who.actor(world, request), await who.body(request)
    view = own_view(world, user, request.match_info["view_id"])
    if call.args.get("values"):
        view = modals.enter(world, view, call.args["values"], user_id=user.id)
    done = action(world, view["blocks"], call)
    if done["type"] in forms.ENTRIES:
        picked = {name: value for name, value in done.items() if name.startswith(PICKED)}
        view = modals.enter(world, view, {done["block_id"]: {done["action_id"]: picked}}, user_id=user.id)
    root = view["root_view_id"] if view["type"] == "modal" else ""
    trigger_id = world.triggers.issue(user.id, root_view_id=root)
    payload = frame(world, user, "block_actions") | {
        "container": {"type": "view", "view_id": view["id"]},
        "trigger_id": trigger_id,
        "view": view,
        "actions": [done],
    }
    reply = await world.sockets.ask("interactive", payload)
    return outcome(reply) | {"trigger_id": trigger_id}


async def shortcut(world: World, request: web.Request) -> Json:
    user, call = who.actor(world, request), await who.body(request)
    known = world.manifest.shortcut(call.needed("callback_id"))
    if known is None or user.is_stranger or user.is_bot:
        raise SlackError("unknown_shortcut", detail=f"the manifest has no shortcut {call.text('callback_id')}")
    trigger_id = world.triggers.issue(user.id)
    payload = _shortcut_payload(world, user, known, call) | {"callback_id": known.callback_id, "trigger_id": trigger_id}
    reply = await world.sockets.ask("interactive", payload)
    return outcome(reply) | {"trigger_id": trigger_id}


def _shortcut_payload(world: World, user: Person, known: Shortcut, call: Call) -> Json:
    if known.type != "message":
        return frame(world, user, "shortcut")
    channel, message = who.message(world, user, call.needed("message_ts"), call.text("channel"))
    return frame(world, user, "message_action") | {
        "channel": {"id": channel.id, "name": shapes.channel_name_in_payload(channel)},
        "message_ts": message["ts"],
        "message": shapes.message(world.state, channel.id, message, metadata=True),
        "response_url": responses.issue(world, Source(channel, user.id, message["ts"])),
    }


def own_view(world: World, user: Person, view_id: str) -> Json:
    """This person's open modal or Home tab. Raises SlackError view_not_found."""
    home: Json | None = world.state.table("homes").get(user.id)
    if home is not None and home["id"] == view_id:
        return home
    found = next((view for view in modals.stack(world, user.id) if view["id"] == view_id), None)
    if found is None:
        raise SlackError("view_not_found")
    return found


def action(world: World, blocks: list[Json], call: Call) -> Json:
    """The entry of `actions`: the element as it stands there now (or stood, a button then), and what was picked."""
    action_id, block_id = call.needed("action_id"), call.text("block_id")
    found = _find(blocks, block_id, action_id)
    block, element = found if found is not None else ({"block_id": block_id}, {"type": call.text("type", "button")})
    kept = {name: element[name] for name in ("type", "text", "style", "value", "url", "placeholder", "confirm") if name in element}
    at = f"{world.clock.real():.6f}"
    return {**kept, **_picked(element, call.args), "action_id": action_id, "block_id": block["block_id"], "action_ts": at}


def _picked(element: Json, args: Json) -> Json:
    given = {name: value for name, value in args.items() if name != "values" and value is not None}
    picked: dict[str, Any] = {name: value for name, value in given.items() if name.startswith(PICKED)}
    if isinstance(element.get("options"), list) or "option_groups" in element:
        if "value" in picked and "selected_options" not in picked:
            picked.setdefault("selected_option", picked.pop("value"))
        if "selected_option" in picked:
            picked["selected_option"] = forms.option(element, picked["selected_option"])
        if "selected_options" in picked:
            picked["selected_options"] = [forms.option(element, each) for each in picked["selected_options"]]
    return picked


def _find(blocks: list[Json], block_id: str, action_id: str) -> tuple[Json, Json] | None:
    for block in blocks:
        if block_id and block["block_id"] != block_id:
            continue
        for _, element in parts(block):
            if element.get("action_id") == action_id:
                return block, element
    return None
