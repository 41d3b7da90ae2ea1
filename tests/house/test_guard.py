"""One place decides whether a person's act counts: nothing else asks the policy who may."""

import ast
from pathlib import Path

from tests.house.test_budgets import ROOT, product_files

ASKS = ("bot/guard.py",)  # and bot/core, where the rules are


def asked(path: Path) -> set[str]:
    """The questions of the policy about people (`may_…`) that a module asks, or takes over under another name."""
    tree = ast.parse(path.read_text())
    modules = {"policy"} | {
        name.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "bot.core"
        for name in node.names
        if name.name == "policy" and name.asname
    }
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.startswith("may_")]
    found = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id in modules}
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "bot.core.policy"]
    return (found - {"may_not"}) | {name.name for node in imported for name in node.names if name.name.startswith("may_")}


def test_only_the_guard_asks_the_policy_who_may() -> None:
    outside = [path for path in product_files() if path.suffix == ".py" and ROOT / "bot" / "core" not in path.parents]
    found = {name: asked(path) for path in outside if (name := str(path.relative_to(ROOT))) not in ASKS}
    assert {name: sorted(asks) for name, asks in found.items() if asks} == {}


def test_the_guard_asks_all_of_it() -> None:
    """Were the questions renamed, the test above would hold nothing."""
    assert {"may_approve", "may_decide", "may_brake", "may_redirect", "may_freeze", "may_ask"} <= asked(ROOT / "bot" / "guard.py")
