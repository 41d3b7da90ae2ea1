"""users.* and usergroups.*: who somebody is, and who belongs together."""

from bot.workspace import shapes
from bot.workspace.records import Json, Person
from bot.workspace.web_api import places
from bot.workspace.web_api.paging import page
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World


async def info(world: World, call: Call) -> Json:
    return {"user": shapes.user(places.person(world, call.needed("user")))}


async def list_all(world: World, call: Call) -> Json:
    everybody = sorted(world.state.people.values(), key=_id)
    shown, more = page(call, everybody, key=_id, usual=1000, most=1000)
    return {"members": [shapes.user(person) for person in shown], "cache_ts": int(world.clock.real()), "response_metadata": more}


async def lookup_by_email(world: World, call: Call) -> Json:
    wanted = call.needed("email").lower()
    found = next((person for person in world.state.people.values() if person.email.lower() == wanted and not person.deleted), None)
    if found is None:
        raise SlackError("users_not_found")
    return {"user": shapes.user(found)}


async def list_groups(world: World, call: Call) -> Json:
    groups = [shapes.group(group) for group in world.state.groups.values()]
    if not call.flag("include_users"):
        groups = [{name: value for name, value in group.items() if name != "users"} for group in groups]
    return {"usergroups": groups}


async def list_group_users(world: World, call: Call) -> Json:
    group = world.state.groups.get(call.needed("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": [user_id for user_id in group.users if not world.state.people[user_id].deleted or call.flag("include_disabled")]}


def _id(person: Person) -> str:
    return person.id


METHODS = {
    "users.info": info,
    "users.list": list_all,
    "users.lookupByEmail": lookup_by_email,
    "usergroups.list": list_groups,
    "usergroups.users.list": list_group_users,
}
