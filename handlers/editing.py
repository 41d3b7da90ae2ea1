"""Edit by hand: the list of steps, its moves, and *Save*. No model is asked.

The form is opened at once and filled a moment later; what is changed in it stands on the server until *Save* makes a revision of it, all of
it or nothing. What is pressed in a list that was drawn before a restart changes nothing and says so.
"""

from dataclasses import replace
from functools import partial

from bot.commands import editing as commands
from bot.core.drafts import Fault
from bot.core.plan import dependents
from bot.errors import Refused
from handlers import edit_saving, edit_stage, edits, modals, step_forms
from handlers.context import Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.edit_stage import Lost, Stage
from handlers.edits import Edit
from handlers.modals import Answer
from handlers.views import edit_notices, edit_steps, ids, loading
from handlers.views.edit_steps import Note, noted
from handlers.views.pages import View
from handlers.views.text import count

DID = "edit"


async def on_edit(desk: Desk, press: Press) -> None:
    """Edit, on a card; or in a modal, whose place the list then takes."""
    if press.view_id:
        await modals.refill(desk, press, partial(_begun, desk, press, press.root_view_id or press.view_id))
        return
    opened = await modals.open_now(desk, press, loading.loading_view(press.action_id, press.value))
    await modals.fill(desk, str(opened["id"]), str(opened.get("hash") or ""), partial(_begun, desk, press, str(opened["id"])))


async def _begun(desk: Desk, press: Press, root: str) -> View:
    """The list of the newest revision, for one who may edit it."""
    target = press.target
    run = await deciding(desk, press, lambda who: commands.may_edit(desk.deps, target.run, who=who))
    current = run.proposed or run.revision
    if target.revision not in (None, current, run.revision):
        raise Refused("stale", run=run.id, revision=target.revision, current=current, did=DID)
    edit = await edit_stage.begin(desk, run.id, current)
    desk.keep_edit(root, edit)
    return await edit_stage.list_view(desk, root)


def forget(desk: Desk, root: str) -> None:
    """Discard: what was not saved is forgotten."""
    desk.edits.pop(root, None)


# the menu beside a step


async def on_move(desk: Desk, press: Press) -> None:
    """A line of the menu beside a step."""
    target, move = ids.parse_move(press.value)
    step, root = target.step or "", press.root_view_id or ""
    try:
        edit = edit_stage.of_form(desk, root)
        if move == "change":
            await modals.push_filled(desk, press, partial(step_forms.form, desk, root, step))
        elif move == "remove" and dependents(edit.plan, step):
            await modals.push_filled(desk, press, partial(_remove_form, desk, root, step))
        else:
            note = await _moved(desk, root, step, move)
            await modals.refill(desk, press, partial(edit_stage.list_view, desk, root, note))
    except Lost:
        await modals.refill(desk, press, partial(_lost, press))


async def _lost(press: Press) -> View:
    named, _, _ = press.value.rpartition(".") if press.action_id == ids.EDIT_STEP else (press.value, "", "")
    target = ids.parse_value(named)
    return edit_notices.lost(target.run, target.revision or 0)


async def _moved(desk: Desk, root: str, step: str, move: str) -> Note | None:
    """Do it, or say why it cannot be done. The edit is looked at and kept in one go, so that a second press meets the first one's plan."""
    staged = await edit_stage.stage(desk, edit_stage.of_form(desk, root))
    edit = edit_stage.of_form(desk, root)
    edit_stage.step_of(edit.plan, step, edit.run)
    if step in staged.fixed:
        return Note(f"*Nothing moved:* step {staged.plan.step(step).number} has run already.", "warning")
    if move in ("up", "down"):
        return _swapped(desk, root, edit, staged, step, -1 if move == "up" else 1)
    if move == "break":
        old = edit.plan.step(step)
        plan = edits.put(edit.plan, old.model_copy(update={"breakpoint": not old.breakpoint}))
    else:
        plan = edits.without(edit.plan, {step})
    desk.keep_edit(root, replace(edit, plan=plan))
    return None


def _swapped(desk: Desk, root: str, edit: Edit, staged: Stage, step: str, by: int) -> Note | None:
    other = edits.neighbour(edit.plan, step, by, fixed=staged.fixed)
    if other is None:
        return Note("*Nothing moved:* it stands at the end already.", "warning")
    if why := edits.why_not_moved(edits.shown(staged.snapshot, edit.plan), step, other.id):
        return Note(f"*Not moved:* {why}", "warning")
    desk.keep_edit(root, replace(edit, plan=edits.moved(edit.plan, step, other.id)))
    return None


async def _remove_form(desk: Desk, root: str, step: str) -> View:
    staged = await edit_stage.stage(desk, edit_stage.of_form(desk, root))
    found = edit_stage.step_of(staged.shown, step, staged.edit.run)
    lost = dependents(staged.shown, step)
    return edit_notices.remove_form(await edit_stage.scene_of(desk, staged), found, lost, base=staged.edit.base)


async def on_removed(desk: Desk, sent: Submission) -> Answer:
    """The step goes, and all that need it."""

    async def remove(edit: Edit) -> Answer:
        step = edit_stage.step_of(edit.plan, sent.target.step, edit.run)
        gone = {step.id, *(other.id for other in dependents(edit.plan, step.id))}
        desk.keep_edit(sent.root_view_id, replace(edit, plan=edits.without(edit.plan, gone)))
        return Answer(then=partial(edit_stage.redraw, desk, sent.root_view_id))

    return await edit_stage.with_edit(desk, sent, remove)


async def on_saved(desk: Desk, sent: Submission) -> Answer:
    """Save, below the list."""
    return await edit_stage.with_edit(desk, sent, partial(_saved, desk, sent))


async def _saved(desk: Desk, sent: Submission, edit: Edit) -> Answer:
    try:
        await edit_saving.save(desk, sent, edit)
    except commands.InvalidPlan as invalid:
        note = noted(f"*Not saved: {count(len(invalid.faults), 'fault')}.*", _first(invalid.faults), "error")
    except Refused as refused:
        if refused.kind != "nothing_changed":
            return await edit_saving.in_the_way(desk, sent, edit, refused)
        note = Note("*Nothing is changed yet.* Change a step with the menu beside it, or close this.")
    else:
        return Answer.clear()
    return Answer.update(await modals.in_time(edit_stage.list_view(desk, sent.root_view_id, note)))


def _first(faults: tuple[Fault, ...]) -> str:
    """The fault that belongs to no row, else the first one."""
    first = next((fault for fault in faults if fault.step is None), faults[0])
    return edit_steps.says(first)
