"""The web: one tool that reads pages, one that speaks HTTP. Both reach public hosts only, and hosts inside that the admin has named.

Redirects are followed by hand, so that each hop passes the same gate (`addresses`). Bodies are counted as they are unpacked, time as a
whole, and nothing of the environment (proxies, netrc, cookies) takes part. What comes back was written by strangers and is marked so.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import aiohttp
from aiohttp.abc import AbstractResolver
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from yarl import URL

from bot.core.places import is_host_among
from bot.errors import ToolFailed
from bot.tools.addresses import AddressRefused, Gate, web_url
from bot.tools.context import ToolContext
from bot.tools.definition import Preview, Tool, tool
from bot.tools.pages import read
from bot.tools.sanitize import line

LARGEST = 2_000_000  # bytes of a body, unpacked
HOPS = 5
CLOSED = ConfigDict(frozen=True, extra="forbid")

_MOVED = (301, 302, 303, 307, 308)
_OWN_HEADERS = frozenset(
    (
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect"),
        *("proxy-authorization", "proxy-connection"),
    )
)
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_-]{1,40})", re.IGNORECASE)
_HEADER = re.compile(r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")


class FetchArgs(BaseModel):
    model_config = CLOSED
    url: str = Field(min_length=1, max_length=2000, description="Whole address of the page, beginning with https:// or http://")


class Link(BaseModel):
    text: str
    url: str


class Page(BaseModel):
    url: str = Field(description="Where it was found in the end, after redirects")
    status: int
    title: str
    text: str
    content_type: str
    links: list[Link] = []


HeaderValue = Annotated[str, Field(max_length=4000)]


class RequestArgs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = Field(description="HTTP method, in capital letters")
    url: str = Field(min_length=1, max_length=2000, description="Whole address, beginning with https:// or http://")
    headers: dict[str, HeaderValue] | None = Field(default=None, max_length=40, description="Extra headers by name")
    body: JsonValue = Field(default=None, alias="json", description="Body to send as JSON; left out, no body is sent")


class Reply(BaseModel):
    url: str
    status: int
    content_type: str
    text: str
    data: JsonValue = Field(default=None, description="The body as JSON, where it is JSON")


@dataclass(frozen=True)
class Answer:
    """What came over the wire, unpacked."""

    url: URL
    status: int
    content_type: str  # without parameters, small letters
    charset: str | None
    body: bytes


@dataclass(frozen=True)
class Web:
    """How far these tools reach. `resolver` makes what looks names up, one for each request."""

    allowed: Collection[str]
    total_s: float
    resolver: Callable[[], AbstractResolver]

    def scope(self, args: Mapping[str, Any]) -> str | None:
        """What is wrong with the address, as far as it is known yet; names are looked up only when the step runs."""
        url = args.get("url")
        if not isinstance(url, str) or "{{" in url:
            return None
        try:
            Gate(self.allowed, _Nowhere()).check(web_url(url))
        except AddressRefused as fault:
            return str(fault)
        return None

    async def ask(
        self, method: str, url: URL, *, headers: Mapping[str, str], body: bytes | None, scope: Collection[str] | None = None
    ) -> Answer:
        """Send it and read the answer, redirects of GET and HEAD followed within the hosts of `scope`. Raises `ToolFailed` in words."""
        try:
            async with asyncio.timeout(self.total_s):
                for _ in range(HOPS + 1):
                    _must_be_within(scope, url)
                    gate = Gate(self.allowed, self.resolver())
                    answer, goes_to = await _one(gate, method, url, headers=headers, body=body)
                    if goes_to is None or method not in ("GET", "HEAD"):
                        return answer
                    headers = headers if goes_to.origin() == url.origin() else {}
                    url = goes_to
        except TimeoutError as fault:
            raise ToolFailed(f"{url.host} did not answer in full within {self.total_s:g} s.") from fault
        raise ToolFailed(f"{url.host}: more than {HOPS} redirects.")


def _must_be_within(scope: Collection[str] | None, url: URL) -> None:
    if scope is not None and not is_host_among(str(url), scope):
        raise AddressRefused(f"{line(url.host or 'nothing', 100)} is not among the hosts that the policy allows.")


class _Nowhere(AbstractResolver):
    """For looks that must not look anything up."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        raise OSError(f"{host}:{port} ({family}) is not looked up")

    async def close(self) -> None:
        return None


async def _one(gate: Gate, method: str, url: URL, *, headers: Mapping[str, str], body: bytes | None) -> tuple[Answer, URL | None]:
    """One request, no redirect followed: the answer, and where it points to if it says so."""
    gate.check(url)
    try:
        async with _session(gate) as session, session.request(method, url, headers=headers, data=body, allow_redirects=False) as response:
            where = response.headers.get("Location", "") if response.status in _MOVED else ""
            goes_to = web_url(str(url.join(URL(where)))) if where else None
            content = b"" if goes_to and method in ("GET", "HEAD") else await _read(response)
            return Answer(url, response.status, response.content_type.lower(), response.charset, content), goes_to
    except (aiohttp.ClientError, OSError, ValueError) as fault:
        if isinstance(fault, TimeoutError):
            raise
        raise (gate.refusal or ToolFailed(f"{url.host} could not be asked: {line(str(fault) or type(fault).__name__, 200)}")) from fault


