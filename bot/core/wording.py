"""Words for cards: what a step does, said by code and never by the planner.

A tool's `says` pattern is filled from literal arguments; what is filled in later is called "a path named later". Values may come from
anywhere, so they are shown with hidden characters made visible (see `characters`), on one line, and cut between grapheme clusters.
Nothing here escapes markup: that belongs to whoever puts the words into a block.
"""

import re
from collections.abc import Mapping
from typing import Any

from bot.core.catalogue import Effect, ToolSpec
from bot.core.characters import cut, has_right_to_left, hides, utf16, visible
from bot.core.plan import Plan, Step, canonical
from bot.core.references import find, sources

__all__ = ["cut", "hides", "joined", "late", "named", "sentence", "shown", "target", "utf16", "visible"]

PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
VALUE_LIMIT = 60
VERBS = {
    Effect.READ: ("Reads", "Read"),
    Effect.WRITE: ("Changes", "Changed"),
    Effect.SEND: ("Sends to", "Sent to"),
    Effect.DELETE: ("Deletes", "Deleted"),
    Effect.EXECUTE: ("Runs", "Ran"),
}
CONSEQUENCES = {
    Effect.READ: "which only reads",
    Effect.WRITE: "which changes things",
    Effect.SEND: "which sends words to people",
    Effect.DELETE: "which deletes things",
    Effect.EXECUTE: "which may change anything",
}
PASTS = {
    "begins": "began", "breaks": "broke", "brings": "brought", "builds": "built", "buys": "bought", "catches": "caught", "chooses": "chose",
    "commits": "committed", "cuts": "cut", "does": "did", "draws": "drew", "feeds": "fed", "finds": "found", "freezes": "froze",
    "gets": "got", "gives": "gave", "goes": "went", "has": "had", "holds": "held", "is": "was", "keeps": "kept", "leaves": "left",
    "lets": "let", "makes": "made", "overwrites": "overwrote", "pays": "paid", "puts": "put", "reads": "read",
    "rebuilds": "rebuilt", "refers": "referred", "resends": "resent", "resets": "reset", "rewrites": "rewrote", "runs": "ran",
    "says": "said", "sees": "saw", "sells": "sold", "sends": "sent", "sets": "set", "spends": "spent", "splits": "split",
    "submits": "submitted", "takes": "took", "tells": "told", "transfers": "transferred", "undoes": "undid",
    "withdraws": "withdrew", "writes": "wrote",
}  # fmt: skip


def sentence(step: Step, spec: ToolSpec, *, done: bool = False) -> str:
    """What the step does (or did), in code's words: the tool's own pattern, else verb and target, else its name and what it may do."""
    if spec.says:
        words = PLACE.sub(lambda place: _argument(step, spec, place[1]), spec.says)
        return _in_past(words) if done else words
    if spec.target:
        return f"{VERBS[spec.effect][done]} {target(step, spec)}"
    return f"{'Called' if done else 'Calls'} {spec.name}, {CONSEQUENCES[spec.effect]}"


def target(step: Step, spec: ToolSpec) -> str:
    """What the step touches, as shown inside a sentence; empty if the tool does not say which argument that is."""
    return _argument(step, spec, spec.target) if spec.target else ""


def late(value: Any, plan: Plan) -> str:
    """Where a value comes from: "filled in later from 3 · brief", or "filled in later from 1 and 2"; empty if all of it is literal."""
    names = sources(value)
    if not names:
        return ""
    steps = {step.id: step for step in reversed(plan.steps)}
    found = [next((step for key, step in steps.items() if key == name), None) for name in names]
    if len(names) == 1:
        return "filled in later from " + (named(found[0]) if found[0] else names[0])
    return "filled in later from " + joined(str(step.number or step.id) if step else name for step, name in zip(found, names, strict=True))


def named(step: Step) -> str:
    """ "3 · brief", or only the id while the step has no number."""
    return f"{step.number} · {step.id}" if step.number else str(step.id)


def joined(words: Any) -> str:
    """ "1", "1 and 2", "1, 2 and 3"."""
    *most, last = [str(word) for word in words]
    return f"{', '.join(most)} and {last}" if most else last


def shown(value: Any, *, limit: int = VALUE_LIMIT) -> str:
    """A literal value as it stands inside a sentence: one line, hidden characters visible, at most `limit` UTF-16 units.

    Text that runs from right to left is isolated, so that it cannot reorder the words around it.
    """
    text = value if isinstance(value, str) else ", ".join(value) if _is_words(value) else canonical(value)
    line = cut(visible(text).replace("\n", "⏎").replace("\t", " "), limit)
    return f"\u2068{line}\u2069" if has_right_to_left(line) else line


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, str) for item in value)


def _argument(step: Step, spec: ToolSpec, path: str) -> str:
    """The argument as words: its literal value, "a path named later", or its default."""
    name = path.rsplit(".", 1)[-1].replace("_", " ")
    value: Any = step.args
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _default(spec, path, name)
        value = value[part]
    if find(value) and name in ("name", "id"):
        return "something named later"
    if find(value):
        return f"{'an' if name[:1] in 'aeiou' else 'a'} {name} named later"
    return shown(value)


def _default(spec: ToolSpec, path: str, name: str) -> str:
    declared = spec.args_schema.get("properties", {}).get(path, {})
    default = declared.get("default") if isinstance(declared, Mapping) else None
    return f"the usual {name}" if default in (None, "") else shown(default)


def _in_past(words: str) -> str:
    verb, space, rest = words.partition(" ")
    past = PASTS.get(verb.lower()) or _regular(verb.lower())
    return past.capitalize() + space + rest


def _regular(verb: str) -> str:
    """ "lists" → "listed", "changes" → "changed", "copies" → "copied", "searches" → "searched", "stops" → "stopped"; others stay."""
    if not verb.endswith("s"):
        return verb
    if verb.endswith("ies"):
        return verb[:-3] + "ied"
    if verb.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return verb[:-1] + "d"
    stem = verb[:-1]
    if stem.endswith("e"):
        return stem + "d"
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", stem) and len(stem) > 2
    return stem + (stem[-1] if doubled else "") + "ed"
