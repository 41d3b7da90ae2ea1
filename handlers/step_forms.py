"""Forms about one step: of the unsaved plan, of a step that is being added, and of one whose real values wait for confirmation."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from bot import runs
from bot.commands import editing as commands
from bot.core import grading
from bot.core.catalogue import ToolSpec
from bot.core.drafts import Fault
from bot.core.notation import NotationError, parse_steps
from bot.core.plan import Plan, Step, dependents
from bot.core.risk import Mode
from bot.core.snapshot import StepState
from bot.errors import Refused
from handlers import edit_stage, edits, entries, masking, modals, scenes
from handlers.context import Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.edit_stage import Lost
from handlers.edits import Edit
from handlers.modals import Answer
from handlers.views import edit_fields, edit_notices, edit_step_form, edit_steps
from handlers.views.edit_fields import Kind
from handlers.views.edit_steps import noted
from handlers.views.pages import View
from handlers.views.text import one_line

LONGEST_ERROR = 300


async def form(desk: Desk, root: str, step_id: str) -> View:
    """The form of a step of the unsaved plan, or of the one that is being added to it."""
    staged = await edit_stage.stage(desk, edit_stage.of_form(desk, root), adding=True)
    if step_id in staged.fixed:
        raise Refused("step_started", run=staged.edit.run, step=step_id)
    step = edit_stage.step_of(staged.shown, step_id, staged.edit.run)
    spec = desk.deps.tools.catalogue.get(step.tool)
    channels = await edit_stage.channel_ids(desk, spec, step.args)
    fields = edit_fields.fields(spec, step.args, plan=staged.shown, channels=channels)
    later = {other.id for other in dependents(staged.shown, step.id)} | {step.id}
    others = [other for other in staged.shown.steps if other.id not in later or other.id in step.depends_on]
    is_new = staged.edit.adding is not None and staged.edit.adding.id == step.id
    scene = await edit_stage.scene_of(desk, staged)
    return edit_step_form.step_form(scene, step, fields, base=staged.edit.base, others=others, is_new=is_new)


async def on_applied(desk: Desk, sent: Submission) -> Answer:
    """Apply: what is wrong stands at its field; what is right goes back to the list, and counts once the list is saved."""
    return await edit_stage.with_edit(desk, sent, partial(_applied, desk, sent))


async def _applied(desk: Desk, sent: Submission, edit: Edit) -> Answer:
    staged = await edit_stage.stage(desk, edit, adding=True)
    old = edit_stage.step_of(edits.put(edit.plan, edit.adding) if edit.adding else edit.plan, sent.target.step, edit.run)
    shown = staged.shown.step(old.id)
    values, unread = await _read(desk, sent, old, args=old.args, shown=shown.args, plan=staged.shown)
    new, misfits = _changed(old, shown, sent, values)
    trial = replace(edit, plan=edits.put(edit.plan, new), adding=None)
    faults = (await edit_stage.stage(desk, trial)).checked.faults
    wrong = {**_at_fields([fault for fault in faults if fault.step == new.id], sent), **misfits, **unread}
    if wrong:
        return Answer.errors(wrong)
    newest = edit_stage.of_form(desk, sent.root_view_id)
    desk.keep_edit(sent.root_view_id, replace(newest, plan=edits.put(newest.plan, new), adding=None))
    return Answer(then=partial(edit_stage.redraw, desk, sent.root_view_id))


async def _read(
    desk: Desk, sent: Submission, step: Step | StepState, *, args: Mapping[str, Any], shown: Mapping[str, Any], plan: Plan | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments in the form, and what is wrong with them by field. `plan`: references to its steps may stand in them."""
    spec = desk.deps.tools.catalogue.get(step.tool)
    fields = edit_fields.fields(spec, shown, plan=plan, channels=edit_stage.ids_in_form(sent, spec, shown))
    pickers = [one for one in fields if one.kind is Kind.CHANNEL]
    chosen = [sent.values[one.block_id] for one in pickers if sent.values.get(one.block_id, one.text) != one.text]
    return entries.read(fields, sent.values, args=args, shown=shown, channels=await edit_stage.channel_names(desk, chosen))


