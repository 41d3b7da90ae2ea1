"""The README keeps step with the code: its commands, its tables, its map."""

import re
import tomllib

from tests.house.test_budgets import ROOT

README = (ROOT / "README.md").read_text() if (ROOT / "README.md").exists() else ""


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    commands = [line for line in re.findall(r"^```sh\n(.*?)\n```", README, re.M | re.S) if "pytest" in line]
    assert len(commands) == 1
    assert "\n" not in commands[0], "one line"
    assert commands[0] in (ROOT / ".ci" / "run").read_text()


def test_every_dependency_is_justified_in_one_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[\[<>=~ ]", line)[0].lower() for line in project["dependencies"]}
    listed = {name.lower() for row in re.findall(r"^\| `([^|]+)` \|", README, re.M) for name in re.split(r"`, `", row)}
    assert wanted - listed == set()


def test_every_path_that_the_map_names_exists() -> None:
    named = re.findall(r"`((?:bot|handlers|tests)/[\w/.]+?)`", README)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_promise_names_tests_that_exist() -> None:
    rows = re.findall(r"^\| \*\*P(\d+)\*\* [^|]*\|[^|]*\|([^|]*)\|$", README, re.M)
    assert [int(number) for number, _ in rows] == list(range(1, 13))
    for number, held_by in rows:
        paths = [ROOT / name for name in re.findall(r"`(tests/[\w/.]+)`", held_by)]
        assert paths, f"P{number} names no test"
        for path in paths:
            assert path.name.startswith("test_") or list(path.glob("test_*.py")), f"P{number}: {path} holds no test"
