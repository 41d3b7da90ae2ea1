"""What the edit form says when something stands in the way: dependents, another person's revision, a run that has begun, a restart.

Whatever was typed is given back: an edit that cannot be saved any more becomes words that can be said in the thread.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.core.catalogue import ToolSpec
from bot.core.characters import utf16
from bot.core.comparison import changes
from bot.core.notation import print_step
from bot.core.plan import Plan, Step, fingerprint
from bot.core.run import FINAL, RunStatus
from bot.core.snapshot import Revision
from handlers.views import blocks, ids, pages, words
from handlers.views import changes as differences
from handlers.views.edit_fields import field_block
from handlers.views.edit_steps import ALERT, Note, alert
from handlers.views.pages import View
from handlers.views.scene import Block, Card, Element, Scene
from handlers.views.text import is_person, one_line, ping, ranges

LONGEST_BOX = 3_000
KEPT = "Your changes are not lost: copy them from here,"
NAME_HINT = "Letters, digits, - and _. Other steps refer to it by this name."
GONE = "*Your changes in this form are gone: Pullcord was restarted meanwhile.* Nothing was saved; the card is still good."
LINE_HINT = "Instead of the fields above: a step as the planner or As text would write it, such as files.read path=notes.md"


def remove_form(scene: Scene, step: Step, lost: Sequence[Step], *, base: int) -> View:
    """Others need the step that is to be removed: they are named before anything goes."""
    lines = [
        blocks.line(
            blocks.strong(words.numbered(scene, other)),
            blocks.said(" needs the result of " if step.id in other.needs else " needs what comes from "),
            blocks.strong(words.numbered(scene, step)),
            blocks.said("."),
        )
        for other in lost[:20]
    ]
    both = "both" if len(lost) == 1 else f"all {len(lost) + 1}"
    numbers = ranges([other.number for other in lost], final=" and ")
    then = f"Remove {both}, or go back and change what {numbers} {'takes' if len(lost) == 1 else 'take'}."
    return pages.modal(
        callback_id=ids.VIEW_REMOVE,
        title=f"Remove step {step.number}?",
        made=[blocks.rich(*lines, blocks.line(blocks.said(then)))],
        metadata=ids.encode(scene.run.id, base, step.id),
        submit=f"Remove {both}",
        close="Back",
    )


def conflict(scene: Scene, current: Revision) -> list[Block]:
    """Somebody else's revision came meanwhile: who, and what it changed. The typed text follows below."""
    who = f"{ping(current.author)} saved" if is_person(current.author) else "the planner made"
    note = Note(
        f"*Not saved: {who} revision {current.revision} meanwhile.* Your text is kept below; saved now, it comes in its place.", "warning"
    )
    return [alert(note), *differences.since(scene.under(current))]


def too_late(scene: Scene, before: Plan, after: Plan, *, base: int) -> View:
    """The plan can be edited no more. Both plans are masked. What was changed is written as replies that do the same."""
    why, then = _over(scene, base)
    lines = replies(before, after)
    text = "\n".join(lines)
    made: list[Block] = [alert(Note(f"*Not saved: {why}.*", "warning")), blocks.rich(blocks.line(blocks.said(f"{KEPT} {then}")))]
    made += [blocks.rich(blocks.box(part)) for part in list(pages.chunks(text, LONGEST_BOX))[:30]]
    return pages.modal(callback_id=ids.VIEW_EDIT, title=f"Edit {scene.run.id}", made=made, metadata=ids.encode(scene.run.id, base))


def _over(scene: Scene, base: int) -> tuple[str, str]:
    """Why it is too late, and what to do with what was typed."""
    status = scene.run.status
    if status in FINAL:
        return f"{scene.run.id} has ended", f"ask again with {scene.command('plan')}."
    if status is RunStatus.PLANNING:
        return "the plan is being made again", "edit the new plan once it stands."
    why = f"revision {base} was approved while you were editing, and the run has started"
    return why, "press Pause on the run card, and reply in the thread with what to change."


