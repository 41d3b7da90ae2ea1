"""References: found, filled once, and never left as literal text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import references
from bot.core.references import Reference, Unresolved, fill, find, lone, reveal, secrets, sources, syntax_faults
from tests.core.samples import json_values

SEEN = {
    "notes": {"text": "hello", "lines": 3, "none": None, "empty": ""},
    "list": {"files": [{"name": "a.md"}, {"name": "b.md"}]},
    "n": 5,
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", []),
        ("{{notes.text}}", [Reference("notes", "text")]),
        ("{{ notes.text }}", [Reference("notes", "text")]),
        ("{{list.files[0].name}}", [Reference("list", "files[0].name")]),
        ("{{list[0]}}", [Reference("list", "[0]")]),
        ("{{x}}", [Reference("x", "")]),
        ("{{my-step.a}} and {{b_2}}", [Reference("my-step", "a"), Reference("b_2", "")]),
        ("{{x.{a: b.{c: d}}}}", [Reference("x", "{a: b.{c: d}}")]),
        ("{{x.files[?name=='}}'].path}}", [Reference("x", "files[?name=='}}'].path")]),
        ('{{x."content-type"}}', [Reference("x", '"content-type"')]),
        ("it's {{x.a}}, isn't it", [Reference("x", "a")]),
        ("{{secret:TOKEN}}", []),
        ("{{secret.x}}", [Reference("secret", "x")]),
        ({"a": ["{{x}}", {"b": "{{y}}"}], "c": 5}, [Reference("x", ""), Reference("y", "")]),
        ("{{1.x}} {{}} {{ .Values.name }}", []),
        ("{x} {{", []),
    ],
)
def test_references_are_found_wherever_they_stand(value: Any, expected: list[Reference]) -> None:
    assert find(value) == expected


def test_each_source_is_named_once_in_order() -> None:
    assert sources({"a": "{{y.a}} {{x}}", "b": ["{{y.b}}", "{{secret:T}}"]}) == ["y", "x"]


@pytest.mark.parametrize("value", ["{{x.a}}", " {{x.a}} ", "{{ x.a }}"])
def test_one_reference_alone_is_lone(value: str) -> None:
    assert lone(value) == Reference("x", "a")


@pytest.mark.parametrize("value", ["{{x.a}}!", "{{x}}{{y}}", "x", "", 5, ["{{x}}"], "{{secret:T}}", "{{"])
def test_anything_beside_a_reference_makes_it_not_lone(value: Any) -> None:
    assert lone(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{{notes.lines}}", 3),
        ("{{notes}}", SEEN["notes"]),
        ("{{list.files[*].name}}", ["a.md", "b.md"]),
        ("{{notes.empty}}", ""),
        ("n is {{n}}", "n is 5"),
        ("all: {{list.files[*].name}}", 'all: ["a.md","b.md"]'),
        ("{{notes.text}}\n---\n{{notes.text}}", "hello\n---\nhello"),
        ({"a": ["{{n}}"], "b": None}, {"a": [5], "b": None}),
    ],
)
def test_a_lone_reference_keeps_its_type_and_an_embedded_one_becomes_text(value: Any, expected: Any) -> None:
    assert fill(value, SEEN) == expected


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("{{notes.file}}", "{{notes.file}}"),  # it returned no such thing
        ("{{notes.none}}", "{{notes.none}}"),
        ("see {{gone.text}}", "{{gone.text}}"),  # skipped, or never there
        ("{{n.keys(@)}}", "{{n.keys(@)}}"),  # a function on the wrong type
        ("{{notes.text", "{{notes.text"),
        ("{{ .Values.name }}", "{{ .Values.name }}"),
        ("{{secret:TOKEN", "{{secret:TOKEN"),
    ],
)
def test_c034_what_cannot_be_resolved_is_an_error_that_names_it(value: str, names: str) -> None:
    with pytest.raises(Unresolved) as caught:
        fill({"path": value}, SEEN)
    assert names in str(caught.value)


def test_c034_filled_text_is_never_evaluated_again() -> None:
    seen = {"a": {"x": "{{b.secret}} {{secret:T}}"}, "b": {"secret": "leak"}}
    assert fill("{{a.x}}", seen) == "{{b.secret}} {{secret:T}}"
    assert fill("<{{a.x}}>", seen) == "<{{b.secret}} {{secret:T}}>"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{{", "not closed"),
        ("{{x.a", "not closed"),
        ("{{}}", "is empty"),
        ("{{ }}", "is empty"),
        ("{{x.a b}}", "cannot be read as a path"),
        ("{{x.content-type}}", "cannot be read as a path"),
        ("{{x.}}", "is not a reference"),
        ("{{1x.a}}", "is not a reference"),
        ("{{ user name }}", "is not a reference"),
        ({"{{x}}": 1}, "only a value can"),
    ],
)
def test_what_is_no_reference_is_said(value: Any, says: str) -> None:
    assert says in " ".join(syntax_faults({"a": value}))


@pytest.mark.parametrize("value", ["{{x.a}} {{secret:T}} {{x[0]}} {{x.files[?size > `5`] | [0].name}}", "{ {x} }", {"a": [1]}])
def test_what_can_be_read_has_no_faults(value: Any) -> None:
    assert syntax_faults(value) == []


def test_secrets_are_named_once_and_are_no_steps() -> None:
    assert secrets({"a": "Bearer {{secret:API_KEY}}", "b": "{{ secret: API_KEY }}"}) == ["API_KEY"]


def test_p11_only_the_secrets_that_the_plan_itself_names_are_put_in() -> None:
    """Template injection: what a step returned holds the same letters, at the same place in a list, in a name, and beside the real one."""
    planned = {"key": "Bearer {{secret:KEY}}", "all": ["{{a.x}}", "{{secret:KEY}}"], "whole": "{{a}}", "text": "say {{a.x}}"}
    filled = fill(planned, {"a": {"x": "{{secret:KEY}}"}})
    assert filled["all"] == ["{{secret:KEY}}", "{{secret:KEY}}"]

    given = reveal(planned, filled, {"KEY": "v4lue"}.__getitem__)

    assert given == {
        "key": "Bearer v4lue",
        "all": ["{{secret:KEY}}", "v4lue"],
        "whole": {"x": "{{secret:KEY}}"},
        "text": "say {{secret:KEY}}",
    }


def test_a_secret_is_never_looked_up_in_a_text_that_was_filled_in() -> None:
    filled = fill("{{secret:KEY}} {{a}}", {"a": "{{secret:OTHER}}"})
    with pytest.raises(Unresolved, match="cannot stand in one text"):
        reveal("{{secret:KEY}} {{a}}", filled, {"KEY": "v", "OTHER": "w"}.__getitem__)


def test_a_value_that_looks_like_a_reference_is_not_looked_at_again() -> None:
    text = "<{{secret:A}}{{ secret:B }}>"
    assert reveal(text, text, {"A": "{{secret:B}}", "B": "b"}.__getitem__) == "<{{secret:B}}b>"


@given(json_values)
def test_filling_keeps_every_value_of_an_observation_as_it_is(value: Any) -> None:
    if value is not None:
        assert fill("{{x.v}}", {"x": {"v": value}}) == value
        assert type(fill("{{x}}", {"x": value})) is type(value)


@given(st.text("{}.x'\"` a[]", max_size=60))
def test_any_text_is_either_read_or_faulted_and_never_passes_with_braces(text: str) -> None:
    """C034: whatever is typed, no placeholder reaches a tool."""
    faults = syntax_faults(text)
    try:
        filled = fill(text, {"x": "ok", "a": "ok"})
    except Unresolved:
        return
    assert references.OPEN not in str(filled)
    assert not faults


def test_a_text_full_of_open_braces_is_read_in_linear_time() -> None:
    text = "{{'" * 60_000
    assert find(text) == []
    assert syntax_faults(text)


@pytest.mark.parametrize("path", ["|".join(["[@,@]"] * 21), ".".join(["a"] * 100), "[[@,@],[@,@]]"])
def test_a_path_that_multiplies_its_value_is_refused_P10(path: str) -> None:
    assert "too much" in syntax_faults(f"{{{{a.{path}}}}}")[0]


@pytest.mark.parametrize("path", ["files[0].name", "files[?size > `10`].path | [0]", "{a: x, b: y}", "[a, b]", "matches[*].text"])
def test_ordinary_paths_are_fine(path: str) -> None:
    assert syntax_faults(f"{{{{a.{path}}}}}") == []
