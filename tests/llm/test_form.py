"""The planner's form: one model renders the schema and reads the reply."""

import json
from dataclasses import replace
from typing import Any

import anthropic
import jsonschema
import pytest

from bot.core.catalogue import Catalogue
from bot.core.drafts import Fault, Question
from bot.core.plan import Plan
from bot.core.validation import validate
from bot.llm import schemas
from bot.llm.form import Form
from bot.llm.planner import example
from tests.llm.catalogue import TICKETS, TOOLS, spec

FORM = Form(TOOLS)


def reply(*steps: dict[str, Any], goal: str = "Do it") -> dict[str, Any]:
    return {"reply": {"plan": {"goal": goal, "steps": list(steps)}}}


def step(tool: str, name: str = "a", **args: Any) -> dict[str, Any]:
    return {"id": name, "purpose": "Because", "tool": tool, "args": args, "after": []}


def plan(data: dict[str, Any], form: Form = FORM) -> Plan:
    found = form.read(data)
    assert isinstance(found, Plan), found
    return found


def faults(data: Any, form: Form = FORM) -> list[str]:
    found = form.read(data)
    assert isinstance(found, tuple), found
    return [str(fault) for fault in found]


@pytest.mark.parametrize("tools", [TOOLS, TICKETS], ids=["built in", "one"])
def test_example_fits_the_schema_and_reads_as_a_valid_plan(tools: Catalogue) -> None:
    form = Form(tools)
    data = json.loads(example(tools))
    jsonschema.validate(data, {**form.schema})
    assert validate(plan(data, form), tools) == []


def test_schema_has_one_kind_of_step_for_each_tool_and_no_open_object() -> None:
    text = json.dumps(FORM.schema)
    assert all(f'"const": "{name}"' in text for name in TOOLS)
    assert text.count('"type": "object"') == text.count('"additionalProperties": false')
    assert '"properties": {}' not in text
    assert "discriminator" not in text
    assert "oneOf" not in text


def test_schema_is_one_that_anthropic_takes() -> None:
    sent = anthropic.transform_schema(FORM.schema)
    assert "maxLength" not in {key for part in sent["$defs"].values() for key in part}


def test_schema_is_bounded_for_servers_that_need_it() -> None:
    arrays = [part for part in _parts(FORM.schema) if part.get("type") == "array"]
    assert arrays
    assert all("maxItems" in part for part in arrays)


