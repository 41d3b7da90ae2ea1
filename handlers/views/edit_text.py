"""The whole plan in plain notation, in as many fields as Slack needs for it, and read back as one text.

A field holds 3,000 characters, so a longer plan is split between its steps; a single step that is longer still goes on in the next field
without a break (its block's id says so). A fault of a line is told at the field in which the line stands.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.characters import utf16
from bot.core.notation import print_step
from bot.core.plan import Plan
from handlers.views import blocks, edit_fields, ids, pages
from handlers.views.edit_fields import field_block
from handlers.views.edit_steps import Note, alert, have_run
from handlers.views.pages import View
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count, ranges

LONGEST = 30_000  # UTF-16 units of all fields
BLOCK = re.compile(r"notation\.(\d+)(\.more)?")
HOW = "One step a line: id: tool name=value … Optional: after=a,b  !break  timeout=30  on_failure=stop  -- why"
FOOT = "`{{step.path}}` takes a value from an earlier step. Quotes as in a shell. Nothing here costs tokens."


@dataclass(frozen=True)
class Sheet:
    """One field: its text, the numbers of its steps, and whether it goes on from the field before."""

    text: str
    numbers: tuple[int, ...]
    more: bool = False


def sheets(plan: Plan) -> list[Sheet]:
    """The plan's notation in texts that fit a field each."""
    width = min(max((len(step.id) for step in plan.steps), default=0), 12) + 1
    found: list[Sheet] = []
    for step in plan.steps:
        line = print_step(step, width=width)
        last = found[-1] if found else None
        if last is not None and not last.more and utf16(last.text) + utf16(line) < edit_fields.FIELD:
            found[-1] = Sheet(f"{last.text}\n{line}", (*last.numbers, step.number))
        else:
            parts = list(edit_fields.in_parts(line))
            found += [Sheet(part, (step.number,), more=place > 0) for place, part in enumerate(parts)]
    return found


def text_form(
    scene: Scene, plan: Plan, *, base: int, terms: str, fixed: Sequence[int] = (), above: Sequence[Block] = (), after: int = 0
) -> View:
    """The form. `plan`: what can be changed, masked. `fixed`: numbers of the steps that have run. `above` stands on top.

    `after`: the highest number of a field that was shown before in its place, since Slack shows a new text only under a new id.
    """
    found = sheets(plan) or [Sheet("", ())]
    size = sum(utf16(sheet.text) for sheet in found)
    value = ids.encode(scene.run.id, base)
    title = f"Edit {scene.run.id} as text"
    if size > LONGEST:
        note = Note(f"*This plan has {size:,} characters:* too long for a form. Change its steps one by one.", "warning")
        return pages.modal(callback_id=ids.VIEW_TEXT, title=title, made=[alert(note)], metadata=value, close="Back")
    fields = f"{count(len(plan.steps), 'step')} in {len(found)} fields, since a Slack field holds 3,000 characters"
    said = [
        terms,
        f"{fields}. Save reads them as one plan." if len(found) > 1 else "",
        have_run(fixed) if fixed else "",
    ]
    made = [*above, *(blocks.context(line) for line in said if line), *_inputs(found, after), blocks.context(FOOT)]
    return pages.modal(callback_id=ids.VIEW_TEXT, title=title, made=made, metadata=value, submit="Save", close="Discard")


def _inputs(found: list[Sheet], after: int) -> list[Block]:
    made = []
    for place, sheet in enumerate(found, start=1):
        block_id = f"notation.{place + after}{'.more' if sheet.more else ''}"
        element: Element = {"type": "plain_text_input", "action_id": "value", "multiline": True, "max_length": 3_000}
        element |= {"initial_value": sheet.text} if sheet.text else {}
        element |= {"focus_on_load": True} if place == 1 else {}
        made.append(field_block(block_id, _label(sheet, alone=len(found) == 1), element, hint=HOW if place == 1 else ""))
    return made


def _label(sheet: Sheet, *, alone: bool) -> str:
    if alone:
        return "Plan"
    numbers = ranges(sheet.numbers, final=" and ")
    if sheet.more:
        return f"Step {numbers}, goes on"
    return f"{'Step' if len(sheet.numbers) == 1 else 'Steps'} {numbers}"


@dataclass(frozen=True)
class Typed:
    """What stands in the fields, as one text, and which field each of its lines is in."""

    text: str
    places: tuple[tuple[str, int], ...]  # line (from 0) → block, and the line within it (from 1)

    def place(self, line: int) -> tuple[str, int]:
        """The field of a line that is counted from 1, and which of its lines that is."""
        return self.places[min(max(line, 1), len(self.places)) - 1] if self.places else ("notation.1", 1)


def typed(values: Mapping[str, str]) -> Typed:
    """The fields put together again."""
    found = sorted((int(match[1]), bool(match[2]), block) for block in values if (match := BLOCK.fullmatch(block)))
    text, places = "", list[tuple[str, int]]()
    for _, more, block in found:
        said = values[block].replace("\r\n", "\n")
        text += said if more or not places else f"\n{said}"
        begins = 1 if more and places else 0
        places += [(block, number) for number, _ in enumerate(said.split("\n"), start=1)][begins:]
    return Typed(text, tuple(places))


def last_field(values: Mapping[str, str]) -> int:
    """The highest number of a field."""
    return max((int(match[1]) for block in values if (match := BLOCK.fullmatch(block))), default=0)
