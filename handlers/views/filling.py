"""One step with its real values: on the confirm card as far as it fits, in full and in pages behind Show all.

A value that a difference shows anyway is named by its size. The text of a message stands as people will read it, behind the bar if it came
from outside.
"""

from collections.abc import Mapping
from typing import Any

from bot.core.catalogue import Effect
from bot.core.characters import cut, utf16
from bot.core.completeness import LONGEST_MESSAGE, MESSAGE, fits_card, shown
from bot.core.ids import short
from bot.core.plan import Step
from bot.core.references import sources
from bot.core.run import Hold, RunStatus
from handlers.views import arguments, blocks, difference, ids, pages, words
from handlers.views.pages import Piece, View
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count, joined, listed, one_line, outside

Values = Mapping[str, Any]


def card_of(scene: Scene, step_id: str, filled: str) -> Values | None:
    """What the newest confirm card of this filling shows: `args`, and `preview` if the tool has one; None if there is no such card."""
    cards = [post.data for post in scene.snapshot.posts if post.card == "confirm" and post.data["step"] == step_id]
    return next((data for data in reversed(cards) if data["filling"] == filled), None)


def filling_body(scene: Scene, step: Step, args: Values, preview: Values | None) -> tuple[list[Block], bool]:
    """Purpose, values, difference, reasons; and whether everything stands there uncut."""
    head, whole = _values(scene, step, args, preview)
    whole = whole and fits_card(args, sends=_is_message(scene, step, args), after=(preview or {}).get("after"))
    made: list[Block] = [blocks.rich(_purpose(step), *head)]
    if preview is not None and _differs(preview):
        change = difference.difference(scene, step, preview.get("before"), preview.get("after"))
        made += change.made
        whole = whole and change.whole
        made += [_legend(scene, step)] if change.marked else []
    elif preview is None and not _is_message(scene, step, args):
        made.append(_no_preview())
    return [*made, *_why(scene, step)], whole


def in_brief(scene: Scene, step: Step, args: Values, preview: Values | None) -> list[Block]:
    """The same for a card that is too small for it: sizes, and the beginning of the change."""
    lines = [[blocks.said(f"{one_line(name, 60)}: "), *_brief(step, name, value)] for name, value in list(args.items())[:20]]
    made: list[Block] = [blocks.rich(_purpose(step), *([blocks.bullets(lines)] if lines else []))]
    if preview is not None and _differs(preview):
        change = difference.difference(scene, step, preview.get("before"), preview.get("after"))
        made += [*change.made, *([_legend(scene, step)] if change.marked else [])]
    return [*made, *_why(scene, step)]


def _purpose(step: Step) -> Element:
    why = [blocks.planned(outside(step.purpose, 120)), blocks.said("  ")] if step.purpose.strip() else []
    return blocks.line(*why, blocks.literal(one_line(step.tool, 120)))


def _values(scene: Scene, step: Step, args: Values, preview: Values | None) -> tuple[list[Element], bool]:
    """The arguments one by one; what the difference or the quote shows is only named."""
    elements: list[Element] = []
    whole = True
    for name, value in args.items():
        if _is_message(scene, step, args) and name == MESSAGE:
            text = arguments.readable(value)
            elements += _message(scene, step, text)
            whole = whole and utf16(text) <= LONGEST_MESSAGE
        elif preview is not None and value == preview.get("after") and utf16(shown(value)) > arguments.SHORT:
            elements.append(blocks.bullets([[blocks.said(f"{one_line(name, 60)}: "), *_brief(step, name, value)]]))
        else:
            one = arguments.arguments(scene, step, values={name: value}, beside={name: _beside(scene, step, name, preview)})
            elements += one.elements
            whole = whole and one.whole
    return _merged(elements), whole


def _merged(elements: list[Element]) -> list[Element]:
    """Neighbouring lists as one."""
    found: list[Element] = []
    for element in elements:
        if found and element["type"] == found[-1]["type"] == "rich_text_list":
            found[-1] = {**found[-1], "elements": [*found[-1]["elements"], *element["elements"]]}
        else:
            found.append(element)
    return found


def _beside(scene: Scene, step: Step, name: str, preview: Values | None) -> str:
    """What the tool knows of its target, and which step brought a value."""
    spec = scene.catalogue.get(step.tool)
    facts = preview.get("facts") if preview and spec is not None and spec.target == name else None
    known = outside(", ".join(str(fact) for fact in facts), 200) if facts else ""
    return joined(known, _from(scene, step, name), by=", ")


def _from(scene: Scene, step: Step, name: str) -> str:
    """`filled in from 8 · build` for a value that a step brought."""
    named = [words.labelled(scene.plan, source) for source in sources(step.args.get(name)) if _has(scene, source)]
    return f"filled in from {listed(named)}" if named else ""


def _has(scene: Scene, step_id: str) -> bool:
    return any(step.id == step_id for step in scene.plan.steps)


def _brief(step: Step, name: str, value: Any) -> list[Element]:
    text = arguments.readable(value)
    filled = ", filled in" if sources(step.args.get(name)) else ""
    if utf16(text) <= arguments.SHORT and "\n" not in text:
        return [blocks.literal(text or "empty"), *([blocks.said(filled)] if filled else [])]
    return [blocks.said(f"{count(text.count(chr(10)) + 1, 'line')}, {count(utf16(text), 'character')}{filled}")]


def _is_message(scene: Scene, step: Step, args: Values) -> bool:
    spec = scene.catalogue.get(step.tool)
    return spec is not None and spec.effect is Effect.SEND and isinstance(args.get(MESSAGE), str)


