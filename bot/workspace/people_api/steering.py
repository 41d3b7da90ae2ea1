"""The hand behind the scenes: faults on purpose, the log, the clock."""

from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from bot.workspace.faults import MethodFault, SocketFault, count
from bot.workspace.people_api import who
from bot.workspace.records import Json
from bot.workspace.wire import SlackError
from bot.workspace.world import World

Form = TypeVar("Form", bound=BaseModel)


async def add_fault(world: World, request: web.Request) -> Json:
    call = await who.body(request)
    world.faults.add(_read(MethodFault, call.args))
    return world.faults.waiting()


async def add_socket_fault(world: World, request: web.Request) -> Json:
    """What is to be done at once (`drop`, `redeliver`) is done when this answers."""
    call = await who.body(request)
    fault = _read(SocketFault, call.args)
    world.faults.add_socket(fault)
    done: Json = {}
    if fault.redeliver:
        done["redelivered"] = await world.delivery.repeat(count(fault.redeliver, fault.times))
    if fault.drop:
        done["dropped"] = await world.sockets.drop(count(fault.drop, fault.times, endless=True), reason=fault.reason)
    return done | world.faults.waiting()


async def clear_faults(world: World, request: web.Request) -> Json:  # noqa: ARG001
    world.faults.clear()
    return {}


async def faults(world: World, request: web.Request) -> Json:  # noqa: ARG001
    return world.faults.waiting()


async def log(world: World, request: web.Request) -> Json:
    """`?since=` (seconds since 1970) leaves out what is older."""
    try:
        since = float(request.query.get("since", 0.0))
    except ValueError:
        raise SlackError("invalid_arguments", detail="since is a number of seconds") from None
    return {"entries": world.log.entries(since=since), "now": world.clock.now(), "pending_events": len(world.state.table("events"))}


async def advance(world: World, request: web.Request) -> Json:
    call = await who.body(request)
    seconds: Any = call.args.get("advance_s", 0)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
        raise SlackError("invalid_arguments", detail="advance_s is a number of seconds, 0 or more")
    world.clock.advance(seconds)
    world.state.put("meta", "clock", {"offset": world.clock.offset})
    return {"now": world.clock.now()}


def _read(form: type[Form], args: Json) -> Form:
    try:
        return form.model_validate(args)
    except ValidationError as problem:
        first = problem.errors()[0]
        raise SlackError("invalid_arguments", detail=f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
