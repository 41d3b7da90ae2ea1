"""The inputs of a form about one step's arguments, made from the tool's own schema.

A text is a text field, a number a number field, a choice a menu, a switch yes or no, a channel, a person or a day Slack's own picker (where
the schema says `"picker": "channel"` or `"user"`, or the format `date`), a list has one entry a line, everything else is JSON. A value that
is filled in later, or that does not fit its kind of field, is a text field. What stands in a field is kept with it, so that whoever reads
the form back can tell what was left alone.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

from bot.core.catalogue import ToolSpec
from bot.core.characters import clusters, cut, utf16, visible
from bot.core.plan import Plan
from bot.core.references import find, sources
from bot.core.wording import late, shown
from handlers.views import blocks
from handlers.views.arguments import SECRET_ALONE
from handlers.views.scene import Block, Element
from handlers.views.text import count, one_line

FIELD = 2_900  # UTF-16 units in one field: Slack takes 3,000
LONGEST = 30_000  # of one form
ONE_LINE = 200  # a text that may be longer gets more than one line
MOST_OPTIONS = 100
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
PERSON = re.compile(r"[UW][A-Z0-9]{2,}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SCALARS = frozenset({"string", "integer", "number"})
ABSENT: Any = object()  # in the place of a value: there is no such argument

Schema = Mapping[str, Any]


class Kind(StrEnum):
    """Which input an argument has."""

    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"
    SWITCH = "switch"
    CHANNEL = "channel"
    PERSON = "person"
    DAY = "day"
    LINES = "lines"  # one entry a line
    JSON = "json"
    SECRET = "secret"  # its name; empty keeps it


@dataclass(frozen=True)
class Field:
    """One argument in a form. `text` is what stands in it ("" for nothing); `types` are the JSON types that it may have."""

    name: str
    block_id: str
    kind: Kind
    types: frozenset[str]
    schema: Schema
    required: bool
    text: str = ""
    hint: str = ""
    may_be_empty: bool = False
    is_kept: bool = False  # too long for a form: it stays as it is
    parts: tuple[str, ...] = field(default=())  # of a text longer than one of Slack's fields

    @property
    def block_ids(self) -> tuple[str, ...]:
        """The blocks of its inputs, in order."""
        return tuple(self.block_id if not place else f"{self.block_id}.{place + 1}" for place in range(max(1, len(self.parts))))


def fields(spec: ToolSpec | None, args: Mapping[str, Any], *, plan: Plan | None, channels: Mapping[str, str] | None = None) -> list[Field]:
    """A field for each argument that the tool knows, and for each other one that the step has.

    `args` are masked. `plan` names the steps that late values come from; without one, braces in a value are just text that came from
    somewhere. `channels`: the ids of channels that are named in `args`, by name.
    """
    schema = spec.args_schema if spec else {}
    known: Mapping[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or ()
    found, room = [], LONGEST
    for place, name in enumerate(dict.fromkeys((*known, *args))):
        one = resolved(known.get(name, {}), schema)
        block_id = f"arg.{name if PLAIN_NAME.fullmatch(name) else f'{place}.'}"
        made = _field(name, block_id, one, args.get(name, ABSENT), required=name in required, plan=plan, channels=channels or {})
        size = utf16(made.text)
        found.append(made if size <= room else _kept(made))
        room -= size if size <= room else 0
    return found


def channels_in(spec: ToolSpec | None, args: Mapping[str, Any]) -> list[str]:
    """The channels that a form about these arguments would show in a picker, as they are named."""
    schema = spec.args_schema if spec else {}
    known = schema.get("properties") or {}
    return [value for name, value in args.items() if isinstance(value, str) and _picker(resolved(known.get(name, {}), schema)) == "channel"]


def resolved(schema: Any, root: Schema, depth: int = 0) -> Schema:
    """The schema itself: references into the same document followed, and "or nothing" left out."""
    if not isinstance(schema, Mapping) or depth > 8:
        return {}
    rest = {key: value for key, value in schema.items() if key not in ("$ref", "anyOf", "oneOf", "allOf")}
    if isinstance(reference := schema.get("$ref"), str):
        return {**resolved(_at(reference, root), root, depth + 1), **rest}
    for key in ("anyOf", "oneOf", "allOf"):
        options = [option for option in schema.get(key) or () if not (isinstance(option, Mapping) and option.get("type") == "null")]
        if len(options) == 1:
            return {**resolved(options[0], root, depth + 1), **rest}
    return schema


def _at(reference: str, root: Schema) -> Any:
    target: Any = root
    for part in reference.removeprefix("#/").split("/"):
        target = target.get(part) if isinstance(target, Mapping) else None
    return target


def _types(schema: Schema) -> frozenset[str]:
    """The JSON types that it allows, as far as it says so plainly; empty: anything."""
    stated = schema.get("type")
    options = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    found = {stated} if isinstance(stated, str) else set(stated or ())
    found |= {kind for option in options if isinstance(option, Mapping) for kind in _types(option)}
    return frozenset(found - {"null"})


def _field(
    name: str, block_id: str, schema: Schema, value: Any, *, required: bool, plan: Plan | None, channels: Mapping[str, str]
) -> Field:
    types = _types(schema)
    later = plan is not None and bool(find(value))
    kind = Kind.TEXT if later and not isinstance(value, list | Mapping) else _kind(schema, types, value, channels)
    if plan is not None and isinstance(value, str) and SECRET_ALONE.fullmatch(value):
        kind = Kind.SECRET
    text = _text(kind, schema, types, value, channels)
    parts = tuple(in_parts(text)) if utf16(text) > FIELD else ()
    hint = _hint(kind, schema, types, required=required, secret=kind is Kind.SECRET)
    if later and plan is not None:
        hint = f"{late(value, plan).capitalize()}. Keep {_kept_words(value)}, or write your own words."
    may_be_empty = not required or kind is Kind.SECRET or value == ""
    return Field(name, block_id, kind, types, schema, required, text, hint, may_be_empty=may_be_empty, parts=parts)


def _kept_words(value: Any) -> str:
    references = list(dict.fromkeys(map(str, find(value))))
    return one_line(", ".join(references[:3]), 120)


def _kept(made: Field) -> Field:
    return Field(made.name, made.block_id, made.kind, made.types, made.schema, made.required, is_kept=True, hint=f"{utf16(made.text):,}")


def _kind(schema: Schema, types: frozenset[str], value: Any, channels: Mapping[str, str]) -> Kind:
    """The input that fits the schema, or a plainer one that fits the value that stands there."""
    if enum := schema.get("enum"):
        options = [option for option in enum if option is not None]
        return Kind.CHOICE if len(options) <= MOST_OPTIONS and (value is ABSENT or value in options) else Kind.TEXT
    if types == {"boolean"}:
        return Kind.SWITCH if value is ABSENT or isinstance(value, bool) else Kind.TEXT
    if types and types <= {"integer", "number"}:
        return Kind.NUMBER if value is ABSENT or (not isinstance(value, bool) and NUMBER.fullmatch(str(value))) else Kind.TEXT
    if types == {"string"}:
        return _text_kind(schema, value, channels) if value in (ABSENT, None) or isinstance(value, str) else Kind.JSON
    if types == {"array"}:
        return _list_kind(schema, value)
    return Kind.JSON


def _text_kind(schema: Schema, value: Any, channels: Mapping[str, str]) -> Kind:
    """A text may have one of Slack's pickers, if that can show the value that stands there."""
    empty = value in (ABSENT, None, "")
    picker = _picker(schema)
    if picker == "channel" and (empty or value in channels):
        return Kind.CHANNEL
    if picker == "user" and (empty or PERSON.fullmatch(value)):
        return Kind.PERSON
    if schema.get("format") == "date" and (empty or _is_day(value)):
        return Kind.DAY
    return Kind.TEXT


