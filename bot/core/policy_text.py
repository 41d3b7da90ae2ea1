"""Reading a policy file: YAML text to a whole `Policy`, or one line that names file, line, fault and mending.

A broken file is never half used. A value left empty is refused everywhere, since in YAML an unquoted `#audit` is a
comment and would quietly mean nothing.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from pydantic import ValidationError

from bot.core.policy_file import KEYS, Policy, default
from bot.errors import ConfigurationError

LONGEST = 200_000  # characters
MOST_VALUES = 20_000  # aliases written out
BARE_HASH = re.compile(r"[\[,:-]\s*#[\w-]")
HINTS = {
    "'@'": "put quotes around names that begin with @",
    "'\\t'": "indent with spaces",
    "mapping values are not allowed": "line up the keys, or put quotes around what holds a colon",
}
KINDS = {
    "tuple_type": ("a list", "write it in brackets, as in [thread]"),
    "dict_type": ("a mapping", "write name: value lines"),
    "model_type": ("a mapping", "write name: value lines"),
    "string_type": ("text", "put it in quotes"),
    "int_type": ("a whole number", "write digits without quotes"),
    "float_type": ("a number", "write digits without quotes"),
    "finite_number": ("a number", "write digits without quotes"),
    "bool_type": ("true or false", "write true or false without quotes"),
    "string_pattern_mismatch": ("a name", "write a few words without brackets"),
}
BOUNDS = {
    "greater_than_equal": ("is less than {ge:g}", "write at least {ge:g}"),
    "greater_than": ("is not more than {gt:g}", "write more than {gt:g}"),
    "less_than_equal": ("is more than {le:g}", "write at most {le:g}"),
    "string_too_long": ("is longer than {max_length} characters", "shorten it"),
    "string_too_short": ("is empty", "give it a value or remove it"),
    "too_short": ("is empty", "give it a value or remove it"),
    "too_long": ("has more than {max_length} values", "leave some out"),
}


def parse(text: str, *, source: str) -> Policy:
    """The policy that a YAML text says. Raises `ConfigurationError`, one line: `source`, line, fault, mending."""
    if len(text) > LONGEST:
        raise _fault(source, 1, f"the policy is longer than {LONGEST} characters", "leave something out")
    node, lines = _compose(text, source), dict[tuple[Any, ...], int]()
    for seen, (path, line, wrong) in enumerate(_walk(node, ())):
        if seen > MOST_VALUES:
            raise _fault(source, line, f"the policy has more than {MOST_VALUES} values", "write fewer aliases (*name)")
        if wrong:
            raise _fault(source, line, wrong[0], wrong[1])
        lines.setdefault(path, line)
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # what only a value can have wrong: dates, numbers, tags
        raise _broken(error, source) from error
    if data is None:
        return default("team")
    if not isinstance(data, dict):
        raise _fault(source, 1, "the policy is not a mapping", "begin with `profile: team`")
    try:
        return Policy.model_validate(_tuples(data))
    except ValidationError as error:
        raise _explain(error, lines, source) from error


def _compose(text: str, source: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        begun = error.context_mark.line if error.context_mark else 0
        until = error.problem_mark.line if error.problem_mark else begun
        for number, line in enumerate(text.splitlines()[begun : until + 1], start=begun + 1):
            if BARE_HASH.search(line):
                raise _fault(source, number, "a name begins with #, which begins a comment", 'put it in quotes, as in "#ops"') from error
        raise _broken(error, source) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise _broken(error, source) from error


def _broken(error: Exception, source: str) -> ConfigurationError:
    """What the YAML reader says, at the place where it says it."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return _fault(source, 1, " ".join(str(error).split()), "mend the YAML")
    mark = error.problem_mark or error.context_mark
    problem = " ".join(str(error.problem or "not YAML").split())
    hint = next((hint for sign, hint in HINTS.items() if sign in problem), "mend the YAML there")
    return _fault(source, mark.line + 1 if mark else 1, problem, hint)


def _fault(source: str, line: int, what: str, fix: str) -> ConfigurationError:
    return ConfigurationError(f"{source}, line {line}: {what}; {fix}")


Walked = tuple[tuple[Any, ...], int, tuple[str, str] | None]


