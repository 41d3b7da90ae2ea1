"""A tool's argument schema, as a model can be given it: self-contained, bounded, and with a reference allowed in place of any value.

Servers differ in what they can enforce, so only plain JSON Schema is left: no `$ref`, no open objects (some narrow an open object to `{}`),
no type lists. What cannot be said plainly is asked for as JSON text and read back by `decode`.
"""

import json
from collections.abc import Mapping
from typing import Any

from bot.core.references import find

Schema = dict[str, Any]

REFERENCE: Schema = {"type": "string", "pattern": r"^\{\{.+\}\}$", "description": "a reference"}
MOST_ITEMS = 50  # of an array without a bound of its own: unbounded ones run away
LONGEST = 1000  # longer bounds of strings break grammars, so they are left to validation
DEEPEST = 6
NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
BOUNDS = {"string": ("minLength", "maxLength", "format"), "integer": NUMERIC, "number": NUMERIC, "boolean": ()}


def arguments(schema: Mapping[str, Any]) -> dict[str, Schema]:
    """Name → schema of each argument, a reference allowed."""
    properties = schema.get("properties", {})
    return {name: _or_reference(_plain(part, schema)) for name, part in properties.items()}


def decode(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value of an argument as the tool wants it: JSON text is read where the tool's own schema could not be given to the model."""
    if schema.get("contentMediaType") != "application/json" or not isinstance(value, str) or find(value):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _or_reference(schema: Schema) -> Schema:
    if schema.get("type") == "string" and not schema.keys() & {"enum", "const", "format", "maxLength", "minLength"}:
        return schema
    options = schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return {"anyOf": [*options, REFERENCE]}


def _as_json() -> Schema:
    return {"type": "string", "contentMediaType": "application/json", "description": "JSON text"}


def _plain(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Schema:
    """The schema without what not every server knows."""
    schema = _followed(schema, root)
    if schema is None or depth > DEEPEST:
        return _as_json()
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return _one_of([_plain(option, root, depth + 1) for option in options if not _is_null(option)])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _one_of([_plain({**schema, "type": one}, root, depth + 1) for one in kind if one != "null"])
    if "const" in schema or "enum" in schema:
        return {"enum": [schema["const"]]} if "const" in schema else {"enum": [value for value in schema["enum"] if value is not None]}
    if kind in BOUNDS:
        kept = {key: schema[key] for key in BOUNDS[kind] if key in schema and not (key == "maxLength" and schema[key] > LONGEST)}
        return {"type": kind, **kept}
    if kind == "array" and isinstance(schema.get("items"), Mapping) and "prefixItems" not in schema:
        bounds = {"minItems": schema.get("minItems", 0), "maxItems": schema.get("maxItems", MOST_ITEMS)}
        return {"type": kind, "items": _plain(schema["items"], root, depth + 1), **bounds}
    return _plain_object(schema, root, depth) if kind == "object" else _as_json()


def _plain_object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Schema:
    properties = schema.get("properties")
    if not properties or schema.get("additionalProperties"):
        return _as_json()
    inner = {name: _plain(part, root, depth + 1) for name, part in properties.items()}
    return {"type": "object", "properties": inner, "required": list(schema.get("required", ())), "additionalProperties": False}


def _one_of(options: list[Schema]) -> Schema:
    """The options as one schema; JSON text if none is left or one of them has to be JSON text."""
    if not options or any("contentMediaType" in option for option in options):
        return _as_json()
    return options[0] if len(options) == 1 else {"anyOf": options}


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema that `$ref` and a lone `allOf` lead to; None if they lead nowhere or in a circle."""
    for _ in range(DEEPEST):
        if not isinstance(schema, Mapping):
            return None
        inner = schema.get("allOf")
        if isinstance(schema.get("$ref"), str):
            schema = _pointed(schema["$ref"], root)
        elif isinstance(inner, list) and len(inner) == 1 and not schema.keys() & {"type", "properties"}:
            schema = inner[0]
        else:
            return None if inner else schema
    return None


def _pointed(reference: str, root: Mapping[str, Any]) -> Any:
    if not reference.startswith("#/"):
        return None
    target: Any = root
    for part in reference.removeprefix("#/").split("/"):
        target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
    return target
