"""Messages come, change and go: the one place where that happens, whoever does it.

People, the bot, response URLs and command answers all end here: store, tell the bot, hint the pages. Whether the author may is the caller's
business.
"""

from collections.abc import Iterable

from bot.workspace import events, shapes
from bot.workspace.records import BOT_USER_ID, Channel, Json, Person
from bot.workspace.wire import SlackError
from bot.workspace.world import World

LONGEST_TEXT = 40_000
EPHEMERALS_KEPT = 500


def root_of(world: World, channel: Channel, thread_ts: str) -> str:
    """The timestamp of the thread that a reply to `thread_ts` belongs to. Raises SlackError invalid_thread_ts."""
    found = world.state.message(channel.id, thread_ts)
    if found is None:
        raise SlackError("invalid_thread_ts")
    return str(found.get("thread_ts", found["ts"]))


def post(
    world: World,
    channel: Channel,
    author: Person,
    *,
    text: str,
    thread_ts: str = "",
    broadcast: bool = False,
    **fields: object,
) -> Json:
    """Say something; `fields` are further parts of the message (blocks, metadata, files, …). Returns the message.

    Raises SlackError invalid_thread_ts.
    """
    message: Json = {"type": "message", "user": author.id, "text": text[:LONGEST_TEXT], "team": author.team_id}
    if author.is_bot:
        message |= {"bot_id": author.bot_id, "app_id": author.app_id, "bot_profile": shapes.bot(author)}
    else:
        message["client_msg_id"] = world.new_id("msg-")
    if thread_ts:
        root = root_of(world, channel, thread_ts)
        parent = world.state.message(channel.id, root) or {}
        message |= {"thread_ts": root, "parent_user_id": parent.get("user", "")}
        if broadcast:
            message["subtype"] = "thread_broadcast"
    message |= {name: value for name, value in fields.items() if value}
    if message.get("blocks"):
        message["blocks"] = with_ids(world, message["blocks"])
    message["ts"] = world.state.next_ts(world.clock.real())
    world.state.put_message(channel.id, message)
    if thread_ts and author.id == BOT_USER_ID:
        clear_status(world, channel, message["thread_ts"])
    events.message_posted(world, channel, message)
    hint(world, channel, "message", message)
    return message


def edit(world: World, channel: Channel, before: Json, *, editor: Person, **changes: object) -> Json:
    """Change a message; a field set to None goes. Returns the message as it is now."""
    edited = {"edited": {"user": editor.id, "ts": world.state.next_ts(world.clock.real())}}
    after = {name: value for name, value in (before | changes | edited).items() if value is not None}
    if after.get("blocks"):
        after["blocks"] = with_ids(world, after["blocks"])
    world.state.put_message(channel.id, after)
    events.message_changed(world, channel, before=before, after=after)
    hint(world, channel, "message", after)
    return after


def delete(world: World, channel: Channel, before: Json) -> None:
    """Take a message away; the root of a thread leaves a stone, so that its replies keep their place."""
    if world.state.has_replies(channel.id, before["ts"]):
        kept = {name: before[name] for name in ("type", "user", "team", "ts")}
        world.state.put_message(channel.id, kept | {"subtype": "tombstone", "text": "This message was deleted.", "hidden": True})
    else:
        world.state.drop_message(channel.id, before["ts"])
    events.message_deleted(world, channel, before=before)
    hint(world, channel, "deleted", before)


def react(world: World, channel: Channel, message: Json, *, user: Person, name: str, remove: bool = False) -> None:
    """Add or remove a reaction. Raises SlackError already_reacted or no_reaction."""
    users = {item["name"]: list(item["users"]) for item in message.get("reactions", [])}
    present = user.id in users.get(name, [])
    if present != remove:
        raise SlackError("no_reaction" if remove else "already_reacted")
    if remove:
        users[name].remove(user.id)
    else:
        users.setdefault(name, []).append(user.id)
    reactions = [{"name": name, "users": who, "count": len(who)} for name, who in users.items() if who]
    without = {key: value for key, value in message.items() if key != "reactions"}
    world.state.put_message(channel.id, without | ({"reactions": reactions} if reactions else {}))
    events.reaction(world, channel, kind="reaction_removed" if remove else "reaction_added", user=user, name=name, message=message)
    hint(world, channel, "reaction", message)


def whisper(world: World, channel: Channel, *, to: str, text: str, thread_ts: str = "", **fields: object) -> Json:
    """Show one person (a user id) a message of the bot that nobody else sees. Returns the message; it is in no history."""
    message: Json = {"type": "message", "subtype": "bot_message", "is_ephemeral": True, "user": BOT_USER_ID, "text": text[:LONGEST_TEXT]}
    message |= shapes.by_app() | {name: value for name, value in fields.items() if value}
    if message.get("blocks"):
        message["blocks"] = with_ids(world, message["blocks"])
    if thread_ts:
        message["thread_ts"] = thread_ts
    message |= {"ts": world.state.next_ts(world.clock.real()), "channel": channel.id}
    put_ephemeral(world, to, message)
    return message


def put_ephemeral(world: World, user_id: str, message: Json) -> None:
    """Store a new or changed ephemeral message of this person; only the newest ones are kept."""
    world.state.put("ephemerals", f"{user_id} {message['ts']}", message)
    own = [key for key in world.state.table("ephemerals") if key.startswith(f"{user_id} ")]
    for key in own[:-EPHEMERALS_KEPT]:
        world.state.drop("ephemerals", key)
    world.hints.tell("ephemeral", users=[user_id], channel=message["channel"], ts=message["ts"])


def drop_ephemeral(world: World, user_id: str, ts: str) -> None:
    world.state.drop("ephemerals", f"{user_id} {ts}")
    world.hints.tell("ephemeral", users=[user_id], ts=ts)


def ephemerals(world: World, user_id: str) -> list[Json]:
    """What only this person sees, newest last."""
    return [message for key, message in world.state.table("ephemerals").items() if key.startswith(f"{user_id} ")]


def clear_status(world: World, channel: Channel, thread_ts: str) -> None:
    """The bot has spoken in the thread: it is no longer "thinking" there."""
    key = f"{channel.id} {thread_ts}"
    thread = world.state.table("threads").get(key)
    if thread is not None and thread.get("status"):
        world.state.put("threads", key, thread | {"status": ""})
        world.hints.tell("status", users=channel.members, channel=channel.id, thread_ts=thread_ts)


def hint(world: World, channel: Channel, kind: str, message: Json) -> None:
    where = {"channel": channel.id, "ts": message["ts"]} | ({"thread_ts": message["thread_ts"]} if "thread_ts" in message else {})
    world.hints.tell(kind, users=channel.members, **where)


def with_ids(world: World, blocks: Iterable[Json]) -> list[Json]:
    """Blocks and their elements with the ids that Slack invents for those that have none."""
    return [_block_with_ids(world, block) for block in blocks]


def _block_with_ids(world: World, block: Json) -> Json:
    fresh: Json = {"block_id": world.new_id("b")} | block
    for part in ("accessory", "element"):
        if isinstance(fresh.get(part), dict):
            fresh[part] = _element_with_id(world, fresh[part])
    if block.get("type") in ("actions", "context_actions"):
        fresh["elements"] = [_element_with_id(world, element) for element in block["elements"]]
    return fresh


def _element_with_id(world: World, element: Json) -> Json:
    return element if "action_id" in element or element.get("type") == "image" else {**element, "action_id": world.new_id("a")}