def _changed(old: Step, shown: Step, sent: Submission, args: dict[str, Any]) -> tuple[Step, dict[str, str]]:
    """The step as the form has it, and what no step may be, by field."""
    said = " ".join(sent.values.get("purpose", "").split())
    same = said == " ".join(edit_step_form.shown_purpose(shown).split())
    seconds, tries = sent.values.get("timeout"), sent.values.get("retries")
    found = {
        **old.model_dump(),
        "args": args,
        "purpose": old.purpose if same else said,
        "depends_on": sent.many.get("after", ()),
        "on_failure": sent.values.get("on_failure", old.on_failure),
        "timeout_s": None if seconds is None else seconds,
        "retries": 0 if tries is None else tries,
        "breakpoint": bool(sent.many.get("breakpoint")),
    }
    try:
        return Step.model_validate(found), {}
    except ValidationError as problem:
        blocks = {"timeout_s": "timeout", "depends_on": "after"}
        fields = {str(detail["loc"][0]): detail["msg"] for detail in problem.errors()}
        return old, {blocks.get(name, name): one_line(says, LONGEST_ERROR) for name, says in fields.items()}


def _at_fields(faults: list[Fault], sent: Submission) -> dict[str, str]:
    """The faults that belong to a field of the form that was sent, by block. The others are told at the step's row."""
    inputs = {block["block_id"] for block in sent.view["blocks"] if block["type"] == "input"}
    found: dict[str, str] = {}
    for fault in faults:
        block = _block_of(fault, inputs)
        if block and block not in found:
            found[block] = _sentence(fault)
    return found


def _block_of(fault: Fault, inputs: set[str]) -> str:
    where = fault.field or ""
    own = {"depends_on": "after", "retries": "retries"}.get(where, "")
    if own or not where.startswith("args."):
        return own if own in inputs else ""
    name = where.removeprefix("args.")
    named = [block for block in inputs if block.startswith("arg.") and _is_of(block.removeprefix("arg."), name)]
    return max(named, key=len, default="")


def _is_of(block: str, name: str) -> bool:
    return name == block or name.startswith((f"{block}.", f"{block}["))


def _sentence(fault: Fault) -> str:
    says = one_line(edit_steps.says(fault), LONGEST_ERROR)
    return says[:1].upper() + says[1:]


# a step more


async def on_add(desk: Desk, press: Press) -> None:
    """Add a step."""
    await modals.push_filled(desk, press, partial(_add_form, desk, press))


async def _add_form(desk: Desk, press: Press) -> View:
    try:
        staged = await edit_stage.stage(desk, edit_stage.of_form(desk, press.root_view_id or ""))
    except Lost:
        return edit_notices.lost(press.target.run, press.target.revision or 0)
    names = {step.id for step in staged.plan.steps}
    free = next(name for name in (f"s{number}" for number in range(1, len(names) + 2)) if name not in names)
    scene = await edit_stage.scene_of(desk, staged)
    return edit_notices.add_form(scene, _tools(desk), base=staged.edit.base, name=free)


def _tools(desk: Desk) -> list[ToolSpec]:
    """The tools that policy lets be planned with, by name."""
    specs = sorted(desk.deps.tools.catalogue.values(), key=lambda spec: spec.name)
    return [spec for spec in specs if grading.mode_of(spec, desk.deps.policy) is not Mode.DENY]


async def on_added(desk: Desk, sent: Submission) -> Answer:
    """Next: the form of the new step takes the place of this one. It is part of the plan once that one is applied."""
    return await edit_stage.with_edit(desk, sent, partial(_added, desk, sent))


