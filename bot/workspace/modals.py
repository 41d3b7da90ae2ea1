"""Views: the stack of modals that a person has open, and their Home tab.

A modal is opened or pushed with a trigger id, changed by its id, closed by whoever looks at it. Every change gives it a new hash, so that
an update that names an older one is refused. What has been entered lives with the view and survives its updates.
"""

from bot.workspace import forms, posting, shapes
from bot.workspace.block_kit import limits
from bot.workspace.records import APP_ID, BOT_ID, TEAM_ID, Json
from bot.workspace.wire import SlackError
from bot.workspace.world import World

DEEPEST = 3
OWN = ("type", "title", "submit", "close", "blocks", "callback_id", "private_metadata", "external_id", "clear_on_close", "notify_on_close")


def stack(world: World, user_id: str) -> list[Json]:
    """This person's open modals, the top one last."""
    return [record["view"] for record in world.state.table("views").values() if record["user"] == user_id]


def find(world: World, view_id: str) -> tuple[str, Json]:
    """The open modal of this id and whose it is. Raises SlackError not_found."""
    record = world.state.table("views").get(view_id)
    if record is None:
        raise SlackError("not_found")
    return record["user"], record["view"]


def open_modal(world: World, user_id: str, raw: Json) -> Json:
    """Begin a new stack. Raises SlackError duplicate_external_id."""
    view = _build(world, raw, view_id=world.new_id("V0"))
    return _store(world, user_id, view | {"root_view_id": view["id"], "previous_view_id": None})


def push(world: World, user_id: str, raw: Json, *, root_view_id: str) -> Json:
    """Put a modal on top of that stack. Raises SlackError push_limit_reached, duplicate_external_id."""
    below = [view for view in stack(world, user_id) if view["root_view_id"] == root_view_id]
    if not below:
        raise SlackError("not_found")
    if len(below) >= DEEPEST:
        raise SlackError("push_limit_reached")
    view = _build(world, raw, view_id=world.new_id("V0"))
    return _store(world, user_id, view | {"root_view_id": root_view_id, "previous_view_id": below[-1]["id"]})


def update(world: World, view_id: str, raw: Json, *, expected: str = "") -> Json:
    """Change an open modal; `expected` is the hash that it should still have. Raises SlackError not_found, hash_conflict."""
    user_id, before = find(world, view_id)
    _same_hash(before, expected)
    view = _build(world, raw, view_id=view_id, before=before)
    return _store(world, user_id, view | {name: before[name] for name in ("root_view_id", "previous_view_id")})


def enter(world: World, view: Json, given: Json, *, user_id: str) -> Json:
    """Enter values into an open modal or Home view; returns the view with its new state. Raises SlackError invalid_values."""
    values = forms.entered(view["blocks"], view["state"]["values"], given)
    after = view | {"state": {"values": values}}
    if view["type"] == "home":
        world.state.put("homes", user_id, after)
    else:
        world.state.put("views", view["id"], {"user": user_id, "view": after})
    return after


def close(world: World, user_id: str, view_ids: list[str]) -> None:
    for view_id in view_ids:
        world.state.drop("views", view_id)
    world.hints.tell("view", users=[user_id])


def stack_of(world: World, user_id: str, view: Json) -> list[str]:
    """The ids of the stack that a modal belongs to, the root first."""
    return [other["id"] for other in stack(world, user_id) if other["root_view_id"] == view["root_view_id"]]


def publish(world: World, user_id: str, raw: Json, *, expected: str = "") -> Json:
    """Show this Home tab to that person. Raises SlackError hash_conflict."""
    before = world.state.table("homes").get(user_id)
    if before is not None:
        _same_hash(before, expected)
    view = _build(world, raw, view_id=before["id"] if before else world.new_id("V0"), before=before)
    view |= {"root_view_id": view["id"], "previous_view_id": None}
    world.state.put("homes", user_id, view)
    world.hints.tell("home", users=[user_id])
    return view


def _store(world: World, user_id: str, view: Json) -> Json:
    world.state.put("views", view["id"], {"user": user_id, "view": view})
    world.hints.tell("view", users=[user_id])
    return view


def _same_hash(before: Json, expected: str) -> None:
    if expected and expected != before["hash"]:
        raise SlackError("hash_conflict")


def _build(world: World, raw: Json, *, view_id: str, before: Json | None = None) -> Json:
    """A view as Slack keeps it, from the one that the app sent."""
    limits.require_view(raw, kind=raw.get("type", ""))
    _own_external_id(world, raw.get("external_id") or "", view_id)
    blocks = posting.with_ids(world, raw["blocks"])
    entered = before["state"]["values"] if before else {}
    usual: Json = {
        "callback_id": "",
        "private_metadata": "",
        "external_id": "",
        "title": None,
        "submit": None,
        "close": None,
        "clear_on_close": False,
        "notify_on_close": False,
    }
    own = {name: raw[name] for name in OWN if raw.get(name) is not None}
    return (
        usual
        | own
        | {
            "id": view_id,
            "blocks": blocks,
            "state": {"values": forms.carried_over(blocks, entered)},
            "hash": f"{world.state.next_ts(world.clock.real())}.{world.new_id('h')}",
            "team_id": TEAM_ID,
            "app_id": APP_ID,
            "bot_id": BOT_ID,
            "app_installed_team_id": shapes.team()["id"],
        }
    )


def _own_external_id(world: World, external_id: str, view_id: str) -> None:
    for record in world.state.table("views").values():
        if external_id and record["view"]["external_id"] == external_id and record["view"]["id"] != view_id:
            raise SlackError("duplicate_external_id")