def _parts(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [part for item in schema for part in _parts(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(part for item in schema.values() for part in _parts(item))]


def test_reference_may_stand_for_any_value() -> None:
    data = reply(step("time.wait", seconds="{{x.seconds}}"), step("time.wait", "b", seconds=3))
    jsonschema.validate(data, FORM.schema)
    assert [one.args for one in plan(data).steps] == [{"seconds": "{{x.seconds}}"}, {"seconds": 3}]


def test_open_objects_are_asked_for_as_json_text_and_read_back() -> None:
    headers, body = '{"X-A": "1"}', '{"deep": {"list": [1, null]}}'
    data = reply(step("http.request", method="GET", url="https://x.example", headers=headers, json=body))
    jsonschema.validate(data, FORM.schema)
    assert plan(data).steps[0].args["headers"] == {"X-A": "1"}
    assert plan(data).steps[0].args["json"] == {"deep": {"list": [1, None]}}
    late = reply(step("http.request", method="GET", url="https://x.example", json="{{a.text}}"))
    assert plan(late).steps[0].args["json"] == "{{a.text}}"
    direct = reply(step("http.request", method="GET", url="https://x.example", json={"a": None}))
    assert plan(direct).steps[0].args["json"] == {"a": None}


def test_null_for_an_optional_argument_is_left_out() -> None:
    assert plan(reply(step("files.list", path="a", pattern=None))).steps[0].args == {"path": "a"}


def test_order_that_no_reference_says_becomes_a_dependency() -> None:
    data = reply(step("time.now"), {**step("time.wait", "b", seconds=1), "after": ["a"]})
    assert [one.depends_on for one in plan(data).steps] == [(), ("a",)]


def test_long_words_are_cut_and_not_refused() -> None:
    data = reply({**step("time.now"), "purpose": "因为 " * 200}, goal="To know " * 100)
    found = plan(data)
    assert (len(found.goal) <= 230, len(found.steps[0].purpose) <= 120) == (True, True)


def test_missing_purpose_and_after_are_not_missed() -> None:
    assert plan(reply({"id": "a", "tool": "time.now", "args": {}})).steps[0].purpose == ""
    assert plan(reply({"id": "a", "tool": "time.now"})).steps[0].args == {}


def test_reply_without_its_outer_field_is_read() -> None:
    inner = reply(step("time.now"))["reply"]
    assert plan(inner) == plan(inner["plan"]) == plan({"reply": inner})


def test_question_is_read() -> None:
    found = FORM.read({"reply": {"question": {"says": "Which config?", "choices": ["app", "ops"]}}})
    assert found == Question(says="Which config?", choices=("app", "ops"))


def test_what_cannot_be_done_is_a_fault_that_says_so() -> None:
    found = FORM.read({"reply": {"cannot": {"says": "There is no calendar here.", "missing": ["a calendar"]}}})
    assert found == (Fault(says="There is no calendar here.", field="cannot", fix="missing: a calendar"),)


@pytest.mark.parametrize("name", ["jira.close_all", "Files.Read", "files_read", "files.raed"])
def test_unknown_tool_is_named_with_the_closest_and_not_mapped(name: str) -> None:
    """C032"""
    (said,) = faults(reply(step(name, path="a.md")))
    assert f"'{name}'" in said
    assert name == "jira.close_all" or "files.read" in said


def test_claims_of_risk_or_approval_are_refused() -> None:
    found = faults(reply({**step("files.read", path="a.md"), "risk": "low", "approved_by": "U1"}))
    assert found == ["step a · risk: risk is not a field of the form", "step a · approved_by: approved_by is not a field of the form"]


def test_arguments_of_the_wrong_kind_are_told_by_validation_when_they_fit_the_form() -> None:
    """C033: the form is lenient about values; nothing is coerced on the way to the check that is not."""
    found = plan(reply(step("time.wait", seconds="10")))
    assert found.steps[0].args == {"seconds": "10"}
    assert validate(found, TOOLS)


def test_missing_and_unknown_arguments_are_faults_of_their_step() -> None:
    found = faults(reply(step("files.read", "config", file="a.md")))
    assert any("path" in said and said.startswith("step config") for said in found)
    assert any("file" in said for said in found)


@pytest.mark.parametrize(
    "data",
    [{}, {"reply": None}, {"reply": []}, {"plan": []}, {"plan": {"goal": "x"}}, {"plan": {"goal": "x", "steps": "s1"}}]
    + [{"reply": {"plan": None}}, {"steps": [1]}, {"question": "what?"}, {"plan": {"goal": 3, "steps": [{}]}}]
    + [reply(), reply({"id": "a b", "tool": "time.now", "args": {}})],
)
def test_reply_of_another_form_is_faults(data: Any) -> None:
    assert faults(data)


def test_tools_with_awkward_argument_names_and_schemas_are_planned() -> None:
    awkward = spec(
        "odd.tool",
        "read",
        "Odd.",
        json="string",
        model_config="integer",
        schema={"type": ["integer", "null"]},
        copy={"$ref": "#/$defs/Loop"},
        **{"with-dash": {"allOf": [{"$ref": "#/$defs/Size"}]}, "tags_": {"type": "array", "items": {"enum": ["a", "b"]}}},
    )
    schema = {**awkward.args_schema, "$defs": {"Loop": {"$ref": "#/$defs/Loop"}, "Size": {"enum": [1, 2, None]}}}
    form = Form({"odd.tool": replace(awkward, args_schema=schema)})
    args = {"json": "x", "model_config": 1, "schema": 2, "copy": "[1]", "with-dash": 2, "tags": ["a"]}
    data = reply(step("odd.tool", **args))
    jsonschema.validate(data, form.schema)
    assert plan(data, form).steps[0].args == {**args, "copy": [1]}


def test_argument_schemas_need_no_definitions() -> None:
    given = schemas.arguments({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string", "maxLength": 90_000}}})
    assert given == {"a": {"type": "string"}}
