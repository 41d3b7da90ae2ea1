"""What is different between two revisions, as people read it: from → to, field by field, beside the step that it is about.

Values are only reminded of here (one line, cut where they begin to differ): what is asked stands in full elsewhere on the card. A value
that is filled in later is said in words, as everywhere.
"""

from collections.abc import Collection
from itertools import takewhile
from typing import Any

from bot.core.characters import clusters, cut
from bot.core.comparison import changes, compare
from bot.core.plan import Step
from bot.core.references import sources
from bot.core.snapshot import Revision
from bot.core.wording import late
from handlers.views import blocks, record
from handlers.views.arguments import SECRET_ALONE, readable
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import count, one_line, ranges

LONGEST = 80
COMMON = 20  # characters of what both begin with that are left standing before the first difference
MOST_LOOKED_AT = 4_000
MOST_LINES = 15
NAMES = {"timeout_s": "time limit", "on_failure": "if it fails", "retries": "tries again", "needs": "after"}
Line = list[Element]


def since(scene: Scene) -> list[Block]:
    """What the revision of the scene changed in the one before it; nothing if it is the first."""
    new, old = scene.snapshot.revised(scene.run.revision), record.before(scene.snapshot, scene.run.revision)
    if new is None or old is None:
        return []
    lines = _lines(scene.under(old), scene)
    if not lines:
        says = f"Nothing in the calls differs from revision {old.revision}."
        return [blocks.rich(blocks.line(blocks.said(says)))]
    title = blocks.line(blocks.strong(f"Changed since revision {old.revision}"))
    more = [[blocks.said(f"and {count(len(lines) - MOST_LINES, 'more change')}")]] if len(lines) > MOST_LINES else []
    return [blocks.rich(title, blocks.bullets([*lines[:MOST_LINES], *more]))]


def same_as(scene: Scene) -> Revision | None:
    """An earlier revision that does the very same."""
    new = scene.snapshot.revised(scene.run.revision)
    earlier = [one for one in scene.snapshot.revisions if new is not None and one.revision < new.revision]
    return next((one for one in earlier if new is not None and (one.digest == new.digest or compare(one.plan, new.plan).is_same)), None)


def counted(old: Revision, new: Revision) -> str:
    """`2 changed, 1 removed`: what is different, without what is kept."""
    return compare(old.plan, new.plan).model_copy(update={"kept": ()}).words() or "nothing in the calls"


def _lines(was: Scene, now: Scene) -> list[Line]:
    differs = compare(was.plan, now.plan)
    lines = [[*_named("+", now, step_id), blocks.said("  added  "), blocks.literal(_tool(now, step_id))] for step_id in differs.added]
    for step_id in differs.changed:
        found = of_step(was, now, step_id)
        lines += [[*_named("→", now, step_id), blocks.said("  "), *line] for line in found] or [
            [*_named("→", now, step_id), blocks.said(f"  {reached(now, step_id, [*differs.added, *differs.changed])}")]
        ]
    return lines + [
        [*_named("−", was, step_id), blocks.said("  removed ("), blocks.literal(_tool(was, step_id)), blocks.said(")")]
        for step_id in differs.removed
    ]


def _named(sign: str, scene: Scene, step_id: str) -> Line:
    return [blocks.said(f"{sign} {scene.plan.step(step_id).number} · "), blocks.strong(step_id)]


def _tool(scene: Scene, step_id: str) -> str:
    return one_line(scene.plan.step(step_id).tool, 60)


def of_step(was: Scene, now: Scene, step_id: str) -> list[Line]:
    """The fields of one step that differ, a line each: `text: from 3 · brief → 60 s`. Empty if only what it is fed with differs."""
    old, new = was.plan.step(step_id), now.plan.step(step_id)
    found = changes(old, new)
    if _waits_beside(old) == _waits_beside(new):
        found.pop("needs", None)  # it follows from what the arguments take
    return [_field(was, now, name, *values) for name, values in found.items()]


def _waits_beside(step: Step) -> set[str]:
    """What the step waits for beside the steps whose results it takes."""
    return {str(name) for name in step.needs} - set(sources(step.args))


def reached(now: Scene, step_id: str, changed: Collection[str]) -> str:
    """Why a step counts as changed although its own words are the same."""
    fed = [now.plan.step(name).number for name in sources(now.plan.step(step_id).args) if name in changed]
    return f"takes what {ranges(fed, final=' and ')} will bring, which is new" if fed else "what it is fed with is new"


def _field(was: Scene, now: Scene, name: str, before: Any, after: Any) -> Line:
    if name.startswith("args."):
        old, new = _value(was, before), _value(now, after)
        if old == new:  # both begin alike for longer than a line, or come from the same step in another way
            old, new = _where_they_part(before, after)
        return [blocks.said(f"{one_line(name.removeprefix('args.'), 60)}: "), *old, blocks.said(" → "), *new]
    old_words, new_words = _setting(was, name, before), _setting(now, name, after)
    return [blocks.said(f"{NAMES.get(name, name)}: {old_words} → {new_words}")]


def _where_they_part(before: Any, after: Any) -> tuple[Line, Line]:
    old, new = (list(clusters(one_line(readable(value), MOST_LOOKED_AT))) for value in (before, after))
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = max(0, alike - COMMON)
    mark = "…" if start else ""
    return _literal(mark + "".join(old[start:])), _literal(mark + "".join(new[start:]))


def _value(scene: Scene, value: Any) -> Line:
    if value is None:
        return [blocks.said("nothing")]
    if sources(value):
        told = late(value, scene.plan).removeprefix("filled in later ")
        around = isinstance(value, str) and not value.strip().startswith("{{")
        return [blocks.said(f"{told}{', with words around it' if around else ''}")]
    if isinstance(value, str) and (secret := SECRET_ALONE.fullmatch(value)):
        return [blocks.said("secret "), blocks.literal(secret[1])]
    return _literal(one_line(readable(value), MOST_LOOKED_AT))


def _literal(text: str) -> Line:
    return [blocks.literal(cut(text, LONGEST))] if text else [blocks.said("empty")]


def _setting(scene: Scene, name: str, value: Any) -> str:
    if name == "needs":
        numbers = [step.number for step in scene.plan.steps if step.id in (value or ())]
        return ranges(numbers, final=" and ") or "nothing"
    if name == "breakpoint":
        return "set" if value else "removed"
    if value is None:
        return "the tool's own"
    return one_line(str(value), 60)
