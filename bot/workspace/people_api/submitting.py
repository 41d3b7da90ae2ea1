"""People fill in modals: submit and close.

Slack's client does not send a form whose required inputs are empty; nor does this one (`acked` is null where nothing was sent). What the
bot acknowledges with decides what the person sees next: nothing more, errors at the fields, another view in its place, or one on top.
"""

from aiohttp import web

from bot.workspace import forms, modals
from bot.workspace.people_api import who
from bot.workspace.people_api.pressing import frame, outcome, own_view
from bot.workspace.records import Json, Person
from bot.workspace.wire import SlackError
from bot.workspace.world import World


async def submit(world: World, request: web.Request) -> Json:
    user, call = who.actor(world, request), await who.body(request)
    view = own_view(world, user, request.match_info["view_id"])
    if view["type"] != "modal":
        raise SlackError("view_not_found")
    view = modals.enter(world, view, call.args.get("values") or {}, user_id=user.id)
    faults = forms.missing(view["blocks"], view["state"]["values"])
    if faults:
        return {"acked": None, "ack_ms": None, "response_action": "errors", "errors": faults, "view": view}
    trigger_id = world.triggers.issue(user.id, root_view_id=view["root_view_id"])
    payload = frame(world, user, "view_submission") | {"trigger_id": trigger_id, "response_urls": [], "view": view}
    reply = await world.sockets.ask("interactive", payload)
    answered = outcome(reply)
    if not reply.acked:
        return answered | {"view": view}
    try:
        return answered | _follow(world, user, view, reply.payload or {})
    except SlackError as refusal:
        messages = refusal.extra.get("response_metadata", {}).get("messages", [])
        return answered | {"trouble": refusal.code, "messages": messages, "view": view}


def _follow(world: World, user: Person, view: Json, answer: Json) -> Json:
    """Do what the acknowledgement says. Raises SlackError where it says something that Slack would not take."""
    match answer.get("response_action"):
        case None:
            modals.close(world, user.id, [view["id"]])
            return _top(world, user)
        case "clear":
            modals.close(world, user.id, modals.stack_of(world, user.id, view))
            return {"response_action": "clear", "view": None}
        case "errors":
            return {"response_action": "errors", "errors": _errors(view, answer.get("errors")), "view": view}
        case "update":
            return {"response_action": "update", "view": modals.update(world, view["id"], answer.get("view") or {})}
        case "push":
            pushed = modals.push(world, user.id, answer.get("view") or {}, root_view_id=view["root_view_id"])
            return {"response_action": "push", "view": pushed}
        case other:
            raise SlackError("invalid_response_action", response_metadata={"messages": [f"[ERROR] unknown response_action: {other}"]})


def _errors(view: Json, errors: object) -> Json:
    """Errors belong to input blocks of this view. Raises SlackError for any other."""
    known = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= known:
        words = f"[ERROR] errors must name input blocks of the view: {', '.join(sorted(known))}"
        raise SlackError("invalid_errors", response_metadata={"messages": [words]})
    return errors


async def close(world: World, request: web.Request) -> Json:
    """Close one modal, or (`clear: true`, the x in the corner) the whole stack; the bot hears of it where the view asked for that."""
    user, call = who.actor(world, request), await who.body(request)
    view = own_view(world, user, request.match_info["view_id"])
    if view["type"] != "modal":
        raise SlackError("view_not_found")
    whole = modals.stack_of(world, user.id, view)
    clear = call.flag("clear") or call.flag("is_cleared")
    told = modals.find(world, whole[0])[1] if clear else view
    closing = whole if clear or view["clear_on_close"] else whole[whole.index(view["id"]) :]
    modals.close(world, user.id, closing)
    answered: Json = {"acked": None, "ack_ms": None}
    if told["notify_on_close"]:
        payload = frame(world, user, "view_closed") | {"view": told, "is_cleared": clear}
        answered = outcome(await world.sockets.ask("interactive", payload))
    return answered | _top(world, user)


def _top(world: World, user: Person) -> Json:
    """The modal that this person looks at now, if any."""
    left = modals.stack(world, user.id)
    return {"view": left[-1] if left else None}
