"""What a confirm card offers and what the command takes are one rule (P2, P3)."""

import pytest

from bot.core.completeness import fits_card
from bot.core.run import Hold, StepStatus
from handlers.views import confirm_card, ids
from tests.handlers.views.stage import RISKY, held, states


@pytest.mark.parametrize("step", ["write", "deploy", "tell"])
@pytest.mark.parametrize("size", [0, 79, 600, 601, 1_500, 2_000, 2_001, 5_999, 6_001, 7_400])
@pytest.mark.parametrize("shown_as_change", [True, False])
def test_a_confirm_stands_on_a_card_only_if_the_command_takes_it_from_there(step: str, size: int, shown_as_change: bool) -> None:
    """P2: the command refuses values that do not fit their card, so a card must never offer Confirm for more than the rule allows."""
    text = ("x" * 60 + "\n") * (size // 61) + "x" * (size % 61) if step == "write" else "x" * size
    args = {"text": text, "channel": "#ops"}
    preview = {"target": "a", "before": "", "after": text} if shown_as_change else None
    filled = states(RISKY, 8, **{step: {"status": StepStatus.PENDING, "args": args}})
    card = confirm_card.confirm_card(held(Hold.CONFIRM, step, RISKY, steps=filled), step, args=args, digest="0" * 64, preview=preview)

    offered = [element["action_id"] for block in card.blocks if block["type"] == "actions" for element in block["elements"]]
    fits = fits_card(args, sends=step == "tell", after=(preview or {}).get("after"))
    assert (ids.CONFIRM_CONFIRM in offered) != (ids.CONFIRM_SHOW_ALL in offered)
    assert fits or ids.CONFIRM_CONFIRM not in offered
    if not shown_as_change:
        assert fits == (ids.CONFIRM_CONFIRM in offered)
