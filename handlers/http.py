"""Slack over HTTP instead of a socket: for installations that have a public address and no app-level token.

Whether a request comes from Slack is decided before anything in it is read: by its signature, by its age (five minutes), and by whether
the very same request was seen before (C067). Only POST to one path is heard, so that nothing that merely looks at an address can change
anything (C025).
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import Clock, SignatureVerifier

from bot import metrics
from bot.errors import ConfigurationError

log = structlog.get_logger()

PATH = "/slack/events"
OLDEST_S = 300  # how old a request may be, as Slack advises; so long a seen one is remembered
LARGEST = 1_000_000  # bytes of a request; Slack's own are far below
MOST_SEEN = 100_000


@dataclass
class Gate:
    """Says whether a request is Slack's, and new. Requests are told apart by their signature, which covers time and body."""

    secret: str
    clock: Callable[[], float] = time.time
    seen: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def refusal(self, body: bytes, *, timestamp: str, signature: str) -> str | None:
        """Why this request is not heard, in a few words for the log; None if it is, and it is remembered then."""
        now = self.clock()
        if not signature or not signature.isascii() or not (timestamp.isascii() and timestamp.isdigit()):
            return "it is not signed"
        if abs(now - int(timestamp)) > OLDEST_S:
            return "it is too old"
        if not _is_text(body) or not SignatureVerifier(self.secret, clock=_At(now)).is_valid(body, timestamp, signature):
            return "its signature is wrong"
        if signature in self.seen:
            return "it was sent before"
        self._remember(signature, now)
        return None

    def _remember(self, signature: str, now: float) -> None:
        while self.seen and (len(self.seen) >= MOST_SEEN or now - next(iter(self.seen.values())) > 2 * OLDEST_S):
            self.seen.popitem(last=False)
        self.seen[signature] = now


def _is_text(body: bytes) -> bool:
    """Slack's requests are; the verifier would break over others."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


class _At(Clock):
    """The verifier's clock, standing at one moment: a request is judged by one time only."""

    def __init__(self, now: float) -> None:
        self._now = now

    def now(self) -> float:
        """Seconds since 1970."""
        return self._now


def listen(app: AsyncApp, gate: Gate) -> web.RouteDef:
    """The route that hears Slack."""

    async def hear(request: web.Request) -> web.Response:
        body = await request.read()
        timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
        no = gate.refusal(body, timestamp=timestamp, signature=request.headers.get("X-Slack-Signature", ""))
        if no is not None:
            log.warning("request_refused", why=no, sender=request.remote)
            return web.Response(status=401, text="This request is not Slack's.\n")
        asked = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(request.headers), mode="http")
        return await to_aiohttp_response(await app.async_dispatch(asked))

    return web.post(PATH, hear)


def watch(meter: metrics.Meter) -> list[web.RouteDef]:
    """The routes for a machine that watches. They tell of numbers only, and change nothing."""

    async def figures(request: web.Request) -> web.Response:  # noqa: ARG001 — everybody gets the same
        return web.Response(body=await meter.text(), headers={"Content-Type": metrics.CONTENT_TYPE})

    async def healthz(request: web.Request) -> web.Response:  # noqa: ARG001
        try:
            return web.json_response(await metrics.health(meter.deps))
        except Exception:
            log.exception("not_healthy")
            return web.json_response({"ok": False}, status=503)

    return [web.get("/metrics", figures), web.get("/healthz", healthz)]


def place(address: str, *, name: str) -> tuple[str, int]:
    """Host and port of "127.0.0.1:3000", "[::1]:3000" or "3000" (this machine only). `ConfigurationError` names the variable."""
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535 or address.count(":") > 1 and not host.startswith("["):
        raise ConfigurationError(f"{name}: {address!r} is not an address; write it like 127.0.0.1:3000")
    return host.strip("[]") or "127.0.0.1", int(port)


@dataclass(frozen=True)
class Front:
    """A small HTTP server of the bot; `close` ends it."""

    runner: web.AppRunner
    host: str
    port: int

    async def close(self) -> None:
        """Hear nothing more; what was heard is answered first."""
        await self.runner.cleanup()


async def serve(routes: list[web.RouteDef], *, host: str, port: int) -> Front:
    """Listen there. `port` 0 takes a free one. Raises `OSError` if the address is taken."""
    server = web.Application(client_max_size=LARGEST)
    server.add_routes(routes)
    runner = web.AppRunner(server, access_log=None, shutdown_timeout=3)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError:
        await runner.cleanup()
        raise
    taken: tuple[str, int] = runner.addresses[0][:2]
    log.info("listening", host=taken[0], port=taken[1])
    return Front(runner, taken[0], taken[1])
