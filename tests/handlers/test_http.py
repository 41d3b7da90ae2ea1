"""Slack over HTTP: what is not Slack's, or not new, is turned away before anybody reads it (C067)."""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest

from bot import runs
from bot.app import App
from bot.errors import ConfigurationError
from bot.settings import Settings
from bot.workspace.server import Workspace, start_workspace
from handlers import http
from tests.doubles.clock import Clock
from tests.doubles.town import settings_for
from tests.doubles.waiting import eventually

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
FORM = "application/x-www-form-urlencoded"


def signed(body: str, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    """The headers that Slack would send with this body."""
    stamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}", "Content-Type": FORM}


@dataclass
class Line:
    """A bot that hears Slack over HTTP, and somebody who sends it requests."""

    app: App
    workspace: Workspace
    url: str
    client: aiohttp.ClientSession

    async def post(self, body: str, headers: dict[str, str]) -> int:
        async with self.client.post(self.url, data=body.encode(), headers=headers) as answer:
            await answer.read()
            return answer.status

    def ask(self, text: str, *, user: str = "U0REQUESTER") -> str:
        fields = {"command": "/plan", "text": text, "user_id": user, "team_id": self.app.slack.team_id, "channel_id": "C0OPS"}
        return urlencode({**fields, "trigger_id": "1.2.a", "response_url": f"{self.workspace.url}/nowhere", "api_app_id": "A0PULLCORD"})

    async def asks(self) -> list[str]:
        return [run.ask for run in await runs.listing(self.app.deps)]


@asynccontextmanager
async def telephone(folder: Path, clock: Clock) -> AsyncIterator[Line]:
    workspace = await start_workspace(data=folder / "workspace", port=0, manifest=MANIFEST)
    given = settings_for(folder, workspace.url, workspace.bot_token, "")
    given |= {"SLACK_APP_TOKEN": None, "PULLCORD_HTTP": "127.0.0.1:0", "SLACK_SIGNING_SECRET": SECRET}
    app = await App.start(Settings.model_validate(given), now=clock)
    try:
        (front,) = app.fronts
        async with aiohttp.ClientSession(trust_env=False) as client:
            yield Line(app, workspace, f"http://{front.host}:{front.port}{http.PATH}", client)
    finally:
        await app.stop()
        await workspace.stop()


@pytest.fixture
async def line(tmp_path: Path, clock: Clock) -> AsyncIterator[Line]:
    async with telephone(tmp_path, clock) as found:
        yield found


async def test_a_signed_command_opens_a_run_and_the_same_request_again_is_refused(line: Line) -> None:
    body = line.ask("now: time.now")
    headers = signed(body)

    assert await line.post(body, headers) == 200
    await eventually(lambda: _some(line), "the run")
    assert await line.post(body, headers) == 401
    assert await line.asks() == ["now: time.now"]


async def _some(line: Line) -> bool:
    return bool(await line.asks())


@pytest.mark.parametrize(
    "how", ["no signature", "wrong secret", "wrong body", "ten minutes old", "from the future", "no time", "letters for time"]
)
async def test_what_is_not_slacks_is_refused_before_it_is_read(line: Line, how: str) -> None:
    body = line.ask("now: time.now")
    headers = {
        "no signature": {"Content-Type": FORM},
        "wrong secret": signed(body, secret="another secret"),
        "wrong body": signed(line.ask("now: time.now", user="U0APPROVER")),
        "ten minutes old": signed(body, at=time.time() - 600),
        "from the future": signed(body, at=time.time() + 600),
        "no time": {**signed(body), "X-Slack-Request-Timestamp": ""},
        "letters for time": {**signed(body), "X-Slack-Request-Timestamp": "soon"},
    }[how]

    assert await line.post(body, headers) == 401
    assert await line.asks() == []


async def test_a_body_that_is_no_text_is_refused_and_breaks_nothing(line: Line) -> None:
    headers = signed("x")
    async with line.client.post(line.url, data=b"\xff\xfe", headers=headers) as answer:
        assert answer.status == 401
    assert await line.post("y", {**headers, "X-Slack-Signature": "v0=\u00e9"}) == 401


async def test_looking_at_an_address_changes_nothing(line: Line) -> None:
    """C025: a link preview only reads."""
    for path in ("/", http.PATH, f"{http.PATH}?{line.ask('now: time.now')}"):
        async with line.client.get(f"{line.url.removesuffix(http.PATH)}{path}") as answer:
            assert answer.status in (404, 405)
    assert await line.asks() == []


async def test_slack_may_ask_whether_the_address_is_ours(line: Line) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc", "token": "t"})
    async with line.client.post(line.url, data=body, headers={**signed(body), "Content-Type": "application/json"}) as answer:
        assert answer.status == 200
        assert "abc" in await answer.text()


async def test_without_a_signing_secret_nothing_is_heard(tmp_path: Path, clock: Clock) -> None:
    workspace = await start_workspace(data=tmp_path / "workspace", port=0, manifest=MANIFEST)
    given: dict[str, Any] = settings_for(tmp_path, workspace.url, workspace.bot_token, "")
    given |= {"SLACK_APP_TOKEN": None, "PULLCORD_HTTP": "127.0.0.1:0"}
    try:
        with pytest.raises(ConfigurationError, match="SLACK_SIGNING_SECRET"):
            await App.start(Settings.model_validate(given), now=clock)
    finally:
        await workspace.stop()


@pytest.mark.parametrize(
    ("said", "meant"),
    [("127.0.0.1:3000", ("127.0.0.1", 3000)), (":80", ("127.0.0.1", 80)), ("8080", ("127.0.0.1", 8080)), ("[::1]:9", ("::1", 9))],
)
def test_an_address_is_read(said: str, meant: tuple[str, int]) -> None:
    assert http.place(said, name="PULLCORD_HTTP") == meant


@pytest.mark.parametrize("said", ["", "here", "localhost:", "a:b", "::1:80", "1.2.3.4:99999"])
def test_what_is_no_address_says_so(said: str) -> None:
    with pytest.raises(ConfigurationError, match="PULLCORD_HTTP"):
        http.place(said, name="PULLCORD_HTTP")


def test_a_request_is_remembered_as_long_as_it_could_be_believed() -> None:
    now = [1_000_000.0]
    gate = http.Gate(SECRET, clock=lambda: now[0])
    headers = signed("x", at=now[0])
    say = {"timestamp": headers["X-Slack-Request-Timestamp"], "signature": headers["X-Slack-Signature"]}

    assert gate.refusal(b"x", **say) is None
    for later in (0, 299):
        now[0] = 1_000_000.0 + later
        assert gate.refusal(b"x", **say) == "it was sent before"
    now[0] += 600
    assert gate.refusal(b"x", **say) == "it is too old"
    fresh = signed("z", at=now[0])
    assert gate.refusal(b"z", timestamp=fresh["X-Slack-Request-Timestamp"], signature=fresh["X-Slack-Signature"]) is None
    assert len(gate.seen) == 1
