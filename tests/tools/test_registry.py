"""Calling tools: strict arguments in, cleaned observations out, every failure in words."""

import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from bot.errors import ToolFailed
from bot.tools.registry import CannotTell, InvalidArgs, OutOfScope, Preview, Registry, Tool, ToolContext, tool
from tests.tools.conftest import context

Open = Callable[..., Registry]
TOKEN = "xoxb-" + "123456789012-abcdefghijkl"


class Typed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    count: int
    labels: list[str] = []
    dry_run: bool = False
    when: date | None = None
    level: Literal["low", "high"] = "low"


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class Text(BaseModel):
    text: str


@tool(name="t.typed", effect="read", description="d")
def typed(args: Typed, ctx: ToolContext) -> dict[str, Any]:
    return {"count": args.count, "labels": args.labels, "when": args.when, "dry_run": args.dry_run}


def echo(name: str, *, untrusted: bool = False) -> Tool:
    @tool(name=name, effect="read", description="d", untrusted_output=untrusted)
    async def run(args: Named, ctx: ToolContext) -> Text:
        return Text(text=args.name)

    return run


async def test_right_arguments_arrive_as_their_types(open_registry: Open) -> None:
    args = {"count": 3, "labels": ["a"], "dry_run": True, "when": "2026-03-01"}

    seen = await open_registry(typed).call("t.typed", args, context())

    assert seen.value == {"count": 3, "labels": ["a"], "when": "2026-03-01", "dry_run": True}


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": "10"},
        {"count": 1.5},
        {"count": True},
        {"count": 1, "labels": "bug"},
        {"count": 1, "dry_run": "false"},
        {"count": 1, "dry_run": 0},
        {"count": 1, "when": "tomorrow"},
        {"count": 1, "level": "LOW"},
        {"count": 1, "extra": 1},
        {"count": float("nan")},
        {"count": {1}},
        {},
    ],
)
async def test_nothing_is_coerced_and_nothing_unknown_let_through(open_registry: Open, wrong: dict[str, Any]) -> None:
    """C033"""
    with pytest.raises(InvalidArgs, match=r"t\.typed: "):
        await open_registry(typed).call("t.typed", wrong, context())


async def test_wrong_arguments_are_named_without_their_values(open_registry: Open) -> None:
    with pytest.raises(InvalidArgs) as refused:
        await open_registry(typed).call("t.typed", {"count": TOKEN, "labels": [1]}, context())

    assert "count: " in str(refused.value)
    assert "labels.0: " in str(refused.value)
    assert TOKEN not in str(refused.value)


async def test_an_unknown_tool_is_a_failure_and_not_a_crash(open_registry: Open) -> None:
    with pytest.raises(InvalidArgs, match="There is no tool 'no.such'"):
        await open_registry(typed).call("no.such", {}, context())


async def test_synchronous_tools_run_in_a_thread_of_their_own(open_registry: Open) -> None:
    @tool(name="t.where", effect="read", description="d")
    def where(args: Named, ctx: ToolContext) -> bool:
        return threading.current_thread() is threading.main_thread()

    seen = await open_registry(where).call("t.where", {"name": "x"}, context())

    assert seen.value is False


async def test_the_observation_is_cleaned_masked_hashed_and_marked(open_registry: Open) -> None:
    registry = open_registry(echo("t.echo", untrusted=True))

    seen = await registry.call("t.echo", {"name": f"a\u200bb {TOKEN} \u202ec"}, context())

    assert seen.value["text"].startswith("ab ⟦secret ")
    assert TOKEN not in str(seen.value)
    assert "\u202e" not in str(seen.value)
    assert seen.untrusted
    assert len(seen.sha256) == 64


async def test_a_result_may_be_none_or_plain_json(open_registry: Open) -> None:
    @tool(name="t.none", effect="write", description="d")
    async def none(args: Named, ctx: ToolContext) -> None:
        return None

    @tool(name="t.list", effect="read", description="d")
    def many(args: Named, ctx: ToolContext) -> list[int]:
        return [1, 2]

    registry = open_registry(none, many)

    nothing = await registry.call("t.none", {"name": "x"}, context())
    assert (nothing.value, nothing.says) == (None, "done")
    assert (await registry.call("t.list", {"name": "x"}, context())).value == [1, 2]


async def test_a_result_that_is_not_what_was_declared_is_a_failure(open_registry: Open) -> None:
    """C058"""

    @tool(name="t.lies", effect="read", description="d")
    async def lies(args: Named, ctx: ToolContext) -> Text:
        return {"txet": "x"}  # type: ignore[return-value]

    with pytest.raises(ToolFailed, match="did its work, but what it returned is not what it declares: text"):
        await open_registry(lies).call("t.lies", {"name": "x"}, context())


async def test_a_failure_in_a_tools_own_words_passes_with_its_words_cleaned(open_registry: Open) -> None:
    """C060"""

    class Special(ToolFailed):
        pass

    @tool(name="t.fails", effect="read", description="d")
    async def fails(args: Named, ctx: ToolContext) -> None:
        raise Special(f"no luck with {TOKEN}\u202e")

    with pytest.raises(Special) as failed:
        await open_registry(fails).call("t.fails", {"name": "x"}, context())

    assert str(failed.value).startswith("no luck with ⟦secret ")
    assert TOKEN not in repr(failed.value)
    assert "\u202e" not in str(failed.value)


