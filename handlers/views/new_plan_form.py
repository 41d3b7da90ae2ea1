"""The form that asks for a new plan."""

from handlers.views import blocks, ids, pages, reasons
from handlers.views.pages import View
from handlers.views.scene import Block

LONGEST_ASK = 3_000  # of a field in Slack
PLACEHOLDER = "Read notes/today.md, sum it up and post it to #ops"
HINT = "Everyday words, or one step a line in plain notation. Nothing runs before the plan is graded and, if it needs it, approved."


def new_plan(initial: str = "", *, metadata: str = "") -> View:
    """The form *New plan*. With `metadata` the place is settled (a message's thread); without, the form asks for a channel."""
    words = reasons.text_input(multiline=True, focus=True, placeholder=PLACEHOLDER, limit=LONGEST_ASK, initial=initial)
    made: list[Block] = [reasons.field("words", "What do you want done?", words, hint=HINT)]
    if not metadata:
        channel = {
            "type": "conversations_select",
            "action_id": "value",
            "default_to_current_conversation": True,
            "placeholder": blocks.plain_text("Choose a channel"),
            "filter": {"include": ["public", "private", "im"], "exclude_bot_users": True},
        }
        made.append(reasons.field("channel", "Where should it stand?", channel, hint="The card, the thread and the answer go there."))
    return pages.modal(callback_id=ids.VIEW_NEW, title="New plan", made=made, metadata=metadata, submit="Plan it", close="Cancel")
