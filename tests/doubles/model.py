"""A model's server on loopback that speaks Anthropic's protocol and follows a script: each call is expected, each answer is written down.

A call beyond the script is answered with 500 and fails the test when the server is left, and so does an answer that nobody fetched. The
test sees every request as it came over the wire: `server.calls[0].body`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Check = Callable[["Call"], None]


@dataclass(frozen=True)
class Answer:
    """What the server sends: `body` as JSON (or as it is, if text), after `delay_s`, if it gets that far."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    check: Check | None = None


@dataclass(frozen=True)
class Call:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """The system text."""
        said = self.body["system"]
        return said if isinstance(said, str) else "".join(block["text"] for block in said)

    @property
    def user(self) -> str:
        """The text of the one message."""
        (message,) = self.body["messages"]
        return str(message["content"])


def says(text: str, *, stop: str = "end_turn", thinking: str = "", usage: Mapping[str, Any] | None = None, **more: Any) -> Answer:
    """A message with this text; no text block at all if it is empty. Thinking comes first, as it does."""
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": thinking, "signature": "x"}] if thinking else []
    content += [{"type": "text", "text": text}] if text else []
    return message(content, stop=stop, usage=usage, **more)


def gives(value: Any, **more: Any) -> Answer:
    """A message whose text is this value as JSON."""
    return says(json.dumps(value, ensure_ascii=False), **more)


def message(content: Any, *, stop: str = "end_turn", usage: Mapping[str, Any] | None = None, **more: Any) -> Answer:
    """A message with any content."""
    body = {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": "test",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5} if usage is None else usage,
    }
    return Answer(body, **more)


def fails(status: int, text: str, *, kind: str = "invalid_request_error", **more: Any) -> Answer:
    """An error as Anthropic writes it."""
    return Answer({"type": "error", "error": {"type": kind, "message": text}}, status=status, **more)


class ModelServer:
    """Serves one script. `calls` grows with every request."""

    def __init__(self, script: tuple[Answer, ...]) -> None:
        self._script = list(script)
        self.calls: list[Call] = []
        self.faults: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer the next line of the script."""
        call = Call(request.path, dict(request.headers), await request.json())
        self.calls.append(call)
        if not self._script:
            self.faults.append(f"call {len(self.calls)} was not expected: {json.dumps(call.body, ensure_ascii=False)[:500]}")
            return web.json_response({"error": {"message": "not expected"}}, status=500, headers={"x-should-retry": "false"})
        answer = self._script.pop(0)
        if answer.check:
            try:
                answer.check(call)
            except AssertionError as fault:
                self.faults.append(f"call {len(self.calls)}: {fault}")
        await asyncio.sleep(answer.delay_s)
        if isinstance(answer.body, str):
            return web.Response(text=answer.body, status=answer.status, headers={"content-type": "text/html", **answer.headers})
        return web.json_response(answer.body, status=answer.status, headers=dict(answer.headers))

    def settle(self) -> None:
        """Fail for whatever did not go by the script."""
        unused = [f"answer {len(self.calls) + place} was never fetched" for place in range(1, len(self._script) + 1)]
        assert not self.faults + unused, "\n".join(self.faults + unused)


@asynccontextmanager
async def model_server(*script: Answer) -> AsyncIterator[ModelServer]:
    """A server on a free port of loopback, for as long as the block lasts."""
    server = ModelServer(script)
    app = web.Application(client_max_size=8 << 20)
    app.router.add_post("/{path:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()
    server.settle()
