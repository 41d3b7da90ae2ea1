"""views.*: modals for whoever has just done something, and Home tabs at any time."""

from bot.workspace import modals
from bot.workspace.block_kit import limits
from bot.workspace.records import Json
from bot.workspace.triggers import Trigger
from bot.workspace.web_api import places
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World


async def open_view(world: World, call: Call) -> Json:
    view = limits.require_view(call.structure("view"), kind="modal")
    trigger = _exchange(world, call)
    return {"view": modals.open_modal(world, trigger.user_id, view)}


async def push(world: World, call: Call) -> Json:
    """Needs a trigger id that came from a modal."""
    view = limits.require_view(call.structure("view"), kind="modal")
    trigger = _exchange(world, call)
    if not trigger.root_view_id:
        raise SlackError("invalid_trigger_id")
    return {"view": modals.push(world, trigger.user_id, view, root_view_id=trigger.root_view_id)}


async def update(world: World, call: Call) -> Json:
    view = limits.require_view(call.structure("view"), kind="modal")
    return {"view": modals.update(world, _view_id(world, call), view, expected=call.text("hash"))}


async def publish(world: World, call: Call) -> Json:
    if not world.manifest.home_enabled:
        raise SlackError("not_enabled")
    user = places.person(world, call.needed("user_id"))
    view = limits.require_view(call.structure("view"), kind="home")
    return {"view": modals.publish(world, user.id, view, expected=call.text("hash"))}


def _exchange(world: World, call: Call) -> Trigger:
    return world.triggers.exchange(call.text("trigger_id") or call.needed("interactivity_pointer"))


def _view_id(world: World, call: Call) -> str:
    external_id = call.text("external_id")
    if not external_id:
        return call.needed("view_id")
    for view_id, record in world.state.table("views").items():
        if record["view"]["external_id"] == external_id:
            return view_id
    raise SlackError("not_found")


METHODS = {"views.open": open_view, "views.push": push, "views.update": update, "views.publish": publish}
