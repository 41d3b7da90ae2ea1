"""One call of the Web API from request to answer: whose token, which method, which fault, what to log.

Errors are answers with HTTP 200, as Slack's are; only a fault that somebody asked for has another status.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import web

from bot.workspace.faults import MethodFault
from bot.workspace.log import small
from bot.workspace.records import Json
from bot.workspace.web_api import assistant, chat, conversations, files, identity, people, reactions, views
from bot.workspace.wire import Call, SlackError, read_call
from bot.workspace.world import World

Method = Callable[[World, Call], Awaitable[Json]]

METHODS: Mapping[str, Method] = {
    **identity.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **people.METHODS,
    **reactions.METHODS,
    **views.METHODS,
    **assistant.METHODS,
    **files.METHODS,
}
OPEN = ("api.test", "blocks.validate")  # need no token
FOR_APP_TOKEN = ("apps.connections.open",)
FOR_ANY_TOKEN = ("auth.test",)


@dataclass(frozen=True)
class Outcome:
    """What the caller gets; no body: the connection breaks instead of an answer."""

    body: Json | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


async def answer(world: World, request: web.Request) -> web.StreamResponse:
    """Answer `/api/<method>`."""
    method = request.match_info["method"]
    started = world.clock.real()
    fault = world.faults.take(method)
    if fault is not None:
        await asyncio.sleep(fault.delay_ms / 1000)
    args: Json = {}
    try:
        call = await read_call(request, method)
        args = call.args
        outcome = await _meet(world, call, fault)
    except SlackError as refusal:
        outcome = Outcome(refusal.body())
    _log(world, method, args, outcome, started=started, fault=fault)
    if outcome.body is None:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)
    return web.json_response(outcome.body, status=outcome.status, headers=outcome.headers)


async def _meet(world: World, call: Call, fault: MethodFault | None) -> Outcome:
    """Carry the call out, unless a fault stands in its way. Raises SlackError."""
    if fault is None or fault.only_delays:
        return Outcome(await _carry_out(world, call))
    if fault.after_effect:
        try:
            await _carry_out(world, call)
        except SlackError as refusal:
            world.log.add("refused_unseen", at=world.clock.real(), method=call.method, error=refusal.code)
    return _spoilt(fault)


async def _carry_out(world: World, call: Call) -> Json:
    function = METHODS.get(call.method)
    if function is None:
        raise SlackError("unknown_method", req_method=call.method)
    _check_token(world, call)
    return {"ok": True, **await function(world, call)}


def _check_token(world: World, call: Call) -> None:
    if call.method in OPEN:
        return
    if not call.token:
        raise SlackError("not_authed")
    if call.token not in (world.tokens.bot, world.tokens.app):
        raise SlackError("invalid_auth")
    is_app = call.token == world.tokens.app
    if call.method not in FOR_ANY_TOKEN and is_app != (call.method in FOR_APP_TOKEN):
        raise SlackError("not_allowed_token_type")


def _spoilt(fault: MethodFault) -> Outcome:
    """What a fault puts in place of the true answer."""
    if fault.status is None and fault.error is None:
        return Outcome(None)
    status = fault.status or 200
    error = fault.error or ("ratelimited" if status == 429 else "internal_error")
    headers = {"Retry-After": str(fault.retry_after if fault.retry_after is not None else 1)} if status == 429 else {}
    return Outcome({"ok": False, "error": error}, status, headers)


def _log(world: World, method: str, args: Json, outcome: Outcome, *, started: float, fault: MethodFault | None) -> None:
    body = outcome.body or {"ok": False, "error": "answer_lost"}
    facts: Json = {"method": method, "ok": body["ok"], "status": outcome.status, "ms": round((world.clock.real() - started) * 1000, 3)}
    if not body["ok"]:
        facts["error"] = body["error"]
    if fault is not None:
        facts["fault"] = fault.model_dump(exclude_defaults=True)
    world.log.add("api", at=started, **{**small(args), **facts})
