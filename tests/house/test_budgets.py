"""Line budgets: what is long is usually two ideas."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 400
LONGEST_FUNCTION = 60


def product_files() -> Iterator[Path]:
    for package in ("bot", "handlers"):
        for kind in ("*.py", "*.js", "*.css"):
            yield from (path for path in (ROOT / package).rglob(kind) if "__pycache__" not in path.parts)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_no_file_is_longer_than_its_budget() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in product_files()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_function_is_longer_than_its_budget() -> None:
    found = [each for path in product_files() if path.suffix == ".py" for each in functions(path)]
    assert [each for each in found if each[1] > LONGEST_FUNCTION] == []


def test_the_median_function_is_short() -> None:
    lengths = sorted(lines for path in product_files() if path.suffix == ".py" for _, lines in functions(path))
    assert lengths[len(lengths) // 2] <= 10


def test_no_fault_is_swallowed() -> None:
    """An `except` whose whole body is `pass` hides what went wrong."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in product_files()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler) and len(node.body) == 1 and isinstance(node.body[0], ast.Pass)
    ]
    assert silent == []


def test_every_module_begins_with_its_story() -> None:
    modules = [path for path in product_files() if path.suffix == ".py"]
    mute = [str(path.relative_to(ROOT)) for path in modules if not ast.get_docstring(ast.parse(path.read_text()))]
    assert mute == []
