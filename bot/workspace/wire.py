"""Arguments of a Web API call, however they came, and the errors that answer it.

The client library sends reads as GET with a query, some writes as POST with a query and an empty body, the rest as JSON, form or multipart;
structures travel as JSON text wherever the carrier is flat. `read_call` merges all that into one dictionary of arguments.
"""

import json
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.workspace.records import Json

FORMAT_ERRORS = {  # of arguments that are JSON; others answer invalid_arguments
    "blocks": "invalid_blocks_format",
    "metadata": "invalid_metadata_format",
    "attachments": "invalid_attachments",
}


class SlackError(Exception):
    """The answer is `{"ok": false, "error": code, **extra}`, with HTTP 200 as Slack does."""

    def __init__(self, code: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra

    def body(self) -> Json:
        return {"ok": False, "error": self.code, **self.extra}


@dataclass(frozen=True)
class Call:
    """One call's method, token and arguments."""

    method: str
    token: str
    args: Json

    def text(self, name: str, default: str = "") -> str:
        """A string argument; numbers are written out."""
        value = self.args.get(name)
        return default if value is None else str(value)

    def needed(self, name: str) -> str:
        """A string argument that must be there; SlackError invalid_arguments if it is not."""
        value = self.text(name)
        if not value:
            missing = f"[ERROR] missing required field: {name}"
            raise SlackError("invalid_arguments", response_metadata={"messages": [missing]})
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.args.get(name)
        if value is None or value == "":
            return default
        return str(value).lower() in ("true", "1")

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if not value:
            return default
        try:
            return int(float(value))
        except ValueError:
            raise SlackError("invalid_arguments", response_metadata={"messages": [f"[ERROR] must be an integer: {name}"]}) from None

    def structure(self, name: str) -> Any:
        """An argument that is JSON, sent as such or as text; the error of a bad one is the argument's own."""
        value = self.args.get(name)
        if not isinstance(value, str) or value == "":
            return value or None
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(FORMAT_ERRORS.get(name, "invalid_arguments")) from None

    def listed(self, name: str) -> list[str]:
        """A comma-separated list, a JSON list, or nothing."""
        value = self.args.get(name)
        if isinstance(value, list):
            return [str(item) for item in value]
        return [item.strip() for item in str(value).split(",") if item.strip()] if value else []


async def read_call(request: web.Request, method: str) -> Call:
    """Return the call in this request. Raises SlackError where the body is not what its content type says."""
    args: Json = dict(request.query)
    if request.can_read_body:
        args |= await _read_body(request)
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    token = bearer.strip() if scheme.lower() == "bearer" else str(args.get("token", ""))
    args.pop("token", None)
    return Call(method=method, token=token, args=args)


async def _read_body(request: web.Request) -> Json:
    if request.content_type == "application/json":
        try:
            body = await request.json()
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        return body
    if request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form = await request.post()
        return {name: value for name, value in form.items() if isinstance(value, str)}
    return {} if not await request.read() else _refuse_body()


def _refuse_body() -> Json:
    raise SlackError("invalid_post_type")
