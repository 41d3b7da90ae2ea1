"""Forms about a plan: asking for a new one, and the plan in plain notation.

Changing a plan by hand in a form comes later. Until then *Edit* shows the whole plan as text that can be copied, and says how to get
another.
"""

from bot.core.characters import visible
from bot.core.notation import print_plan
from handlers.views import blocks, ids, pages, reasons
from handlers.views.pages import View
from handlers.views.scene import Block, Scene
from handlers.views.text import inline, joined

LONGEST_ASK = 3_000  # of a field in Slack
LONGEST_PLAN = 20_000
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


def edit_view(scene: Scene) -> View:
    """The whole plan in plain notation, to read and to copy, and what to do for another one."""
    text = visible(print_plan(scene.plan))
    parts = list(pages.chunks(text[:LONGEST_PLAN], 3_000))
    cut = len(text) > LONGEST_PLAN
    plan = inline(scene.command("plan"))
    how = f"*Cancel* it on the card, then ask again with {plan}; the text below can be changed and used as the ask."
    says = f"*Editing in this form comes later.* To change the plan: {how}"
    made: list[Block] = [
        blocks.section(says),
        *(blocks.rich(blocks.box(part)) for part in parts),
        blocks.context(joined(scene.run.id, f"revision {scene.run.revision}", "one step a line; nothing here changes the plan")),
    ]
    if cut:
        made.append(blocks.context(f"The first {LONGEST_PLAN:,} of {len(text):,} characters; *Show all* on the card has the rest."))
    value = ids.encode(scene.run.id, scene.run.revision)
    return pages.modal(callback_id=ids.VIEW_EDIT, title=f"Plan of {scene.run.id}", made=made, metadata=value)
