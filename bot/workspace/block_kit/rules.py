"""A small language for saying what a JSON value must be, and the words in which Slack says that it is not.

A rule is a function that looks at one value and notes what is wrong with it under the value's JSON pointer. Rules are built from other
rules (`array(text(75), 1, 5)`), so the tables in `elements` and `blocks` read like Slack's reference.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing that Slack would complain about."""

    pointer: str
    message: str
    code: str = "failed_constraint"
    constraint: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.message} [json-pointer:{self.pointer}]"


Problems = list[Problem]
Names = tuple[str, ...]
Rule = Callable[[Any, str, Problems], None]


def note(problems: Problems, pointer: str, message: str, *, kind: str = "", expected: Any = None, got: Any = None) -> None:
    constraint = {"type": kind, "expected": expected, "got": got} if kind else {}
    problems.append(Problem(pointer, message, constraint=constraint))


def anything(value: Any, pointer: str, problems: Problems) -> None:  # noqa: ARG001 the rule that is always kept
    """Slack checks this elsewhere, or the reference does not say."""


def string(most: int = 3000, *, least: int = 1, pattern: str = "") -> Rule:
    """A string of so many characters."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, str):
            note(problems, pointer, "must be a string", kind="type", expected="string", got=type(value).__name__)
        elif len(value) > most:
            note(problems, pointer, f"must be less than {most + 1} characters", kind="max_length", expected=most, got=len(value))
        elif len(value) < least:
            note(problems, pointer, f"must be more than {least - 1} characters", kind="min_length", expected=least, got=len(value))
        elif pattern and not re.fullmatch(pattern, value):
            note(problems, pointer, "does not match the required format", kind="pattern", expected=pattern, got=value)

    return check


def choice(*allowed: str) -> Rule:
    """One of these strings."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if value not in allowed:
            note(problems, pointer, f"must be a valid enum value: {', '.join(allowed)}", kind="enum", expected=list(allowed), got=value)

    return check


def boolean(value: Any, pointer: str, problems: Problems) -> None:
    if not isinstance(value, bool):
        note(problems, pointer, "must be a boolean", kind="type", expected="boolean", got=type(value).__name__)


def integer(least: int, most: int) -> Rule:
    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            note(problems, pointer, "must be an integer", kind="type", expected="integer", got=type(value).__name__)
        elif not least <= value <= most:
            note(problems, pointer, f"must be between {least} and {most}", kind="range", expected=[least, most], got=value)

    return check


def array(rule: Rule, least: int = 1, most: int = 100) -> Rule:
    """So many items, each keeping the rule."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, list):
            note(problems, pointer, "must be an array", kind="type", expected="array", got=type(value).__name__)
            return
        if len(value) > most:
            note(problems, pointer, f"no more than {most} items allowed", kind="max_items", expected=most, got=len(value))
        if len(value) < least:
            note(problems, pointer, f"must have at least {least} items", kind="min_items", expected=least, got=len(value))
        for place, item in enumerate(value):
            rule(item, f"{pointer}/{place}", problems)

    return check


def maybe(rule: Rule) -> Rule:
    """Null, or what keeps the rule."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if value is not None:
            rule(value, pointer, problems)

    return check


def shape(fields: Mapping[str, Rule], *, required: Names = (), any_of: Names = (), one_of: Names = ()) -> Rule:
    """An object of these fields and no others; a null field counts as left out. `any_of`: at least one; `one_of`: exactly one."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            note(problems, pointer, "must provide an object", kind="type", expected="object", got=type(value).__name__)
            return
        present = {name for name, inner in value.items() if inner is not None}
        for name in required:
            if name not in present:
                note(problems, pointer, f"missing required field: {name}", kind="required", expected=name)
        if any_of and not present & set(any_of):
            note(problems, pointer, f"must define at least one of: {', '.join(any_of)}", kind="any_of", expected=list(any_of))
        if one_of and len(present & set(one_of)) != 1:
            note(problems, pointer, f"must define exactly one of: {', '.join(one_of)}", kind="one_of", expected=list(one_of))
        for name in sorted(present):
            if name in fields:
                fields[name](value[name], f"{pointer}/{name}", problems)
            else:
                note(problems, pointer, f"invalid additional property: {name}", kind="additional_property", got=name)

    return check


def typed(table: Mapping[str, Rule], *, allowed: tuple[str, ...] | None = None) -> Rule:
    """An object whose `type` picks its rule from the table; `allowed` narrows the types that may stand here."""

    def check(value: Any, pointer: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            note(problems, pointer, "must provide an object", kind="type", expected="object", got=type(value).__name__)
            return
        kind = value.get("type")
        if kind is None:
            note(problems, pointer, "missing required field: type", kind="required", expected="type")
        elif kind not in table or (allowed is not None and kind not in allowed):
            note(problems, f"{pointer}/type", f"unsupported type: {kind}", kind="enum", expected=sorted(allowed or table), got=kind)
        else:
            table[kind](value, pointer, problems)

    return check
