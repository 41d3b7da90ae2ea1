"""files.*: upload in three steps (ask for an address, send the bytes, complete), after which the file stands in a message."""

import mimetypes
from pathlib import PurePosixPath

from bot.workspace import posting
from bot.workspace.block_kit import limits
from bot.workspace.records import BOT_USER_ID, Json
from bot.workspace.web_api import places
from bot.workspace.wire import Call, SlackError
from bot.workspace.world import World

MOST_CHANNELS = 100


async def get_upload_url(world: World, call: Call) -> Json:
    name, length = call.needed("filename"), call.number("length", 0)
    if length <= 0:
        raise SlackError("invalid_arguments", response_metadata={"messages": ["[ERROR] must be more than 0: length"]})
    file_id = world.new_id("F0")
    world.state.put("files", file_id, {"id": file_id, "name": name, "size": length, "state": "asked"})
    return {"upload_url": f"{world.url}/upload/{file_id}", "file_id": file_id}


async def complete_upload(world: World, call: Call) -> Json:
    asked = call.structure("files")
    if not isinstance(asked, list) or not asked:
        raise SlackError("invalid_arguments", response_metadata={"messages": ["[ERROR] missing required field: files"]})
    channels = [places.writable(world, call, name) for name in [*call.listed("channels"), *call.listed("channel_id")]]
    if len(channels) > MOST_CHANNELS:
        raise SlackError("too_many_channels")
    blocks = call.structure("blocks")
    if blocks is not None:
        blocks = limits.require_blocks(blocks)
    files = [_complete(world, each) for each in asked]
    for channel in channels:
        posting.post(
            world,
            channel,
            world.state.bot,
            text=call.text("initial_comment"),
            thread_ts=call.text("thread_ts"),
            files=files,
            subtype="file_share",
            upload=True,
            blocks=blocks,
        )
    return {"files": files}


async def info(world: World, call: Call) -> Json:
    found = world.state.table("files").get(call.needed("file"))
    if found is None or found["state"] != "complete":
        raise SlackError("file_not_found")
    return {"file": found["file"], "comments": [], "response_metadata": {"next_cursor": ""}}


def _complete(world: World, asked: Json) -> Json:
    """The file as messages show it. Raises SlackError file_not_found for bytes that never came."""
    record = world.state.table("files").get(str(asked.get("id")))
    if record is None or record["state"] == "asked":
        raise SlackError("file_not_found")
    kind = PurePosixPath(record["name"]).suffix.lstrip(".").lower()
    address = f"{world.url}/files/{record['id']}/{record['name']}"
    file = {
        "id": record["id"],
        "created": int(world.clock.real()),
        "timestamp": int(world.clock.real()),
        "name": record["name"],
        "title": asked.get("title") or record["name"],
        "mimetype": mimetypes.guess_type(record["name"])[0] or "application/octet-stream",
        "filetype": kind or "binary",
        "size": record["size"],
        "user": BOT_USER_ID,
        "mode": "hosted",
        "is_external": False,
        "is_public": True,
        "url_private": address,
        "url_private_download": address,
        "permalink": address,
    }
    world.state.put("files", record["id"], record | {"state": "complete", "file": file})
    return file


METHODS = {
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
    "files.info": info,
}
