"""The language of the cards (ten rules) and Slack's limits, checked on every card in every state."""

from collections.abc import Callable

import pytest

from bot.core.run import Hold, RunStatus
from handlers.views import ids, review_card, run_card
from handlers.views.scene import Card
from tests.handlers.views import cards, rules
from tests.handlers.views.stage import RISKY, SMALL, held, scene, states

EVERY = pytest.mark.parametrize("draw", [draw for _, draw in cards.every()], ids=[name for name, _ in cards.every()])


@EVERY
def test_a_card_keeps_every_rule(draw: Callable[[], Card]) -> None:
    rules.check(draw())


@EVERY
def test_a_risk_symbol_never_stands_without_its_word(draw: Callable[[], Card]) -> None:
    rules.risk_has_its_word(draw().blocks)


@EVERY
def test_slacks_own_models_read_a_card_and_write_the_same(draw: Callable[[], Card]) -> None:
    rules.slack_takes_it_back(draw().blocks)


@pytest.mark.parametrize("name", list(cards.AUDITED))
def test_an_audit_post_pings_nobody(name: str) -> None:
    assert rules.pings(cards.audited(name)) == []


@pytest.mark.parametrize("status", [RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSING])
def test_a_run_that_can_be_stopped_has_stop(status: RunStatus) -> None:
    card = run_card.run_card(scene(status, steps=states(SMALL, 1)))
    assert ids.RUN_STOP in [button["action_id"] for button in rules.buttons(card.blocks)]


@pytest.mark.parametrize("reason", [reason for reason in Hold if reason not in (Hold.SHUTDOWN, Hold.QUESTION)])
def test_a_run_that_stands_has_stop(reason: Hold) -> None:
    card = run_card.run_card(held(reason, "post", steps=states(SMALL, 3)))
    assert ids.RUN_STOP in [button["action_id"] for button in rules.buttons(card.blocks)]


@pytest.mark.parametrize(
    ("reason", "moves"),
    [
        (Hold.PERSON, {ids.RUN_RESUME}),
        (Hold.BREAKPOINT, {ids.RUN_CONTINUE}),
        (Hold.CONFIRM, set()),
        (Hold.STEP_FAILED, {ids.RUN_RETRY, ids.RUN_SKIP}),
        (Hold.IN_DOUBT, {ids.RUN_HAPPENED, ids.RUN_NOT_HAPPENED}),
        (Hold.FREEZE, set()),
        (Hold.UNATTENDED, {ids.RUN_CONTINUE}),
        (Hold.BUDGET, {ids.RUN_CONTINUE}),
    ],
)
def test_a_held_run_shows_exactly_the_moves_that_let_its_hold_go(reason: Hold, moves: set[str]) -> None:
    card = run_card.run_card(held(reason, "post", steps=states(SMALL, 3)))
    assert {button["action_id"] for button in rules.buttons(card.blocks)} == moves | {ids.RUN_STOP}


def test_a_restarting_run_has_nothing_to_press() -> None:
    card = run_card.run_card(held(Hold.SHUTDOWN, steps=states(SMALL, 2)))
    assert rules.buttons(card.blocks) == []


def test_moves_that_do_not_exist_here_are_not_shown() -> None:
    for card in (
        review_card.review_card(scene(RunStatus.IN_REVIEW)),
        run_card.run_card(scene(RunStatus.RUNNING)),
        run_card.run_card(scene(RunStatus.EXPIRED)),
        run_card.run_card(held(Hold.BREAKPOINT, "post")),
    ):
        pressed = {part["action_id"] for part in rules.walk(card.blocks) if "action_id" in part}
        assert pressed.isdisjoint({ids.REVIEW_ASK, ids.REVIEW_BREAKPOINT, ids.RUN_BREAKPOINT, ids.RUN_ASK_AGAIN, ids.RUN_CHANGE_REST})


@pytest.mark.parametrize("plan", [cards.FORTY, cards.LONG], ids=["many steps", "one long argument"])
def test_a_plan_that_is_not_shown_in_full_cannot_be_approved_from_its_card(plan: cards.Plan) -> None:
    card = review_card.review_card(scene(RunStatus.IN_REVIEW, plan))
    pressed = {button["action_id"]: button.get("style") for button in rules.buttons(card.blocks)}
    assert ids.REVIEW_APPROVE not in pressed
    assert pressed[ids.REVIEW_SHOW_ALL] == "primary"
    assert any("Not shown in full here" in text for text in rules.mrkdwns(card.blocks))


def test_high_risk_stands_first_and_is_counted() -> None:
    card = review_card.review_card(scene(RunStatus.IN_REVIEW, RISKY))
    assert card.blocks[0]["text"]["text"] == "✋ Needs approval · 🔺 High risk: 1 of 12"
    first = next(block for block in card.blocks[2:] if block["type"] == "rich_text")
    assert [piece["text"] for piece in first["elements"][0]["elements"]] == ["🔺 ", "9 · Changes web in prod", "  High risk"]


def test_a_late_value_is_said_in_words_with_what_becomes_of_it() -> None:
    said = " ".join(rules.texts(review_card.review_card(scene(RunStatus.IN_REVIEW, RISKY)).blocks))
    assert "filled in later from 8 · build → you will be asked" in said
    assert "filled in later from 11 · brief → runs without asking again" in said
    assert "{{build.version}}" not in said


def test_a_card_of_an_older_revision_decides_nothing() -> None:
    card = review_card.review_card(scene(RunStatus.IN_REVIEW, run_fields={"revision": 2}), revision=1)
    assert card.blocks[0]["text"]["text"] == "⏹️ Replaced by revision 2"
    assert {button["action_id"] for button in rules.buttons(card.blocks)} == {ids.REVIEW_SHOW_ALL}


def test_the_receipt_counts_every_step_once() -> None:
    card = cards.runs()["run_stopped"]()
    titles = [
        text for text in rules.texts(card.blocks) if " · " in text and text.split(" · ")[0] in ("Could not be confirmed", "Cancelled")
    ]
    counted = [int(text.rsplit(" · ", 1)[1]) for text in rules.texts(card.blocks) if text.rsplit(" · ", 1)[-1].isdigit() and len(text) < 40]
    assert titles[0].startswith("Could not be confirmed")
    assert sum(counted) == len(RISKY.steps)


def test_a_step_log_never_shows_a_spinner() -> None:
    for name in ("run_succeeded", "run_failed"):
        card = cards.runs()[name]()
        tasks = [part for part in rules.walk(card.blocks) if part.get("type") == "task_card"]
        assert tasks
        assert {task["status"] for task in tasks} <= {"complete", "error"}
