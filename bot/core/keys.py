"""What a step must have for itself while its run lives: keys made from its filled-in arguments, such as `deploy:prod`.

The tool names one, the policy may add others. A pattern is text with `{argument}` in it and nothing else: no expression is evaluated. An
argument that is not given has its schema's default; one that has none leaves its place empty, so that such calls share one key.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from string import Formatter
from typing import Any

from bot.core.catalogue import ToolSpec
from bot.core.ids import short
from bot.core.plan import canonical, fingerprint
from bot.core.policy_file import Policy

LONGEST = 120  # characters; a longer key ends in its fingerprint


def keys(spec: ToolSpec, args: Mapping[str, Any], policy: Policy) -> tuple[str, ...]:
    """Every key that a call with these arguments needs, each once, in the order in which everybody takes them."""
    patterns = [spec.lock] if spec.lock else []
    patterns += [pattern for glob, pattern in policy.locks.items() if fnmatchcase(spec.name, glob)]
    return tuple(sorted({_key(pattern, spec, args) for pattern in patterns}))


def _key(pattern: str, spec: ToolSpec, args: Mapping[str, Any]) -> str:
    parsed = Formatter().parse(pattern)
    key = "".join(literal + (_text(_value(field, spec, args)) if field is not None else "") for literal, field, _, _ in parsed)
    return key if len(key) <= LONGEST else f"{key[: LONGEST - 9]}…{short(fingerprint(key))}"


def _value(field: str, spec: ToolSpec, args: Mapping[str, Any]) -> Any:
    name, *rest = field.split(".")
    value = args.get(name, spec.args_schema.get("properties", {}).get(name, {}).get("default"))
    for each in rest:
        value = value.get(each) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    """Two spellings of one text are one key; other values are written as JSON."""
    if value is None:
        return ""
    return " ".join(value.split()) if isinstance(value, str) else canonical(value)
