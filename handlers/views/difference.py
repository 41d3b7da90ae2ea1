"""Before and after: what a step would change, as lines or as values, with a sign for what came from outside.

Text is compared line by line, two unchanged lines around each change; two JSON objects are compared value by value. A line or value that
the step takes from what strangers wrote is marked `»`, so that it can be told from what the plan itself says.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.characters import visible
from bot.core.plan import Step
from bot.core.references import sources
from handlers.views import blocks
from handlers.views.arguments import readable
from handlers.views.scene import Block, Scene
from handlers.views.text import count, listed, one_line

MOST_LINES = 40
MOST_CHARACTERS = 2_500
MOST_ROWS = 20
FROM_OUTSIDE = "»"


@dataclass(frozen=True)
class Difference:
    """Blocks that show it; `whole` if all of it stands there; `marked` if anything in it came from outside."""

    made: tuple[Block, ...]
    whole: bool = True
    marked: bool = False


def difference(scene: Scene, step: Step, before: str | None, after: str | None, *, in_full: bool = False) -> Difference:
    """How the target would change. One of the two may be None: it does not exist before, or not after."""
    strange = outside_texts(scene, step)
    values = None if in_full else _as_values(before, after)  # modals have no tables
    if values is not None and (found := _table(values, strange)):
        return found
    return _lines(before or "", after or "", strange, in_full=in_full)


def outside_texts(scene: Scene, step: Step) -> str:
    """Everything that the step's sources returned and strangers wrote."""
    names = set(sources(step.args))
    found = [state.observation for state in scene.snapshot.steps if state.id in names and state.observation]
    return "\n".join(text for one in found if one.untrusted for text in _texts(one.value))


def origin(scene: Scene, step: Step) -> str:
    """Which steps brought what came from outside: `step 3`."""
    names = set(sources(step.args))
    states = [state for state in scene.snapshot.steps if state.id in names and state.observation and state.observation.untrusted]
    numbers = [str(state.number) for state in states]
    return f"{'step' if len(numbers) == 1 else 'steps'} {listed(numbers)}" if numbers else "an earlier step"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _lines(before: str, after: str, strange: str, *, in_full: bool) -> Difference:
    old, new = before.splitlines(), after.splitlines()
    shown = [_line(line, strange) for line in difflib.unified_diff(old, new, n=2, lineterm="") if not line.startswith(("---", "+++"))]
    gone = sum(line.startswith("- ") for line in shown)
    come = sum(line.startswith("+ ") for line in shown)
    head = [blocks.strong("Before → after"), blocks.said(f"  {count(gone, 'line')} out, {count(come, 'line')} in")]
    kept = shown if in_full else _bounded(shown)
    rest = [f"  {count(len(shown) - len(kept), 'more line')} of the change"] if len(kept) < len(shown) else []
    text = "\n".join([*kept, *rest])
    box = [blocks.box(text)] if text else [blocks.line(blocks.said("Nothing changes: it holds the same text already."))]
    marked = any(line.startswith(f"+ {FROM_OUTSIDE}") for line in kept)
    return Difference((blocks.rich(blocks.line(*head), *box),), whole=not rest, marked=marked)


def _line(line: str, strange: str) -> str:
    """One line of a unified difference in our signs: two spaces, `- `, `+ `, or `@@ line n`."""
    if line.startswith("@@"):
        start = line.split(" ")[1].lstrip("-").split(",")[0]
        return f"@@ line {max(1, int(start))}"
    sign, text = line[:1], line[1:]
    mark = FROM_OUTSIDE if sign == "+" and text.strip() and text.strip() in strange else ""
    return f"{sign} {mark}{visible(text)}"


def _bounded(shown: list[str]) -> list[str]:
    kept, room = [], MOST_CHARACTERS
    for line in shown[:MOST_LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _as_values(before: str | None, after: str | None) -> tuple[dict[str, Any], dict[str, Any]] | None:
    try:
        old, new = json.loads(before or ""), json.loads(after or "")
    except ValueError:
        return None
    return (_flat(old), _flat(new)) if isinstance(old, dict) and isinstance(new, dict) else None


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in value.items():
        key = f"{prefix}{name}"
        found |= _flat(item, f"{key}.") if isinstance(item, dict) and item and key.count(".") < 5 else {key: item}
    return found


def _table(values: tuple[dict[str, Any], dict[str, Any]], strange: str) -> Difference | None:
    """Changed values side by side, or nothing where they are too many or too long for a table."""
    old, new = values
    names = list(dict.fromkeys([*old, *new]))
    changed = [name for name in names if old.get(name) != new.get(name) or (name in old) != (name in new)]
    rows = [(name, _cell(old, name), _marked(new, name, strange)) for name in changed]
    if not changed or len(changed) > MOST_ROWS or any(len(cell) > 200 for row in rows for cell in row):
        return None
    same = len(names) - len(changed)
    stay = f"  {len(changed)} of {count(len(names), 'value')} change{', the others stay as they are' if same else ''}"
    table: Block = {
        "type": "table",
        "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in [("Value", "Now", "After"), *rows]],
        "column_settings": [{"is_wrapped": True}] * 3,
    }
    marked = any(row[2].startswith(FROM_OUTSIDE) for row in rows)
    return Difference((blocks.rich(blocks.line(blocks.strong("Before → after"), blocks.said(stay))), table), marked=marked)


def _cell(values: Mapping[str, Any], name: str) -> str:
    return one_line(readable(values[name]), 1_000) or "empty" if name in values else "none"


def _marked(values: Mapping[str, Any], name: str, strange: str) -> str:
    cell = _cell(values, name)
    text = values.get(name)
    return f"{FROM_OUTSIDE} {cell}" if isinstance(text, str) and text.strip() and text.strip() in strange else cell
