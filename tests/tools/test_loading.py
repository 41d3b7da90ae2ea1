"""A team's own tool files: what loads, and how a broken one is told."""

from pathlib import Path

import pytest

from bot.errors import ConfigurationError
from bot.tools.registry import load_file

GOOD = '''
from __future__ import annotations
from pydantic import BaseModel, ConfigDict
from bot.tools.registry import ToolContext, tool

class Args(BaseModel):
    model_config = ConfigDict(extra="forbid")
    env: str

@tool(name="{name}.deploy", effect="write")
def deploy(args: Args, ctx: ToolContext) -> None:
    """Deploy it."""

again = deploy
more = [tool(name="{name}.other", effect="read", description="d")(deploy.run)]
'''


def file(folder: Path, text: str, name: str = "tools.py") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def test_the_tools_of_a_file_are_collected_once_each(tmp_path: Path) -> None:
    tools = load_file(file(tmp_path, GOOD.replace("{name}", "site")))

    assert [each.spec.name for each in tools] == ["site.deploy", "site.other"]


def test_two_files_of_one_name_do_not_mix(tmp_path: Path) -> None:
    first = load_file(file(tmp_path / "a", GOOD.replace("{name}", "first")))
    second = load_file(file(tmp_path / "b", GOOD.replace("{name}", "second")))

    assert first[0].spec.name == "first.deploy"
    assert second[0].spec.name == "second.deploy"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\ndef broken(:\n", r"tools\.py:2: "),
        ("\n\nraise ValueError('no\\nluck')\n", r"tools\.py:3: ValueError: no$"),
        ("import no_such_module_here\n", r"tools\.py:1: ModuleNotFoundError: "),
        ("import sys\nsys.exit(3)\n", r"tools\.py:2: SystemExit"),
        (GOOD.replace("write", "explode"), r"tools\.py:10: Tool '\{name\}\.deploy': effect 'explode'"),
        ("x = 1\n", "it defines no tool"),
    ],
)
def test_a_broken_file_is_told_with_path_line_and_fault(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as fault:
        load_file(file(tmp_path, text))
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("mcp.json", '{"mcpServers": {}}', "MCP servers come with a later version"),
        ("other.json", "[1]", "MCP servers only"),
        ("broken.json", "{", "not readable JSON"),
        ("tools.txt", "", "ends in .py"),
    ],
)
def test_other_kinds_of_files_are_refused_in_words(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        load_file(file(tmp_path, text, name))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no such tool file"):
        load_file(tmp_path / "none.py")
