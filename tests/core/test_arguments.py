"""Arguments against the tool's own schema: nothing coerced, nothing fetched, references left open only where they may be."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from bot.core.arguments import check_args, closest
from bot.core.catalogue import Effect
from tests.core.samples import TEXT, json_values, schema, spec

TICKET = spec(
    "tickets.update",
    Effect.WRITE,
    {
        "$defs": {"Inner": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"], "additionalProperties": False}},
        **schema(
            ("count",),
            count={"type": "integer", "minimum": 1, "maximum": 100},
            labels={"type": "array", "items": TEXT, "maxItems": 3},
            dry_run={"type": "boolean"},
            when={"type": "string", "format": "date-time"},
            state={"enum": ["open", "closed"]},
            limit={"anyOf": [{"type": "integer"}, {"type": "null"}]},
            code={"type": "string", "pattern": "^[a-z]+$", "maxLength": 4},
            inner={"$ref": "#/$defs/Inner"},
        ),
    },
)


def faults(args: Mapping[str, Any], *, late: bool = False) -> dict[str | None, str]:
    return {fault.field: str(fault) for fault in check_args(TICKET, args, late=late)}


def test_c033_no_value_is_coerced_and_no_unknown_field_passes() -> None:
    found = faults({"count": "10", "labels": "bug", "dry_run": "false", "when": "tomorrow", "extra": 1})
    assert set(found) == {"args.count", "args.labels", "args.dry_run", "args.when", "args.extra"}
    assert '"10" is a text, and a whole number is wanted; such as 10, without quotes' in found["args.count"]
    assert '"false" is a text, and true or false is wanted' in found["args.dry_run"]
    assert "is not a date-time" in found["args.when"]


@pytest.mark.parametrize("late", [False, True])
def test_the_same_check_serves_plans_edits_and_filled_in_values(late: bool) -> None:
    assert set(faults({"count": "10"}, late=late)) == {"args.count"}
    assert faults({"count": 10, "labels": ["a"], "when": "2026-11-30T09:00:00Z", "limit": None, "inner": {"n": 1.5}}, late=late) == {}


@pytest.mark.parametrize(
    ("args", "field", "says"),
    [
        ({}, "args.count", "the argument 'count' is missing; give it"),
        ({"cuont": 1}, "args.count", "did you mean it by 'cuont'?"),
        ({"count": 1, "lables": []}, "args.lables", "tickets.update has no argument 'lables'; did you mean labels?"),
        ({"count": 0}, "args.count", "0 is less than 1"),
        ({"count": 101}, "args.count", "101 is more than 100"),
        ({"count": True}, "args.count", "true is true or false, and a whole number is wanted"),
        ({"count": 1.5}, "args.count", "1.5 is a number, and a whole number is wanted"),
        ({"count": None}, "args.count", "null is nothing, and a whole number is wanted"),
        ({"count": 1, "labels": ["a", 5]}, "args.labels[1]", "5 is a whole number, and a text is wanted"),
        ({"count": 1, "labels": list("abcd")}, "args.labels", "has more than 3 items"),
        ({"count": 1, "state": "opne"}, "args.state", '"opne" is not one of open, closed; did you mean open?'),
        ({"count": 1, "limit": "x"}, "args.limit", '"x" is a text, and a whole number is wanted'),
        ({"count": 1, "code": "A"}, "args.code", "does not look like ^[a-z]+$"),
        ({"count": 1, "code": "abcde"}, "args.code", "is longer than 4 characters"),
        ({"count": 1, "inner": {}}, "args.inner.n", "'n' is missing"),
        ({"count": 1, "inner": {"n": 1, "m": 2}}, "args.inner", "'m'"),
    ],
)
def test_faults_say_where_what_and_how_to_mend(args: dict[str, Any], field: str, says: str) -> None:
    assert says in faults(args)[field]


@pytest.mark.parametrize(
    "args",
    [
        {"count": "{{a.n}}"},
        {"count": 1, "labels": "{{a.labels}}"},
        {"count": 1, "labels": ["{{a.x}}", "and {{b}}"]},
        {"count": 1, "limit": "{{a.n}}"},
        {"count": 1, "state": "{{a.state}}"},
        {"count": 1, "when": "{{a.day}}T09:00:00Z"},
        {"count": 1, "code": "x{{a.code}}"},
        {"count": 1, "inner": {"n": "{{a.n}}"}},
        {"count": 1, "inner": "{{a}}"},
    ],
)
def test_a_reference_may_turn_out_right(args: dict[str, Any]) -> None:
    assert faults(args, late=True) == {}


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"count": "about {{a.n}}"}, "args.count"),
        ({"count": 1, "labels": "x {{a}}"}, "args.labels"),
        ({"count": 1, "limit": "x {{a}}"}, "args.limit"),
        ({"count": 1, "inner": {"m": "{{a}}", "n": 1}}, "args.inner"),
        ({"count": 1, "labels": ["{{a}}"] * 4}, "args.labels"),
    ],
)
def test_a_reference_does_not_excuse_what_it_cannot_mend(args: dict[str, Any], field: str) -> None:
    assert field in faults(args, late=True)


def test_braces_in_final_values_are_plain_text() -> None:
    assert set(faults({"count": "{{a.n}}", "code": "{{x"})) == {"args.count", "args.code"}


@pytest.mark.parametrize(
    "broken", [{"$ref": "http://127.0.0.1:9/schema.json"}, {"type": "strin"}, {"pattern": "("}, {"$ref": "#/$defs/gone"}]
)
def test_a_schema_that_cannot_be_read_is_a_fault_and_nothing_is_fetched(broken: dict[str, Any]) -> None:
    tool = spec("mcp.tool", Effect.WRITE, {"type": "object", "properties": {"a": broken}})
    assert [fault.field for fault in check_args(tool, {"a": "x"}, late=False)] == ["tool"]


def test_unknown_arguments_are_refused_even_where_a_schema_is_silent_about_them() -> None:
    silent = spec("mcp.tool", Effect.WRITE, {"type": "object", "properties": {"a": TEXT}})
    open_to_all = spec("mcp.tool", Effect.WRITE, {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True})
    assert [fault.field for fault in check_args(silent, {"b": 1}, late=False)] == ["args.b"]
    assert check_args(open_to_all, {"b": 1}, late=False) == []


def test_scope_is_asked_only_of_arguments_that_are_known_and_fit() -> None:
    asked: list[dict[str, Any]] = []

    def scope(args: Mapping[str, Any]) -> str | None:
        asked.append(dict(args))
        return "etc/ is outside the folder" if args.get("path", "").startswith("/etc") else None

    tool = spec("files.write", Effect.WRITE, schema(("path", "text"), path=TEXT, text=TEXT), target="path", scope=scope)
    assert check_args(tool, {"path": 5, "text": "x"}, late=True)
    assert asked == []
    assert check_args(tool, {"path": "{{a.path}}", "text": "x"}, late=True) == []
    (fault,) = check_args(tool, {"path": "/etc/passwd", "text": "{{a.text}}"}, late=True)
    assert (fault.field, fault.says) == ("args.path", "etc/ is outside the folder")
    assert asked == [{"text": "x"}, {"path": "/etc/passwd"}]
    assert check_args(tool, {"path": "{{a}}", "text": "{{b}}"}, late=False) == []
    assert asked[-1] == {"path": "{{a}}", "text": "{{b}}"}


def test_a_choice_with_a_reference_deep_inside_is_open() -> None:
    choice = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}
    tool = spec("t.t", Effect.READ, schema(ids=choice))
    assert check_args(tool, {"ids": ["{{a.n}}", 5]}, late=True) == []
    assert check_args(tool, {"ids": ["{{a.n}}", "x"]}, late=True)


def test_values_deeper_than_anyone_can_follow_are_refused() -> None:
    value: Any = "x"
    for _ in range(5_000):
        value = [value]
    assert "deep" in check_args(TICKET, {"labels": value}, late=False)[0].says


@given(json_values)
def test_any_value_gets_an_answer(value: Any) -> None:
    for late in (False, True):
        for fault in check_args(TICKET, {"count": value, "labels": value, "inner": value, "limit": value}, late=late):
            assert fault.field
            assert fault.fix


@pytest.mark.parametrize(("name", "near"), [("pth", "path"), ("PATH", "path"), ("txt", "text"), ("zzz", "")])
def test_the_closest_name(name: str, near: str) -> None:
    assert closest(name, ["path", "text"]) == near
