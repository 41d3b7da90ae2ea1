"""Records in Slack's shapes: users, channels, user groups, messages as they are read back."""

from bot.workspace.records import APP_ID, BOT_ID, PARTNER_TEAM_ID, TEAM_DOMAIN, TEAM_ID, TEAM_NAME, Channel, Group, Json, Person
from bot.workspace.state import State

ICONS = {"image_36": "", "image_48": "", "image_72": ""}


def team() -> Json:
    return {"id": TEAM_ID, "name": TEAM_NAME, "domain": TEAM_DOMAIN}


def user(person: Person) -> Json:
    """A person as `users.info` gives it."""
    profile: Json = {
        "real_name": person.real_name,
        "display_name": person.name,
        "real_name_normalized": person.real_name,
        "display_name_normalized": person.name,
        "team": person.team_id,
        "avatar_hash": "",
        "status_text": "",
        "status_emoji": "",
    }
    if person.email:
        profile["email"] = person.email
    if person.is_bot:
        profile |= {"bot_id": person.bot_id, "api_app_id": person.app_id}
    return {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name,
        "real_name": person.real_name,
        "deleted": person.deleted,
        "tz": person.tz,
        "tz_label": person.tz,
        "tz_offset": 0,
        "profile": profile,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "is_admin": person.is_admin,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": person.is_restricted,
        "is_ultra_restricted": person.is_ultra_restricted,
        "is_stranger": person.is_stranger,
        "updated": 0,
    }


def bot(person: Person) -> Json:
    """A bot as `bots.info` gives it, and as `bot_profile` of its messages."""
    return {
        "id": person.bot_id,
        "app_id": person.app_id,
        "user_id": person.id,
        "name": person.real_name,
        "deleted": person.deleted,
        "updated": 0,
        "icons": ICONS,
        "team_id": person.team_id,
    }


def group(record: Group) -> Json:
    return {
        "id": record.id,
        "team_id": TEAM_ID,
        "is_usergroup": True,
        "name": record.name,
        "handle": record.handle,
        "description": "",
        "is_external": False,
        "date_create": 0,
        "date_update": 0,
        "date_delete": 0,
        "users": list(record.users),
        "user_count": len(record.users),
        "prefs": {"channels": [], "groups": []},
    }


def channel(record: Channel, *, viewer: str) -> Json:
    """A conversation as `conversations.info` gives it to `viewer` (a user id)."""
    common = {
        "id": record.id,
        "created": record.created,
        "is_archived": record.is_archived,
        "is_org_shared": False,
        "context_team_id": TEAM_ID,
    }
    if record.is_im:
        other = record.user if viewer != record.user else next((member for member in record.members if member != record.user), "")
        return common | {"is_im": True, "is_channel": False, "is_group": False, "is_mpim": False, "user": other, "is_private": True}
    shared = [TEAM_ID, PARTNER_TEAM_ID] if record.is_ext_shared else [TEAM_ID]
    return common | {
        "name": record.name,
        "name_normalized": record.name,
        "is_channel": not record.is_private,
        "is_group": record.is_private,
        "is_im": False,
        "is_mpim": False,
        "is_private": record.is_private,
        "is_general": record.name == "general",
        "is_shared": record.is_ext_shared,
        "is_ext_shared": record.is_ext_shared,
        "shared_team_ids": shared,
        "is_member": viewer in record.members,
        "num_members": len(record.members),
        "creator": "",
        "topic": {"value": record.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def message(state: State, channel_id: str, stored: Json, *, metadata: bool) -> Json:
    """A message as history gives it: with its thread's figures, and with its metadata only if asked for."""
    shown = dict(stored) if metadata else {name: value for name, value in stored.items() if name != "metadata"}
    replies = state.replies(channel_id, stored["ts"]) if stored.get("thread_ts", stored["ts"]) == stored["ts"] else []
    if replies:
        repliers = list(dict.fromkeys(reply["user"] for reply in replies))
        shown |= {
            "thread_ts": stored["ts"],
            "reply_count": len(replies),
            "reply_users": repliers,
            "reply_users_count": len(repliers),
            "latest_reply": replies[-1]["ts"],
            "is_locked": False,
            "subscribed": False,
        }
    return shown


def channel_name_in_payload(record: Channel) -> str:
    """How interaction payloads name a conversation: only public channels by name."""
    return {"im": "directmessage", "group": "privategroup"}.get(record.kind, record.name)


def by_app() -> Json:
    """What marks a message as the app's own."""
    return {"bot_id": BOT_ID, "app_id": APP_ID}
