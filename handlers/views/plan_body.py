"""The steps of a plan as people read them before they decide: risky ones first and one by one, low ones together.

Each stands with code's sentence, the planner's purpose, the arguments and the reasons of its grade. A plan too long for one message is
counted by risk and tool instead, and is then not complete: nobody may approve it from that card.
"""

from collections import Counter
from collections.abc import Sequence

from bot.core.catalogue import Effect
from bot.core.characters import cut
from bot.core.completeness import MOST_STEPS, is_complete
from bot.core.estimate import estimate_seconds, order_line
from bot.core.plan import Step, call_fingerprint
from bot.core.risk import Level
from handlers.views import arguments, blocks, words
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count, duration, one_line, outside, ranges

MOST_REASONS = 5
MOST_KINDS = 12
MOST_WARNINGS = 3
OUR_BLOCKS = 9  # header, goal, id line, terms, buttons and what else stands around the steps
OUR_CHARACTERS = 1_500


def plan_body(scene: Scene) -> tuple[list[Block], bool]:
    """The steps, and whether they stand in full: one by one if the message has room for them, else counted by kind."""
    shown = [step_block(scene, step) for step in _alone(scene)]
    body = [block for block, _ in shown] + _twice(scene) + _low_group(scene)
    whole = all(whole for _, whole in shown)
    room = len(body) <= blocks.MOST_BLOCKS - OUR_BLOCKS and blocks.size(body) <= blocks.MOST_CHARACTERS - OUR_CHARACTERS
    if room and len(scene.plan.steps) <= MOST_STEPS:
        return body, whole and is_complete(scene.plan)
    return [*_kinds(scene), *_twice(scene)], False


def _alone(scene: Scene) -> list[Step]:
    """Steps with a block of their own, riskiest first; low ones too long for a line are among them."""
    ranked = sorted(scene.plan.steps, key=lambda step: (-words.grade_of(scene, step).level.rank, step.number))
    return [step for step in ranked if words.grade_of(scene, step).level is not Level.LOW or not arguments.notation(scene, step).whole]


def step_block(scene: Scene, step: Step, *, in_full: bool = False, rules: bool = False, more: Sequence[Element] = ()) -> tuple[Block, bool]:
    """One step that stands alone, and whether it is shown in full. With `rules`, the policy's rules are named.

    `more` stands below the arguments: what differs from before.
    """
    grade = words.grade_of(scene, step)
    symbol, word = words.RISK[grade.level].split(" ", 1)
    shown = arguments.arguments(scene, step, in_full=in_full)
    purpose = [blocks.planned(outside(step.purpose, 120)), blocks.said("  ")] if step.purpose.strip() else []
    return (
        blocks.rich(
            blocks.line(blocks.said(f"{symbol} "), blocks.strong(words.numbered(scene, step)), blocks.said(f"  {word}")),
            blocks.line(*purpose, blocks.literal(one_line(step.tool, 120))),
            *shown.elements,
            *more,
            *_why(scene, step, rules=rules),
            *_holds(scene, step),
        ),
        shown.whole,
    )


def _why(scene: Scene, step: Step, *, rules: bool) -> list[Element]:
    grade = words.grade_of(scene, step)
    if not grade.reasons or grade.level is Level.LOW and not rules:
        return []
    reasons = "; ".join(one_line(reason, 200) for reason in grade.reasons[:MOST_REASONS])
    named = [element for rule in grade.rules if rules for element in (blocks.said("  "), blocks.literal(one_line(rule, 80)))]
    return [blocks.line(blocks.strong(f"Why {grade.level.value}: "), blocks.said(f"{reasons}."), *named)]


def _holds(scene: Scene, step: Step) -> list[Element]:
    held = step.breakpoint or step.id in scene.run.breakpoints
    lines = [blocks.said(f"{words.STANDS} Breakpoint: the run waits before this step until somebody presses Continue.")] if held else []
    if words.grade_of(scene, step).confirms:
        lines.append(blocks.said(f"{words.WAITS} Asks once more with its real values just before it runs."))
    if not held and step.id in scene.suggestions:
        lines.append(blocks.said(f"{words.STANDS} Suggested: pause before this step. {one_line(scene.suggestions[step.id], 200)}"))
    return [blocks.line(element) for element in lines]


