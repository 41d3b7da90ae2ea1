"""Every refusal becomes a private answer: what did not happen and why, what is true now, what to do next."""

import ast
import re
from typing import Any

import pytest

from bot.core.run import Hold, RunStatus
from handlers.views import refusals, refused_moves
from handlers.views.scene import Scene
from tests.handlers.views import rules
from tests.handlers.views.stage import APPROVER, at, held, scene
from tests.house.test_budgets import product_files

KINDS = sorted({*refusals.TELLINGS, *refused_moves.FIXED})
FACTS: dict[str, Any] = {
    "run": "R-7K2Q",
    "revision": 1,
    "current": 2,
    "status": "running",
    "did": "approve",
    "by": APPROVER,
    "at": at(300),
    "until": at(1800),
    "step": "post",
    "tools": ["site.deploy"],
    "button": "Edit",
    "number": "F-19AC",
    "length": 50_000,
    "limit": 40_000,
    "reason": "person",
    "word": "pause",
    "words": "also post it to #general <!channel>",
}


def said(kind: str, given: Scene | None, **facts: Any) -> str:
    card = refusals.refusal(kind, facts, given)
    rules.only_ours(card.text)
    for text in rules.mrkdwns(card.blocks):
        rules.only_ours(text)
    rules.within_limits(card.blocks)
    rules.ids_are_good(card.blocks)
    rules.labels_are_known(card.blocks)
    rules.slack_takes_it_back(card.blocks)
    return "\n".join(rules.texts(card.blocks))


@pytest.mark.parametrize("given", [None, scene(RunStatus.RUNNING), held(Hold.BREAKPOINT, "post")], ids=["no run", "running", "held"])
@pytest.mark.parametrize("kind", [*KINDS, "something_new"])
def test_a_refusal_says_why_and_what_comes_next(kind: str, given: Scene | None) -> None:
    for facts in (FACTS, {"did": "resume"}, {}):
        words = said(kind, given, **facts)
        assert words.startswith("*")
        assert "*Next:*" in words
        assert "None" not in words
        assert "  " not in words.replace("`", "")
        assert words.count("!") == words.count("<!")


def raised() -> set[str]:
    """Every kind of refusal that the product raises by name."""
    trees = [ast.parse(path.read_text()) for path in product_files() if path.suffix == ".py"]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    named = [call.args[0] for call in calls if call.func.id in ("Refused", "refusal") and call.args]
    consts = [part for kind in named for part in ast.walk(kind) if isinstance(part, ast.Constant)]
    return {part.value for part in consts if isinstance(part.value, str) and re.fullmatch(r"[a-z]+(_[a-z]+)*", part.value)}


def test_no_refusal_is_without_words_of_its_own() -> None:
    assert raised() - {*KINDS} == set()
    assert {"expired", "stale", "quorum", "open_first", "step_up", "confirm_void", "tool_changed", "moved_on"} <= raised()
    assert {"not_allowed", "own_request", "own_edit", "source_author", "nobody_set", "not_admin", "guest", "partner", "bot"} <= {*KINDS}


@pytest.mark.parametrize("kind", sorted(refusals.TELLINGS))
def test_a_refusal_has_a_reason_for_the_audit_channel(kind: str) -> None:
    assert refusals.why(kind)


def test_the_words_of_a_person_are_given_back() -> None:
    words = said("no_revisions_left", scene(RunStatus.IN_REVIEW), **FACTS)
    assert "also post it to #general <!channel>" in words


def test_a_plan_not_shown_in_full_leads_to_show_all() -> None:
    card = refusals.refusal("open_first", FACTS, scene(RunStatus.IN_REVIEW))
    assert [button["text"]["text"] for button in rules.buttons(card.blocks)] == ["Show all"]


def test_somebody_faster_is_named_by_a_link_that_pings_nobody() -> None:
    card = refusals.refusal("late_approved", FACTS, scene(RunStatus.RUNNING))
    assert "Already approved by <https://example.slack.com/team/U0APPROVER|approver>" in card.blocks[0]["text"]["text"]
    assert rules.pings(card) == []


def test_renamed_commands_are_named_as_they_are_here() -> None:
    card = refusals.refusal("unknown_run", {"run": "R-1A2B"}, None, commands={"plan": "/pc-plan"})
    assert "`/pc-plan`" in card.blocks[0]["text"]["text"]
