"""Files under one configured folder: list, read, search, write, delete. Text only, UTF-8 only, two megabytes at most.

Paths are checked as words when the plan is validated (`scope`) and on the disk when the step runs (`folder`). Writing is all or nothing and
refuses text that was cut or masked on its way, since it would destroy what it came from. Write and delete show before and after, and can
tell after a crash whether they happened. What reads can tell whether it would read the same again: a file by its content, a folder by the
names, sizes and times of what lies in it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.errors import ToolFailed
from bot.tools.context import ToolContext
from bot.tools.definition import Preview, Tool, tool
from bot.tools.folder import LARGEST, Folder, Found, Missing
from bot.tools.paths import PathRefused, joined, matches, parts
from bot.tools.sanitize import lossy, size, summary

MOST_FILES = 1000
MOST_MATCHES = 200
MOST_BYTES = 50_000_000  # looked through in one search
CLOSED = ConfigDict(frozen=True, extra="forbid")


class ListArgs(BaseModel):
    model_config = CLOSED
    path: str = Field(default=".", max_length=4000, description="Folder below the files folder, such as 'notes'; '.' for all of it")
    pattern: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Only files that fit: '*.md' goes by name at any depth, '2026/**/*.md' by path below the folder",
    )


class Listed(BaseModel):
    path: str
    size: int
    modified: datetime


class Listing(BaseModel):
    files: list[Listed]
    cut: bool = Field(default=False, description="There are more files than these")


class ReadArgs(BaseModel):
    model_config = CLOSED
    path: str = Field(min_length=1, max_length=4000, description="File below the files folder, such as 'notes/today.md'")


class FileText(BaseModel):
    path: str
    text: str
    lines: int
    size: int = Field(description="Bytes")
    sha256: str


class SearchArgs(BaseModel):
    model_config = CLOSED
    query: str = Field(min_length=1, max_length=200, description="Words to find as they stand, in one line; case does not matter")
    path: str = Field(default=".", max_length=4000, description="Folder below the files folder to look in; '.' for all of it")


class Match(BaseModel):
    path: str
    line: int
    text: str


class Matches(BaseModel):
    matches: list[Match]
    cut: bool = Field(default=False, description="There is more to find than this")


class WriteArgs(BaseModel):
    model_config = CLOSED
    path: str = Field(min_length=1, max_length=4000, description="File below the files folder, such as 'notes/today.md'; folders are made")
    text: str = Field(max_length=LARGEST, description="The whole new content of the file")


class Written(BaseModel):
    path: str
    size: int = Field(description="Bytes")
    sha256: str
    created: bool | None = Field(description="It is a new file; null where that is not known any more")


class DeleteArgs(BaseModel):
    model_config = CLOSED
    path: str = Field(min_length=1, max_length=4000, description="File below the files folder, such as 'notes/old.md'; no folders")


class Deleted(BaseModel):
    path: str
    size: int | None = Field(description="Bytes that it had; null where that is not known any more")


def files_tools(root: Path) -> list[Tool]:
    """The five tools over that folder. Nothing is touched before a tool is called."""
    folder = Folder(root)
    tools = [_list(folder), _read(folder), _search(folder), _write(folder), _delete(folder)]
    for each in tools:
        each.scope(_scope)
    return tools


def _scope(args: Mapping[str, Any]) -> str | None:
    """What is wrong with the path, as far as it is known yet."""
    path = args.get("path")
    if not isinstance(path, str) or "{{" in path:
        return None
    try:
        parts(path)
    except PathRefused as fault:
        return str(fault)
    return None


def _list(folder: Folder) -> Tool:
    @tool(name="files.list", effect="read", says="Lists files in {path}", target="path")
    def list_files(args: ListArgs, ctx: ToolContext) -> Listing:
        """List the files below a folder, with size and time of the last change, at any depth.

        Use it to find out which files there are or what they are called. Do not use it to look into files: files.search finds words in
        them and files.read gives their text.
        """
        files: list[Listed] = []
        for found in _fitting(folder, args, ctx):
            if len(files) == MOST_FILES:
                return Listing(files=files, cut=True)
            files.append(Listed(path=joined(found.names), size=found.size, modified=found.modified))
        return Listing(files=files)

    @list_files.freshness
    def state(args: ListArgs, ctx: ToolContext) -> str:
        return _state(islice(_fitting(folder, args, ctx), MOST_FILES + 1))

    return list_files


def _fitting(folder: Folder, args: ListArgs, ctx: ToolContext) -> Iterator[Found]:
    """The files below the folder that fit the pattern."""
    names = parts(args.path)
    pattern = tuple(args.pattern.split("/")) if args.pattern else ("**",)
    pattern = ("**", *pattern) if len(pattern) == 1 else pattern
    for found in folder.walk(names):
        ctx.check()
        if matches(found.names[len(names) :], pattern):
            yield found


def _read(folder: Folder) -> Tool:
    @tool(name="files.read", effect="read", target="path")
    def read(args: ReadArgs, _ctx: ToolContext) -> FileText:
        """Read the text of one file.

        Use it when the path is known and the content is needed by a later step. Do not use it for web pages (web.fetch), for files that
        are not text, or to find out where something is said (files.search).
        """
        names = parts(args.path)
        data, found = folder.read(names)
        text = _text(data, names)
        return FileText(path=joined(names), text=text, lines=len(text.splitlines()), size=len(data), sha256=_hash(data))

    @read.freshness
    def state(args: ReadArgs, _ctx: ToolContext) -> str:
        return _hash(folder.read(parts(args.path))[0])

    return read


def _search(folder: Folder) -> Tool:
    @tool(name="files.search", effect="read", says="Searches {path} for {query}", target="path")
    def search(args: SearchArgs, ctx: ToolContext) -> Matches:
        """Find the lines that contain some words, in all text files below a folder.

        Use it to find out where something is said. Do not use it to read a file whose path is known (files.read) or to find files by
        their names (files.list); it does not understand patterns.
        """
        wanted = args.query.casefold()
        hits: list[Match] = []
        for found in _searched(folder, args, ctx):
            if found is None:
                return Matches(matches=hits, cut=True)
            hits += _hits(folder, found, wanted)
            if len(hits) > MOST_MATCHES:
                return Matches(matches=hits[:MOST_MATCHES], cut=True)
        return Matches(matches=hits)

    @search.freshness
    def state(args: SearchArgs, ctx: ToolContext) -> str:
        return _state(_searched(folder, args, ctx))

    return search


def _searched(folder: Folder, args: SearchArgs, ctx: ToolContext) -> Iterator[Found | None]:
    """The files that a search looks into; None where it leaves off, since there is more than one search may look through."""
    looked = 0
    for found in folder.walk(parts(args.path)):
        ctx.check()
        looked += found.size if found.size <= LARGEST else 0
        if looked > MOST_BYTES:
            yield None
            return
        yield found


def _state(files: Iterable[Found | None]) -> str:
    """One hash for which files there are and how each of them lies there; their content is not read."""
    seen = hashlib.sha256()
    for found in files:
        seen.update(repr((found.names, found.size, found.mark) if found else found).encode("utf-8", "surrogateescape"))
    return seen.hexdigest()


def _hits(folder: Folder, found: Found, wanted: str) -> list[Match]:
    """Lines of one file; none if it is no text, or has gone since it was listed."""
    try:
        text = _text(folder.read(found.names)[0], found.names) if found.size <= LARGEST else ""
    except ToolFailed:
        return []
    lines = ((number, content) for number, content in enumerate(text.splitlines(), start=1) if wanted in content.casefold())
    return [Match(path=joined(found.names), line=number, text=_around(content, wanted)) for number, content in lines]


def _around(content: str, wanted: str) -> str:
    """The line, or of a long one the part about the first match."""
    at = max(0, content.casefold().find(wanted) - 100)
    return content.strip() if len(content) <= 300 else ("…" if at else "") + content[at : at + 300].strip() + "…"


def _write(folder: Folder) -> Tool:
    @tool(name="files.write", effect="write", target="path", lock="files:{path}", idempotent=True)
    def write(args: WriteArgs, _ctx: ToolContext) -> Written:
        """Write a text file: a new one, or the whole content of one that is there, which is lost.

        Use it to keep a result as a file. Do not use it to add to a file without reading it first, and not to tell people something
        (slack.post_message does).
        """
        names, data = parts(args.path), _whole(args.text)
        created = folder.replace(names, data)
        return Written(path=joined(names), size=len(data), sha256=_hash(data), created=created)

    @write.preview
    def preview(args: WriteArgs, ctx: ToolContext) -> Preview:
        names = parts(args.path)
        _whole(args.text)
        before, facts = _before(folder, names, now=ctx.now())
        return Preview(target=joined(names), facts=facts or ("a new file", summary(args.text)), before=before, after=args.text)

    @write.verify
    def verify(args: WriteArgs, _ctx: ToolContext) -> Written | None:
        names, data = parts(args.path), args.text.encode()
        try:
            there, _ = folder.read(names)
        except Missing:
            return None
        return Written(path=joined(names), size=len(data), sha256=_hash(data), created=None) if there == data else None

    return write


def _delete(folder: Folder) -> Tool:
    @tool(name="files.delete", effect="delete", target="path", lock="files:{path}")
    def delete(args: DeleteArgs, _ctx: ToolContext) -> Deleted:
        """Delete one file for good.

        Use it only when somebody asked for exactly that. Do not use it on folders, and not to empty a file (files.write with an empty
        text does).
        """
        names = parts(args.path)
        return Deleted(path=joined(names), size=folder.delete(names).size)

    @delete.preview
    def preview(args: DeleteArgs, ctx: ToolContext) -> Preview:
        names = parts(args.path)
        before, facts = _before(folder, names, now=ctx.now())
        if not facts:
            raise Missing(f"'{joined(names)}' does not exist: there is nothing to delete.")
        return Preview(target=joined(names), facts=facts, before=before, after=None)

    @delete.verify
    def verify(args: DeleteArgs, _ctx: ToolContext) -> Deleted | None:
        names = parts(args.path)
        try:
            folder.look(names)
        except Missing:
            return Deleted(path=joined(names), size=None)
        return None

    return delete


def _before(folder: Folder, names: tuple[str, ...], *, now: datetime) -> tuple[str | None, tuple[str, ...]]:
    """The text that is there now (None if it is not text) and facts about the file; no facts if there is no file."""
    try:
        found = folder.look(names)
    except Missing:
        return None, ()
    changed = f"last changed {_ago(now - found.modified)}"
    try:
        text = _text(folder.read(names)[0], names)
    except ToolFailed:
        return None, (f"{size(found.size)}, not shown as text", changed)
    return text, (summary(text), changed)


def _text(data: bytes, names: tuple[str, ...]) -> str:
    shown = joined(names)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ToolFailed(f"'{shown}' is UTF-16 text; only UTF-8 is read. Save it as UTF-8.")
    if b"\0" in data:
        raise ToolFailed(f"'{shown}' is not a text file.")
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        raise ToolFailed(f"'{shown}' is not UTF-8 text (byte {fault.start:,}). Save it as UTF-8.") from fault


def _whole(text: str) -> bytes:
    """The text as bytes, if it is all there."""
    if why := lossy(text):
        raise ToolFailed(f"The text is not whole: {why} when a step's result was kept. Writing it would lose the rest.")
    data = text.encode()
    if len(data) > LARGEST:
        raise ToolFailed(f"The text is larger than {LARGEST // 1_000_000} MB ({len(data):,} bytes).")
    return data


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _ago(age: timedelta) -> str:
    """In words: "just now", "5 minutes ago", "2 days ago"."""
    seconds = int(age.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count:,} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
