"""The page's files, uploads and downloads: everything that is bytes and not JSON."""

import mimetypes
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import BodyPartReader, web

from bot.workspace.doors import COOKIE
from bot.workspace.world import World

PAGE = Path(__file__).parent / "page"


def routes(world: World) -> list[web.RouteDef]:
    async def index(request: web.Request) -> web.StreamResponse:
        if "token" in request.query:
            return _enter(request.query["token"], world)
        return _page_file("index.html")

    async def page(request: web.Request) -> web.StreamResponse:
        return _page_file(request.match_info["name"])

    async def message(request: web.Request) -> web.StreamResponse:
        """A permalink leads to the page."""
        packed = request.match_info["message"].removeprefix("p")
        thread = request.query.get("thread_ts", f"{packed[:-6]}.{packed[-6:]}")
        place = {"at": request.match_info["channel"], "thread": thread}
        raise web.HTTPFound(f"/#{urlencode(place)}")

    async def upload(request: web.Request) -> web.StreamResponse:
        return await _upload(world, request)

    async def download(request: web.Request) -> web.StreamResponse:
        return _download(world, request)

    return [
        web.get("/", index),
        web.get("/page/{name}", page),
        web.get("/archives/{channel}/{message}", message),
        web.post("/upload/{id}", upload),
        web.get("/files/{id}/{name}", download),
    ]


def _enter(token: str, world: World) -> web.StreamResponse:
    """Put the token into the cookie and out of the address."""
    if token != world.tokens.people:
        return web.Response(status=403, text="This token is not this workspace's. Open the address that it printed when it started.\n")
    response = web.Response(status=302, headers={"Location": "/"})
    response.set_cookie(COOKIE, token, httponly=True, samesite="Strict", path="/")
    return response


def _page_file(name: str) -> web.StreamResponse:
    path = PAGE / name
    if path.parent != PAGE or not path.is_file():
        return web.Response(status=404, text=f"The page has no file {name}.\n")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return web.Response(body=path.read_bytes(), content_type=kind, charset="utf-8", headers={"Cache-Control": "no-store"})


async def _upload(world: World, request: web.Request) -> web.StreamResponse:
    """Raw bytes or the first file of a form, as clients of both kinds exist."""
    record = world.state.table("files").get(request.match_info["id"])
    if record is None or record["state"] != "asked":
        return web.Response(status=404, text="no such upload")
    content = await _form_file(request) if request.content_type == "multipart/form-data" else await request.read()
    world.files.write(record["id"], content)
    world.state.put("files", record["id"], record | {"state": "uploaded", "size": len(content)})
    return web.Response(text=f"OK - {len(content)}")


async def _form_file(request: web.Request) -> bytes:
    reader = await request.multipart()
    async for part in reader:
        if isinstance(part, BodyPartReader) and part.filename:
            return bytes(await part.read(decode=True))
    return b""


def _download(world: World, request: web.Request) -> web.StreamResponse:
    record = world.state.table("files").get(request.match_info["id"])
    content = world.files.read(request.match_info["id"]) if record is not None and record["state"] == "complete" else None
    if record is None or content is None:
        return web.Response(status=404, text="no such file")
    headers = {"Content-Disposition": "attachment"}  # never shown as a page of this origin
    return web.Response(body=content, content_type=record["file"]["mimetype"], headers=headers)
