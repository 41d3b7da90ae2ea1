"""Do these arguments fit this tool? Judged by the tool's own JSON Schema and its own word on scope, with nothing coerced.

The same check serves a plan (where references stand for values that nobody knows yet) and the filled-in arguments just before the call. A
lone reference may turn out to be anything, so no fault is found at its place; a text with references in it is a text, and no more is
known of it. Schemas come from strangers too (MCP), so a schema never makes this reach out for another document, and one that cannot be
read is a fault.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import referencing
import referencing.exceptions
from jsonschema.exceptions import SchemaError, UnknownType, ValidationError

from bot.core.catalogue import ToolSpec
from bot.core.drafts import Fault
from bot.core.references import OPEN, find, lone, secrets
from bot.core.wording import shown

DEEPEST = 40  # lists and objects within each other
NO_DOCUMENTS: referencing.Registry[Any] = referencing.Registry()
FORMATS = jsonschema.FormatChecker(["date", "date-time", "email", "ipv4", "ipv6", "regex", "time", "uuid"])
WANTED = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
EXAMPLES = {
    "string": 'such as "text"',
    "integer": "such as 10, without quotes",
    "number": "such as 1.5, without quotes",
    "boolean": "write true or false, without quotes",
    "array": 'such as ["one", "two"]',
    "object": 'such as {"name": "value"}',
    "date-time": "such as 2026-11-30T09:00:00Z",
    "date": "such as 2026-11-30",
    "time": "such as 09:00:00Z",
    "email": "such as name@example.com",
    "uri": "such as https://example.com/page",
}
BOUNDS = {
    "minimum": "is less than {}",
    "maximum": "is more than {}",
    "exclusiveMinimum": "is not more than {}",
    "exclusiveMaximum": "is not less than {}",
    "multipleOf": "is not a multiple of {}",
    "minLength": "is shorter than {} characters",
    "maxLength": "is longer than {} characters",
    "minItems": "has fewer than {} items",
    "maxItems": "has more than {} items",
    "pattern": "does not look like {}",
    "format": "is not a {}",
}


class _Same:
    """A schema as a key: the same object, not an equal one (schemas are large, and never change)."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.schema is self.schema


@FORMATS.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    """Scheme and place; jsonschema's own check would bring in a grammar that takes seconds to load."""
    parts = urlsplit(value) if isinstance(value, str) else None
    return parts is None or bool(parts.scheme and (parts.netloc or parts.path) and " " not in str(value))


@lru_cache(maxsize=1_000)
def _validator(same: _Same) -> jsonschema.Draft202012Validator:
    """One for each tool: building it takes longer than most checks."""
    return jsonschema.Draft202012Validator(dict(same.schema), format_checker=FORMATS, registry=NO_DOCUMENTS)


def check_args(spec: ToolSpec, args: Mapping[str, Any], *, late: bool) -> list[Fault]:
    """What is wrong with the arguments; `late`: references may stand in them (a plan), else every value is final (a call).

    Scope is asked last, of arguments that fit, and only of those that hold no reference. A secret is put in at the call, which judges anew.
    """
    if is_deep(args):
        return [Fault(field="args", says=f"lists and objects are more than {DEEPEST} deep", fix="make it flatter")]
    try:
        faults = _unknown(spec, args) + _by_schema(spec, args, late=late)
    except (SchemaError, UnknownType, referencing.exceptions.Unresolvable, re.error) as error:
        return [Fault(field="tool", says=f"the definition of {spec.name} cannot be read ({type(error).__name__})", fix="tell the admin")]
    if faults or spec.scope is None:
        return faults
    known = {name: value for name, value in args.items() if not _is_open(value, late)}
    refusal = spec.scope(known)
    field = f"args.{spec.target}" if spec.target in known else "args"
    return [Fault(field=field, says=refusal, fix="stay within what the admin allows")] if refusal else []


def is_deep(value: Any) -> bool:
    """Do lists and objects lie deeper within each other than anything here may follow? Counted without recursion."""
    here = [value]
    for _ in range(DEEPEST + 1):
        here = [item for held in here for item in items(held)]
        if not here:
            return False
    return True


def items(value: Any) -> Iterable[Any]:
    """What lies directly in a list or an object; nothing in any other value."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like this one, or "" if none is near."""
    plain = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), plain, n=1, cutoff=0.5)
    return plain[near[0]] if near else ""


def _unknown(spec: ToolSpec, args: Mapping[str, Any]) -> list[Fault]:
    """Arguments that the tool does not have, refused even where its schema would quietly let them pass."""
    properties = spec.args_schema.get("properties")
    if not isinstance(properties, Mapping) or spec.args_schema.get("additionalProperties") or "patternProperties" in spec.args_schema:
        return []
    faults = []
    for name in args:
        if name not in properties:
            near = closest(name, [known for known in properties if known not in args])
            has = f"it has {', '.join(properties)}" if properties else "it takes none"
            fix = f"did you mean {near}?" if near else has
            faults.append(Fault(field=f"args.{name}", says=f"{spec.name} has no argument '{name}'", fix=fix))
    return faults


