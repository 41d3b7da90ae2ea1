"""chat.*: post, update, delete, whisper, link."""

from typing import Any

from bot.workspace import posting
from bot.workspace.block_kit import limits
from bot.workspace.records import BOT_ID, BOT_USER_ID, Channel, Json
from bot.workspace.web_api import places
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World

LONGEST_UPDATE = 4_000
LONGEST_MARKDOWN = 12_000
MOST_ATTACHMENTS = 100


async def post_message(world: World, call: Call) -> Json:
    channel = places.writable(world, call, call.needed("channel"))
    content = read_content(call)
    message = posting.post(
        world,
        channel,
        world.state.bot,
        thread_ts=call.text("thread_ts"),
        broadcast=call.flag("reply_broadcast"),
        username=call.text("username"),
        metadata=read_metadata(call),
        **content,
    )
    shown = {name: value for name, value in message.items() if name != "metadata"}
    return {"channel": channel.id, "ts": message["ts"], "message": shown}


async def post_ephemeral(world: World, call: Call) -> Json:
    channel = places.writable(world, call, call.needed("channel"))
    user = call.needed("user")
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    thread_ts = call.text("thread_ts")
    root = posting.root_of(world, channel, thread_ts) if thread_ts else ""
    message = posting.whisper(world, channel, to=user, thread_ts=root, **read_content(call))
    return {"message_ts": message["ts"]}


async def update(world: World, call: Call) -> Json:
    """What is left out stays, except that text without blocks removes the blocks."""
    channel, before = _own_message(world, call, error="cant_update_message")
    if len(call.text("text")) > LONGEST_UPDATE:
        raise SlackError("msg_too_long")
    content = read_content(call)
    changes: dict[str, Any] = {"blocks": content["blocks"], "attachments": content["attachments"]}
    if content["text"]:
        changes["text"] = content["text"]
    if "metadata" in call.args:
        changes["metadata"] = read_metadata(call) or None
    after = posting.edit(world, channel, before, editor=world.state.bot, **changes)
    shown = {name: value for name, value in after.items() if name != "metadata"}
    return {"channel": channel.id, "ts": after["ts"], "text": after["text"], "message": shown}


async def delete(world: World, call: Call) -> Json:
    channel, message = _own_message(world, call, error="cant_delete_message")
    posting.delete(world, channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


async def get_permalink(world: World, call: Call) -> Json:
    channel = places.visible(world, call.needed("channel"))
    message = places.message(world, channel, call.needed("message_ts"))
    return {"channel": channel.id, "permalink": permalink(world, channel, message)}


def permalink(world: World, channel: Channel, message: Json) -> str:
    """The address at which people see this message."""
    link = f"{world.url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"
    root = message.get("thread_ts", message["ts"])
    return link if root == message["ts"] else f"{link}?thread_ts={root}&cid={channel.id}"


def read_content(call: Call) -> dict[str, Any]:
    """Text, blocks and attachments of a message, checked. Raises SlackError, no_text where there is nothing to show."""
    text, blocks, attachments = call.text("text"), call.structure("blocks"), call.structure("attachments")
    markdown = call.text("markdown_text")
    if markdown:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        if len(markdown) > LONGEST_MARKDOWN:
            raise SlackError("msg_too_long")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    if blocks is not None:
        blocks = limits.require_blocks(blocks)
    if len(attachments or []) > MOST_ATTACHMENTS:
        raise SlackError("too_many_attachments")
    if not text and not blocks and not attachments:
        raise SlackError("no_text")
    return {"text": text, "blocks": blocks or None, "attachments": attachments or None}


def read_metadata(call: Call) -> Json:
    """A message's metadata, empty if none was given. Raises SlackError invalid_metadata_format."""
    metadata = call.structure("metadata")
    if not metadata:
        return {}
    if not isinstance(metadata, dict) or not metadata.get("event_type") or not isinstance(metadata.get("event_payload"), dict):
        raise SlackError("invalid_metadata_format")
    return metadata


def _own_message(world: World, call: Call, *, error: str) -> tuple[Channel, Json]:
    channel = places.visible(world, call.needed("channel"))
    message = places.message(world, channel, call.needed("ts"))
    if message.get("bot_id") != BOT_ID or message["user"] != BOT_USER_ID:
        raise SlackError(error)
    return channel, message


METHODS = {
    "chat.postMessage": post_message,
    "chat.postEphemeral": post_ephemeral,
    "chat.update": update,
    "chat.delete": delete,
    "chat.getPermalink": get_permalink,
}
