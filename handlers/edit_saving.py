"""Saving an edit, and what may be in its way: somebody else's revision, or a run that has begun. Nothing that was typed is lost by it."""

from dataclasses import replace
from functools import partial

from bot import runs
from bot.commands import editing as commands
from bot.core.policy import Member
from bot.errors import Refused
from handlers import edit_stage, errors, masking, modals, scenes
from handlers.context import Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.edit_stage import Stage
from handlers.edits import Edit
from handlers.modals import Answer
from handlers.views import edit_notices, edit_steps, edit_text
from handlers.views.pages import View
from handlers.views.scene import Block, Scene


async def save(desk: Desk, sent: Submission, edit: Edit) -> None:
    """Make a revision of it, and forget it. Raises what the command raises; then it is kept."""

    async def keep(who: Member) -> None:
        await commands.save(desk.deps, edit.run, base=edit.base, plan=edit.plan, who=who, received_at=sent.received_at)

    await deciding(desk, sent, keep, in_time=True)
    desk.edits.pop(sent.root_view_id, None)


async def in_the_way(desk: Desk, sent: Submission, edit: Edit, refused: Refused) -> Answer:
    """The form that is shown instead of the one that could not be saved. Raises the refusal again where there is none."""
    if refused.kind == "edit_conflict":
        return Answer.update(await modals.in_time(_conflict(desk, sent, edit)), partial(_recorded, desk, sent, refused))
    if refused.kind == "edit_too_late":
        return Answer.update(await modals.in_time(_too_late(desk, edit)), partial(_recorded, desk, sent, refused))
    raise refused


async def _recorded(desk: Desk, sent: Submission, refused: Refused) -> None:
    await errors.record(desk, refused, actor=sent.actor, did="edit")


async def _conflict(desk: Desk, sent: Submission, edit: Edit) -> View:
    """What was typed, and what the other one did. Saved now, it follows the other's revision."""
    snapshot = await runs.snapshot(desk.deps, edit.run)
    newest = snapshot.run.proposed or snapshot.run.revision
    rebased = replace(edit, base=newest)
    desk.keep_edit(sent.root_view_id, rebased)
    staged = await edit_stage.stage(desk, rebased)
    scene = await edit_stage.scene_of(desk, staged)
    current = staged.masked.revised(newest)
    above = edit_notices.conflict(scene, current) if current else []
    return text_view(scene, staged, above=above, after=edit_text.last_field(sent.values))


def text_view(scene: Scene, staged: Stage, *, above: list[Block] | None = None, after: int = 0) -> View:
    """The plan as text: what can still be changed of it."""
    open_steps = tuple(step for step in staged.shown.steps if step.id not in staged.fixed)
    fixed = [step.number for step in staged.shown.steps if step.id in staged.fixed]
    plan = staged.shown.model_copy(update={"steps": open_steps})
    terms = edit_steps.terms(scene, staged.base)
    return edit_text.text_form(scene, plan, base=staged.edit.base, terms=terms, fixed=fixed, above=above or (), after=after)


async def _too_late(desk: Desk, edit: Edit) -> View:
    snapshot = await runs.snapshot(desk.deps, edit.run, entries=True)
    base = snapshot.revised(edit.base)
    before, after = (masking.plan_covered(plan) for plan in (base.plan if base else edit.plan, edit.plan))
    return edit_notices.too_late(await scenes.staged(desk, await masking.masked(snapshot)), before, after, base=edit.base)
