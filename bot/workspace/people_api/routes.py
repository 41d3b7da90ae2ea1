"""The people API's addresses, and how its functions become answers.

`{"ok": true, …}`, or `{"ok": false, "error": …}` with HTTP 200 where something is refused, as Slack does.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.workspace.people_api import pressing, seeing, speaking, steering, submitting
from bot.workspace.records import Json
from bot.workspace.wire import SlackError
from bot.workspace.world import World

Act = Callable[[World, web.Request], Awaitable[Json]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

ROUTES: tuple[tuple[str, str, Act], ...] = (
    ("GET", "/workspace", seeing.workspace),
    ("GET", "/people", seeing.people),
    ("GET", "/people/{user}/channels", seeing.channels),
    ("GET", "/people/{user}/channels/{channel}/messages", seeing.messages),
    ("GET", "/people/{user}/ephemerals", seeing.ephemerals),
    ("DELETE", "/people/{user}/ephemerals/{ts}", seeing.dismiss),
    ("GET", "/people/{user}/views", seeing.views),
    ("GET", "/people/{user}/home", seeing.home),
    ("POST", "/people/{user}/home", seeing.open_home),
    ("POST", "/people/{user}/messages", speaking.say),
    ("POST", "/people/{user}/messages/{ts}/edit", speaking.edit),
    ("POST", "/people/{user}/messages/{ts}/delete", speaking.delete),
    ("POST", "/people/{user}/messages/{ts}/reactions", speaking.react),
    ("POST", "/people/{user}/commands", pressing.command),
    ("POST", "/people/{user}/actions", pressing.press),
    ("POST", "/people/{user}/shortcuts", pressing.shortcut),
    ("POST", "/people/{user}/views/{view_id}/actions", pressing.press_in_view),
    ("POST", "/people/{user}/views/{view_id}/submit", submitting.submit),
    ("POST", "/people/{user}/views/{view_id}/close", submitting.close),
    ("GET", "/faults", steering.faults),
    ("POST", "/faults", steering.add_fault),
    ("DELETE", "/faults", steering.clear_faults),
    ("POST", "/faults/socket", steering.add_socket_fault),
    ("GET", "/log", steering.log),
    ("POST", "/clock", steering.advance),
)


def routes(world: World) -> list[web.RouteDef]:
    answered = [web.route(method, path, _answering(world, act)) for method, path, act in ROUTES]

    async def stream(request: web.Request) -> web.StreamResponse:
        try:
            return await seeing.stream(world, request)
        except SlackError as refusal:
            return web.json_response(refusal.body())

    return [*answered, web.route("GET", "/people/{user}/stream", stream)]


def _answering(world: World, act: Act) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return web.json_response({"ok": True, **await act(world, request)})
        except SlackError as refusal:
            return web.json_response(refusal.body())

    return handle