def _by_schema(spec: ToolSpec, args: Mapping[str, Any], *, late: bool) -> list[Fault]:
    validator = _validator(_Same(spec.args_schema))
    errors = [error for error in validator.iter_errors(dict(args)) if not _is_excused(error, late)]
    errors = [error for error in errors if error.validator != "additionalProperties" or error.absolute_path]
    return [_fault(spec, _closest_branch(error), args) for error in errors]


def _is_open(value: Any, late: bool) -> bool:
    """Is the value not known here, or not all of it?"""
    return bool(secrets(value)) or (late and bool(find(value)))


def _is_excused(error: ValidationError, late: bool) -> bool:
    """Is the fault one that a value filled in later may still mend? A secret is a text, and nothing more is known of it."""
    value = error.instance
    if late and lone(value):
        return True
    if error.validator in ("anyOf", "oneOf", "allOf"):
        branches: dict[Any, list[ValidationError]] = {}
        for inner in error.context or ():
            branches.setdefault(inner.relative_schema_path[0], []).append(inner)
        some = any(all(_is_excused(inner, late) for inner in branch) for branch in branches.values())
        return some or (not branches and _is_open(value, late))
    if isinstance(value, str) and OPEN in value and _is_open(value, late):
        return error.validator != "type"
    uncertain = error.validator in ("not", "contains", "if", "const", "enum")
    return (uncertain or not {"then", "else"}.isdisjoint(error.absolute_schema_path)) and _is_open(value, late)


def _closest_branch(error: ValidationError) -> ValidationError:
    """Of a choice (`int | None`), the fault of the branch that was meant: one that reaches deeper or is not about the kind of value."""
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        return error
    inner = [one for one in error.context if one.validator != "type" or len(one.relative_path) > 0]
    if inner:
        return _closest_branch(max(inner, key=lambda one: len(one.relative_path)))
    kinds = [one.validator_value for one in error.context if one.validator == "type" and one.validator_value != "null"]
    return error.context[0] if len(kinds) == 1 and error.context[0].validator_value == kinds[0] else error


def _fault(spec: ToolSpec, error: ValidationError, args: Mapping[str, Any]) -> Fault:
    field = "args" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    if error.validator == "required":
        required: Any = error.validator_value
        name = next(name for name in required if error.message.startswith(repr(name)))
        unknown = [given for given in args if given not in spec.args_schema.get("properties", {})]
        near = closest(name, unknown) if not error.absolute_path else ""
        says = f"the argument '{name}' is missing" if not error.absolute_path else f"'{name}' is missing"
        return Fault(field=f"{field}.{name}", says=says, fix=f"did you mean it by '{near}'?" if near else _example(error, name))
    says, fix = _say(error, f'"{shown(error.instance)}"' if isinstance(error.instance, str) else shown(error.instance))
    return Fault(field=field, says=says, fix=fix)


def _say(error: ValidationError, value: str) -> tuple[str, str]:
    wanted: Any = error.validator_value
    if error.validator == "type":
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        words = " or ".join(WANTED.get(kind, kind) for kind in kinds)
        return f"{value} is {_kind(error.instance)}, and {words} is wanted", EXAMPLES.get(kinds[0], "mend the value")
    if error.validator == "enum":
        near = closest(str(error.instance), map(str, wanted))
        return f"{value} is not one of {', '.join(map(shown, wanted))}", f"did you mean {near}?" if near else "use one of them"
    if error.validator == "const":
        return f"{value} must be {shown(wanted)}", f"write {shown(wanted)}"
    if error.validator in BOUNDS:
        return f"{value} {BOUNDS[error.validator].format(shown(wanted))}", EXAMPLES.get(str(wanted), "change the value")
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        return shown(error.message, limit=160), "remove it"
    if error.validator in ("anyOf", "oneOf"):
        kinds = [kind for one in error.context or () if isinstance(kind := one.validator_value, str) and one.validator == "type"]
        words = " or ".join(dict.fromkeys(WANTED.get(kind, kind) for kind in kinds)) or "something else"
        return f"{value} is {_kind(error.instance)}, and {words} is wanted", EXAMPLES.get(kinds[0] if kinds else "", "mend the value")
    return shown(error.message, limit=160), "mend the value"


def _example(error: ValidationError, name: str) -> str:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    declared = schema.get("properties", {}).get(name, {})
    described = declared.get("description") if isinstance(declared, Mapping) else None
    return f"give it: {shown(described, limit=100)}" if isinstance(described, str) and described else "give it"


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, int | float):
        return "a whole number" if isinstance(value, int) else "a number"
    return "a list" if isinstance(value, list | tuple) else "an object"
