"""Start and stop a workspace: one aiohttp server on loopback, its parts, and their order.

The socket is bound first, because the address is part of what the parts hand out. Stopping closes streams and sockets before the server, so
that nothing has to be waited for.
"""

import json
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from bot.errors import ConfigurationError
from bot.workspace import doors, front, people_seed, responses
from bot.workspace.clock import Clock
from bot.workspace.delivery import Delivery
from bot.workspace.faults import Faults
from bot.workspace.files import FileStore
from bot.workspace.hints import Hints
from bot.workspace.journal import Journal
from bot.workspace.log import WireLog
from bot.workspace.manifest import read_manifest
from bot.workspace.people_api import routes as people_routes
from bot.workspace.sockets import Sockets
from bot.workspace.state import State
from bot.workspace.triggers import Triggers
from bot.workspace.web_api import dispatch
from bot.workspace.world import Tokens, World

STATE_FILE = "workspace-state.jsonl"
FILES_FOLDER = "workspace-files"
LARGEST_BODY = 64 * 2**20
LONGEST_LINE = 2**20  # some methods carry whole blocks in the query
GRACE_S = 0.2


class Workspace:
    """A running workspace. Made by `start_workspace`."""

    def __init__(self, world: World, runner: web.AppRunner) -> None:
        self._world, self._runner = world, runner
        self.url = world.url  # http://127.0.0.1:PORT
        self.people_token = world.tokens.people
        self.bot_token = world.tokens.bot
        self.app_token = world.tokens.app

    @property
    def front_page(self) -> str:
        """The address for people; it holds the token, which the page moves into a cookie."""
        return f"{self.url}/?token={self.people_token}"

    async def wait_connected(self) -> None:
        """Return once a socket of the bot has had its hello."""
        await self._world.sockets.connected.wait()

    def write_about(self, path: Path) -> None:
        """Write `{url, people_token, bot_token, app_token}` for scripts, readable by the owner only, whole or not at all."""
        about = {name: getattr(self, name) for name in ("url", "people_token", "bot_token", "app_token")}
        fresh = path.with_name(f"{path.name}.new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(about, file)
        fresh.replace(path)

    async def stop(self) -> None:
        """Close everything; takes less than half a second whatever is still open."""
        await self._world.delivery.stop()
        self._world.hints.close()
        await self._world.sockets.close()
        await self._runner.cleanup()
        self._world.state.close()


async def start_workspace(
    *,
    data: Path | None,
    port: int,
    manifest: Path,
    people: Path | None = None,
    new_id: Callable[[str], str] | None = None,
) -> Workspace:
    """Serve the workspace that lives in the folder `data` (None: nothing is kept) on 127.0.0.1; port 0 takes a free one.

    Raises ConfigurationError where the manifest, the people file or the state cannot be used, or the port is taken.
    """
    new_id = new_id or invent_id
    app_manifest, seed = read_manifest(manifest), people_seed.read_seed(people)
    state = State(Journal(data / STATE_FILE if data is not None else None))
    clock = Clock(offset=state.table("meta").get("clock", {}).get("offset", 0.0))
    try:
        if state.is_fresh:
            people_seed.plant(seed, state, created=int(clock.real()))
        people_seed.name_bot(state, app_manifest.bot_name)
        listener = _bind(port)
    except ConfigurationError:
        state.close()
        raise
    faults, log = Faults(), WireLog()
    sockets = Sockets(clock=clock, log=log, faults=faults, new_id=new_id)
    world = World(
        url=f"http://127.0.0.1:{listener.getsockname()[1]}",
        tokens=_tokens(state),
        manifest=app_manifest,
        state=state,
        clock=clock,
        sockets=sockets,
        delivery=Delivery(state=state, clock=clock, sockets=sockets, faults=faults, log=log),
        triggers=Triggers(clock=clock, new_id=new_id),
        hints=Hints(),
        faults=faults,
        log=log,
        files=FileStore(data / FILES_FOLDER if data is not None else None),
        new_id=new_id,
    )
    app = _app(world, port=listener.getsockname()[1])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=GRACE_S, max_line_size=LONGEST_LINE)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    world.delivery.start()
    return Workspace(world, runner)


def invent_id(prefix: str) -> str:
    """An id that nobody has; Slack's look like this too."""
    return prefix + secrets.token_hex(6).upper()


def _bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as problem:
        listener.close()
        raise ConfigurationError(f"port {port} cannot be used ({problem.strerror}); choose another with --port, or 0 for any") from problem
    return listener


def _tokens(state: State) -> Tokens:
    """The tokens of this workspace, invented once and the same ever after."""
    known = state.table("meta").get("tokens")
    if known is None:
        secret = {name: secrets.token_hex(16) for name in ("people", "bot", "app")}
        known = {"people": f"people-{secret['people']}", "bot": f"xoxb-local-{secret['bot']}", "app": f"xapp-1-local-{secret['app']}"}
        state.put("meta", "tokens", known)
    return Tokens(**known)


def _app(world: World, *, port: int) -> web.Application:
    app = web.Application(client_max_size=LARGEST_BODY, middlewares=[doors.guard(port=port, people_token=world.tokens.people)])

    async def api(request: web.Request) -> web.StreamResponse:
        return await dispatch.answer(world, request)

    async def response(request: web.Request) -> web.StreamResponse:
        return await responses.answer(world, request)

    app.add_routes(
        [
            web.get("/api/{method}", api),
            web.post("/api/{method}", api),
            web.get("/link/", world.sockets.serve),
            web.post("/response/{id}", response),
            *people_routes.routes(world),
            *front.routes(world),
        ]
    )
    app.on_response_prepare.append(doors.add_headers)
    return app
