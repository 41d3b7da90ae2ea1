"""Tools whose steps a test can see start, hold, break and count, also across processes: they speak through files of their folder.

Loaded through PULLCORD_TOOLS like any team's own. The folder is named by PULLCORD_TEST_FOLDER.
"""

import asyncio
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from bot.errors import ToolFailed
from bot.tools.registry import Preview, ToolContext, tool


def folder() -> Path:
    return Path(os.environ["PULLCORD_TEST_FOLDER"])


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Which one.")


class Done(BaseModel):
    name: str


def _count(kind: str, name: str) -> None:
    with (folder() / f"{kind}.log").open("a") as log:
        log.write(f"{name}\n")


@tool(name="test.look", effect="read", says="Looks at {name}", target="name")
async def look(args: Named, ctx: ToolContext) -> Done:
    """Look at something by name. Use it in tests that need a read. Not for real work."""
    _count("look", args.name)
    return Done(name=args.name)


@tool(name="test.change", effect="write", says="Changes {name}", target="name")
async def change(args: Named, ctx: ToolContext) -> Done:
    """Change something by name, counted in a file. Use it in tests that need an effect. Not for real work."""
    _count("change", args.name)
    return Done(name=args.name)


@tool(name="test.gate", effect="write", says="Waits at the gate {name}", target="name")
async def gate(args: Named, ctx: ToolContext) -> Done:
    """Start, then wait until the file NAME.open is there. Use it in tests that need a step in flight. Not for real work."""
    _count("gate", args.name)
    ctx.progress("at the gate")
    while not (folder() / f"{args.name}.open").exists():
        await asyncio.sleep(0.01)
    _count("passed", args.name)
    return Done(name=args.name)


@tool(name="test.readgate", effect="read", says="Reads at the gate {name}", target="name")
async def readgate(args: Named, ctx: ToolContext) -> Done:
    """Like test.gate, but it only reads. Use it in tests that need a read in flight. Not for real work."""
    _count("readgate", args.name)
    while not (folder() / f"{args.name}.open").exists():
        await asyncio.sleep(0.01)
    return Done(name=args.name)


@tool(name="test.fails", effect="write", says="Breaks {name}", target="name")
async def fails(args: Named, ctx: ToolContext) -> Done:
    """Fail until the file NAME.mended is there. Use it in tests that need a failure. Not for real work."""
    _count("fails", args.name)
    if not (folder() / f"{args.name}.mended").exists():
        raise ToolFailed(f"{args.name} is broken; mend it first")
    return Done(name=args.name)


@tool(name="test.verified", effect="write", says="Changes {name} and can tell", target="name")
async def verified(args: Named, ctx: ToolContext) -> Done:
    """Write the file NAME.done, then wait for NAME.open. Use it in tests of verification. Not for real work."""
    _count("verified", args.name)
    (folder() / f"{args.name}.done").write_text("done")
    while not (folder() / f"{args.name}.open").exists():
        await asyncio.sleep(0.01)
    return Done(name=args.name)


@verified.verify
async def verified_happened(args: Named, ctx: ToolContext) -> Done | None:
    return Done(name=args.name) if (folder() / f"{args.name}.done").exists() else None


@tool(name="test.destroy", effect="delete", says="Deletes {name}", target="name")
async def destroy(args: Named, ctx: ToolContext) -> Done:
    """Delete something by name, counted in a file. Use it in tests that need a high risk. Not for real work."""
    _count("destroy", args.name)
    return Done(name=args.name)


@tool(name="test.locked", effect="write", says="Changes {name} alone", target="name", lock="test:{name}")
async def locked(args: Named, ctx: ToolContext) -> Done:
    """Start, holding the key of NAME, then wait until NAME.open is there. Use it in tests of locks. Not for real work."""
    _count("locked", args.name)
    while not (folder() / f"{args.name}.open").exists():
        await asyncio.sleep(0.01)
    return Done(name=args.name)


@tool(name="test.previewed", effect="delete", says="Deletes {name}, with a preview", target="name")
async def previewed(args: Named, ctx: ToolContext) -> Done:
    """Delete something that can be looked at before. Use it in tests of previews. Not for real work."""
    _count("previewed", args.name)
    return Done(name=args.name)


@previewed.preview
async def previewed_before(args: Named, ctx: ToolContext) -> Preview:
    _count("preview", args.name)
    while not (folder() / f"{args.name}.open").exists():
        await asyncio.sleep(0.01)
    return Preview(target=args.name, facts=(), before="there", after=None)