def _twice(scene: Scene) -> list[Block]:
    """A warning for each call with an effect that the plan makes more than once, word for word."""
    same: dict[str, list[int]] = {}
    for step in scene.plan.steps:
        spec = scene.catalogue.get(step.tool)
        if spec is not None and spec.effect is not Effect.READ:
            same.setdefault(call_fingerprint(step.tool, step.args), []).append(step.number)
    found = [ranges(numbers, final=" and ") for numbers in same.values() if len(numbers) > 1]
    return [
        blocks.rich(
            blocks.line(
                blocks.said("⚠️ "),
                blocks.strong(
                    f"Steps {numbers} do the same work twice." if " to " not in numbers else f"Steps {numbers} do the same work."
                ),
                blocks.said(" Remove what is too much with Edit, or approve to keep all of it."),
            )
        )
        for numbers in found[:MOST_WARNINGS]
    ]


def _low_group(scene: Scene) -> list[Block]:
    low = [step for step in scene.plan.steps if words.grade_of(scene, step).level is Level.LOW]
    together = [step for step in low if arguments.notation(scene, step).whole]
    if not together:
        return []
    title = blocks.line(blocks.said("⚪ "), blocks.strong(f"Low risk · {_of_reads(scene, together)}"))
    return [blocks.rich(title, blocks.bullets([_low_line(scene, step) for step in together]))]


def _of_reads(scene: Scene, steps: list[Step]) -> str:
    specs = [scene.catalogue.get(step.tool) for step in steps]
    if any(spec is None or spec.effect is not Effect.READ for spec in specs):
        return count(len(steps), "step")
    return "1 step that only reads" if len(steps) == 1 else f"{len(steps)} steps, all of them only read"


def _low_line(scene: Scene, step: Step) -> list[Element]:
    why = blocks.planned(outside(step.purpose, 120)) if step.purpose.strip() else blocks.said(words.does(scene, step))
    held = step.breakpoint or step.id in scene.run.breakpoints
    mark = [blocks.said(f"  {words.STANDS} breakpoint")] if held else []
    asks = [blocks.said(f"  {words.WAITS} asks first")] if words.grade_of(scene, step).confirms else []
    advised = not held and step.id in scene.suggestions
    advice = [blocks.said(f"  {words.STANDS} suggested: {one_line(scene.suggestions[step.id], 120)}")] if advised else []
    return [blocks.said(f"{step.number} · "), why, blocks.said("  "), *arguments.notation(scene, step).elements, *mark, *asks, *advice]


def _kinds(scene: Scene) -> list[Block]:
    """A plan too long for its card, counted by risk and tool."""
    found = []
    for level in (Level.HIGH, Level.MEDIUM, Level.LOW):
        steps = [step for step in scene.plan.steps if words.grade_of(scene, step).level is level]
        if steps:
            found.append(_kind_block(scene, level, steps))
    return found


def _kind_block(scene: Scene, level: Level, steps: list[Step]) -> Block:
    symbol, word = words.RISK[level].split(" ", 1)
    total = _of_reads(scene, steps) if level is Level.LOW else count(len(steps), "step")
    kinds = Counter(step.tool for step in steps).most_common()
    lines = [
        [blocks.said(_kind_words(scene, steps, tool, number)), blocks.literal(one_line(tool, 120))] for tool, number in kinds[:MOST_KINDS]
    ]
    if len(kinds) > MOST_KINDS:
        lines.append([blocks.said(f"{len(kinds) - MOST_KINDS} more tools")])
    said = "; ".join(one_line(reason, 200) for reason in _different_reasons(scene, steps)[:MOST_REASONS])
    why = [blocks.line(blocks.strong(f"Why {level.value}: "), blocks.said(f"{said}."))] if said and level is not Level.LOW else []
    return blocks.rich(blocks.line(blocks.said(f"{symbol} "), blocks.strong(f"{word} · {total}")), blocks.bullets(lines), *why)


def _different_reasons(scene: Scene, steps: list[Step]) -> list[str]:
    """The reasons of all these steps; those that differ only in what the step is about are named once."""
    found: dict[str, str] = {}
    for step in steps:
        about = sorted((value for value in step.args.values() if isinstance(value, str) and value), key=len, reverse=True)
        for reason in words.grade_of(scene, step).reasons:
            shape = reason
            for value in about:
                shape = shape.replace(value, "…")
            found.setdefault(shape, reason)
    return list(found.values())


def _kind_words(scene: Scene, steps: list[Step], tool: str, number: int) -> str:
    first = next(step for step in steps if step.tool == tool)
    example = words.lowered(words.does(scene, first))
    return f"1 × {example}  " if number == 1 else f"{number} × {example} and {number - 1} more like it  "


def order(scene: Scene) -> list[Block]:
    """In which order the steps run, and roughly for how long."""
    if not scene.plan.steps:
        return []
    sequence = f"Order: {order_line(scene.plan)}" if len(scene.plan.steps) > 1 else ""
    return [
        blocks.context(
            cut(sequence, 600), f"Estimate: {duration(estimate_seconds(scene.plan, scene.catalogue))}, people's time not counted"
        )
    ]
