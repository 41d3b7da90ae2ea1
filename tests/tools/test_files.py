"""Files under one folder, and nothing outside of it, through the registry as a step would call them."""

import hashlib
import os
import shutil
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ToolFailed
from bot.tools.files import files_tools
from bot.tools.folder import LARGEST, Folder
from bot.tools.paths import PathRefused
from bot.tools.registry import CannotTell, OutOfScope, Registry
from tests.tools.conftest import context
from tests.tools.test_paths import HOSTILE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a few files, beside one with a longer name that must stay closed."""
    folder = tmp_path / "ws"
    texts = {"notes/today.md": "one\ntwo Cache\n", "notes/old.md": "cache\n", "plan.txt": "x", ".env": "KEY=1", ".git/config": "c"}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "a").write_text("outside")
    return folder


@pytest.fixture
def files(root: Path) -> Registry:
    return Registry(files_tools(root))


async def call(files: Registry, tool: str, **args: Any) -> Any:
    return (await files.call(tool, args, context())).value


async def test_a_file_is_read_whole(files: Registry) -> None:
    seen = await call(files, "files.read", path="notes/today.md")

    assert seen == {
        "path": "notes/today.md",
        "text": "one\ntwo Cache\n",
        "lines": 2,
        "size": 14,
        "sha256": hashlib.sha256(b"one\ntwo Cache\n").hexdigest(),
    }


async def test_listing_goes_below_and_passes_over_what_is_closed(files: Registry, root: Path) -> None:
    (root / "link.md").symlink_to(root / "plan.txt")
    os.mkfifo(root / "pipe")

    everything = await call(files, "files.list")
    notes = await call(files, "files.list", path="notes")

    assert [each["path"] for each in everything["files"]] == ["notes/old.md", "notes/today.md", "plan.txt"]
    assert [each["path"] for each in notes["files"]] == ["notes/old.md", "notes/today.md"]
    assert everything["files"][2]["size"] == 1
    assert everything["cut"] is False


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"pattern": "*.md"}, ["notes/old.md", "notes/today.md"]),
        ({"pattern": "notes/t*"}, ["notes/today.md"]),
        ({"path": "notes", "pattern": "old.*"}, ["notes/old.md"]),
        ({"pattern": "none"}, []),
    ],
)
async def test_patterns_choose_by_name_or_by_path(files: Registry, args: dict[str, str], found: list[str]) -> None:
    assert [each["path"] for each in (await call(files, "files.list", **args))["files"]] == found


async def test_a_long_listing_is_cut_and_says_so(files: Registry, root: Path) -> None:
    (root / "many").mkdir()
    for number in range(1001):
        (root / "many" / f"{number:04}").touch()

    seen = await files.call("files.list", {"path": "many"}, context())

    assert seen.value["cut"] is True


async def test_search_finds_lines_whatever_their_case(files: Registry, root: Path) -> None:
    (root / "bin.dat").write_bytes(b"cache\0cache")
    (root / "long.txt").write_text("-" * 5000 + " the cache " + "-" * 5000)

    found = (await call(files, "files.search", query="CACHE"))["matches"]

    assert [(each["path"], each["line"]) for each in found] == [("long.txt", 1), ("notes/old.md", 1), ("notes/today.md", 2)]
    assert found[2]["text"] == "two Cache"
    assert len(found[0]["text"]) < 310
    assert "the cache" in found[0]["text"]
    assert (await call(files, "files.search", query="KEY=1"))["matches"] == []
    assert len((await call(files, "files.search", query="cache", path="notes"))["matches"]) == 2


async def test_writing_makes_folders_and_says_what_it_did(files: Registry, root: Path) -> None:
    first = await call(files, "files.write", path="new/deep/a.md", text="été\n")
    second = await call(files, "files.write", path="new/deep/a.md", text="")

    assert first == {"path": "new/deep/a.md", "size": 6, "sha256": hashlib.sha256("été\n".encode()).hexdigest(), "created": True}
    assert second["created"] is False
    assert (root / "new/deep/a.md").read_text() == ""
    assert [path.name for path in (root / "new/deep").iterdir()] == ["a.md"]


async def test_writing_keeps_the_files_mode(files: Registry, root: Path) -> None:
    (root / "plan.txt").chmod(0o600)

    await call(files, "files.write", path="plan.txt", text="y")

    assert (root / "plan.txt").stat().st_mode & 0o777 == 0o600


async def test_the_first_write_makes_the_folder_itself(tmp_path: Path) -> None:
    files = Registry(files_tools(tmp_path / "not" / "yet"))

    with pytest.raises(ToolFailed, match="no such file"):
        await call(files, "files.read", path="a.md")
    await call(files, "files.write", path="a.md", text="x")

    assert (tmp_path / "not" / "yet" / "a.md").read_text() == "x"


async def test_a_failed_write_leaves_the_old_file_and_nothing_else(root: Path) -> None:
    folder = Folder(root)

    with pytest.raises(TypeError):
        folder.replace(("plan.txt",), "no bytes")  # type: ignore[arg-type]

    assert (root / "plan.txt").read_text() == "x"
    assert sorted(path.name for path in root.iterdir()) == [".env", ".git", "notes", "plan.txt"]


@pytest.mark.parametrize("text", ["x… cut, 1,000 of 5,000 characters", "password = ⟦secret 3f2a⟧"])
async def test_text_that_lost_something_on_its_way_is_not_written(files: Registry, text: str) -> None:
    with pytest.raises(ToolFailed, match="The text is not whole"):
        await call(files, "files.write", path="copy.md", text=text)


async def test_the_preview_of_a_write_shows_before_and_after(files: Registry) -> None:
    change = await files.preview("files.write", {"path": "notes/today.md", "text": "three\n"}, context())
    new = await files.preview("files.write", {"path": "fresh.md", "text": "a\nb\n"}, context())

    assert change is not None
    assert (change.target, change.before, change.after) == ("notes/today.md", "one\ntwo Cache\n", "three\n")
    assert change.facts[0] == "2 lines"
    assert change.facts[1].startswith("last changed ")
    assert new is not None
    assert (new.before, new.facts) == (None, ("a new file", "2 lines"))


async def test_verify_of_a_write_compares_contents(files: Registry) -> None:
    args = {"path": "notes/today.md", "text": "one\ntwo Cache\n"}

    there = await files.verify("files.write", args, context())
    other = await files.verify("files.write", {**args, "text": "else"}, context())
    nowhere = await files.verify("files.write", {**args, "path": "none.md"}, context())

    assert there is not None
    assert there.value["sha256"] == hashlib.sha256(b"one\ntwo Cache\n").hexdigest()
    assert (other, nowhere) == (None, None)


async def test_deleting_previews_deletes_and_verifies(files: Registry, root: Path) -> None:
    args = {"path": "notes/old.md"}

    shown = await files.preview("files.delete", args, context())
    before = await files.verify("files.delete", args, context())
    gone = await call(files, "files.delete", path="notes/old.md")
    after = await files.verify("files.delete", args, context())

    assert shown is not None
    assert (shown.before, shown.after) == ("cache\n", None)
    assert before is None
    assert gone == {"path": "notes/old.md", "size": 6}
    assert after is not None
    assert not (root / "notes/old.md").exists()
    with pytest.raises(ToolFailed, match="no such file"):
        await call(files, "files.delete", path="notes/old.md")
    with pytest.raises(ToolFailed, match="nothing to delete"):
        await files.preview("files.delete", args, context())


async def test_a_large_or_odd_file_can_be_deleted_with_its_facts_shown(files: Registry, root: Path) -> None:
    (root / "big.bin").write_bytes(b"\0" * (LARGEST + 1))

    shown = await files.preview("files.delete", {"path": "big.bin"}, context())

    assert shown is not None
    assert shown.before is None
    assert shown.facts[0] == "2.0 MB, not shown as text"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"a\0b", "is not a text file"),
        (b"caf\xe9", "is not UTF-8 text \\(byte 3\\)"),
        ("ab".encode("utf-16"), "is UTF-16 text"),
        (b"x" * (LARGEST + 1), "is larger than 2 MB"),
    ],
)
async def test_what_is_no_short_utf8_text_is_told(files: Registry, root: Path, data: bytes, says: str) -> None:
    (root / "odd").write_bytes(data)

    with pytest.raises(ToolFailed, match=says):
        await call(files, "files.read", path="odd")


async def test_a_secret_in_a_file_is_masked_in_the_observation(files: Registry, root: Path) -> None:
    (root / "conf.ini").write_text("host = db\npassword = hunter22\n")

    seen = await call(files, "files.read", path="conf.ini")

    assert "hunter22" not in str(seen)
    assert "host = db" in seen["text"]


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("tool", ["files.read", "files.write", "files.delete", "files.list", "files.search"])
async def test_hostile_paths_are_refused_at_validation_and_at_use(files: Registry, root: Path, tool: str, path: str) -> None:
    """C062"""
    extra = {"files.write": {"text": "x"}, "files.search": {"query": "x"}}.get(tool, {})
    spec = files.catalogue[tool]
    assert spec.scope is not None

    says = spec.scope({"path": path})

    assert says is not None
    assert HOSTILE[path] in says
    assert str(root) not in says
    if "\ud800" not in path:
        with pytest.raises(OutOfScope):
            await files.call(tool, {"path": path, **extra}, context())
        bare = files.get(tool)
        with pytest.raises(PathRefused):
            bare.run(bare.args_model.model_validate({"path": path, **extra}), context())


def test_scope_judges_what_is_known_and_nothing_else(files: Registry) -> None:
    scope = files.catalogue["files.read"].scope
    assert scope is not None

    assert scope({}) is None
    assert scope({"path": "{{found.path}}"}) is None
    assert scope({"path": "notes/today.md"}) is None


@pytest.mark.parametrize("tool", ["files.read", "files.write", "files.delete"])
@pytest.mark.parametrize("path", ["out/a", "out.txt", "dangling", "in.txt", "notes/up/plan.txt"])
async def test_links_are_not_followed_wherever_they_lead(files: Registry, root: Path, tool: str, path: str) -> None:
    """C062"""
    outside = root.parent / "ws-evil"
    (root / "out").symlink_to(outside)
    (root / "out.txt").symlink_to(outside / "a")
    (root / "dangling").symlink_to(outside / "made-by-nobody")
    (root / "in.txt").symlink_to("plan.txt")
    (root / "notes" / "up").symlink_to("..")

    with pytest.raises(ToolFailed, match="link") as refused:
        await call(files, tool, path=path, **({"text": "x"} if tool == "files.write" else {}))

    assert str(root.parent) not in str(refused.value)
    assert (outside / "a").read_text() == "outside"
    assert not (outside / "made-by-nobody").exists()
    assert (root / "plan.txt").read_text() == "x"


async def test_search_and_list_do_not_pass_through_links(files: Registry, root: Path) -> None:
    (root / "out").symlink_to(root.parent / "ws-evil")

    assert (await call(files, "files.search", query="outside"))["matches"] == []
    assert "out/a" not in str(await call(files, "files.list"))
    with pytest.raises(ToolFailed, match="link"):
        await call(files, "files.list", path="out")


@pytest.mark.parametrize("tool", ["files.read", "files.write", "files.delete"])
async def test_pipes_and_sockets_neither_block_nor_work(files: Registry, root: Path, tool: str) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind(os.path.relpath(root / "sock"))
        for path in ("pipe", "sock"):
            with pytest.raises(ToolFailed):
                await call(files, tool, path=path, **({"text": "x"} if tool == "files.write" else {}))
    assert (root / "pipe").exists()


@pytest.mark.parametrize(
    ("tool", "args", "says"),
    [
        ("files.read", {"path": "notes"}, "is a folder"),
        ("files.read", {"path": "plan.txt/x"}, "is no folder"),
        ("files.write", {"path": "notes", "text": "x"}, "is a folder"),
        ("files.write", {"path": "plan.txt/x", "text": "x"}, "is no folder"),
        ("files.write", {"path": ".", "text": "x"}, "names the files folder itself"),
        ("files.delete", {"path": "notes"}, "is a folder"),
        ("files.list", {"path": "nowhere"}, "no such file or folder. Use files.list"),
        ("files.read", {"path": "none.md"}, "'none.md': there is no such file"),
    ],
)
async def test_mistakes_are_told_without_host_paths(files: Registry, root: Path, tool: str, args: dict[str, str], says: str) -> None:
    with pytest.raises(ToolFailed, match=says) as failed:
        await call(files, tool, **args)

    assert str(root.parent) not in str(failed.value)


async def test_a_folder_exchanged_for_a_link_while_it_is_used_leads_nowhere(root: Path) -> None:
    """C062: a thread exchanges `race` for a link to the outside and back while it is written and read."""
    outside = root.parent / "ws-evil"
    (root / "real").mkdir()
    (root / "real" / "a").write_text("inside")
    folder, stop = Folder(root), threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            with suppress(OSError):  # the writer makes the folder itself where it finds none
                (root / "race").symlink_to(outside)
                (root / "race").unlink()
                (root / "real").rename(root / "race")
                (root / "race").rename(root / "real")
                continue
            shutil.rmtree(root / "race", ignore_errors=True)

    swapper = threading.Thread(target=exchange)
    swapper.start()
    seen: set[bytes] = set()
    try:
        for _ in range(300):
            for attempt in (lambda: seen.add(folder.read(("race", "a"))[0]), lambda: folder.replace(("race", "b"), b"x")):
                try:
                    attempt()
                except ToolFailed:
                    continue
                except OSError as fault:
                    pytest.fail(f"a bare {fault!r}")
    finally:
        stop.set()
        swapper.join()

    assert seen <= {b"inside"}
    assert [path.name for path in outside.iterdir()] == ["a"]


async def test_verify_of_a_path_out_of_scope_cannot_tell(files: Registry) -> None:
    with pytest.raises(CannotTell):
        await files.verify("files.delete", {"path": "../x"}, context())
