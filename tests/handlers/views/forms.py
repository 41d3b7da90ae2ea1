"""The edit forms in every state, by name: what their golden files hold and what the rules are checked on."""

from collections.abc import Callable, Mapping
from typing import Any

from bot.core.catalogue import Effect, ToolSpec
from bot.core.drafts import Fault
from bot.core.plan import Plan, Step, numbered
from bot.core.risk import Level, Mode
from bot.core.run import Hold, RunStatus
from bot.core.snapshot import Revision
from handlers import edits
from handlers.views import edit_fields, edit_notices, edit_step_form, edit_steps, edit_text, ids, loading, reasons, step_up
from handlers.views.edit_steps import Note, Unsaved
from handlers.views.pages import View
from handlers.views.scene import Scene
from tests.handlers.views import stage
from tests.handlers.views.stage import APPROVER2, CATALOGUE, RISKY, SMALL, at, held, scene, states

FORTY = numbered(
    Plan(
        goal="Add the licence line to the source files",
        steps=(
            Step(id="list", tool="files.search", args={"query": "def", "path": "src/"}),
            *(Step(id=f"read{n:02}", tool="files.read", args={"path": f"src/module_{n:02}/main.py"}) for n in range(1, 20)),
            *(
                Step(
                    id=f"write{n:02}",
                    tool="files.write",
                    args={"path": f"src/module_{n:02}/main.py", "text": f"# SPDX-License-Identifier: MIT\n{{{{read{n:02}.text}}}}"},
                )
                for n in range(1, 20)
            ),
            Step(id="tell", tool="slack.post_message", args={"channel": "#ops", "text": "The licence line is in 19 files now."}),
        ),
    )
)
TYPES = ToolSpec(
    "tickets.update",
    "Updates a ticket. Use it when one is there. Not for new ones.",
    Effect.WRITE,
    {
        "type": "object",
        "$defs": {"Priority": {"enum": ["low", "normal", "urgent"], "title": "Priority", "type": "string"}},
        "properties": {
            "title": {"type": "string", "title": "Title", "maxLength": 200},
            "comment": {"type": "string", "title": "Comment", "description": "What people will read"},
            "points": {"type": "integer", "title": "Points", "minimum": 0, "maximum": 100},
            "weight": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}], "default": None},
            "priority": {"$ref": "#/$defs/Priority"},
            "notify": {"type": "boolean", "title": "Notify", "default": False},
            "room": {"type": "string", "title": "Room", "picker": "channel"},
            "owner": {"type": "string", "title": "Owner", "picker": "user"},
            "due": {"type": "string", "title": "Due", "format": "date"},
            "labels": {"type": "array", "title": "Labels", "items": {"type": "string"}},
            "counts": {"type": "array", "items": {"type": "integer"}},
            "fields": {"type": "object", "title": "Fields", "additionalProperties": {"type": "string"}},
            "token": {"type": "string", "title": "Token"},
            "any": {},
        },
        "required": ["title", "points", "priority", "notify", "owner"],
        "additionalProperties": False,
    },
    says="Changes ticket {title}",
)
TICKET: dict[str, Any] = {
    "title": "Time-outs after the upgrade",
    "points": 3,
    "priority": "normal",
    "notify": False,
    "room": "#ops",
    "owner": "U0REQUESTER",
    "due": "2026-12-04",
    "labels": ["config", "timeout"],
    "fields": {"team": "web"},
    "token": "{{secret:TICKETS_TOKEN}}",
}


def revised(plan: Plan = SMALL, number: int = 1, author: str = "pullcord") -> Revision:
    level = max((grade.level for grade in stage.grades(plan).values()), key=lambda level: level.rank)
    tools = {step.tool: CATALOGUE[step.tool].digest for step in plan.steps}
    grades = stage.grades(plan)
    return Revision(
        revision=number, plan=plan, digest=stage.DIGEST, risk=level, grades=grades, tool_digests=tools, author=author, at=at(60 * number)
    )


def editing(plan: Plan = SMALL, *, status: RunStatus = RunStatus.IN_REVIEW, more: tuple[Revision, ...] = (), **fields: Any) -> Scene:
    return scene(status, plan, revisions=(revised(), *more), **fields)


def listed(plan: Plan = SMALL, *, faults: tuple[Fault, ...] = (), note: Note | None = None, raised: str = "") -> View:
    given = editing(plan)
    if raised:
        grade = given.snapshot.grades[raised].model_copy(update={"level": Level.HIGH, "reasons": ("1,204 people read #general",)})
        given = editing(plan)
        given.snapshot.grades[raised] = grade
    unsaved = Unsaved(base=revised(), differs=edits.unsaved(SMALL, plan), faults=faults)
    return edit_steps.edit_steps(given, unsaved, note=note)


def changed() -> Plan:
    post = SMALL.step("post")
    plan = edits.put(SMALL, post.model_copy(update={"args": {**post.args, "channel": "#general"}, "breakpoint": True}))
    brief = plan.step("brief").model_copy(update={"args": {"text": "{{config.text}}"}})
    return edits.without(edits.put(plan, brief), {"old"})


