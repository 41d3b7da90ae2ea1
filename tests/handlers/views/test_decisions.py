"""C025: nothing is decided by opening an address. Every decision is a press or a form, which Slack signs and which name a person."""

import json
from pathlib import Path

from tests.doubles.town import elements

GOLDEN = Path(__file__).parent / "golden"


def test_c025_no_button_on_any_card_or_form_leads_to_an_address() -> None:
    cards = sorted(GOLDEN.rglob("*.json"))
    found = [(card.name, element) for card in cards for element in elements(json.loads(card.read_text()))]
    buttons = [(name, element) for name, element in found if element.get("type") == "button"]
    assert len(buttons) > 100
    assert [name for name, element in buttons if "url" in element] == []
    assert [name for name, element in buttons if not element.get("action_id") or not element.get("value")] == []
