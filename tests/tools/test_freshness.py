"""Whether what a call read is still as it was: each tool's own short word for it, another one once a new call would return more or less."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from bot.errors import ConfigurationError, ToolFailed
from bot.tools.builtin import builtin_tools
from bot.tools.clock import clock_tools
from bot.tools.files import files_tools
from bot.tools.folder import LARGEST
from bot.tools.registry import InvalidArgs, OutOfScope, Registry, ToolContext, tool
from tests.tools.conftest import NOON, context

Open = Callable[..., Registry]


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


@pytest.fixture
def files(tmp_path: Path) -> Registry:
    for name in ("notes/today.md", "notes/old.md", "plan.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    return Registry(files_tools(tmp_path))


async def token(files: Registry, name: str, **args: Any) -> str | None:
    return await files.freshness(name, args, context())


def telling(answer: Any, *, effect: str = "read") -> Any:
    @tool(name="t.tells", effect=effect, description="d")
    async def tells(args: Nothing, ctx: ToolContext) -> None:
        return None

    @tells.freshness
    async def state(args: Nothing, ctx: ToolContext) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return tells


async def test_a_file_is_fresh_until_its_content_changes(files: Registry, tmp_path: Path) -> None:
    before = await token(files, "files.read", path="notes/today.md")
    assert before == (await files.call("files.read", {"path": "notes/today.md"}, context())).value["sha256"]

    os.utime(tmp_path / "notes/today.md", (1, 1))
    assert await token(files, "files.read", path="notes/today.md") == before

    status = (tmp_path / "notes/today.md").stat()
    (tmp_path / "notes/today.md").write_text("notes/other.md"[:14] + "\n")
    os.utime(tmp_path / "notes/today.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert await token(files, "files.read", path="notes/today.md") != before


async def test_what_cannot_be_read_has_no_freshness(files: Registry, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * (LARGEST + 1))

    for path in ("no.md", "big", "notes"):
        with pytest.raises(ToolFailed):
            await token(files, "files.read", path=path)
    with pytest.raises(InvalidArgs):
        await token(files, "files.read")
    with pytest.raises(OutOfScope):
        await token(files, "files.read", path="../x")


@pytest.mark.parametrize(("name", "args"), [("files.list", {"path": "notes"}), ("files.search", {"path": "notes", "query": "old"})])
async def test_a_folder_is_fresh_until_something_in_it_changes(files: Registry, tmp_path: Path, name: str, args: dict[str, Any]) -> None:
    states = [await token(files, name, **args)]
    (tmp_path / "plan.txt").write_text("elsewhere")
    assert await token(files, name, **args) == states[0]

    def rewrite_within_one_tick() -> None:
        path = tmp_path / "notes/old.md"
        status = path.stat()
        (tmp_path / "notes/.new").write_text("LONGER THAN IT WAS\n")
        os.utime(tmp_path / "notes/.new", ns=(status.st_atime_ns, status.st_mtime_ns))
        (tmp_path / "notes/.new").replace(path)

    changes: list[Callable[[], object]] = [
        lambda: (tmp_path / "notes/old.md").write_text("longer than it was\n"),
        rewrite_within_one_tick,
        lambda: (tmp_path / "notes/new.md").write_text("new\n"),
        lambda: (tmp_path / "notes/new.md").rename(tmp_path / "notes/named.md"),
        lambda: (tmp_path / "notes/named.md").unlink(),
    ]
    for change in changes:
        change()
        states.append(await token(files, name, **args))

    assert states[5] == states[2], "a file that came and went changed nothing"
    assert len(set(states[:5])) == 5


async def test_a_listing_does_not_care_for_files_that_do_not_fit(files: Registry, tmp_path: Path) -> None:
    before = await token(files, "files.list", pattern="*.md")

    (tmp_path / "more.txt").write_text("x")
    assert await token(files, "files.list", pattern="*.md") == before
    (tmp_path / "more.md").write_text("x")
    assert await token(files, "files.list", pattern="*.md") != before


async def test_now_is_never_the_same_and_waiting_once_is_enough() -> None:
    later = context()
    later.now = lambda: NOON + timedelta(microseconds=1)
    clock = Registry(clock_tools())

    assert await clock.freshness("time.now", {}, context()) != await clock.freshness("time.now", {}, later)
    waited = await clock.freshness("time.wait", {"seconds": 1}, context())
    assert waited is not None
    assert waited == await clock.freshness("time.wait", {"seconds": 1}, later)


async def test_only_tools_that_read_tell_and_the_catalogue_says_which(tmp_path: Path) -> None:
    registry = Registry(builtin_tools(files_root=tmp_path))

    telling = {name for name, spec in registry.catalogue.items() if spec.tells_freshness}

    assert telling == {"files.list", "files.read", "files.search", "time.now", "time.wait"}
    assert await registry.freshness("files.write", {"path": "x", "text": ""}, context()) is None
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("effect", ["write", "send", "delete", "execute"])
def test_a_tool_with_an_effect_cannot_make_it_stale(effect: str) -> None:
    with pytest.raises(ConfigurationError, match="a finished effect is never repeated"):
        telling("x", effect=effect)


async def test_a_freshness_is_short_and_holds_nothing_that_must_not_be_kept(open_registry: Open) -> None:
    secret = "xoxb-" + "123456789012-abcdefghijkl"
    kept = {}
    for answer in ("etag-1", None, "x" * 101, "x" * 102, f"by {secret}", f"by {secret}x", "two\nlines", ""):
        kept[answer] = await open_registry(telling(answer)).freshness("t.tells", {}, context())

    assert (kept["etag-1"], kept[None], kept[""]) == ("etag-1", None, "")
    assert len(set(kept.values())) == len(kept)
    assert all(len(each) <= 100 and secret not in each and "\n" not in each for each in kept.values() if each is not None)


@pytest.mark.parametrize("answer", [7, b"x", RuntimeError("broken"), ToolFailed("closed")])
async def test_what_goes_wrong_with_it_is_a_failure_in_words(open_registry: Open, answer: object) -> None:
    with pytest.raises(ToolFailed, match="not a text|broken|closed"):
        await open_registry(telling(answer)).freshness("t.tells", {}, context())


async def test_a_synchronous_freshness_has_a_thread(open_registry: Open) -> None:
    @tool(name="t.sync", effect="read", description="d")
    def sync(args: Nothing, ctx: ToolContext) -> None:
        return None

    @sync.freshness
    def state(args: Nothing, ctx: ToolContext) -> str:
        return ctx.step_id

    assert sync.spec.tells_freshness
    assert await open_registry(sync).freshness("t.sync", {}, context()) == "s1"
