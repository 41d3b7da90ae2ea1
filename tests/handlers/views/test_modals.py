"""Modals: the whole plan in pages, Approve only at their end; the small forms; what a modal shows in its first moment."""

from typing import Any

import pytest
from slack_sdk.models.views import View as SlackView

from bot.core.characters import utf16
from bot.core.plan import Plan, Step, numbered
from bot.core.run import Hold, RunStatus
from bot.errors import Refused
from handlers.views import filling, home, ids, loading, new_plan_form, pages, reasons
from handlers.views.ids import Target
from tests.handlers.views import cards, rules
from tests.handlers.views.stage import RISKY, SMALL, held, scene, states

TEXT = "".join(f"{number:06d} " for number in range(8_000))
GIANT = numbered(Plan(goal="Write much", steps=(Step(id="w", tool="files.write", args={"path": "a.md", "text": TEXT}),)))


def good(view: dict[str, Any]) -> dict[str, Any]:
    """The view, once it has been checked against Slack's limits."""
    assert utf16(view["title"]["text"]) <= 24
    assert "submit" not in view or view["submit"]["text"] != view.get("close", {}).get("text")
    assert "submit" in view or not [block for block in view["blocks"] if block["type"] == "input"]
    rules.within_limits(view["blocks"], most=100)
    rules.elements_within_limits(view["blocks"])
    rules.labels_are_known([block for block in view["blocks"] if block.get("block_id") != "page:moved"])
    assert utf16(str(view)) < 250_000
    SlackView(**view).validate_json()
    return view


def test_the_pages_show_every_step_and_approve_is_on_the_last_for_one_who_has_opened_all() -> None:
    given = scene(RunStatus.IN_REVIEW, cards.FORTY)
    total = pages.page_count(given)
    views = [good(pages.show_all(given, page, may_approve=True, opened_all=page == total)) for page in range(1, total + 1)]
    assert total == 4
    assert [view.get("submit", {}).get("text") for view in views] == [None, None, None, "Approve"]
    said = [text for view in views for text in rules.texts(view["blocks"])]
    assert all(any(text.startswith(f"{step.number} · ") for text in said) for step in cards.FORTY.steps)


def test_the_last_page_has_no_approve_for_one_who_skipped_pages_or_may_not() -> None:
    given = scene(RunStatus.IN_REVIEW, cards.FORTY)
    assert "submit" not in good(pages.show_all(given, 4, may_approve=True, opened_all=False))
    assert "submit" not in good(pages.show_all(given, 4, may_approve=False, opened_all=True))
    assert "submit" not in good(pages.show_all(scene(RunStatus.RUNNING, cards.FORTY), 4, may_approve=True, opened_all=True))


def test_a_page_of_one_needs_no_turning() -> None:
    view = good(pages.show_all(scene(RunStatus.IN_REVIEW, RISKY.model_copy(update={"steps": RISKY.steps[:5]})), may_approve=True))
    assert view["submit"]["text"] == "Approve"
    assert rules.buttons(view["blocks"]) == []


def test_an_argument_of_any_length_stands_on_the_pages_letter_by_letter() -> None:
    """P2: what cannot be read in full cannot be approved."""
    given = scene(RunStatus.IN_REVIEW, GIANT)
    views = [good(pages.show_all(given, page)) for page in range(1, pages.page_count(given) + 1)]
    boxes = [
        part["elements"][0]["text"] for view in views for part in rules.walk(view["blocks"]) if part.get("type") == "rich_text_preformatted"
    ]
    assert "".join(boxes) == TEXT
    assert all(sum(utf16(text) for text in rules.texts(view["blocks"])) <= 21_000 for view in views)


def test_a_replaced_revision_leads_to_the_new_one() -> None:
    view = good(pages.show_all(scene(RunStatus.IN_REVIEW, run_fields={"revision": 2}), revision=1))
    assert rules.buttons(view["blocks"])[0]["value"] == "R-7K2Q.2"
    assert "submit" not in view


