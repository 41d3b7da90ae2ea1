"""One word per idea: the synonyms that the glossary rules out do not appear as names."""

import ast
from pathlib import Path

from tests.house.test_budgets import ROOT, product_files

# Words of other products for our ideas. Slack's own words may stand in the packages that speak Slack.
BANNED = {"executor", "workflow", "orchestrator", "sign_off", "checkpoint", "guardrail", "manager", "helper", "utils", "synthesiser"}


def names(path: Path) -> set[str]:
    found = set(path.with_suffix("").parts[len(ROOT.parts) :])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return {part for name in found for part in name.lower().strip("_").split("_")} | {name.lower() for name in found}


def test_no_ruled_out_word_is_a_name() -> None:
    used = {str(path.relative_to(ROOT)): sorted(names(path) & BANNED) for path in product_files() if path.suffix == ".py"}
    assert {path: words for path, words in used.items() if words} == {}
