"""The form of one step: its arguments from the tool's own schema, and what the run does around it. *Apply* goes back to the list.

The same form, with its arguments alone, changes the real values of a step that waits for confirmation.
"""

from collections.abc import Mapping, Sequence

from bot.core.characters import visible
from bot.core.plan import Step
from bot.core.references import secrets
from bot.core.risk import Level
from handlers.views import blocks, edit_fields, edit_steps, ids, pages, words
from handlers.views.edit_fields import Field, field_block
from handlers.views.pages import View
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import inline, joined, plain

LONGEST_PURPOSE = 120
FAILURES = (
    ("Ask", "ask", "The run pauses and asks"),
    ("Stop the run", "stop", ""),
    ("Go on", "continue", "Steps that need it are left out"),
)
WHY = "Why, in your words. It stands on the card beside what the step does."
BREAKPOINT = "Pause before this step"


def step_form(scene: Scene, step: Step, fields: Sequence[Field], *, base: int, others: Sequence[Step] = (), is_new: bool = False) -> View:
    """Change one step of the unsaved plan. `others`: the steps after which it may be made to come."""
    made = [
        *_head(scene, step),
        *edit_fields.inputs(fields, secrets=_secrets(step)),
        field_block("purpose", "Purpose", _purpose(step), hint=WHY, optional=True),
        *_after(scene, step, others),
        field_block("on_failure", "If it fails", _failures(step)),
        *_limits(scene, step),
        field_block("breakpoint", "Breakpoint", _breakpoint(step), optional=True),
    ]
    return pages.modal(
        callback_id=ids.VIEW_STEP,
        title=f"Step {step.number}" + (", new" if is_new else ""),
        made=made,
        metadata=ids.encode(scene.run.id, base, step.id),
        submit="Apply",
        close="Back",
    )


def argument_form(scene: Scene, step: Step, fields: Sequence[Field], *, filling: str) -> View:
    """Change the real values of a step that waits for confirmation."""
    inputs = edit_fields.inputs(fields)
    asks = any(block["type"] == "input" for block in inputs)
    says = "These are the values that it would run with. Changed, they are checked and graded, and asked about again before anything runs."
    made = [*_head(scene, step), *inputs, blocks.context(says if asks else "This step takes no arguments.")]
    return pages.modal(
        callback_id=ids.VIEW_ARGUMENTS,
        title=f"Values of step {step.number}",
        made=made,
        metadata=ids.encode(scene.run.id, scene.run.revision, step.id, filling),
        submit="Change" if asks else "",
        close="Back",
    )


def _head(scene: Scene, step: Step) -> list[Block]:
    facts = joined(inline(step.tool), f"called {inline(step.id)} in replies")
    unknown = [] if step.tool in scene.catalogue else [f"{words.WRONG} There is no such tool here. *As text* names another one."]
    grade = words.grade_of(scene, step)
    why = plain("; ".join(grade.reasons[:3]), 300) if grade.level is not Level.LOW else ""
    return [blocks.section("\n".join([edit_steps.title(scene, step), facts, *unknown])), *([blocks.context(f"Why: {why}")] if why else [])]


def _secrets(step: Step) -> Mapping[str, str]:
    named = {name: secrets(value) for name, value in step.args.items()}
    return {name: found[0] for name, found in named.items() if found}


def shown_purpose(step: Step) -> str:
    """The purpose as it stands in its field."""
    return visible(step.purpose).replace("\n", " ")


def _purpose(step: Step) -> Element:
    text = shown_purpose(step)
    made: Element = {"type": "plain_text_input", "action_id": "value", "multiline": False, "max_length": max(LONGEST_PURPOSE, len(text))}
    return {**made, "initial_value": text} if text else made


def _after(scene: Scene, step: Step, others: Sequence[Step]) -> list[Block]:
    """Steps that must have finished first, although none of their results is used."""
    if not others:
        return []
    options = [blocks.option(words.numbered(scene, other), other.id) for other in others[: blocks.MOST_OPTIONS]]
    chosen = [option for option in options if option["value"] in step.depends_on]
    menu: Element = {
        "type": "multi_static_select",
        "action_id": "value",
        "placeholder": blocks.plain_text("No particular step"),
        "options": options,
    }
    if chosen:
        menu["initial_options"] = chosen
    hint = "It waits for those whose results it uses anyway."
    return [field_block("after", "Only after", menu, hint=hint, optional=True)]


def _failures(step: Step) -> Element:
    options = []
    for label, value, means in FAILURES:
        option = blocks.option(label, value)
        options.append({**option, "description": blocks.plain_text(means)} if means else option)
    chosen = next(option for option in options if option["value"] == step.on_failure)
    return {
        "type": "static_select",
        "action_id": "value",
        "placeholder": blocks.plain_text("Choose"),
        "options": options,
        "initial_option": chosen,
    }


def _limits(scene: Scene, step: Step) -> list[Block]:
    """How long it may take, and how often it is tried again, where that does no harm."""
    spec = scene.catalogue.get(step.tool)
    usual = f"The tool's own limit is {spec.timeout_s:g} s." if spec else ""
    seconds: Element = {"type": "number_input", "action_id": "value", "is_decimal_allowed": True, "min_value": "1", "max_value": "86400"}
    if step.timeout_s is not None:
        seconds["initial_value"] = f"{step.timeout_s:g}"
    made = [field_block("timeout", "Time limit", seconds, hint=f"In seconds. {usual}".strip(), optional=True)]
    if step.retries or (spec is not None and spec.repeatable):
        tries: Element = {
            "type": "number_input",
            "action_id": "value",
            "is_decimal_allowed": False,
            "min_value": "0",
            "max_value": "5",
            "initial_value": str(step.retries),
        }
        made.append(field_block("retries", "Tries again", tries, hint="How often by itself, if it fails: 0 to 5.", optional=True))
    return made


def _breakpoint(step: Step) -> Element:
    option = blocks.option(BREAKPOINT, "on")
    made: Element = {"type": "checkboxes", "action_id": "value", "options": [option]}
    return {**made, "initial_options": [option]} if step.breakpoint else made