def replies(before: Plan, after: Plan) -> list[str]:
    """The changes in the forms that a reply in the thread may have, one a line."""
    old, new = ({step.id: step for step in plan.steps} for plan in (before, after))
    said = []
    for name, step in new.items():
        if name not in old:
            said.append(f"add {print_step(step)}")
        elif changes(old[name], step) or (step.breakpoint and not old[name].breakpoint):
            said.append(f"instead {print_step(step)}")
    return said + [f"skip {name}" for name in old if name not in new]  # last: what no longer needs them is kept


def lost(run: str, base: int) -> View:
    """The unsaved plan is gone: the bot was restarted, or the form is too old."""
    note = Note(GONE, "warning")
    next_move = blocks.section("*Next:* close this and press *Edit* again.")
    return pages.modal(callback_id=ids.VIEW_EDIT, title=f"Edit {run}", made=[alert(note), next_move], metadata=ids.encode(run, base))


def with_note(view: Mapping[str, Any], note: Note) -> View:
    """A view as Slack has it, to be shown again with a word on top; what was entered stays, since the ids of its fields do."""
    kept = ("type", "title", "submit", "close", "callback_id", "private_metadata", "notify_on_close")
    known = [block for block in view.get("blocks") or [] if block.get("block_id") != "note"]
    on_top = {**alert(note), "block_id": "note"}
    return {name: view[name] for name in kept if view.get(name)} | {"blocks": [on_top, *known]}


def refused(card: Card) -> Note:
    """A private answer as a word on top of a form: as many of its sentences as there is room for, none cut."""
    sentences = card.text.split(". ")
    while utf16(". ".join(sentences)) > ALERT and len(sentences) > 1:
        sentences.pop()
    return Note(". ".join(sentences), "error")


def add_form(scene: Scene, tools: Sequence[ToolSpec], *, base: int, name: str) -> View:
    """A step more: which tool, and what it is called; or one line of notation. Its own form comes next."""
    step_name: Element = {"type": "plain_text_input", "action_id": "value", "initial_value": name, "max_length": 40}
    why: Element = {"type": "plain_text_input", "action_id": "value", "max_length": 120}
    line: Element = {"type": "plain_text_input", "action_id": "value", "multiline": False, "max_length": 3_000}
    made = [
        *([field_block("tool", "Tool", _tools(tools), optional=True)] if tools else []),
        field_block("id", "Name of the step", step_name, hint=NAME_HINT, optional=True),
        field_block("purpose", "Purpose", why, optional=True),
        field_block("line", "Or in one line", line, hint=LINE_HINT, optional=True),
    ]
    return pages.modal(
        callback_id=ids.VIEW_ADD, title="Add a step", made=made, metadata=ids.encode(scene.run.id, base), submit="Next", close="Back"
    )


def tool_value(name: str) -> str:
    """What stands for a tool in the menu: the same for life, whatever other tools come and go."""
    return fingerprint(name)[:12]


def _tools(tools: Sequence[ToolSpec]) -> Element:
    """A menu of tools; more than a hundred stand in groups."""
    options = [_tool(spec) for spec in tools]
    menu: Element = {"type": "static_select", "action_id": "value", "placeholder": blocks.plain_text("Choose a tool")}
    if len(options) <= blocks.MOST_OPTIONS:
        return {**menu, "options": options}
    groups = [options[start : start + 50] for start in range(0, len(options), 50)][:100]
    labels = [blocks.plain_text(f"{place * 50 + 1} to {place * 50 + len(group)}") for place, group in enumerate(groups)]
    return {**menu, "option_groups": [{"label": label, "options": group} for label, group in zip(labels, groups, strict=True)]}


def _tool(spec: ToolSpec) -> Element:
    option = blocks.option(one_line(spec.name, 75), tool_value(spec.name))
    says = one_line(spec.description.partition(".")[0], 75)
    return {**option, "description": blocks.plain_text(says, ours=False)} if says else option
