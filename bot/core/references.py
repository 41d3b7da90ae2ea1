"""References: `{{step.path}}` in an argument stands for what an earlier step will have returned.

The part before the first dot is a step's id, the rest a JMESPath expression on its observation; `{{step}}` is the whole of it. A string
that is one reference alone keeps the type of the value; inside other text the value becomes text. Filling happens once: text that comes
out of an observation is never looked at again, so data cannot add a reference. What cannot be resolved is an error, never literal text.
`{{secret:NAME}}` names a secret, not a step: it stays as it is until the call, where `reveal` puts the value in its place, and only where
the plan itself has it. What a step returned may hold the same letters; they stay letters.
"""

import difflib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jmespath
import jmespath.exceptions

from bot.errors import PullcordError

OPEN, CLOSE = "{{", "}}"
LONGEST = 1_000  # characters between the braces
MOST_PARTS = 60  # of one path, as JMESPath takes it apart
MOST_LISTS = 2  # [a, b] or {x: a} in one path
STEP = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)(?:\s*\.\s*(.+)|(\[.+))?", re.DOTALL)
SECRET = re.compile(r"secret:\s*([A-Za-z][A-Za-z0-9_.-]*)")
ENVIRONMENT = "PULLCORD_SECRET_"
TYPED = "TYPED_"  # begins the names of secrets that somebody typed into an ask or a form


@dataclass(frozen=True)
class Reference:
    """One place that is filled in later. `path` is JMESPath; empty means the whole observation."""

    step: str
    path: str = ""

    def __str__(self) -> str:
        return OPEN + self.step + ("" if not self.path or self.path.startswith("[") else ".") + self.path + CLOSE


class Unresolved(PullcordError):
    """A reference that has no value: its step is missing, or its path gives nothing. The tool is not called."""

    def __init__(self, reference: str, why: str) -> None:
        super().__init__(f"unresolved reference {reference}: {why}")
        self.reference, self.why = reference, why


@dataclass(frozen=True)
class _Part:
    """A stretch of a text: literal, or the inside of braces (`closed` tells whether the closing ones were there)."""

    text: str
    inside: bool = False
    closed: bool = True


def sources(value: Any) -> list[str]:
    """Ids of the steps that a JSON value refers to, each once, in order of appearance."""
    return list(dict.fromkeys(reference.step for reference in find(value)))


def find(value: Any) -> list[Reference]:
    """Every well-formed reference to a step in a JSON value, in order, repeats included."""
    found = (_reference(part.text) for text in _texts(value) for part in _parts(text) if part.inside and part.closed)
    return [reference for reference in found if reference]


def lone(value: Any) -> Reference | None:
    """The reference, if the value is a string that is exactly one and nothing else (spaces around it aside)."""
    if not isinstance(value, str) or OPEN not in value:
        return None
    parts = _parts(value.strip())
    return _reference(parts[0].text) if len(parts) == 1 and parts[0].inside and parts[0].closed else None


def secrets(value: Any) -> list[str]:
    """Names of the secrets that a JSON value asks for, each once."""
    found = (SECRET.fullmatch(part.text.strip()) for text in _texts(value) for part in _parts(text) if part.inside)
    return list(dict.fromkeys(match[1] for match in found if match))


def missing_secret(name: str, known: Collection[str]) -> str:
    """The sentence for a secret that there is not (any more), and what to do."""
    if name.startswith(TYPED):
        fix = f"ask again, or have it set as {ENVIRONMENT}NAME"
        return f"the secret {name}, which was typed, is not kept over a restart or for other runs; {fix}"
    near = difflib.get_close_matches(name.upper(), sorted(known), n=1, cutoff=0.6)
    closest = f"did you mean {near[0]}? Else " if near else ""
    return f"there is no secret {_shown(name)}; {closest}have an admin set it as {ENVIRONMENT}{_shown(name)}"


def reveal(planned: Any, filled: Any, value_of: Callable[[str], str]) -> Any:
    """The filled-in value with the secrets put in that the plan itself names (`value_of`: name → value).

    Places are compared one by one, so that a reference in what a step returned is never looked up. Raises `Unresolved` where a text that
    names a secret is not the text that was planned; and whatever `value_of` raises.
    """
    if isinstance(planned, Mapping) and isinstance(filled, Mapping):
        return {key: reveal(planned.get(key), item, value_of) for key, item in filled.items()}
    if isinstance(planned, list | tuple) and isinstance(filled, list | tuple) and len(planned) == len(filled):
        return [reveal(*pair, value_of) for pair in zip(planned, filled, strict=True)]
    if not isinstance(planned, str) or not secrets(planned):
        return filled
    if filled != planned:
        raise Unresolved(_shown(planned), "a secret and a reference to a step cannot stand in one text")
    return "".join(_revealed(part, value_of) for part in _parts(planned))


def _revealed(part: _Part, value_of: Callable[[str], str]) -> str:
    name = SECRET.fullmatch(part.text.strip()) if part.inside and part.closed else None
    if name:
        return value_of(name[1])
    return part.text if not part.inside else OPEN + part.text + (CLOSE if part.closed else "")


def fill(value: Any, observations: Mapping[str, Any]) -> Any:
    """The value with every reference replaced from `observations` (step id → value). References to secrets stay.

    A lone reference gives the value itself, of whatever type; inside text, strings stay as they are and all else becomes compact JSON.
    Raises `Unresolved` where a step is missing, a path gives nothing or null, or braces hold no reference.
    """
    if isinstance(value, Mapping):
        return {key: fill(item, observations) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, observations) for item in value]
    if not isinstance(value, str) or OPEN not in value:
        return value
    alone = lone(value)
    if alone:
        return _look_up(alone, observations)
    return "".join(_text(_resolve(part, observations)) if part.inside else part.text for part in _parts(value))