def circle() -> View:
    faults = (
        Fault(step="brief", field="depends_on", says="the steps wait for each other: brief → post → brief", fix="let one of them not wait"),
        Fault(says="the plan has 51 steps, and 50 are allowed", fix="do less, or do it in several runs"),
    )
    note = Note("*Not saved: 2 faults.* the plan has 51 steps, and 50 are allowed; do less, or do it in several runs", "error")
    return listed(faults=faults, note=note)


def live() -> View:
    given = editing(status=RunStatus.PAUSED, steps=states(SMALL, 2))
    return edit_steps.edit_steps(given, Unsaved(base=revised(), fixed=frozenset({"config", "old"})))


def step_form(step_id: str = "post", plan: Plan = SMALL, *, is_new: bool = False) -> View:
    given = editing(plan)
    step = plan.step(step_id)
    fields = edit_fields.fields(CATALOGUE.get(step.tool), step.args, plan=plan)
    others = [other for other in plan.steps if other.id in ("config", "old")]
    return edit_step_form.step_form(given, step, fields, base=1, others=others, is_new=is_new)


def types() -> View:
    step = Step(id="ticket", number=5, purpose="Say what was found", tool="tickets.update", args=TICKET, breakpoint=True, retries=0)
    plan = SMALL.model_copy(update={"steps": (*SMALL.steps, step)})
    given = scene(RunStatus.IN_REVIEW, SMALL, scene_fields={"catalogue": {**CATALOGUE, TYPES.name: TYPES}})
    given.snapshot.grades["ticket"] = given.snapshot.grades["post"].model_copy(update={"step": "ticket", "mode": Mode.ASK})
    fields = edit_fields.fields(TYPES, TICKET, plan=plan, channels={"#ops": "C0OPS"})
    return edit_step_form.step_form(given, step, fields, base=1)


def values() -> View:
    args = {"channel": "#ops", "text": "request_timeout went from 30 to 60"}
    given = scene(RunStatus.PAUSED, steps=states(SMALL, 3, post={"args": args}))
    fields = edit_fields.fields(CATALOGUE["slack.post_message"], args, plan=None)
    return edit_step_form.argument_form(given, SMALL.step("post"), fields, filling="c41f09d2")


def text(plan: Plan = SMALL, **more: Any) -> View:
    given = editing(plan)
    return edit_text.text_form(given, plan, base=1, terms=edit_steps.terms(given, revised()), **more)


def conflict() -> View:
    theirs = revised(edits.put(SMALL, SMALL.step("old").model_copy(update={"args": {"path": "backup/new.toml"}})), 2, APPROVER2)
    given = editing(more=(theirs,))
    return edit_text.text_form(given, changed(), base=2, terms="", above=edit_notices.conflict(given, theirs), after=1)


def written(*, values: bool = False) -> View:
    """A yes in writing: to a plan, or to the real values of its riskiest step."""
    if not values:
        return step_up.approve_form(scene(RunStatus.IN_REVIEW, RISKY), level=Level.HIGH, steps=RISKY.steps, wants="prod")
    filled = states(RISKY, 8, deploy={"args": {"env": "prod", "version": "1.4.2"}})
    deploy = RISKY.step("deploy")
    return step_up.confirm_form(
        held(Hold.CONFIRM, "deploy", RISKY, steps=filled), deploy, level=Level.HIGH, filling="0" * 64, wants="R-7K2Q"
    )


def every() -> Mapping[str, Callable[[], View]]:
    """All of them, by name."""
    late = scene(RunStatus.RUNNING, steps=states(SMALL, 1))
    return {
        "step_up": written,
        "step_up_confirm": lambda: written(values=True),
        "edit_loading": lambda: loading.loading_view(ids.REVIEW_EDIT, "R-7K2Q.1"),
        "edit_steps": listed,
        "edit_steps_changed": lambda: listed(changed(), raised="post"),
        "edit_steps_fault": circle,
        "edit_steps_live": live,
        "edit_remove_dependents": lambda: edit_notices.remove_form(editing(), SMALL.step("brief"), [SMALL.step("post")], base=1),
        "edit_add_step": lambda: edit_notices.add_form(editing(), list(CATALOGUE.values()), base=1, name="s1"),
        "edit_step_form": step_form,
        "edit_step_form_new": lambda: step_form("config", is_new=True),
        "edit_step_form_types": types,
        "edit_values": values,
        "edit_as_text": text,
        "edit_as_text_long": lambda: text(FORTY),
        "edit_as_text_live": lambda: text(SMALL, fixed=[1, 2]),
        "edit_conflict": conflict,
        "edit_too_late": lambda: edit_notices.too_late(late, SMALL, changed(), base=1),
        "edit_too_late_ended": lambda: edit_notices.too_late(scene(RunStatus.CANCELLED), SMALL, changed(), base=1),
        "edit_lost": lambda: edit_notices.lost("R-7K2Q", 1),
        "ask_changes": lambda: reasons.ask_form(editing(scene_fields={"revisions_limit": 3}), 1),
        "change_rest_used_up": lambda: reasons.rest_form(scene(RunStatus.PAUSED, steps=states(SMALL, 3)), used_up=5),
        "change_rest": lambda: reasons.rest_form(scene(RunStatus.PAUSED, steps=states(SMALL, 3))),
    }