async def _added(desk: Desk, sent: Submission, edit: Edit) -> Answer:
    names = {str(step.id) for step in edit.plan.steps}
    made = _from_line(desk, sent, names) if sent.values.get("line") else _from_menu(desk, sent)
    if isinstance(made, Answer):
        return made
    if made.id in names:
        field = "line" if sent.values.get("line") else "id"
        return Answer.errors({field: f"Step “{made.id}” is there already. Give this one another name."})
    desk.keep_edit(sent.root_view_id, replace(edit, adding=made))
    return Answer.update(await modals.in_time(form(desk, sent.root_view_id, made.id)))


def _from_line(desk: Desk, sent: Submission, names: set[str]) -> Step | Answer:
    try:
        found = parse_steps(sent.values["line"], used=names, catalogue=desk.deps.tools.catalogue)
    except NotationError as problem:
        return Answer.errors({"line": _sentence(problem.faults[0])})
    if len(found) > 1:
        return Answer.errors({"line": f"These are {len(found)} steps: one at a time here, several in As text."})
    return found[0]


def _from_menu(desk: Desk, sent: Submission) -> Step | Answer:
    chosen = sent.values.get("tool")
    spec = next((spec for spec in _tools(desk) if edit_notices.tool_value(spec.name) == chosen), None)
    if spec is None:
        return Answer.errors({"line": "Choose a tool above, or write the step here."})
    try:
        return Step(id=sent.values.get("id", "").strip(), tool=spec.name, purpose=" ".join(sent.values.get("purpose", "").split()))
    except ValidationError:
        return Answer.errors({"id": "A name begins with a letter, then letters, digits, - and _, at most 40."})


# the real values of a step that waits for confirmation


async def on_change(desk: Desk, press: Press) -> None:
    """Change arguments, on a confirm card."""
    target = press.target
    if target.step is None or target.filling is None:
        raise Refused("unknown_run", run=target.run)
    await modals.open_filled(desk, press, partial(_argument_form, desk, press))


async def _argument_form(desk: Desk, press: Press) -> View:
    target = press.target
    step_id, filling = target.step or "", target.filling or ""
    await deciding(desk, press, lambda who: commands.may_change_arguments(desk.deps, target.run, step_id, filling, who=who))
    scene = await scenes.of_run(desk, target.run)
    step = edit_stage.step_of(scene.plan, step_id, target.run)
    args = scene.snapshot.state(step_id).args or {}
    spec = desk.deps.tools.catalogue.get(step.tool)
    fields = edit_fields.fields(spec, args, plan=None, channels=await edit_stage.channel_ids(desk, spec, args))
    return edit_step_form.argument_form(scene, step, fields, filling=filling)


async def _keep_arguments(desk: Desk, sent: Submission, values: dict[str, Any]) -> None:
    target, step = sent.target, sent.target.step or ""
    asked: Any = {"digest8": target.filling, "args": values, "received_at": sent.received_at}
    await deciding(desk, sent, lambda who: commands.change_arguments(desk.deps, target.run, step, who=who, **asked), in_time=True)


async def on_changed(desk: Desk, sent: Submission) -> Answer:
    """The other values: checked, graded, and asked about again."""
    target = sent.target
    if target.step is None or target.filling is None:
        raise Refused("unknown_run", run=target.run)
    snapshot = await runs.snapshot(desk.deps, target.run)
    state, shown = (one.state(target.step) for one in (snapshot, await masking.masked(snapshot)))
    values, wrong = await _read(desk, sent, state, args=state.args or {}, shown=shown.args or {}, plan=None)
    if wrong:
        return Answer.errors(wrong)
    if values == (state.args or {}):
        raise Refused("nothing_changed", run=target.run, did="change")
    try:
        await _keep_arguments(desk, sent, values)
    except commands.InvalidPlan as invalid:
        mine = [fault for fault in invalid.faults if fault.step in (None, target.step)]
        if found := _at_fields(mine, sent):
            return Answer.errors(found)
        return Answer.update(edit_notices.with_note(sent.view, noted("*Not changed:*", edit_steps.says(invalid.faults[0]), "error")))
    return Answer.clear()
