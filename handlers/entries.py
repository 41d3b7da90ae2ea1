"""What a person left in the fields of a form, read back into a step's arguments.

A stated rule for blank and absent (C022): a field that was left alone keeps its value, whatever that is; one that was emptied leaves its
argument out, and is a fault where the tool needs a value. What was typed stays as it was typed (C014), and is judged by the tool's
schema afterwards. What a field showed masked keeps the real value if it was left alone; where only part of it was, nobody can tell what the
mask stands for, and that is said.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from bot.core.characters import hidden_places
from bot.core.quoting import scalar
from bot.core.references import OPEN, find
from bot.errors import PullcordError
from bot.tools.masks import MASK
from handlers.views.edit_fields import ABSENT, Field, Kind

SECRET_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
STRAIGHT = str.maketrans("“”„", '"""')


class Unreadable(PullcordError):
    """A field holds what cannot be its value; the text says what and how to mend it."""


def read(
    fields: list[Field], said: Mapping[str, str], *, args: Mapping[str, Any], shown: Mapping[str, Any], channels: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments, and what is wrong, by block.

    `said`: by block, without the empty ones. `args`: the real arguments, `shown`: the same as they were masked for the form. `channels`:
    names, as `#name`, by the ids that the picker may give.
    """
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for field in fields:
        real = args.get(field.name, ABSENT)
        try:
            value = _value(field, "".join(said.get(block, "") for block in field.block_ids), real, shown.get(field.name), channels)
        except Unreadable as problem:
            wrong[field.block_ids[0]] = str(problem)
            value = real
        if value is not ABSENT:
            values[field.name] = value
    return values, wrong


def _value(field: Field, said: str, real: Any, shown: Any, channels: Mapping[str, str]) -> Any:
    if field.is_kept or plain(said) == plain(field.text):
        return real
    if not said.strip():
        if field.required:
            raise Unreadable('A value is needed here. (An empty text is written in As text, as in text="".)')
        return ABSENT
    return unmasked(_parsed(field, _marks_undone(said.replace("\r\n", "\n"), real), channels), shown, None if real is ABSENT else real)


def plain(text: str) -> str:
    """The text as it is compared: clients send line breaks in their own way, and may drop the last ones."""
    return text.replace("\r\n", "\n").rstrip("\n")


def _parsed(field: Field, said: str, channels: Mapping[str, str]) -> Any:
    """The value that was entered, before anything is known of masks."""
    match field.kind:
        case Kind.CHOICE:
            options = [option for option in field.schema["enum"] if option is not None]
            return options[int(said)] if said.isdigit() and int(said) < len(options) else said
        case Kind.SWITCH:
            return said == "true"
        case Kind.CHANNEL:
            if said not in channels:
                raise Unreadable("Pullcord cannot see that channel. Invite it there with /invite, or choose another one.")
            return channels[said]
        case Kind.SECRET:
            if not SECRET_NAME.fullmatch(said.strip()):
                raise Unreadable("That is not the name of a secret: letters, digits, and . _ - between them.")
            return f"{{{{secret:{said.strip()}}}}}"
        case Kind.LINES:
            return [_entry(line.strip(), field) for line in said.split("\n") if line.strip()]
        case Kind.PERSON | Kind.DAY:
            return said
    if field.types == {"string"}:
        return said
    return _typed(said.strip(), field.types)


def _entry(line: str, field: Field) -> Any:
    items = field.schema.get("items")
    stated = items.get("type") if isinstance(items, Mapping) else "string"
    return line if stated == "string" else scalar(line)


def _typed(said: str, types: frozenset[str]) -> Any:
    """A value that is no mere text: a reference, or JSON. Curly quotes count as straight ones only if it cannot be read otherwise."""
    if said.startswith(OPEN) and find(said):
        return said
    for text in (said, said.translate(STRAIGHT)):
        try:
            return json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    if "string" in types or find(said):
        return said
    if types and types <= {"integer", "number"}:
        raise Unreadable(f"That is not {'a whole number' if types == {'integer'} else 'a number'}: write it in digits, such as 10.")
    if types == {"boolean"}:
        raise Unreadable("Write true or false.")
    raise Unreadable('That is not JSON: write it like ["a", "b"] or {"name": "value"}, and a text in quotes.')


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _marks_undone(said: str, real: Any) -> str:
    """A hidden character of the real value was shown as a mark such as ⟦U+202E⟧; where the mark was left standing, it stays."""
    if not isinstance(real, str) or "⟦U+" not in said:
        return said
    for sign in {sign for sign, is_hidden in hidden_places(real) if is_hidden}:
        said = said.replace(f"⟦U+{ord(sign):04X}⟧", sign)
    return said


def unmasked(value: Any, shown: Any, real: Any) -> Any:
    """The value with the real one wherever it is what was shown masked. Raises `Unreadable` for a mask anywhere else."""
    if value == shown and shown is not None:
        return real
    if isinstance(value, dict):
        was, truth = (shown if isinstance(shown, dict) else {}), (real if isinstance(real, dict) else {})
        return {key: unmasked(item, was.get(key), truth.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        same = isinstance(shown, list) and isinstance(real, list) and len(shown) == len(value) == len(real)
        pairs = zip(shown, real, strict=True) if same else [(None, None)] * len(value)
        return [unmasked(item, *pair) for item, pair in zip(value, pairs, strict=True)]
    if isinstance(value, str) and (mask := MASK.search(value)):
        raise Unreadable(f"{mask[0]} stands for a value that is hidden here. Leave the whole value as it was, or write all of it anew.")
    return value