def _message(scene: Scene, step: Step, text: str) -> list[Element]:
    """The words of a message as they will stand there; behind the bar if (part of) them came from an earlier step."""
    late = bool(sources(step.args.get(MESSAGE)))
    kept = cut(text, LONGEST_MESSAGE)
    if not late:
        return [blocks.bullets([[blocks.said("text, as it will stand there:")]]), blocks.box(kept)]
    origin = f"text, as it will stand there, {_from(scene, step, MESSAGE)}:"
    outer = " It came from outside; nobody here wrote it." if difference.outside_texts(scene, step) else ""
    return [
        blocks.bullets([[blocks.said(origin)]]),
        blocks.quote(blocks.said(kept or "empty")),
        blocks.line(blocks.said(f"The bar marks what was filled in.{outer}")),
    ]


def _differs(preview: Values) -> bool:
    return preview.get("before") is not None or preview.get("after") is not None


def _no_preview() -> Block:
    says = "this tool cannot tell what would change. What you see is all that is sent."
    return blocks.rich(blocks.line(blocks.said("⚠️ "), blocks.strong("No before and after: "), blocks.said(says)))


def _legend(scene: Scene, step: Step) -> Block:
    return blocks.context(
        f"{difference.FROM_OUTSIDE} marks what came from outside ({difference.origin(scene, step)} brought it). Nobody here wrote it."
    )


def _why(scene: Scene, step: Step) -> list[Block]:
    grade = words.grade_with_values(scene, step)
    if not grade.reasons:
        return []
    reasons = "; ".join(one_line(reason, 200) for reason in grade.reasons[:5])
    return [blocks.rich(blocks.line(blocks.strong(f"Why {grade.level.value}: "), blocks.said(f"{reasons}.")))]


def page_count(scene: Scene, step: Step, args: Values, preview: Values | None = None) -> int:
    """How many pages Show all has for this filling; at least one."""
    return len(_pages(scene, step, args, preview))


def filling_view(
    scene: Scene,
    step_id: str,
    page: int = 1,
    *,
    args: Values,
    digest: str,
    preview: Values | None = None,
    may_confirm: bool = False,
) -> View:
    """The modal with all values of one filling; Confirm is the submit of the last page for one who may and has seen the others."""
    step = scene.plan.step(step_id)
    found = _pages(scene, step, args, preview)
    here = min(max(page, 1), len(found))
    value = ids.encode(scene.run.id, scene.run.revision, step.id, digest)
    waits = scene.run.status is RunStatus.PAUSED and scene.run.reason is Hold.CONFIRM and scene.run.held_step == step_id
    confirms = waits and may_confirm and here == len(found)
    where = f"page {here} of {len(found)}" if len(found) > 1 else ""
    made: list[Block] = [
        blocks.context(joined(scene.run.id, f"step {step.number} of {len(scene.plan.steps)}", where, f"values `{short(digest)}`")),
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step)))),
        *(piece.block for piece in found[here - 1]),
        *_turning(scene, step, digest, here, len(found)),
        blocks.context(_closing(scene, waits=waits, confirms=confirms, last=here == len(found))),
    ]
    return pages.modal(
        callback_id=ids.VIEW_CONFIRM_PAGES,
        title=f"Step {step.number} of {scene.run.id}",
        made=made,
        metadata=value,
        submit="Confirm" if confirms else "",
    )


def _pages(scene: Scene, step: Step, args: Values, preview: Values | None) -> list[list[Piece]]:
    pieces = [Piece(step.number, blocks.rich(_purpose(step)))]
    for name, value in args.items():
        text = arguments.readable(value)
        if utf16(text) > pages.PIECE:
            pieces += pages.long_value(step.number, joined(one_line(name, 60), _from(scene, step, name)), text)
        else:
            one = arguments.arguments(scene, step, values={name: value}, in_full=True, beside={name: _from(scene, step, name)})
            pieces.append(Piece(step.number, blocks.rich(*one.elements)))
    if preview is not None and _differs(preview):
        pieces += _change(scene, step, preview)
    pieces += [Piece(step.number, block) for block in _why(scene, step)]
    return pages.paged(pieces)


def _change(scene: Scene, step: Step, preview: Values) -> list[Piece]:
    change = difference.difference(scene, step, preview.get("before"), preview.get("after"), in_full=True)
    legend = [_legend(scene, step)] if change.marked else []
    if blocks.size(change.made) <= pages.MOST_CHARACTERS:
        return [Piece(step.number, block) for block in (*change.made, *legend)]
    box = change.made[0]["elements"][-1]["elements"][0]["text"]
    return [*pages.long_value(step.number, "before → after", box), *(Piece(step.number, block) for block in legend)]


def _turning(scene: Scene, step: Step, digest: str, here: int, total: int) -> list[Block]:
    def turn(action: str, to: int) -> Element:
        value = ids.encode(scene.run.id, scene.run.revision, step.id, digest, page=to)
        style = "primary" if action == ids.PAGE_NEXT else ""
        return blocks.button(action, value, about=f"{words.about(scene, step.id)}, page {to}", style=style)

    back = turn(ids.PAGE_BACK, here - 1) if here > 1 else None
    return blocks.actions(f"page:{here}", back, turn(ids.PAGE_NEXT, here + 1) if here < total else None)


def _closing(scene: Scene, *, waits: bool, confirms: bool, last: bool) -> str:
    if not waits:
        return "This confirmation is closed; nothing can be confirmed here."
    if confirms:
        return "Confirm covers exactly these values; if they change, it asks again."
    return f"{scene.approvers_plain} may confirm, once every page is opened." if last else "Confirm is on the last page."
