"""The answer: cited sentences, chips before the others, and no cut that loses anything."""

import re

from bot.core.run import RunStatus, StepStatus
from bot.core.snapshot import Answer
from handlers.views import answer
from handlers.views.scene import Card
from tests.handlers.views import rules
from tests.handlers.views.stage import REQUESTER, SMALL, scene, states


def answered(text: str, **fields: object) -> list[Card]:
    given = Answer(text=text, cites=("config",), by="a-model")
    return answer.answer_cards(scene(RunStatus.SUCCEEDED, answer=given, steps=fields.get("steps", states(SMALL, 4))))


def whole(cards: list[Card]) -> str:
    """The prose of all parts, without chips and added fences."""
    found = []
    for card in cards:
        for block in card.blocks[1:]:
            if block["type"] == "rich_text":
                found += [part["text"] for part in rules.walk(block) if isinstance(part.get("text"), str)]
    return "".join(found)


def test_a_citation_of_a_step_becomes_a_link_made_by_code() -> None:
    [card] = answered("request_timeout went from 30 to 60 [1][2].")
    links = [part for part in rules.walk(card.blocks) if part.get("type") == "link"]
    assert [(part["text"], part["url"]) for part in links] == [
        ("[1]", "https://example.slack.com/archives/C0OPS/p1"),
        ("[2]", links[1]["url"]),
    ]


def test_an_unsupported_sentence_stays_and_a_chip_stands_before_it() -> None:
    [card] = answered("request_timeout went from 30 to 60 [1]. It was done for the upgrade.")
    line = next(block for block in card.blocks[1:] if block["type"] == "rich_text")["elements"][0]["elements"]
    place = next(number for number, part in enumerate(line) if part.get("style") == {"code": True})
    assert line[place]["text"] == "no source"
    assert "".join(part["text"] for part in line[place + 1 :]).strip() == "It was done for the upgrade."


def test_a_sentence_that_cites_a_failed_step_says_so() -> None:
    [card] = answered("It was posted [4].", steps=states(SMALL, 3, post=StepStatus.FAILED))
    chips = [part["text"] for part in rules.walk(card.blocks) if part.get("style") == {"code": True}]
    assert chips == ["cites 4, which failed"]


def test_no_text_of_the_model_can_be_a_chip_or_a_link() -> None:
    """C012: private characters, mentions and masked links in an answer are only shown."""
    [card] = answered("\ue000 <!everyone> <https://evil.example|https://bank.example> [77] [1]")
    rules.check(card)
    assert [part for part in rules.walk(card.blocks) if part.get("type") == "link"][0]["text"] == "[1]"
    assert "⟦U+E000⟧" in whole([card])


def test_a_long_answer_is_cut_into_ordered_messages_and_nothing_is_lost() -> None:
    """C006: 9,500 characters; a fence spans a cut, an emoji and a link stand near others."""
    prose = "The timeout went from 30 to 60 👩🏽‍🔧 &amp; see <https://x.example|doc> [1]. "
    text = prose * 40 + "```toml\n" + "request_timeout = 60\n" * 200 + "```\n" + prose * 20
    cards = answered(text)
    assert len(cards) >= 3
    for card in cards:
        rules.check(card)
    assert re.sub(r"\s", "", whole(cards).replace("no source", "")).count("requesttimeout") == 0
    assert whole(cards).count("request_timeout = 60") == 200
    assert whole(cards).count("👩🏽‍🔧") == 60
    assert whole(cards).count("<https://x.example|doc>") == 60
    titles = [part["text"] for card in cards for part in rules.walk(card.blocks[0]) if part.get("style") == {"bold": True}]
    assert titles == [f"Answer, part {place} of {len(cards)}" for place in range(1, len(cards) + 1)]


def test_only_the_first_message_pings_the_requester() -> None:
    cards = answered("The timeout went from 30 to 60 [1]. " * 300)
    assert rules.pings(cards[0]) == ["<@", REQUESTER]
    assert all(rules.pings(card) == [] for card in cards[1:])


def test_without_a_model_the_report_is_what_the_steps_returned() -> None:
    [card] = answer.answer_cards(scene(RunStatus.SUCCEEDED, answer=Answer(text="x"), steps=states(SMALL, 4)))
    said = rules.texts(card.blocks)
    assert "1 · Read app/config.toml: 38 lines" in said
    assert "request_timeout went from 30 to 60" in said
    assert any("written without a model" in text for text in said)


def test_a_run_that_found_nothing_has_no_answer() -> None:
    [card] = answer.answer_cards(scene(RunStatus.STOPPED))
    assert "No answer: " in rules.texts(card.blocks)