def _walk(node: yaml.Node | None, path: tuple[Any, ...], above: frozenset[int] = frozenset()) -> Iterator[Walked]:
    """Path and line of every value, with what is wrong at the level of YAML: repeated keys, empty values, loops, keys that are no names."""
    if node is None:
        return
    line = node.start_mark.line + 1
    if id(node) in above:
        yield path, line, ("an alias refers to itself", "write the value out")
        return
    yield path, line, _emptiness(node, path)
    within = above | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*path, index), within)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, item in node.value:
            name = str(key.value)
            if wrong := _misnamed(key, seen):
                yield (*path, name), key.start_mark.line + 1, wrong
                return
            seen.add(name)
            yield (*path, name), key.start_mark.line + 1, None
            yield from _walk(item, (*path, name), within)


def _misnamed(key: yaml.Node, seen: set[str]) -> tuple[str, str] | None:
    if not isinstance(key, yaml.ScalarNode):
        return "this key is not a name", "write a name"
    if key.value in seen:
        return f"the key '{key.value}' stands there twice", "keep one"
    return ("keys are merged from elsewhere (<<)", "write them out here") if key.value == "<<" else None


def _emptiness(node: yaml.Node, path: tuple[Any, ...]) -> tuple[str, str] | None:
    if path and isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
        return f"'{_place(path)}' is empty", "give it a value or remove it; a value that begins with # needs quotes"
    return None


def _tuples(data: Any) -> Any:
    """Lists as tuples (the models are strict, and frozen), keys as text."""
    if isinstance(data, dict):
        return {str(key): _tuples(value) for key, value in data.items()}
    return tuple(_tuples(item) for item in data) if isinstance(data, list) else data


def _explain(error: ValidationError, lines: Mapping[tuple[Any, ...], int], source: str) -> ConfigurationError:
    """The first fault in the file's order, and how many more there are."""
    found = []
    for detail in error.errors(include_url=False):
        path = (*detail["loc"], *detail.get("ctx", {}).get("keys", ()))
        while path and path not in lines:
            path = path[:-1]  # pydantic adds the names of union branches and "[key]"
        found.append((lines.get(path, 1), path, detail))
    found.sort(key=lambda item: (item[0], item[2]["type"] == "missing"))  # a key misspelt, before the one that is missed for it
    line, path, detail = found[0]
    what, fix = _say(path, detail)
    places = {path for _, path, _ in found}
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    return _fault(source, line, what, fix + more)


def _say(path: tuple[Any, ...], detail: Mapping[str, Any]) -> tuple[str, str]:
    kind, place = detail["type"], _place(path)
    if kind == "missing":
        return f"'{place}' has no '{detail['loc'][-1]}'", "add it"
    if kind in BOUNDS:
        return f"'{place}' {BOUNDS[kind][0].format(**detail['ctx'])}", BOUNDS[kind][1].format(**detail["ctx"])
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(path[-1]), _keys(path[:-1]), n=1)
        return f"'{place}' is not a key of the policy", f"did you mean {near[0]}?" if near else f"use {', '.join(_keys(path[:-1]))}"
    if kind in ("enum", "literal_error"):
        wanted = str(detail["ctx"]["expected"]).replace("'", "")
        given = f"'{detail['input']}'" if isinstance(detail["input"], str) else "that"
        return f"'{place}' cannot be {given}", f"use {wanted}"
    if kind in KINDS:
        return f"'{place}' is not {KINDS[kind][0]}", KINDS[kind][1]
    said = str(detail["msg"]).removeprefix("Value error, ")
    if kind in ("value_error", "said") and ";" in said:
        what, _, fix = said.partition("; ")
        what = what.replace(f"is '{path[-1]}', which ", "", 1) if path else what  # a key that is wrong itself stands in the place
        return f"'{place}' {what}" if place else f"the policy {what}", fix
    return f"'{place}' is not right: {said[0].lower()}{said[1:]}", "mend this value"


def _keys(path: tuple[Any, ...]) -> list[str]:
    """The keys that are known at this place of the file."""
    return list((KEYS[str(path[0])] if path and str(path[0]) in KEYS else Policy).model_fields)


def _place(path: tuple[Any, ...]) -> str:
    return ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in path)
