"""What a step would be called with, shown so that it can be agreed to.

A short value stands as code, a long one in a box, in full as far as a card allows; what is cut says how much is missing and makes the
whole not `whole`, and then nobody may approve from that card. A value that an earlier step will fill in is said in words, never as code,
together with whether anybody will be asked once it is known. Text around such a value is shown too: it is part of what is approved.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.core import quoting
from bot.core.catalogue import Effect
from bot.core.characters import cut, utf16, visible
from bot.core.completeness import LONGEST_ARGUMENT, MOST_LINES, shown
from bot.core.plan import Step
from bot.core.references import lone, sources
from bot.core.risk import Level
from bot.core.wording import late
from handlers.views import blocks, words
from handlers.views.scene import Element, Scene
from handlers.views.text import LINE_BREAKS, count, listed, one_line

SHORT = 80  # up to here a value stands on the line of its name
CUT_TO = 330
LONGEST_NOTATION = 200
SECRET_ALONE = re.compile(r"\s*\{\{\s*secret:\s*([A-Za-z][A-Za-z0-9_.-]*)\s*\}\}\s*")


@dataclass(frozen=True)
class Shown:
    """Lines, lists and boxes of rich text; `whole` if nothing was cut."""

    elements: tuple[Element, ...]
    whole: bool = True


@dataclass(frozen=True)
class _Argument:
    """One argument: what stands on its line, and the box below it, if any."""

    line: tuple[Element, ...]
    boxed: str = ""
    whole: bool = True


def arguments(
    scene: Scene, step: Step, *, values: Mapping[str, Any] | None = None, in_full: bool = False, beside: Mapping[str, str] | None = None
) -> Shown:
    """All arguments of a step: as planned, or the real `values`.

    `in_full` cuts nothing (for modals, whose pages were made to fit); `beside` is what else is known of an argument, by its name.
    """
    given = step.args if values is None else values
    planned = values is None
    known = beside or {}
    found = [_argument(scene, step, name, value, known.get(name, ""), planned=planned, in_full=in_full) for name, value in given.items()]
    elements: list[Element] = []
    pending: list[tuple[Element, ...]] = []
    for argument in found:
        pending.append(argument.line)
        if argument.boxed:
            elements += [blocks.bullets(pending), blocks.box(argument.boxed)]
            pending = []
    if pending:
        elements.append(blocks.bullets(pending))
    return Shown(tuple(elements), all(argument.whole for argument in found))


def _argument(scene: Scene, step: Step, name: str, value: Any, beside: str, *, planned: bool, in_full: bool) -> _Argument:
    """`planned`: braces are references. In a real value they are just text that came from somewhere."""
    label = f"{one_line(name, 60)}: "
    later = late(value, scene.plan) + consequence(scene, step) if planned and sources(value) else beside
    if planned and lone(value):
        written = [blocks.literal(readable(value)), blocks.said("  ")] if in_full else []
        return _Argument((blocks.said(label), *written, blocks.said(later)))
    if planned and isinstance(value, str) and (secret := SECRET_ALONE.fullmatch(value)):
        return _Argument((blocks.said(label), blocks.said("secret "), blocks.literal(secret[1]), blocks.said(", shown nowhere")))
    text = readable(value)
    if utf16(text) <= SHORT and not LINE_BREAKS.search(text):
        return _Argument(_short(scene, label, value, text, later))
    boxed, cutting = (text, "") if in_full else _bounded(value, text)
    size = cutting or (count(text.rstrip("\n").count("\n") + 1, "line") if "\n" in text.strip("\n") else "")
    words_beside = _with(size, later)
    named = (blocks.said(label), blocks.said(words_beside)) if words_beside else (blocks.said(label.rstrip()),)
    return _Argument(named, boxed, whole=not cutting)


def _short(scene: Scene, label: str, value: Any, text: str, later: str) -> tuple[Element, ...]:
    if not text:
        return (blocks.said(label), blocks.said("empty"))
    after = words.reach_words(scene, value) + (f"  {later}" if later else "")
    return (blocks.said(label), blocks.literal(text), *([blocks.said(after)] if after else []))


def _with(size: str, later: str) -> str:
    return ", ".join(part for part in (size, later) if part)


def _bounded(value: Any, text: str) -> tuple[str, str]:
    """The text for a card, and what to say of the cut, if it had to be."""
    original = shown(value)
    if len(original) <= LONGEST_ARGUMENT and original.count("\n") < MOST_LINES:
        return text, ""
    kept = cut("\n".join(text.split("\n")[:MOST_LINES]), CUT_TO).removesuffix("…")
    return f"{kept} …", f"the first {len(kept):,} of {len(text):,} characters"


def readable(value: Any) -> str:
    """A value as people read it, hidden characters shown: text as it is, everything else as JSON (long ones over several lines)."""
    if isinstance(value, str):
        return visible(value)
    compact = json.dumps(value, ensure_ascii=False, default=str)
    return visible(compact if len(compact) <= SHORT else json.dumps(value, ensure_ascii=False, indent=2, default=str))


def consequence(scene: Scene, step: Step) -> str:
    """Whether anybody sees a late value before it is used."""
    grade = words.grade_of(scene, step)
    if grade.confirms:
        return " → you will be asked"
    spec = scene.catalogue.get(step.tool)
    only_looks = grade.level is Level.LOW and spec is not None and spec.effect is Effect.READ
    return "" if only_looks else " → runs without asking again"


def notation(scene: Scene, step: Step, *, with_id: bool = False) -> Shown:
    """The step on one line in plain notation, late values in words. Not `whole` if it is too long for a line or has line breaks."""
    code = (f"{step.id}: " if with_id else "") + step.tool
    elements: list[Element] = []
    whole = True
    for name, value in step.args.items():
        code += f" {one_line(name, 60)}="
        if sources(value):
            elements += [blocks.literal(code.lstrip()), blocks.said(f" {late(value, scene.plan)}")]
            code = ""
            if not lone(value):
                elements += [blocks.said(" in "), blocks.literal(one_line(readable(value).replace("\n", "⏎"), LONGEST_NOTATION))]
        else:
            code += quoted(value)
        whole = whole and not LINE_BREAKS.search(shown(value)) or bool(sources(value))
    if code:
        elements.append(blocks.literal(code.lstrip()))
    return Shown(tuple(elements), whole and blocks.size(elements) <= LONGEST_NOTATION)


def notation_text(scene: Scene, step: Step, limit: int = LONGEST_NOTATION) -> str:
    """The same as plain text, cut: for places that only remind of the step."""
    parts = [f"{one_line(name, 60)}={_reminder(scene, value)}" for name, value in step.args.items()]
    return one_line(" ".join([step.tool, *parts]), limit)


def _reminder(scene: Scene, value: Any) -> str:
    if names := sources(value):
        return f"(from {listed(str(other.number) for other in scene.plan.steps if other.id in names)})"
    return one_line(quoted(value), 80)


def quoted(value: Any) -> str:
    """A literal in plain notation, as Edit and the offline planner read it."""
    return quoting.write(value)
