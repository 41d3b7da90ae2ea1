"""Who may knock. Any web page that a person has open can send requests to loopback, so every request is looked at before it is handled.

`Host` must be this server by a loopback name, `Origin` must be absent or this server. What people do and see needs the people token, as a
bearer or in the page's cookie. The Web API checks its own tokens, a socket its ticket, a response URL its id.
"""

import hmac
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

COOKIE = "pullcord_people"
OPEN = ("/api/", "/link/", "/upload/", "/response/")  # guarded by tokens, tickets and ids of their own
POLICY = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def guard(*, port: int, people_token: str) -> Middleware:
    """The middleware that turns everybody else away with 403."""
    hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    origins = {f"http://{host}" for host in hosts}

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host not in hosts:
            return refuse("This server answers on a loopback address only.")
        if request.headers.get("Origin", next(iter(origins))) not in origins:
            return refuse("Requests from other origins are refused.")
        if not request.path.startswith(OPEN) and not holds(request, people_token):
            return refuse("Open the address that the workspace printed when it started; it holds the token.")
        return await handler(request)

    return check


def holds(request: web.Request, people_token: str) -> bool:
    """Whether the people token is in this request: bearer, cookie, or (the printed address) the query of the front page."""
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    given = [request.cookies.get(COOKIE, ""), bearer.strip() if scheme.lower() == "bearer" else ""]
    if request.path == "/":
        given.append(request.query.get("token", ""))
    return any(hmac.compare_digest(token.encode(), people_token.encode()) for token in given)


def refuse(words: str) -> web.Response:
    return web.Response(status=403, text=f"{words}\n", headers=HEADERS)


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:  # noqa: ARG001
    """On every answer: the page may load nothing from elsewhere, and nobody may frame it."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
