"""Forms that ask for a few words: why a plan is cancelled, why a step is refused, what was seen of a step in doubt, what is to change."""

from bot.core import rest
from bot.core.characters import cut
from bot.core.plan import Step
from bot.errors import Refused
from handlers.views import blocks, ids, pages, step_lines, words
from handlers.views.ids import Target
from handlers.views.pages import View
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import joined, ranges

LONGEST = 1_000
LONGEST_WISH = 2_000
WHYS = (("Not needed any more", "not_needed"), ("Wrong target", "target"), ("Too risky", "risk"), ("Something else", "other"))


def cancel_form(scene: Scene, revision: int) -> View:
    """Why is this plan cancelled? Both answers may stay empty."""
    choices = [{"text": blocks.plain_text(label), "value": value} for label, value in WHYS]
    radio: Element = {"type": "radio_buttons", "action_id": "value", "options": choices}
    hint = "The requester and the audit channel see it; the planner too, if this is asked again."
    made: list[Block] = [
        blocks.rich(blocks.line(blocks.aim(words.goal_of(scene))), blocks.line(blocks.said("Nothing has run. Nothing will run."))),
        field("why", "Why?", radio, optional=True),
        field("words", "In your words", text_input(multiline=True), hint=hint, optional=True),
    ]
    value = ids.encode(scene.run.id, revision or scene.run.revision)
    title = f"Cancel {scene.run.id}"
    return pages.modal(callback_id=ids.VIEW_CANCEL, title=title, made=made, metadata=value, submit="Cancel the plan", close="Back")


def refuse_form(scene: Scene, target: Target) -> View:
    """Why is this filling of a step refused?"""
    step = _step(scene, target)
    lost = step_lines.dropped_with(scene, step.id)
    numbers = ranges([other.number for other in lost], final=" and ")
    one = len(lost) == 1
    also = f" {'Step' if one else 'Steps'} {numbers} {'needs it and is' if one else 'need it and are'} left out." if lost else ""
    made: list[Block] = [
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step))), blocks.line(blocks.said(f"Nothing is changed.{also}"))),
        field("words", "Why?", text_input(multiline=True, focus=True), hint="It stands on the card and in the audit channel."),
    ]
    value = ids.encode(scene.run.id, target.revision, step.id, target.filling)
    return pages.modal(
        callback_id=ids.VIEW_REFUSE, title=f"Refuse step {step.number}", made=made, metadata=value, submit="Refuse", close="Back"
    )


def happened_form(scene: Scene, target: Target) -> View:
    """What was seen of a step in doubt; the words stand in for its result."""
    step = _step(scene, target)
    says = f"The run goes on. What you write stands in for the result of step {step.number}."
    shown = text_input(multiline=True, focus=True, placeholder="What the target looks like now")
    made: list[Block] = [
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step))), blocks.line(blocks.said(says))),
        field("words", "What did you see?", shown, hint="It goes into the record under your name."),
    ]
    value = ids.encode(scene.run.id, target.revision, step.id, target.filling)
    title = f"Step {step.number} happened"
    return pages.modal(callback_id=ids.VIEW_HAPPENED, title=title, made=made, metadata=value, submit="It happened", close="Back")


def ask_form(scene: Scene, revision: int) -> View:
    """What should be different in the plan under review? The planner makes another revision of it."""
    following = max((one.revision for one in scene.snapshot.revisions), default=scene.run.revision) + 1
    left = (
        f"plan {rest.plans_wanted(scene.snapshot.entries) + 1} of {scene.revisions_limit} by the planner" if scene.revisions_limit else ""
    )
    shown = text_input(multiline=True, focus=True, placeholder="Do not read the backup; post to #general as well", limit=LONGEST_WISH)
    hint = f"The planner makes revision {following} from this. It has no tools; the new plan comes here for approval."
    sees = "the planner also sees the plan as it is and the reasons of earlier refusals"
    made: list[Block] = [
        blocks.rich(blocks.line(blocks.aim(words.goal_of(scene))), blocks.line(blocks.said(f"{scene.run.id} · revision {revision}"))),
        field("words", "What should be different?", shown, hint=hint),
        blocks.context(joined(left, sees)),
    ]
    value = ids.encode(scene.run.id, revision)
    return pages.modal(callback_id=ids.VIEW_ASK, title="Ask for changes", made=made, metadata=value, submit="Send", close="Back")


def rest_form(scene: Scene, *, used_up: int = 0) -> View:
    """What should be different from here on? The same as a reply in the thread; by hand is the other way, and the only one once the
    replies that may change a run are `used_up` (so many)."""
    stays = f"{scene.run.id} · {step_lines.done_of(scene)}; what is done stays done."
    value = ids.encode(scene.run.id, scene.run.revision)
    by_hand = blocks.button(ids.REVIEW_EDIT, value, about=words.about(scene))
    made: list[Block] = [blocks.rich(blocks.line(blocks.aim(words.goal_of(scene))), blocks.line(blocks.said(stays)))]
    if used_up:
        made.append(pages.alert(f"*The rest of {scene.run.id} was planned again {used_up} times.* The planner is not asked again."))
    else:
        shown = text_input(multiline=True, focus=True, placeholder="Post it to #general instead", limit=LONGEST_WISH)
        hint = "The same as a reply in the thread: the rest is planned again and only what changed is asked."
        made.append(field("words", "What should be different from here on?", shown, hint=hint))
    made += [
        *blocks.actions("rest:by_hand", by_hand),
        blocks.context("*Edit* changes the steps that have not started by hand: no tokens, and no words needed."),
    ]
    submit = "" if used_up else "Send"
    return pages.modal(callback_id=ids.VIEW_REST, title="Change the rest", made=made, metadata=value, submit=submit, close="Back")


def freeze_form() -> View:
    """Why is everything held? Everybody whose run is held reads it."""
    shown = text_input(multiline=True, focus=True, placeholder="Database move until 15:00")
    says = "No run starts and no step starts until an admin thaws it; what runs now finishes. It survives a restart."
    made: list[Block] = [
        blocks.rich(blocks.line(blocks.said(says))),
        field("words", "Why?", shown, hint="It stands on the card of every run that is held, and in the audit channel."),
    ]
    return pages.modal(callback_id=ids.VIEW_FREEZE, title="Freeze everything", made=made, metadata="all", submit="Freeze", close="Back")


def field(block_id: str, label: str, element: Element, *, hint: str = "", optional: bool = False) -> Block:
    """One input of a form."""
    made: Block = {"type": "input", "block_id": block_id, "label": blocks.plain_text(label), "element": element}
    if hint:
        made["hint"] = blocks.plain_text(hint)
    return {**made, "optional": True} if optional else made


def text_input(*, multiline: bool = False, focus: bool = False, placeholder: str = "", limit: int = LONGEST, initial: str = "") -> Element:
    """A field for words."""
    made: Element = {"type": "plain_text_input", "action_id": "value", "multiline": multiline, "max_length": limit}
    if placeholder:
        made["placeholder"] = blocks.plain_text(placeholder)
    if initial:
        made["initial_value"] = cut(initial, limit)
    return {**made, "focus_on_load": True} if focus else made


def _step(scene: Scene, target: Target) -> Step:
    found = next((step for step in scene.plan.steps if step.id == target.step), None)
    if found is None:
        raise Refused("unknown_step", run=scene.run.id, step=target.step)
    return found