def _picker(schema: Schema) -> str:
    return str(schema.get("picker") or schema.get("format") or "")


def _is_day(value: str) -> bool:
    try:
        return bool(DAY.fullmatch(value)) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def _list_kind(schema: Schema, value: Any) -> Kind:
    """One entry a line, where every entry is one line of its own."""
    items = schema.get("items")
    plain = isinstance(items, Mapping) and bool(_types(items)) and _types(items) <= SCALARS and not items.get("enum")
    entries = value if isinstance(value, list) else []
    lines = all(isinstance(entry, str | int | float) and not isinstance(entry, bool) and _is_line(str(entry)) for entry in entries)
    return Kind.LINES if plain and lines and (value in (ABSENT, None) or isinstance(value, list)) else Kind.JSON


def _is_line(text: str) -> bool:
    return bool(text.strip()) and text == text.strip() and len(text.splitlines()) == 1


def _text(kind: Kind, schema: Schema, types: frozenset[str], value: Any, channels: Mapping[str, str]) -> str:
    """What stands in the field."""
    if value is ABSENT or value is None or kind is Kind.SECRET:
        return ""
    if kind is Kind.CHOICE:
        return str([option for option in schema["enum"] if option is not None].index(value))
    if kind is Kind.SWITCH:
        return "true" if value else "false"
    if kind is Kind.CHANNEL:
        return channels.get(value, "")
    if kind is Kind.LINES:
        return visible("\n".join(str(entry) for entry in value))
    if isinstance(value, str) and (kind is not Kind.JSON or (bool(types) and "string" not in types)):
        return visible(value)
    return visible(json.dumps(value, ensure_ascii=False, indent=2, default=str)) if kind in (Kind.JSON, Kind.TEXT) else str(value)


