"""The review card: people read a plan and decide. What it shows is what an approval covers.

Risky steps stand first and one by one, low ones share a block. A plan that does not stand here in full, every argument uncut, has no Approve
on its card: Show all is then the way, and Approve is on its last page. Once the review is over the same message folds to four lines (`closed_review`).
"""

from collections import Counter

from bot.core.catalogue import Effect
from bot.core.completeness import is_complete
from bot.core.estimate import order_line
from bot.core.plan import Step
from bot.core.risk import Level
from bot.core.run import RunStatus
from bot.core.snapshot import Approval
from handlers.views import arguments, blocks, closed_review, ids, pages, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK, OFFER_BREAKPOINT, Block, Card, Element, Scene
from handlers.views.text import count, date, fallback, joined, one_line, outside, ping

MOST_REASONS = 5
MOST_KINDS = 12


def review_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, revision: int | None = None) -> Card:
    """The review of a revision (the current one unless said) as it stands now: open, or closed with what became of it."""
    current = revision is None or revision == scene.run.revision
    if scene.run.status is RunStatus.IN_REVIEW and current:
        return open_review(scene, offers=offers)
    return closed_review.closed_review(scene, offers=offers, revision=revision)


def open_review(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """People are asked. `offers` names the moves beyond Approve, Edit and Cancel that this installation has."""
    body, complete = plan_body(scene)
    made = [
        blocks.header(f"{words.WAITS} {_state(scene)} · {words.risk_count(scene)}"),
        words.goal(scene),
        words.id_line(scene, words.step_counts(scene)),
        blocks.divider(),
        *body,
        order(scene),
        blocks.divider(),
        blocks.section("\n".join(_terms(scene, complete))),
        *_buttons(scene, complete, offers),
    ]
    return Card(_fallback(scene, complete), made)


def plan_body(scene: Scene) -> tuple[list[Block], bool]:
    """The steps, and whether they stand in full: one by one if the message has room for them, else counted by kind."""
    shown = [step_block(scene, step) for step in _alone(scene)]
    body = [block for block, _ in shown] + _low_group(scene)
    whole = all(whole for _, whole in shown)
    # Our own lines around the steps need about 1,500 characters and nine blocks.
    if len(scene.plan.steps) <= 20 and len(body) <= blocks.MOST_BLOCKS - 9 and blocks.size(body) <= blocks.MOST_CHARACTERS - 1_500:
        return body, whole and is_complete(scene.plan)
    return _kinds(scene), False


def given(scene: Scene) -> list[Approval]:
    """Approvals of the current revision so far."""
    return [one for one in scene.snapshot.approvals if one.kind == "plan" and one.digest == scene.run.digest]


def _state(scene: Scene) -> str:
    missing = scene.quorum - len(given(scene))
    return "Needs one more approval" if given(scene) and missing == 1 else "Needs approval"


def _alone(scene: Scene) -> list[Step]:
    """Steps with a block of their own, riskiest first; low ones too long for a line are among them."""
    ranked = sorted(scene.plan.steps, key=lambda step: (-words.grade_of(scene, step).level.rank, step.number))
    return [step for step in ranked if words.grade_of(scene, step).level is not Level.LOW or not arguments.notation(scene, step).whole]


def step_block(scene: Scene, step: Step, *, in_full: bool = False, rules: bool = False) -> tuple[Block, bool]:
    """One step that stands alone, and whether it is shown in full. With `rules`, the policy's rules are named."""
    grade = words.grade_of(scene, step)
    symbol, word = words.RISK[grade.level].split(" ", 1)
    shown = arguments.arguments(scene, step, in_full=in_full)
    purpose = [blocks.planned(outside(step.purpose, 120)), blocks.said("  ")] if step.purpose.strip() else []
    return (
        blocks.rich(
            blocks.line(blocks.said(f"{symbol} "), blocks.strong(words.numbered(scene, step)), blocks.said(f"  {word}")),
            blocks.line(*purpose, blocks.literal(one_line(step.tool, 120))),
            *shown.elements,
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
    return [blocks.line(element) for element in lines]


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
    return [blocks.said(f"{step.number} · "), why, blocks.said("  "), *arguments.notation(scene, step).elements, *mark, *asks]


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
    lines = [[blocks.said(_kind_words(scene, steps, tool, number)), blocks.literal(one_line(tool, 120))] for tool, number in kinds[:MOST_KINDS]]
    if len(kinds) > MOST_KINDS:
        lines.append([blocks.said(f"{len(kinds) - MOST_KINDS} more tools")])
    reasons = list(dict.fromkeys(reason for step in steps for reason in words.grade_of(scene, step).reasons))[:MOST_REASONS]
    said = "; ".join(one_line(reason, 200) for reason in reasons)
    why = [blocks.line(blocks.strong(f"Why {level.value}: "), blocks.said(f"{said}."))] if said and level is not Level.LOW else []
    return blocks.rich(blocks.line(blocks.said(f"{symbol} "), blocks.strong(f"{word} · {total}")), blocks.bullets(lines), *why)


def _kind_words(scene: Scene, steps: list[Step], tool: str, number: int) -> str:
    first = next(step for step in steps if step.tool == tool)
    example = words.lowered(words.does(scene, first))
    return f"1 × {example}  " if number == 1 else f"{number} × such as: {example}  "


def order(scene: Scene) -> Block:
    """In which order the steps run."""
    return blocks.context(order_line(scene.plan))


def _terms(scene: Scene, complete: bool) -> list[str]:
    """What decides, who may, until when."""
    said = given(scene)
    lines = []
    if not complete:
        number = pages.page_count(scene)
        where = "and *Approve* stands there" if number == 1 else f"and go through its {number} pages; *Approve* is on the last one"
        lines.append(f"*Not shown in full here.* Open *Show all* {where}.")
    if scene.quorum > 1:
        signed = " ".join(f"✓ {ping(one.actor)} {date(one.at, now=scene.now)}" for one in said)
        lines.append("*Approvals:* " + joined(f"{len(said)} of {scene.quorum}", signed))
    if said:
        lines.append(f"*Still needed:* {count(scene.quorum - len(said), 'more person', 'more people')}. Nothing has started.")
    lines.append(f"*Who may approve:* {scene.approvers}")
    if scene.run.deadline:
        lines.append(f"*Until:* {date(scene.run.deadline, now=scene.now)}, then it expires and nothing runs")
    return lines


def _buttons(scene: Scene, complete: bool, offers: frozenset[str]) -> list[Block]:
    value, hears = ids.encode(scene.run.id, scene.run.revision), words.about(scene)
    main = ids.REVIEW_APPROVE if complete else ids.REVIEW_SHOW_ALL
    asked = blocks.button(ids.REVIEW_ASK, value, about=hears) if OFFER_ASK in offers else None
    menu = blocks.select(ids.REVIEW_BREAKPOINT, "Pause before…", words.options(scene, value, list(scene.plan.steps)))
    return blocks.actions(
        f"review:{scene.run.id}.{scene.run.version}",
        blocks.button(main, value, about=hears, style="primary"),
        blocks.button(ids.REVIEW_EDIT, value, about=hears),
        asked,
        blocks.button(ids.REVIEW_CANCEL, value, about=hears),
        blocks.button(ids.REVIEW_SHOW_ALL, value, about=hears) if complete else None,
        menu if OFFER_BREAKPOINT in offers and complete else None,
    )


def _fallback(scene: Scene, complete: bool) -> str:
    until = f"until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    said = given(scene)
    progress = f"{len(said)} of {scene.quorum} approvals" if scene.quorum > 1 else ""
    unread = "" if complete else "not shown in full here: open Show all"
    return fallback(
        f"{_state(scene)}: {scene.run.id}", words.risk_in_text(scene), unread or words.goal_in_text(scene), progress, f"{scene.approvers} {until}"
    )
