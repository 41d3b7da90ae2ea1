"""A yes in writing: where the policy wants more than a press, the name of what the riskiest step touches is typed into a modal.

The modal says once more what the yes covers at that risk, so that what is typed is read from a plan and not from habit.
"""

from collections.abc import Sequence

from bot.core.plan import Step
from bot.core.risk import Level
from bot.core.writing import LONGEST
from handlers.views import arguments, blocks, ids, pages, reasons, words
from handlers.views.pages import View
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count

MOST_NAMED = 10


def approve_form(scene: Scene, *, level: Level, steps: Sequence[Step], wants: str) -> View:
    """Before a yes to a revision; `scene` is the run under it, `steps` are those that are asked."""
    risky = [step for step in steps if words.grade_of(scene, step).level is level]
    title = f"{_said(level)}: {len(risky)} of {count(len(steps), 'step')}"
    where = f"  {scene.run.id} · revision {scene.run.revision}"
    value = ids.encode(scene.run.id, scene.run.revision)
    made = _made(scene, level, title, where, risky)
    return _form(ids.VIEW_STEP_UP, "Approve", level, made, wants=wants, run=scene.run.id, value=value)


def confirm_form(scene: Scene, step: Step, *, level: Level, filling: str, wants: str) -> View:
    """Before a yes to the real values of one step."""
    where = f"  {scene.run.id} · step {step.number} of {len(scene.plan.steps)}"
    value = ids.encode(scene.run.id, scene.run.revision, step.id, filling)
    real = words.state_of(scene, step).args
    made = _made(scene, level, _said(level), where, [step if real is None else step.model_copy(update={"args": real})])
    return _form(ids.VIEW_CONFIRM_STEP_UP, "Confirm", level, made, wants=wants, run=scene.run.id, value=value)


def wrong(wants: str, typed: str, *, run: str) -> str:
    """What stands at the field when it was something else."""
    said = typed.strip()
    case = "" if said.casefold() != wants.casefold() else ", in small letters" if wants.islower() else ", with its capitals as they are"
    what = "the id of the run" if wants == run else "the name of the target"
    return f"That is not {what}. Type {wants}{case}, or press Back." if said else f"Type {wants}, or press Back."


def _said(level: Level) -> str:
    return f"{level.value.capitalize()} risk"


def _made(scene: Scene, level: Level, title: str, where: str, steps: Sequence[Step]) -> list[Block]:
    symbol = words.RISK[level].split(" ", 1)[0]
    lines = [_line(scene, step) for step in steps[:MOST_NAMED]]
    if len(steps) > MOST_NAMED:
        lines.append([blocks.said(f"and {count(len(steps) - MOST_NAMED, 'more step')}")])
    return [
        blocks.rich(
            blocks.line(blocks.said(f"{symbol} "), blocks.strong(title), blocks.said(where)),
            *([blocks.bullets(lines)] if lines else []),
            blocks.line(blocks.said("This workspace asks for it in writing.")),
        )
    ]


def _line(scene: Scene, step: Step) -> list[Element]:
    brief = arguments.notation(scene, step)
    return [blocks.said(f"{words.numbered(scene, step)}  "), *(brief.elements if brief.whole else [blocks.literal(step.tool)])]


def _form(callback_id: str, button: str, level: Level, made: list[Block], *, wants: str, run: str, value: str) -> View:
    what = "The id of the run" if wants == run else "The name of the target"
    field: Element = {"type": "plain_text_input", "action_id": "value", "max_length": LONGEST, "focus_on_load": True}
    asked = reasons.field("typed", f"Type {wants} to {button.lower()}", field, hint=f"{what}, exactly.")
    title = f"{button} a {level.value} risk"
    return pages.modal(callback_id=callback_id, title=title, made=[*made, asked], metadata=value, submit=button, close="Back")