def in_parts(text: str, limit: int = FIELD) -> Iterator[str]:
    """The text in parts that fit a field, together the very same text. Where possible no part begins or ends with a blank."""
    part: list[str] = []
    size = 0
    for cluster in clusters(text):
        if part and size + utf16(cluster) > limit:
            at = _seam(part)
            yield "".join(part[:at])
            part = part[at:]
            size = sum(map(utf16, part))
        part.append(cluster)
        size += utf16(cluster)
    yield "".join(part)


def _seam(part: list[str]) -> int:
    """Where to cut so that no blank stands at an end, which a client might trim."""
    near = range(len(part) - 1, max(0, len(part) - 200), -1)
    return next((at for at in near if not part[at - 1].isspace() and not part[at].isspace()), len(part))


# words


def _hint(kind: Kind, schema: Schema, types: frozenset[str], *, required: bool, secret: bool) -> str:
    if secret:
        return "The name of a secret, never the secret itself."
    form = {Kind.LINES: "One a line.", Kind.JSON: "JSON, as the tool's schema asks."}.get(kind, "")
    described = one_line(str(schema.get("description") or ""), 200).rstrip(".")
    absent = "" if required else f"Left out if empty{_usual(schema)}."
    return " ".join(part for part in (form, f"{described}." if described else "", _bounds(schema, types), absent) if part)


def _usual(schema: Schema) -> str:
    default = schema.get("default")
    return f", then {shown(default)}" if default not in (None, "") else ""


def _bounds(schema: Schema, types: frozenset[str]) -> str:
    if types and types <= {"integer", "number"}:
        said = _number_bounds(schema)
        number = "A whole number" if types == {"integer"} else "A number"
        return f"{number}{f', {said}' if said else ''}."
    most, least = schema.get("maxLength"), schema.get("minLength")
    if types != {"string"} or not isinstance(most, int) or most > FIELD:
        return ""
    return f"{least} to {count(most, 'character')}." if isinstance(least, int) and least > 1 else f"At most {count(most, 'character')}."