def syntax_faults(value: Any) -> list[str]:
    """What is wrong with the references of a JSON value, one sentence each; empty if all can be read."""
    found = [_syntax_fault(part) for text in _texts(value) for part in _parts(text) if part.inside]
    found += [f"'{_shown(key)}': a name cannot be filled in later, only a value can" for key in _keys(value) if OPEN in key]
    return [fault for fault in found if fault]


def _syntax_fault(part: _Part) -> str | None:
    body = part.text.strip()
    if not part.closed:
        return f"'{_shown(OPEN + part.text)}' is not closed: write {{{{step.path}}}}"
    if not body:
        return "'{{}}' is empty: write {{step.path}}"
    if SECRET.fullmatch(body):
        return None
    reference = _reference(body)
    if not reference:
        return f"'{_shown(OPEN + body + CLOSE)}' is not a reference: write {{{{step.path}}}}"
    try:
        if reference.path and _is_much(jmespath.compile(reference.path).parsed):
            return f"{_shown(str(reference))} asks for too much at once: use names, dots and [0], as in files[0].name"
    except (jmespath.exceptions.JMESPathError, ValueError):
        what = f"'{_shown(reference.path)}' in {_shown(str(reference))} cannot be read as a path"
        return f"{what}: use names, dots and [0], as in files[0].name"
    return None


def _is_much(path: Any) -> bool:
    """More than a handful of parts, or lists made of lists: a few of those double a value until it fills the machine."""
    nodes, lists, rest = 0, 0, [path]
    while rest:
        node = rest.pop()
        nodes += 1
        lists += node["type"].startswith("multi_select")
        rest += [child for child in node["children"] if isinstance(child, dict)]
    return nodes > MOST_PARTS or lists > MOST_LISTS


def _reference(body: str) -> Reference | None:
    match = STEP.fullmatch(body.strip())
    return Reference(match[1], (match[2] or match[3] or "").strip()) if match else None


def _resolve(part: _Part, observations: Mapping[str, Any]) -> Any:
    reference = _reference(part.text) if part.closed else None
    if not reference:
        written = OPEN + part.text + (CLOSE if part.closed else "")
        if part.closed and SECRET.fullmatch(part.text.strip()):
            return written
        raise Unresolved(_shown(written), "it is not a reference to a step")
    return _look_up(reference, observations)


def _look_up(reference: Reference, observations: Mapping[str, Any]) -> Any:
    """The value itself; null counts as nothing, since a tool would take it for an argument that was left out."""
    if reference.step not in observations:
        raise Unresolved(str(reference), f"step {reference.step} has no result")
    value = observations[reference.step]
    try:
        found = jmespath.search(reference.path, value) if reference.path else value
    except (jmespath.exceptions.JMESPathError, ValueError) as error:
        raise Unresolved(str(reference), f"the path does not fit the result of step {reference.step}") from error
    if found is None:
        raise Unresolved(str(reference), f"step {reference.step} returned nothing there")
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parts(text: str) -> list[_Part]:
    """The text cut into literal stretches and the insides of `{{…}}`."""
    parts, here = [], 0
    while (start := text.find(OPEN, here)) >= 0:
        if start > here:
            parts.append(_Part(text[here:start]))
        inside = start + len(OPEN)
        end = closing(text, inside)
        if end < 0:
            return [*parts, _Part(text[inside:], inside=True, closed=False)]
        parts.append(_Part(text[inside:end], inside=True))
        here = end + len(CLOSE)
    return [*parts, _Part(text[here:])] if here < len(text) else parts


def closing(text: str, start: int) -> int:
    """Where the `}}` stands of a reference whose inside begins at `start`, or -1.

    Quotes and the braces of JMESPath itself, as in `{{x.{a: b}}}`, do not close.
    """
    depth, quote, here = 0, "", start
    limit = min(len(text), start + LONGEST)
    while here < limit:
        sign = text[here]
        if quote:
            here += 1 if sign == "\\" else 0
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
        elif text.startswith(CLOSE, here):
            return here
        here += 1
    return text.find(CLOSE, start, limit + len(CLOSE))  # an apostrophe in prose is no quote: the first closing braces count


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if OPEN in value:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (str(key) for key in value)
        for item in value.values():
            yield from _keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _keys(item)


def _shown(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