@asynccontextmanager
async def _session(gate: Gate) -> AsyncIterator[aiohttp.ClientSession]:
    """A client that shares nothing with the environment or with other requests."""
    connector = aiohttp.TCPConnector(resolver=gate, socket_factory=gate.open, use_dns_cache=False, force_close=True)
    try:
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
            headers={"User-Agent": "Pullcord"},
        ) as session:
            yield session
    finally:
        await gate.close()


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, counted as it is unpacked."""
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > LARGEST:
            raise ToolFailed(f"{response.url.host} sent more than {LARGEST // 1_000_000} MB.")
    return bytes(body)


def web_tools(
    allow_private_hosts: Collection[str] = (),
    *,
    total_s: float = 30.0,
    resolver: Callable[[], AbstractResolver] = aiohttp.ThreadedResolver,
) -> list[Tool]:
    """The two tools. `allow_private_hosts` names hosts inside as "host" or "host:port"; `total_s` bounds one call, redirects included."""
    web = Web(frozenset(allow_private_hosts), total_s, resolver)
    tools = [_fetch(web), _request(web)]
    for each in tools:
        each.scope(web.scope)
    return tools


def _fetch(web: Web) -> Tool:
    @tool(name="web.fetch", effect="read", says="Reads the page {url}", target="url", untrusted_output=True, outward=True, timeout_s=60)
    async def fetch(args: FetchArgs, ctx: ToolContext) -> Page:
        """Fetch a public web page and give its title and readable text, and its first links.

        Use it when the address is known and what stands there is needed. Do not use it for files of ours (files.read), for addresses inside
        the network, or to send anything; for services that answer with data use http.request. Pages that need a login cannot be read.
        """
        answer = await web.ask("GET", web_url(args.url), headers={}, body=None, scope=ctx.scope)
        if answer.status >= 400:
            raise ToolFailed(f"{answer.url.host} answered HTTP {answer.status}: the page cannot be read.")
        return await asyncio.to_thread(_page, answer)

    return fetch


def _page(answer: Answer) -> Page:
    text = _decoded(answer)
    if text is None:
        raise ToolFailed(f"{answer.url.host} sent {answer.content_type}, which is not text.")
    about = {"url": str(answer.url), "status": answer.status, "content_type": answer.content_type}
    if answer.content_type not in ("text/html", "application/xhtml+xml"):
        return Page(**about, title="", text=text)
    title, words, links = read(text, str(answer.url))
    return Page(**about, title=title, text=words, links=[Link(text=label, url=address) for label, address in links])


def _decoded(answer: Answer) -> str | None:
    """The body as text, None if it is none. Wrong bytes become replacement characters: a page with one is still worth reading."""
    kind = answer.content_type
    is_text = kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "yaml", "x-www-form-urlencoded"))
    if not is_text or (b"\0" in answer.body and answer.body[:2] not in (b"\xff\xfe", b"\xfe\xff")):
        return None if answer.body else ""
    named = _META.search(answer.body[:2048]) if "html" in kind else None
    charset = answer.charset or (named[1].decode("ascii") if named else "utf-8")
    try:
        return answer.body.decode(charset, "replace")
    except LookupError:
        return answer.body.decode("utf-8", "replace")


def _request(web: Web) -> Tool:
    @tool(
        name="http.request",
        effect="send",
        says="Sends {method} to {url}",
        target="url",
        untrusted_output=True,
        outward=True,
        secrets=("headers", "json"),
        timeout_s=60,
    )
    async def request(args: RequestArgs, ctx: ToolContext) -> Reply:
        """Send one HTTP request to a public service and give its status and body, whatever the status.

        Use it to call a web service with JSON, or to see how a server answers. Do not use it to read pages (web.fetch is safer and needs no
        approval as a rule), or for addresses inside the network. A secret is named in headers or json, never written out: {{secret:NAME}}.
        """
        headers, body = _headers(args), None if args.body is None else json.dumps(args.body, ensure_ascii=False).encode()
        answer = await web.ask(args.method, web_url(args.url), headers=headers, body=body, scope=ctx.scope)
        text = await asyncio.to_thread(_decoded, answer)
        if text is None:
            text = f"({len(answer.body):,} bytes of {answer.content_type}, not text)"
        return Reply(url=str(answer.url), status=answer.status, content_type=answer.content_type, text=text, data=_data(answer, text))

    @request.preview
    def preview(args: RequestArgs, _ctx: ToolContext) -> Preview:
        url = web_url(args.url)
        _headers(args)
        sent = "no body" if args.body is None else "a JSON body"
        facts = (sent, *(["headers " + ", ".join(sorted(args.headers))] if args.headers else []))
        after = None if args.body is None else json.dumps(args.body, ensure_ascii=False, indent=2)
        return Preview(target=f"{args.method} {url}", facts=facts, after=after)

    return request


def _headers(args: RequestArgs) -> dict[str, str]:
    """The headers to send. Raises `ToolFailed` for those that are the client's own, or that would be two."""
    for name, value in (args.headers or {}).items():
        if not _HEADER.match(name) or name.lower() in _OWN_HEADERS:
            raise ToolFailed(f"The header '{line(name, 60)}' cannot be set.")
        if any(ord(char) < 32 or ord(char) > 255 for char in value):
            raise ToolFailed(f"The header '{name}' has characters that a header cannot hold.")
    given = dict(args.headers or {})
    if args.body is not None and not any(name.lower() == "content-type" for name in given):
        given["Content-Type"] = "application/json"
    return given


def _data(answer: Answer, text: str) -> JsonValue:
    if not answer.content_type.endswith("json") or not text:
        return None
    try:
        held: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held
