"""Each card in each state is drawn as its golden file has it. `--regenerate` writes them anew; the difference is then read by a person."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from handlers.views.scene import Card
from tests.handlers.views import cards, corded, waited

GOLDEN = Path(__file__).parent / "golden"


DRAWN = [*cards.every(), *corded.of_the_whole_bot().items(), *waited.of_the_whole_bot().items()]


@pytest.mark.parametrize(("name", "draw"), DRAWN, ids=[name for name, _ in DRAWN])
def test_a_card_is_drawn_as_its_golden_file_has_it(name: str, draw: Callable[[], Card], regenerate: bool) -> None:
    card = draw()
    drawn = json.dumps({"text": card.text, "blocks": card.blocks}, ensure_ascii=False, indent=1) + "\n"
    place = GOLDEN / f"{name}.json"
    if regenerate:
        place.write_text(drawn, encoding="utf-8")
    assert place.read_text(encoding="utf-8") == drawn


def test_no_golden_file_is_left_over() -> None:
    assert {place.stem for place in GOLDEN.glob("*.json")} == {name for name, _ in DRAWN}