@pytest.mark.parametrize("fault", [KeyError("k"), SystemExit(3), StopIteration(), RecursionError(), BaseExceptionGroup("g", [KeyError()])])
@pytest.mark.parametrize("is_async", [True, False])
async def test_any_other_fault_becomes_a_failure_with_its_class(open_registry: Open, fault: BaseException, is_async: bool) -> None:
    @tool(name="t.async", effect="read", description="d")
    async def breaks(args: Named, ctx: ToolContext) -> None:
        raise fault

    @tool(name="t.sync", effect="read", description="d")
    def breaks_too(args: Named, ctx: ToolContext) -> None:
        raise fault

    with pytest.raises(ToolFailed, match="failed: ") as failed:
        await open_registry(breaks, breaks_too).call("t.async" if is_async else "t.sync", {"name": "x"}, context())

    assert failed.value.__cause__ is not None


async def test_scope_is_asked_again_at_the_call(open_registry: Open) -> None:
    calls = []

    @tool(name="t.near", effect="read", description="d")
    async def near(args: Named, ctx: ToolContext) -> None:
        calls.append(args.name)

    near.scope(lambda args: "mars is too far" if args.get("name") == "mars" else None)
    registry = open_registry(near)

    with pytest.raises(OutOfScope, match="mars is too far"):
        await registry.call("t.near", {"name": "mars"}, context())
    await registry.call("t.near", {"name": "here"}, context())

    assert calls == ["here"]


async def test_previews_are_cleaned_and_optional(open_registry: Open) -> None:
    seen, bare = echo("t.seen"), echo("t.bare")

    @seen.preview
    async def preview(args: Named, ctx: ToolContext) -> Preview:
        return Preview(target=args.name, facts=("38\nlines",), before=TOKEN, after="x" * 30_000)

    registry = open_registry(seen, bare)

    shown = await registry.preview("t.seen", {"name": "a\u200b"}, context())
    assert shown is not None
    assert (shown.target, shown.facts) == ("a", ("38 lines",))
    assert TOKEN not in str(shown.before)
    assert str(shown.after).endswith("of 30,000 characters")
    assert await registry.preview("t.bare", {"name": "a"}, context()) is None


@pytest.mark.parametrize(("name", "is_there"), [("yes", True), ("no", False)])
async def test_verify_says_whether_it_happened(open_registry: Open, name: str, is_there: bool) -> None:
    known = echo("t.known")
    known.verify(lambda args, ctx: Text(text="there") if args.name == "yes" else None)

    seen = await open_registry(known).verify("t.known", {"name": name}, context())

    assert (seen is not None) == is_there
    assert seen is None or seen.value == {"text": "there"}


async def test_what_cannot_be_verified_is_said(open_registry: Open) -> None:
    mute, broken = echo("t.mute"), echo("t.broken")

    @broken.verify
    async def verify(args: Named, ctx: ToolContext) -> Text | None:
        raise OSError("no line")

    registry = open_registry(mute, broken)

    with pytest.raises(CannotTell, match=r"t\.mute cannot tell"):
        await registry.verify("t.mute", {"name": "x"}, context())
    with pytest.raises(CannotTell, match="no line"):
        await registry.verify("t.broken", {"name": "x"}, context())
    with pytest.raises(CannotTell):
        await registry.verify("t.broken", {"name": 1}, context())


async def test_progress_reaches_the_loop_from_threads_cleaned(open_registry: Open) -> None:
    @tool(name="t.speaks", effect="read", description="d")
    def speaks(args: Named, ctx: ToolContext) -> None:
        ctx.progress("1 of\n2 \u202e files")
        ctx.progress("z" * 200)

    said: list[str] = []
    await open_registry(speaks).call("t.speaks", {"name": "x"}, context(said))

    assert said[0] == "1 of 2 files"
    assert len(said[1]) == 120


@pytest.mark.parametrize("is_async", [True, False])
async def test_the_scratch_folder_is_gone_after_the_call(open_registry: Open, is_async: bool) -> None:
    folders: list[Path] = []

    def work(ctx: ToolContext) -> None:
        folders.extend([ctx.scratch, ctx.scratch])
        (ctx.scratch / "part").write_text("x")

    @tool(name="t.async", effect="read", description="d")
    async def scratches(args: Named, ctx: ToolContext) -> None:
        work(ctx)

    @tool(name="t.sync", effect="read", description="d")
    def scratches_too(args: Named, ctx: ToolContext) -> None:
        work(ctx)

    await open_registry(scratches, scratches_too).call("t.async" if is_async else "t.sync", {"name": "x"}, context())

    assert folders[0] == folders[1]
    assert not folders[0].exists()


async def test_no_secret_is_to_be_had(open_registry: Open) -> None:
    @tool(name="t.asks", effect="read", description="d")
    async def asks(args: Named, ctx: ToolContext) -> str:
        return ctx.secret("DEPLOY_KEY")

    with pytest.raises(ToolFailed, match="There is no secret 'DEPLOY_KEY'"):
        await open_registry(asks).call("t.asks", {"name": "x"}, context())
