"""The unsaved plan beside the run that it is for: checked, graded, masked and numbered, ready to be drawn.

What is looked at is always the run as it is stored now, so that a form never shows a grade or a step of yesterday. Real values stay in the
edit; everything that is drawn comes from the masked copy.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot import runs
from bot.commands import editing as commands
from bot.core import rest
from bot.core.catalogue import ToolSpec
from bot.core.plan import Plan, Step
from bot.core.snapshot import Revision, Snapshot
from bot.errors import Refused
from handlers import edits, masking, modals, scenes
from handlers.context import Submission
from handlers.desk import Desk
from handlers.edits import Edit
from handlers.modals import Answer
from handlers.trouble import FAILURES, trouble
from handlers.views import edit_fields, edit_notices, edit_steps
from handlers.views.edit_steps import Note, Unsaved
from handlers.views.pages import View
from handlers.views.scene import Scene


@dataclass(frozen=True)
class Stage:
    """`plan` and `base` hold real values, `masked` is the run with the unsaved plan in the place of the one that stands."""

    edit: Edit
    snapshot: Snapshot
    plan: Plan  # with the numbers that new steps would get
    masked: Snapshot
    base: Revision
    checked: commands.Checked
    fixed: frozenset[str]

    @property
    def shown(self) -> Plan:
        """The unsaved plan, masked."""
        assert self.masked.plan is not None
        return self.masked.plan

    @property
    def unsaved(self) -> Unsaved:
        """What the list says beside the steps."""
        differs = edits.unsaved(self.base.plan, self.plan)
        return Unsaved(base=self.base, differs=differs, faults=self.checked.faults, fixed=self.fixed)


async def stage(desk: Desk, edit: Edit, *, adding: bool = False) -> Stage:
    """The edit as it stands now. `adding`: with the step whose form is open as if it were part of the plan already."""
    snapshot = await runs.snapshot(desk.deps, edit.run, entries=True)
    base = snapshot.revised(edit.base)
    if base is None or snapshot.plan is None:
        raise Refused("unknown_revision", run=edit.run, revision=edit.base)
    plan = edits.put(edit.plan, edit.adding) if adding and edit.adding else edit.plan
    plan = edits.shown(snapshot, plan)
    checked = await commands.check(desk.deps, snapshot, plan)
    statuses = {state.id: state.status for state in snapshot.steps}
    grades = {str(step): grade for step, grade in checked.grades.items()}
    masked = await masking.masked(snapshot.model_copy(update={"plan": plan, "grades": grades}))
    fixed = frozenset(map(str, rest.fixed(snapshot.plan, statuses)))
    return Stage(edit, snapshot, plan, masked, base, checked, fixed)


async def scene_of(desk: Desk, staged: Stage) -> Scene:
    """The scene that shows the unsaved plan."""
    return await scenes.staged(desk, staged.masked)


async def list_view(desk: Desk, root: str, note: Note | None = None) -> View:
    """The list of steps of the edit that this form is about, as it stands by now. Raises `Lost` if there is none."""
    staged = await stage(desk, of_form(desk, root))
    return edit_steps.edit_steps(await scene_of(desk, staged), staged.unsaved, note=note)


async def redraw(desk: Desk, root: str) -> None:
    """Bring the list up to date after a form on top of it was sent. It may be closed by now."""
    if root not in desk.edits:
        return
    try:
        await desk.slack.client.views_update(view_id=root, view=await list_view(desk, root))
    except FAILURES as failure:
        if trouble(failure).code != "not_found":
            raise


async def begin(desk: Desk, run_id: str, base: int) -> Edit:
    """An edit in which nothing is changed yet. Raises `Refused("unknown_revision")`."""
    found = (await runs.snapshot(desk.deps, run_id)).revised(base)
    if found is None:
        raise Refused("unknown_revision", run=run_id, revision=base)
    return Edit(run=run_id, base=base, plan=found.plan)


async def with_edit(desk: Desk, sent: Submission, go: Callable[[Edit], Awaitable[Answer]]) -> Answer:
    """What a form is told that belongs to an edit; that nothing is known of it any more, where that is so."""
    try:
        return await go(of_form(desk, sent.root_view_id))
    except Lost:
        return Answer.update(edit_notices.lost(sent.target.run, sent.target.revision or 0))


class Lost(Exception):  # noqa: N818 - no fault: the bot was restarted while a form was open
    """Nothing is known of what stands unsaved in this form."""


def of_form(desk: Desk, root: str) -> Edit:
    """What stands unsaved in a form. Raises `Lost`."""
    if root not in desk.edits:
        raise Lost
    return desk.edits[root]


# channels


async def channel_ids(desk: Desk, spec: ToolSpec | None, args: Mapping[str, Any]) -> dict[str, str]:
    """Which ids the channels have that these arguments name, as far as Slack says so: the others are shown as text."""
    found: dict[str, str] = {}
    for name in edit_fields.channels_in(spec, args):
        try:
            channel = await desk.slack.directory.channel_id(name) if name.startswith("#") else None
        except FAILURES:
            channel = None
        found |= {name: channel} if channel else {}
    return found


def ids_in_form(sent: Submission, spec: ToolSpec | None, args: Mapping[str, Any]) -> dict[str, str]:
    """The same as the form that was sent had them: what it showed decides how it is read."""
    begun = {block["block_id"]: block["element"].get("initial_conversation") for block in sent.view["blocks"] if block["type"] == "input"}
    shown = edit_fields.fields(spec, args, plan=None)
    return {args[one.name]: begun[one.block_id] for one in shown if begun.get(one.block_id) and isinstance(args.get(one.name), str)}


async def channel_names(desk: Desk, chosen: list[str]) -> dict[str, str]:
    """What the channels are called that were picked; those that the bot cannot see are left out. Raises `Unavailable`."""
    found: dict[str, str] = {}
    for channel_id in dict.fromkeys(chosen):
        channel = await modals.in_time(desk.slack.directory.channel(channel_id))
        found |= {channel_id: f"#{channel.name}"} if channel is not None and channel.name else {}
    return found


def step_of(plan: Plan, step_id: str | None, run: str) -> Step:
    """The step of that id. Raises `Refused("unknown_step")`."""
    found = next((step for step in plan.steps if step.id == step_id), None)
    if found is None:
        raise Refused("unknown_step", run=run, step=step_id)
    return found
