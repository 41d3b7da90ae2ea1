"""What stands in the fields of a form becomes arguments again: left alone, what it was; typed, what was typed (C014, C022)."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.catalogue import Effect, ToolSpec
from bot.tools.masks import redacted
from handlers import entries
from handlers.views import edit_fields
from handlers.views.edit_fields import Kind
from tests.handlers.views.forms import TICKET, TYPES
from tests.handlers.views.stage import SMALL

CHANNELS = {"#ops": "C0OPS"}
SECRET = "sk-ant-api03-" + "Zq9" * 12


def read(
    args: Mapping[str, Any], spec: ToolSpec = TYPES, *, names: Mapping[str, str] | None = None, **said: str | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """What becomes of these arguments if a form is sent in which only the fields in `said` were touched (None: emptied)."""
    shown = redacted(dict(args))
    fields = edit_fields.fields(spec, shown, plan=SMALL, channels=CHANNELS)
    values = {block: part for one in fields for block, part in zip(one.block_ids, one.parts or (one.text,), strict=True)}
    values |= {f"arg.{name}": text or "" for name, text in said.items()}
    given_values = {block: text for block, text in values.items() if text}
    return entries.read(fields, given_values, args=args, shown=shown, channels=names or {})


def test_a_form_that_is_sent_as_it_was_opened_changes_nothing() -> None:
    assert read(TICKET) == (TICKET, {})


NUMBERS = st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(list(TICKET)), VALUES))
def test_C022_whatever_stands_there_is_kept_where_it_is_left_alone(args: dict[str, Any]) -> None:
    """Also what does not fit the schema, what is hidden, and what is blank."""
    assert read(args) == (args, {})


@pytest.mark.parametrize(
    ("name", "said", "value"),
    [
        ("title", "“deploy —dry-run” a &lt; b", "“deploy —dry-run” a &lt; b"),  # C014: as typed
        ("points", "10", 10),
        ("weight", "1.5", 1.5),
        ("priority", "2", "urgent"),
        ("notify", "true", True),
        ("room", "C0GENERAL", "#general"),
        ("owner", "U0APPROVER", "U0APPROVER"),
        ("due", "2026-12-24", "2026-12-24"),
        ("labels", "config\n\n  two words \n", ["config", "two words"]),
        ("counts", "1\n20\n{{old.lines}}", [1, 20, "{{old.lines}}"]),
        ("fields", "{“team”: “ops”}", {"team": "ops"}),
        ("token", "OTHER_TOKEN", "{{secret:OTHER_TOKEN}}"),
        ("any", '["a", 1]', ["a", 1]),
        ("any", "{{old.text}}", "{{old.text}}"),
        ("comment", "one\r\ntwo", "one\ntwo"),
    ],
)
def test_what_was_typed_is_the_value_of_its_kind(name: str, said: str, value: Any) -> None:
    values, wrong = read(TICKET, names={"C0GENERAL": "#general"}, **{name: said})
    assert wrong == {}
    assert values == {**TICKET, name: value}


@pytest.mark.parametrize("name", ["room", "due", "labels", "fields"])
def test_C022_an_optional_field_that_was_emptied_is_left_out(name: str) -> None:
    values, wrong = read(TICKET, **{name: None})
    assert wrong == {}
    assert values == {key: value for key, value in TICKET.items() if key != name}


def test_C022_a_blank_that_was_there_stays_a_blank_and_an_absent_one_absent() -> None:
    values, _ = read({**TICKET, "comment": "", "weight": None})
    assert values["comment"] == ""
    assert values["weight"] is None
    assert "comment" not in read(TICKET)[0]


@pytest.mark.parametrize(
    ("name", "said", "says"),
    [
        ("title", None, "A value is needed here."),
        ("fields", '{"team": ', "not JSON"),
        ("room", "C0HIDDEN", "cannot see that channel"),
        ("token", "not a name!", "not the name of a secret"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_field_and_the_value_stays(name: str, said: str | None, says: str) -> None:
    values, wrong = read(TICKET, **{name: said})
    assert says in wrong[f"arg.{name}"]
    assert values == TICKET


@pytest.mark.parametrize(("said", "value"), [("5", 5), ("{{config.size}}", "{{config.size}}"), (" 7 ", 7)])
def test_a_number_that_is_filled_in_later_may_become_a_number(said: str, value: Any) -> None:
    values, wrong = read({**TICKET, "points": "{{old.size}}"}, points=said)
    assert (values["points"], wrong) == (value, {})
    assert "whole number" in read({**TICKET, "points": "{{old.size}}"}, points="many")[1]["arg.points"]


def test_a_late_value_is_a_text_with_its_source_beside_it_whatever_its_kind() -> None:
    (field,) = [one for one in edit_fields.fields(TYPES, {"notify": "{{config.text}}"}, plan=SMALL) if one.name == "notify"]
    assert field.kind is Kind.TEXT
    assert field.hint == "Filled in later from 1 · config. Keep {{config.text}}, or write your own words."


def test_what_was_masked_keeps_its_value_and_a_mask_elsewhere_stands_for_nothing() -> None:
    args = {**TICKET, "comment": f"use {SECRET} here", "fields": {"team": "web", "password": "hunter2hunter2", "note": SECRET}}
    assert read(args, title="Other") == ({**args, "title": "Other"}, {})
    shown = redacted(args)
    values, wrong = read(args, fields=str(shown["fields"]).replace("'", '"').replace("web", "ops"))
    assert wrong == {}
    assert values["fields"] == {"team": "ops", "password": "hunter2hunter2", "note": SECRET}
    for name in ("comment", "title"):
        values, wrong = read(args, **{name: f"now {shown['comment']}"})
        assert "stands for a value that is hidden here" in wrong[f"arg.{name}"]
        assert values == args


def test_a_hidden_character_stays_where_its_mark_was_left_and_goes_with_it() -> None:
    args = {**TICKET, "comment": "a\u202eb"}
    assert read(args, comment="a⟦U+202E⟧bc")[0]["comment"] == "a\u202ebc"
    assert read(args, comment="abc")[0]["comment"] == "abc"
    assert read(TICKET, comment="a⟦U+202E⟧b")[0]["comment"] == "a⟦U+202E⟧b"


def test_a_long_text_is_read_back_over_several_fields() -> None:
    text = "word " * 2_000 + "end\n"
    args = {**TICKET, "comment": text}
    assert read(args) == (args, {})
    fields = [one for one in edit_fields.fields(TYPES, args, plan=SMALL) if one.name == "comment"]
    assert fields[0].block_ids[:2] == ("arg.comment", "arg.comment.2")
    assert read(args, **{"comment.2": "else "})[0]["comment"].startswith("word ")
    huge = {**TICKET, "comment": "x" * 50_000}
    assert read(huge, title="Other")[0] == {**huge, "title": "Other"}


def test_arguments_that_the_tool_does_not_know_stand_there_too_under_any_name() -> None:
    odd = ToolSpec("x.y", "Does.", Effect.READ, {"type": "object", "properties": {"a b": {"type": "string"}}})
    args = {"a b": "1", "<!channel>": "x", "more": {"a": 1}}
    assert read(args, odd) == (args, {})
    assert [one.block_id for one in edit_fields.fields(odd, args, plan=SMALL)] == ["arg.0.", "arg.1.", "arg.more"]
