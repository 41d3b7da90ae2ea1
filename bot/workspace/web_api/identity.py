"""Who am I, where am I: auth.test, bots.info, team.info, and the door to Socket Mode."""

from bot.workspace import shapes
from bot.workspace.block_kit import limits
from bot.workspace.records import APP_ID, BOT_ID, BOT_USER_ID, TEAM_ID, TEAM_NAME, Json
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World


async def api_test(world: World, call: Call) -> Json:  # noqa: ARG001
    if call.text("error"):
        raise SlackError(call.text("error"))
    return {"args": call.args}


async def auth_test(world: World, call: Call) -> Json:
    if call.token == world.tokens.app:
        return {"app_name": world.manifest.name, "app_id": APP_ID}
    return {
        "url": f"{world.url}/",
        "team": TEAM_NAME,
        "user": world.state.bot.name,
        "team_id": TEAM_ID,
        "user_id": BOT_USER_ID,
        "bot_id": BOT_ID,
        "app_id": APP_ID,
        "is_enterprise_install": False,
    }


async def open_connection(world: World, call: Call) -> Json:  # noqa: ARG001
    ticket = world.sockets.issue_ticket()
    return {"url": f"{world.url.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP_ID}"}


async def bots_info(world: World, call: Call) -> Json:
    wanted = call.text("bot") or BOT_ID
    found = next((person for person in world.state.people.values() if person.bot_id == wanted), None)
    if found is None:
        raise SlackError("bot_not_found")
    return {"bot": shapes.bot(found)}


async def team_info(world: World, call: Call) -> Json:  # noqa: ARG001
    return {"team": shapes.team() | {"email_domain": "", "icon": {"image_default": True}, "url": f"{world.url}/"}}


async def validate_blocks(world: World, call: Call) -> Json:  # noqa: ARG001
    """blocks.validate: exactly one of blocks, message, view."""
    given = {name: call.structure(name) for name in ("blocks", "message", "view")}
    present = [name for name, value in given.items() if value is not None]
    if len(present) != 1:
        raise SlackError("invalid_arguments", response_metadata={"messages": ["[ERROR] provide exactly one of blocks, message, view"]})
    kind = present[0]
    if kind == "view":
        problems = limits.check_view(given["view"])
    elif kind == "message":
        problems = limits.check_blocks((given["message"] or {}).get("blocks", []), pointer="/message/blocks")
    else:
        problems = limits.check_blocks(given["blocks"])
    if problems:
        raise SlackError(f"invalid_{kind}", errors=limits.structured(problems))
    return {}


METHODS = {
    "api.test": api_test,
    "auth.test": auth_test,
    "apps.connections.open": open_connection,
    "bots.info": bots_info,
    "team.info": team_info,
    "blocks.validate": validate_blocks,
}
