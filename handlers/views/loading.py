"""What a modal shows in its first moment, and what it says when it cannot be filled.

A trigger lives for three seconds: a light view takes it at once, and the real one replaces it.
"""

from collections.abc import Mapping
from typing import Any

from bot.errors import Refused
from handlers.views import blocks, ids, pages, refusals
from handlers.views.pages import View

WAITING = {
    ids.REVIEW_EDIT: (ids.VIEW_EDIT, "Edit", "Loading the plan…"),
    ids.EDIT_STEP: (ids.VIEW_STEP, "Edit", "Loading the step…"),
    ids.EDIT_ADD: (ids.VIEW_ADD, "Edit", "Loading the tools…"),
    ids.EDIT_AS_TEXT: (ids.VIEW_TEXT, "Edit", "Loading the plan…"),
    ids.REVIEW_ASK: (ids.VIEW_ASK, "Changes to", "Loading…"),
    ids.RUN_CHANGE_REST: (ids.VIEW_REST, "The rest of", "Loading…"),
    ids.CONFIRM_CHANGE: (ids.VIEW_ARGUMENTS, "Values of", "Loading the values…"),
    ids.REVIEW_SHOW_ALL: (ids.VIEW_PAGES, "All steps of", "Loading the plan…"),
    ids.RUN_SHOW_ALL: (ids.VIEW_PAGES, "All steps of", "Loading the plan…"),
    ids.CONFIRM_SHOW_ALL: (ids.VIEW_CONFIRM_PAGES, "All values of", "Loading the values…"),
    ids.REVIEW_APPROVE: (ids.VIEW_STEP_UP, "Approve", "Loading the plan…"),
    ids.CONFIRM_CONFIRM: (ids.VIEW_CONFIRM_STEP_UP, "Confirm", "Loading the values…"),
    ids.REVIEW_CANCEL: (ids.VIEW_CANCEL, "Cancel", "Loading…"),
}


def loading_view(action: str, value: str) -> View:
    """A view that needs no look-up, for the button that was pressed."""
    callback, title, says = WAITING.get(action, ("loading", "", "Loading…"))
    run = _run_of(value)
    return pages.modal(
        callback_id=callback, title=f"{title} {run}".strip() or "Pullcord", made=[blocks.section(says)], metadata=value[:200]
    )


def refused_view(kind: str, facts: Mapping[str, Any]) -> View:
    """The modal cannot be filled: the same words as the private answer."""
    card = refusals.refusal(kind, facts)
    sections = [block for block in card.blocks if block["type"] != "actions"]
    return pages.modal(callback_id="refused", title="Pullcord", made=sections)


def _run_of(value: str) -> str:
    for read in (ids.parse_value, lambda named: ids.parse_move(named)[0]):
        try:
            return read(value).run
        except Refused:
            continue
    return ""
