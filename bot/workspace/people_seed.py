"""Who is in a fresh workspace, and where.

The people are named by what they are (requester, approver, guest, …), so that a script reads like a sentence. A file in the same form,
JSON or YAML, can stand in for them (`--people FILE`); people and channels are named there by name, and ids follow from the names.
"""

import re
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import ConfigurationError
from bot.workspace.records import APP_ID, BOT_ID, BOT_USER_ID, PARTNER_TEAM_ID, TEAM_ID, Channel, Group, Json, Person
from bot.workspace.state import State

STAFF = ["requester", "approver", "approver2", "member"]

SEED: Json = {
    "people": [
        {"name": "requester", "real_name": "Requester"},
        {"name": "approver", "real_name": "Approver"},
        {"name": "approver2", "real_name": "Second Approver"},
        {"name": "member", "real_name": "Member"},
        {"name": "guest", "real_name": "Guest", "kind": "guest"},
        {"name": "deactivated", "real_name": "Deactivated", "kind": "deactivated"},
        {"name": "partner", "real_name": "Partner", "kind": "partner"},
        {"name": "otherbot", "real_name": "Other Bot", "kind": "bot"},
    ],
    "groups": [{"handle": "ops-leads", "users": ["approver", "approver2"]}],
    "channels": [
        {"name": "general", "topic": "Everyone reads this", "members": [*STAFF, "guest", "otherbot"]},
        {"name": "ops", "topic": "Running things", "members": [*STAFF, "guest", "otherbot"]},
        {"name": "approvals", "topic": "Plans that wait for a yes", "members": STAFF},
        {"name": "audit", "topic": "Who approved what", "members": STAFF},
        {"name": "partners", "topic": "Shared with the partner's workspace", "members": [*STAFF, "partner"], "shared": True},
        {"name": "private", "topic": "Without the bot", "members": STAFF, "private": True, "bot": False},
    ],
}


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PersonForm(_Form):
    name: str
    real_name: str = ""
    email: str = ""
    tz: str = "Etc/UTC"
    kind: Literal["member", "admin", "guest", "deactivated", "partner", "bot"] = "member"


class GroupForm(_Form):
    handle: str
    name: str = ""
    users: tuple[str, ...] = ()


class ChannelForm(_Form):
    name: str
    topic: str = ""
    members: tuple[str, ...] = ()
    private: bool = False
    shared: bool = False
    bot: bool = True


class Seed(_Form):
    """A workspace's beginning."""

    people: tuple[PersonForm, ...]
    groups: tuple[GroupForm, ...] = ()
    channels: tuple[ChannelForm, ...]


def read_seed(path: Path | None) -> Seed:
    """Return the seed of that file, or the usual one; ConfigurationError says what is wrong with the file."""
    if path is None:
        return Seed.model_validate(SEED)
    try:
        return Seed.model_validate(yaml.safe_load(path.read_text()))  # JSON is YAML
    except OSError as problem:
        raise ConfigurationError(f"{path}: cannot be read: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise ConfigurationError(f"{path}: this is not a text file in UTF-8") from problem
    except yaml.YAMLError as problem:
        raise ConfigurationError(f"{path}: neither JSON nor YAML: {' '.join(str(problem).split())}") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        says = f"{where}: {first['msg']}" if where else "this names no people; begin with `people:` and `channels:`"
        raise ConfigurationError(f"{path}: {says}") from problem


def plant(seed: Seed, state: State, *, created: int) -> None:
    """Fill an empty workspace; ConfigurationError where a group or a channel names nobody.

    Killed in between, it is done over at the next start: only the last record says that it was done.
    """
    for form in seed.people:
        person = _person(form)
        state.put("people", person.id, person)
    ids = {form.name: _person(form).id for form in seed.people}
    for group in seed.groups:
        group_id = f"S0{_upper(group.handle)}"
        users = _ids(group.users, ids, f"group {group.handle}")
        state.put("groups", group_id, Group(id=group_id, handle=group.handle, name=group.name or group.handle, users=users))
    for channel in seed.channels:
        planted = _channel(channel, ids, created)
        state.put("channels", planted.id, planted)
    state.put("meta", "planted", {"at": created})


def name_bot(state: State, name: str) -> None:
    """Make the app's bot what the manifest calls it now."""
    bot = _bot(name)
    if state.people.get(bot.id) != bot:
        state.put("people", bot.id, bot)


def _bot(name: str) -> Person:
    return Person(id=BOT_USER_ID, name=re.sub(r"\s+", "-", name.lower()), real_name=name, bot_id=BOT_ID, app_id=APP_ID)


def _person(form: PersonForm) -> Person:
    tail = _upper(form.name)
    is_bot = form.kind == "bot"
    return Person(
        id=f"U0{tail}",
        name=form.name,
        real_name=form.real_name or form.name,
        tz=form.tz,
        team_id=PARTNER_TEAM_ID if form.kind == "partner" else TEAM_ID,
        email="" if is_bot else form.email or f"{form.name}@example.com",
        is_admin=form.kind == "admin",
        is_restricted=form.kind == "guest",
        deleted=form.kind == "deactivated",
        bot_id=f"B0{tail}" if is_bot else "",
        app_id=f"A0{tail}" if is_bot else "",
    )


def _channel(form: ChannelForm, ids: dict[str, str], created: int) -> Channel:
    members = _ids(form.members, ids, f"channel {form.name}") + ((BOT_USER_ID,) if form.bot else ())
    return Channel(
        id=f"C0{_upper(form.name)}",
        name=form.name,
        topic=form.topic,
        members=members,
        created=created,
        is_private=form.private,
        is_ext_shared=form.shared,
    )


def _ids(names: tuple[str, ...], ids: dict[str, str], where: str) -> tuple[str, ...]:
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise ConfigurationError(f"people file: {where} names {', '.join(unknown)}, who is not among its people")
    return tuple(ids[name] for name in names)


def _upper(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", name.upper())
