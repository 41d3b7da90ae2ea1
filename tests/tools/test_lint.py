"""Descriptions are linted, and our own tools pass."""

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bot.tools.builtin import builtin_tools
from bot.tools.lint import lint
from bot.tools.registry import Registry, ToolContext, tool


class Described(BaseModel):
    model_config = ConfigDict(extra="forbid")
    env: str = Field(description="Where")


class Mute(BaseModel):
    model_config = ConfigDict(extra="forbid")
    env: str
    other: Described


def test_the_built_in_tools_are_well_described(tmp_path: Path) -> None:
    assert [says for each in builtin_tools(files_root=tmp_path) for says in lint(each)] == []


def test_the_built_in_tools_are_those_that_the_design_names(tmp_path: Path) -> None:
    assert sorted(Registry(builtin_tools(files_root=tmp_path)).catalogue) == [
        "files.delete",
        "files.list",
        "files.read",
        "files.search",
        "files.write",
        "http.request",
        "text.summarize",
        "time.now",
        "time.wait",
        "web.fetch",
    ]


@pytest.mark.parametrize(
    ("description", "missing"),
    [
        ("Deploys.", ["what it does", "when to use it", "when not to use it"]),
        ("Deploy the site to one of the environments that there are.", ["when to use it", "when not to use it"]),
        ("Deploy the site to one environment. Use it when a release is asked for.", ["when not to use it"]),
        ("Deploy the site to one environment. Do not use it for tests.", ["when to use it"]),
        ("Deploy the site to one environment. Use it when a release is asked for. Do not use it for tests.", []),
    ],
)
def test_a_description_must_say_what_when_and_when_not(description: str, missing: list[str]) -> None:
    @tool(name="site.deploy", effect="write", description=description)
    def deploy(args: Described, ctx: ToolContext) -> None: ...

    found = lint(deploy)

    assert len(found) == len(missing)
    for says, part in zip(found, missing, strict=True):
        assert says.startswith("site.deploy: say ")
        assert part in says


def test_arguments_must_be_described() -> None:
    @tool(name="t.mute", effect="read", description="Read the state of a thing. Use it when asked. Not for others.")
    def mute(args: Mute, ctx: ToolContext) -> None: ...

    assert lint(mute) == ["t.mute: describe the argument 'env'.", "t.mute: describe the argument 'other'."]
