"""What holds for every card, as checks that name what breaks: the limits of Slack and the language of the cards."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from slack_sdk.models.blocks import Block as SlackBlock

from bot.core.characters import utf16
from handlers.views import ids
from handlers.views.scene import Card

INTERACTIVE = frozenset({"actions", "input"})
RISKS = {"🔺": "high risk", "🔶": "medium risk", "⚪": "low risk"}
OURS = re.compile(
    r"<!date\^\d+\^[^|<>]*\|[^<>]*>|<https://example\.slack\.com/[^|<>\s]*\|[^<>]*>|<@U0(?:REQUESTER|APPROVER2?|MEMBER|ADMIN)>|<!subteam\^S0(?:OPSLEADS|DUTY)>"
)
ENTITY = re.compile(r"&(?:amp|lt|gt);")
PINGS = ("<@", "<!subteam", "<!channel", "<!here", "<!everyone")


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every object in a payload."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def mrkdwns(blocks: Sequence[Any]) -> list[str]:
    return [part["text"] for part in walk(list(blocks)) if part.get("type") == "mrkdwn"]


def texts(blocks: Sequence[Any]) -> list[str]:
    return [part["text"] for part in walk(list(blocks)) if isinstance(part.get("text"), str)]


def buttons(blocks: Sequence[Any]) -> list[dict[str, Any]]:
    return [part for part in walk(list(blocks)) if part.get("type") == "button"]


def only_ours(text: str) -> None:
    """Nothing in mrkdwn is read by Slack but what this code wrote."""
    rest = OURS.sub("", text)
    assert "<" not in rest, text
    assert ">" not in rest, text
    assert "&" not in ENTITY.sub("", rest), text


def within_limits(blocks: Sequence[Any], *, most: int = 45) -> None:
    assert 1 <= len(blocks) <= most
    for part in walk(list(blocks)):
        text = part.get("text")
        if isinstance(text, str):
            assert utf16(text) >= 1, part
            assert part["type"] not in ("mrkdwn", "plain_text") or utf16(text) <= 3000
    for block in blocks:
        if block["type"] == "header":
            assert utf16(block["text"]["text"]) <= 60
        if block["type"] == "context":
            assert 1 <= len(block["elements"]) <= 10
        if block["type"] == "actions":
            assert 1 <= len(block["elements"]) <= 25


def elements_within_limits(blocks: Sequence[Any]) -> None:
    for part in walk(list(blocks)):
        if part.get("type") == "button":
            assert utf16(part["text"]["text"]) <= 24
            assert utf16(part.get("accessibility_label", "x")) <= 75
            assert len(part["value"]) <= 150
        if part.get("type") == "static_select":
            assert 1 <= len(part["options"]) <= 100
            for option in part["options"]:
                assert utf16(option["text"]["text"]) <= 75
                assert len(option["value"]) <= 150


def ids_are_good(blocks: Sequence[Any]) -> None:
    named = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(named) == len(set(named))
    for block in blocks:
        pressed = [part["action_id"] for part in walk(block) if "action_id" in part]
        assert len(pressed) == len(set(pressed))
        assert ("block_id" in block) == bool(pressed), block
        for part in walk(block):
            if part.get("type") == "button" and part["action_id"] != ids.HOME_NEW:
                ids.parse_value(part["value"])


def labels_are_known(blocks: Sequence[Any]) -> None:
    for button in buttons(blocks):
        label = button["text"]["text"]
        if button["action_id"] in ids.LABELS:
            assert label == ids.LABELS[button["action_id"]]
        else:
            assert button["action_id"].startswith((ids.QUESTION_CHOOSE, ids.HOME_OPEN))
        assert button.get("accessibility_label", label).startswith(label)


def styles_are_few(blocks: Sequence[Any]) -> None:
    pressed = buttons(blocks)
    assert sum(button.get("style") == "primary" for button in pressed) <= 1
    assert all(button["action_id"] == ids.RUN_STOP for button in pressed if button.get("style") == "danger")
    assert all("confirm" not in button for button in pressed)


def risk_has_its_word(blocks: Sequence[Any]) -> None:
    for part in walk(list(blocks)):
        line = "".join(piece.get("text", "") for piece in part.get("elements", []) if isinstance(piece.get("text", ""), str))
        whole = line or (part["text"] if part.get("type") in ("mrkdwn", "plain_text") else "")
        for symbol, word in RISKS.items():
            if symbol in whole:
                assert word in whole.lower(), whole


def slack_takes_it_back(blocks: Sequence[Any]) -> None:
    """Slack's own models read every block and write the same."""
    for block in blocks:
        parsed = SlackBlock.parse(block)
        assert parsed is not None, block["type"]
        assert parsed.to_dict() == block


def pings(card: Card) -> list[str]:
    found = [sign for text in [card.text, *mrkdwns(card.blocks)] for sign in PINGS if sign in text]
    return found + [part["user_id"] for part in walk(card.blocks) if part.get("type") == "user"]


def check(card: Card, *, run: str = "R-7K2Q") -> None:
    """All of it."""
    assert utf16(card.text) <= 300
    assert run in card.text
    assert any(run in text for text in texts(card.blocks))
    only_ours(card.text)
    for text in mrkdwns(card.blocks):
        only_ours(text)
    within_limits(card.blocks)
    elements_within_limits(card.blocks)
    assert sum(utf16(text) for text in texts(card.blocks)) <= 9_500
    ids_are_good(card.blocks)
    labels_are_known(card.blocks)
    styles_are_few(card.blocks)
