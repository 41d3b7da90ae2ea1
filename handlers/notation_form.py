"""As text: the whole plan in plain notation, read back as one plan. Faults are told at the field, with the line; *Save* makes a revision.

What was masked in the text keeps its real value where it was left as it was, in the same argument of the same step; a mask that was moved
elsewhere stands for nothing. After a restart the text is still whole, so it is read all the same.
"""

import re
from dataclasses import replace
from functools import partial
from typing import Any

from bot.commands import editing as commands
from bot.core.drafts import Fault
from bot.core.notation import NotationError, parse_steps
from bot.core.plan import Plan, Step
from bot.errors import Refused
from handlers import edit_saving, edit_stage, entries, modals
from handlers.context import Press, Submission
from handlers.desk import Desk
from handlers.edit_stage import Lost, Stage
from handlers.edits import Edit
from handlers.entries import Unreadable
from handlers.modals import Answer
from handlers.views import edit_notices, edit_steps, edit_text
from handlers.views.edit_text import Typed
from handlers.views.pages import View
from handlers.views.text import count, one_line

LINE = re.compile(r"line (\d+)")
MOST_FAULTS = 2
LONGEST_FAULT = 160


async def on_as_text(desk: Desk, press: Press) -> None:
    """As text."""
    await modals.push_filled(desk, press, partial(_form, desk, press))


async def _form(desk: Desk, press: Press) -> View:
    try:
        staged = await edit_stage.stage(desk, edit_stage.of_form(desk, press.root_view_id or ""))
    except Lost:
        return edit_notices.lost(press.target.run, press.target.revision or 0)
    return edit_saving.text_view(await edit_stage.scene_of(desk, staged), staged)


async def on_sent(desk: Desk, sent: Submission) -> Answer:
    """Save, below the text."""
    edit = desk.edits.get(sent.root_view_id) or await edit_stage.begin(desk, sent.target.run, sent.target.revision or 0)
    typed = edit_text.typed(sent.values)
    staged = await edit_stage.stage(desk, edit)
    try:
        plan, faults = _plan(desk, staged, typed)
        if not faults:
            faults = list((await edit_stage.stage(desk, replace(edit, plan=plan))).checked.faults)
    except NotationError as problem:
        faults = list(problem.faults)
    if faults:
        return Answer.errors(_at_fields(faults, typed))
    desk.keep_edit(sent.root_view_id, replace(edit, plan=plan))
    return await _saved(desk, sent, replace(edit, plan=plan), typed)


async def _saved(desk: Desk, sent: Submission, edit: Edit, typed: Typed) -> Answer:
    try:
        await edit_saving.save(desk, sent, edit)
    except commands.InvalidPlan as invalid:
        return Answer.errors(_at_fields(list(invalid.faults), typed))
    except Refused as refused:
        if refused.kind == "nothing_changed":
            return Answer.errors({typed.place(1)[0]: "Nothing is changed in it yet. Change the text, or close this."})
        return await edit_saving.in_the_way(desk, sent, edit, refused)
    return Answer.clear()


def _plan(desk: Desk, staged: Stage, typed: Typed) -> tuple[Plan, list[Fault]]:
    """The plan that the text says, after the steps that have run; and what is wrong with it. Raises `NotationError`."""
    done = tuple(step for step in staged.edit.plan.steps if step.id in staged.fixed)
    taken = {step.id for step in done}
    read = parse_steps(typed.text, used=taken, catalogue=desk.deps.tools.catalogue)
    faults = [
        Fault(step=step.id, says=f"step {staged.plan.step(step.id).number} · {step.id} has run", fix="give this one another id")
        for step in read
        if step.id in taken
    ]
    steps: list[Step] = []
    for step in read:
        try:
            steps.append(_as_before(staged, step))
        except Unreadable as hidden:
            faults.append(Fault(step=step.id, says=str(hidden)))
    return staged.edit.plan.model_copy(update={"steps": (*done, *steps)}), faults


def _as_before(staged: Stage, step: Step) -> Step:
    """The step with its number, and with the real values of what was left masked. Raises `Unreadable`."""
    real, shown = (next((one for one in plan.steps if one.id == step.id), None) for plan in (staged.edit.plan, staged.shown))
    same = real is not None and shown is not None and real.tool == step.tool
    was: dict[str, Any] = dict(shown.args) if shown is not None and same else {}
    truth: dict[str, Any] = dict(real.args) if real is not None and same else {}
    args = {name: entries.unmasked(value, was.get(name), truth.get(name)) for name, value in step.args.items()}
    purpose = entries.unmasked(step.purpose, shown.purpose if shown else None, real.purpose if real else None)
    number = real.number if real is not None else _number_in_base(staged, step)
    return step.model_copy(update={"args": args, "purpose": purpose, "number": number})


def _number_in_base(staged: Stage, step: Step) -> int:
    """A step that was taken out and put back keeps its number."""
    return next((one.number for one in staged.base.plan.steps if one.id == step.id), 0)


def _at_fields(faults: list[Fault], typed: Typed) -> dict[str, str]:
    """At most two faults in a field, then how many more there are; each with its line, as it stands in that field."""
    found: dict[str, list[str]] = {}
    for fault in faults:
        whole = _line(fault, typed)
        block, line = typed.place(whole)
        place = f"Line {line}: " if whole else ""
        found.setdefault(block, []).append(f"{place}{one_line(edit_steps.says(fault), LONGEST_FAULT)}")
    return {block: _first_of(said) for block, said in found.items()}


def _first_of(said: list[str]) -> str:
    rest = len(said) - MOST_FAULTS
    return " · ".join([*said[:MOST_FAULTS], *([f"and {count(rest, 'more fault')}"] if rest > 0 else [])])


def _line(fault: Fault, typed: Typed) -> int:
    """Where a fault is, as a line of the whole text; 0 if that cannot be told."""
    if match := LINE.fullmatch(fault.field or ""):
        return int(match[1])
    if fault.step:
        begins = re.compile(rf"(?:^|[\n;])[ \t]*{re.escape(fault.step)}[ \t]*:")
        if stands := begins.search(typed.text):
            return typed.text.count("\n", 0, stands.end()) + 1
    return 0