def test_the_forms_ask_for_words_and_keep_what_they_are_about() -> None:
    given = scene(RunStatus.RUNNING, RISKY)
    assert good(reasons.cancel_form(scene(RunStatus.IN_REVIEW), 1))["private_metadata"] == "R-7K2Q.1"
    target = Target("R-7K2Q", 1, "deploy", "77aa10c3")
    assert good(reasons.refuse_form(given, target))["private_metadata"] == "R-7K2Q.1.deploy.77aa10c3"
    assert good(reasons.happened_form(given, Target("R-7K2Q", 1, "deploy", "2")))["private_metadata"] == "R-7K2Q.1.deploy.2"
    with pytest.raises(Refused):
        reasons.refuse_form(given, Target("R-7K2Q", 1, "gone"))


def test_a_new_plan_begins_with_the_words_of_a_message() -> None:
    assert good(new_plan_form.new_plan("read notes/today.md" + "x" * 5_000, metadata="C0OPS:1.2"))["private_metadata"] == "C0OPS:1.2"
    assert [block["block_id"] for block in good(new_plan_form.new_plan())["blocks"]] == ["words", "channel"]


@pytest.mark.parametrize("action", [*ids.LABELS, "unheard.of"])
def test_a_modal_can_be_opened_before_anything_is_looked_up(action: str) -> None:
    good(loading.loading_view(action, "R-7K2Q.1"))
    good(loading.loading_view(action, "nonsense"))


def test_a_modal_that_cannot_be_filled_says_why() -> None:
    view = good(loading.refused_view("stale", {"run": "R-7K2Q", "current": 2, "did": "approve"}))
    assert any("out of date" in text for text in rules.texts(view["blocks"]))


def test_all_values_of_a_filling_stand_on_its_pages() -> None:
    args = {"path": "a.md", "text": TEXT}
    preview = {"target": "a.md", "facts": [], "before": "old\n", "after": TEXT}
    given = held(Hold.CONFIRM, "write", RISKY, steps=states(RISKY, 8, write={"args": args}))
    step = RISKY.step("write")
    total = filling.page_count(given, step, args, preview)
    views = [
        good(filling.filling_view(given, "write", page, args=args, digest="c41f09d2", preview=preview, may_confirm=True))
        for page in range(1, total + 1)
    ]
    assert [view.get("submit", {}).get("text") for view in views] == [*([None] * (total - 1)), "Confirm"]
    assert views[0]["private_metadata"] == "R-7K2Q.1.write.c41f09d2"
    boxes = [
        part["elements"][0]["text"] for view in views for part in rules.walk(view["blocks"]) if part.get("type") == "rich_text_preformatted"
    ]
    assert TEXT in "".join(boxes)


def test_home_shows_what_waits_and_leads_to_the_cards() -> None:
    overview = home.Overview(
        waiting=(scene(RunStatus.IN_REVIEW),) * 7,
        running=(scene(RunStatus.RUNNING, steps=states(SMALL, 2)),),
        mine=(scene(RunStatus.SUCCEEDED),),
    )
    view = home.home_view(overview, commands={"cord": "/pc"})
    blocks = view["blocks"]
    rules.within_limits(blocks, most=100)  # type: ignore[arg-type]
    rules.ids_are_good([block for block in blocks if block.get("block_id") != "home.brakes"])  # type: ignore[attr-defined]
    opened = [button for button in rules.buttons(blocks) if button["text"]["text"] == "Open"]  # type: ignore[arg-type]
    assert len(opened) == 7
    assert all(button["url"].startswith("https://example.slack.com/") for button in opened)
    assert any("2 more: `/pc runs`" in text for text in rules.texts(blocks))  # type: ignore[arg-type]


def test_an_empty_home_says_how_to_begin() -> None:
    view = home.home_view(home.Overview())
    assert "Nothing waits for you" in rules.texts(view["blocks"])  # type: ignore[arg-type]