def _number_bounds(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{least} to {most}"
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    said = [f"at least {least}"] if least is not None else [f"more than {above}"] if above is not None else []
    said += [f"at most {most}"] if most is not None else [f"less than {below}"] if below is not None else []
    return ", ".join(said)


# blocks


def inputs(made: Iterable[Field], *, secrets: Mapping[str, str] | None = None) -> list[Block]:
    """The fields as blocks. `secrets`: names of the secrets that stand there now, by argument."""
    return [block for one in made for block in _blocks(one, (secrets or {}).get(one.name, ""))]


def _blocks(one: Field, secret: str) -> list[Block]:
    label = one_line(str(one.schema.get("title") or one.name), 60) or "argument"
    if one.is_kept:
        return [blocks.plain_context(f"{label}: {one.hint} characters, too long for a form. It stays as it is.")]
    if one.parts:
        titles = [f"{label}, part {place} of {len(one.parts)}" for place in range(1, len(one.parts) + 1)]
        texts = [_text_input(one, part) for part in one.parts]
        return [
            field_block(block_id, title, text, hint=one.hint, optional=True)
            for block_id, title, text in zip(one.block_ids, titles, texts, strict=True)
        ]
    return [field_block(one.block_id, label, _element(one, secret), hint=one.hint, optional=one.may_be_empty)]


def field_block(block_id: str, label: str, element: Element, *, hint: str = "", optional: bool = False) -> Block:
    """One input whose label and hint may hold words from outside."""
    made: Block = {"type": "input", "block_id": block_id, "label": blocks.plain_text(label, ours=False), "element": element}
    if hint:
        made["hint"] = blocks.plain_text(cut(hint, 400), ours=False)
    return {**made, "optional": True} if optional else made


def _element(one: Field, secret: str) -> Element:
    if one.kind is Kind.NUMBER:
        return _number_input(one)
    if one.kind is Kind.CHOICE:
        return _menu(one)
    if one.kind is Kind.SWITCH:
        return choices("radio_buttons", [("yes", "true"), ("no", "false")], one.text)
    if one.kind in (Kind.CHANNEL, Kind.PERSON, Kind.DAY):
        return _picked(one)
    if one.kind is Kind.SECRET:
        made = _text_input(one, "")
        return {**made, "placeholder": blocks.plain_text(cut(f"secret {secret} · leave empty to keep it", 150), ours=False)}
    return _text_input(one, one.text)


def _text_input(one: Field, text: str) -> Element:
    """Bounds are left to the check of the arguments: a reference may be longer than the value that it brings."""
    most = one.schema.get("maxLength")
    is_long = one.kind in (Kind.LINES, Kind.JSON) or one.types != {"string"} or not isinstance(most, int) or most > ONE_LINE
    long = is_long or "\n" in text
    short = one.types == {"string"} and _picker(one.schema) != "" and "\n" not in text
    made: Element = {"type": "plain_text_input", "action_id": "value", "multiline": long and not short, "max_length": 3_000}
    return {**made, "initial_value": text} if text else made


def _number_input(one: Field) -> Element:
    whole = one.types == {"integer"}
    made: Element = {"type": "number_input", "action_id": "value", "is_decimal_allowed": not whole}
    for name, bound in (("min_value", one.schema.get("minimum")), ("max_value", one.schema.get("maximum"))):
        if isinstance(bound, int | float) and NUMBER.fullmatch(str(bound)):
            made[name] = str(bound)
    return {**made, "initial_value": one.text} if one.text else made


def _menu(one: Field) -> Element:
    options = [option for option in one.schema["enum"] if option is not None]
    named = [(cut(visible(shown(option)), 75) or "empty", str(place)) for place, option in enumerate(options)]
    return {**choices("static_select", named, one.text), "placeholder": blocks.plain_text("Choose")}


def choices(kind: str, named: list[tuple[str, str]], chosen: str = "") -> Element:
    """A menu or a row of radio buttons from (words, value)."""
    options = [blocks.option(words, value) for words, value in named]
    made: Element = {"type": kind, "action_id": "value", "options": options}
    initial = next((option for option in options if option["value"] == chosen), None)
    return {**made, "initial_option": initial} if initial else made


def _picked(one: Field) -> Element:
    kind, placeholder, begins = {
        Kind.CHANNEL: ("conversations_select", "Choose a channel", "initial_conversation"),
        Kind.PERSON: ("users_select", "Choose a person", "initial_user"),
        Kind.DAY: ("datepicker", "Choose a day", "initial_date"),
    }[one.kind]
    made: Element = {"type": kind, "action_id": "value", "placeholder": blocks.plain_text(placeholder)}
    if one.kind is Kind.CHANNEL:
        made["filter"] = {"include": ["public", "private"], "exclude_bot_users": True}
    return {**made, begins: one.text} if one.text else made


def later_from(value: Any, plan: Plan) -> str:
    """`filled in later from 3`: by number alone, for a row that has little room."""
    numbers = [str(step.number) for step in plan.steps if step.id in sources(value)]
    return f"filled in later from {' and '.join(numbers)}" if numbers else ""
