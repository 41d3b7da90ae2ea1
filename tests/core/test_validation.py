"""Validation: what is wrong with a plan, before anybody sees it."""

from typing import Any

import pytest
from hypothesis import given

from bot.core.drafts import Fault
from bot.core.plan import Plan
from bot.core.validation import LONGEST, validate
from bot.tools.web import web_tools
from tests.core.samples import CATALOGUE, FETCH, graphs, plan, post, read, spec, wild_plans
from tests.core.samples import WRITE_FILE as WRITE


def faults(*steps: dict[str, Any], **more: Any) -> list[Fault]:
    return validate(plan(*steps), CATALOGUE, **more)


def the_fault(*steps: dict[str, Any], **more: Any) -> Fault:
    (fault,) = faults(*steps, **more)
    return fault


def test_a_sound_plan_has_no_faults_in_any_order_of_listing() -> None:
    """C030: listed root last."""
    steps = (
        post("post", "{{brief.summary}}"),
        {"id": "brief", "tool": "text.summarize", "args": {"text": "{{notes.text}}"}},
        read("notes"),
    )
    assert faults(*steps) == []
    assert faults(*reversed(steps)) == []


@given(wild_plans())
def test_validation_answers_for_any_plan_and_each_fault_can_be_acted_on(drawn: Plan) -> None:
    """C029: loops, unknown names and broken references included."""
    for fault in validate(drawn, CATALOGUE):
        assert fault.says
        assert fault.fix


@given(graphs())
def test_a_graph_without_loops_is_never_called_one(drawn: Plan) -> None:
    assert not [fault for fault in validate(drawn, {}) if "wait for each other" in fault.says]


@pytest.mark.parametrize("name", ["files.raed", "Files.Read", "files_read", "file.read", "filesread"])
def test_c032_an_unknown_tool_is_named_with_the_closest_and_nothing_is_mapped(name: str) -> None:
    fault = the_fault({"id": "a", "tool": name, "args": {"path": "x"}})
    assert (fault.step, fault.field) == ("a", "tool")
    assert name in fault.says
    assert "files.read" in fault.fix


def test_c032_a_tool_that_is_like_no_other_is_refused_all_the_same() -> None:
    assert the_fault({"id": "a", "tool": "zzzzzz"}).fix == "use a tool of the catalogue"


def test_c033_wrong_arguments_are_faults_of_their_step_and_field() -> None:
    found = faults({"id": "a", "tool": "time.wait", "args": {"seconds": "10", "extra": 1}})
    assert [(fault.step, fault.field) for fault in found] == [("a", "args.extra"), ("a", "args.seconds")]


@pytest.mark.parametrize(
    ("text", "says", "fix"),
    [
        ("{{nots.text}}", "{{nots.text}} refers to a step that does not exist", "did you mean notes?"),
        ("{{s7}}", "{{s7}} refers to a step that does not exist", "refer to a step of this plan"),
        ("{{post.ts}}", "refers to the step itself", "refer to a step that runs before it"),
        ("{{notes.txt}}", "files.read returns no 'txt'; it returns text, path, lines", "use {{notes.text}}"),
        ("{{notes.zzz}}", "files.read returns no 'zzz'", "use one of these"),
        ('{{notes."no such"}}', "files.read returns no 'no such'", "use one of these"),
        ("{{notes.text", "is not closed", "mend the reference"),
        ("${s1.output} {{}}", "is empty", "mend the reference"),
        ("{{secret:TOKEN}}", "slack.post_message must not be given a secret here", "leave it out"),
    ],
)
def test_c034_references_that_cannot_hold_are_refused(text: str, says: str, fix: str) -> None:
    fault = the_fault(read("notes"), post("post", text))
    assert (fault.step, fault.field) == ("post", "args.text")
    assert says in fault.says
    assert fault.fix == fix


@pytest.mark.parametrize("path", ["", ".text", ".lines", "[0]", ".keys(@)", ".length(text)", '."text"', ".text | [0]"])
def test_paths_that_a_result_may_have_are_not_judged(path: str) -> None:
    assert faults(read("notes"), post("post", f"x {{{{notes{path}}}}}")) == []


def test_a_result_that_may_have_other_fields_is_not_judged() -> None:
    assert faults({"id": "page", "tool": "web.fetch", "args": {"url": "https://a.example"}}, post("post", "{{page.anything}}")) == []


def test_c030_an_unknown_dependency_is_refused_with_the_closest_id() -> None:
    fault = the_fault(read("s1", depends_on=["s9"]), read("s2", "b.md"))
    assert (fault.step, fault.field, fault.says) == ("s1", "depends_on", "there is no step 's9'")
    assert fault.fix


def test_c029_loops_are_named_with_their_path_and_a_step_that_waits_for_itself_is_said() -> None:
    found = faults(
        read("s1", "1", depends_on=["s3"]),
        read("s2", "2", depends_on=["s1"]),
        read("s3", "3", depends_on=["s2"]),
        read("s4", depends_on=["s4"]),
    )
    assert [fault.says for fault in found] == ["the step waits for itself", "the steps wait for each other: s1 → s3 → s2 → s1"]


def test_c029_a_loop_made_of_references_is_a_loop() -> None:
    fault = the_fault(post("a", "{{b.ts}}"), post("b", "{{a.ts}}"))
    assert "a → b → a" in fault.says


def test_c031_repeated_ids_and_numbers_are_refused_never_last_one_wins() -> None:
    assert "two steps have the id s2" in the_fault(read("s2", "a"), read("s2", "b")).says
    assert "two steps have the number 1" in the_fault(read("a", "a", number=1), read("b", "b", number=1)).says


def test_c031_the_same_effect_twice_is_refused_even_when_it_waits_for_something_else() -> None:
    fault = the_fault(post("s4", "hi"), post("s5", "hi", depends_on=["s4"]))
    assert (fault.step, fault.says, fault.fix) == ("s5", "it does the same as step s4", "remove one of the two, or let them differ")


def test_c031_the_same_read_twice_is_refused_unless_it_waits_for_something_else() -> None:
    write = {"id": "w", "tool": "files.write", "args": {"path": "a.md", "text": "x"}, "depends_on": ["before"]}
    assert the_fault(read("one"), read("two")).fix == "refer to one instead"
    assert faults(read("before"), write, read("after", depends_on=["w"])) == []


def test_a_plan_without_steps_or_with_too_many_is_refused_before_anything_else() -> None:
    assert "no steps" in the_fault().says
    assert "3 steps, and 2 are allowed" in the_fault(read("a"), read("a"), read("a"), max_steps=2).says


def test_what_nobody_can_read_is_refused() -> None:
    assert faults(post("a", "x" * LONGEST)) == []
    assert "200,001 characters" in the_fault(post("a", "x" * (LONGEST + 1))).says
    assert "not text" in the_fault(post("a", "half \ud83d of a pair")).says
    assert "not text" in the_fault(post("a", "nul \0")).says
    deep: Any = []
    for _ in range(3_000):
        deep = [deep]
    assert "deep" in the_fault({"id": "a", "tool": "shell.run", "args": {"argv": deep}}).says


def test_retries_are_only_for_what_may_be_repeated() -> None:
    assert the_fault(post("a", "hi", retries=2)).field == "retries"
    assert faults(read("a", retries=2)) == []
    again = {**CATALOGUE, "files.write": spec("files.write", WRITE.effect, WRITE.args_schema, idempotent=True)}
    steps = plan({"id": "a", "tool": "files.write", "args": {"path": "a", "text": "b"}, "retries": 2})
    assert validate(steps, again) == []


def test_scope_speaks_at_planning_already() -> None:
    """C062, C063: what may not be reached is refused before the card."""
    fetch = spec("web.fetch", FETCH.effect, FETCH.args_schema, target="url", scope=lambda args: "private addresses are not allowed")
    (fault,) = validate(plan({"id": "a", "tool": "web.fetch", "args": {"url": "http://127.0.0.1"}}), {"web.fetch": fetch})
    assert (fault.step, fault.field, fault.says) == ("a", "args.url", "private addresses are not allowed")


def test_readable_in_every_script() -> None:
    """C035: nothing is escaped on the way into a fault."""
    assert "été 🧹" in the_fault({"id": "a", "tool": "été 🧹"}).says


def written(text: str) -> dict[str, Any]:
    return {"id": "keep", "tool": "files.write", "args": {"path": "a.md", "text": text}}


@pytest.mark.parametrize(
    ("text", "says", "fix"),
    [
        ("{{secret:API_KEY}}", "", ""),
        ("key: {{secret:API_KEY}}!", "", ""),
        ("{{secret:API_KYE}}", "there is no secret API_KYE", "did you mean API_KEY? Else have an admin set it as PULLCORD_SECRET_API_KYE"),
        ("{{secret:NOPE}}", "there is no secret NOPE", "have an admin set it as PULLCORD_SECRET_NOPE"),
        ("{{secret:TYPED_3F2A}}", "the secret TYPED_3F2A, which was typed, is not kept over a restart or for other runs", "ask again"),
        ("{{notes.text}} {{secret:API_KEY}}", "a secret and a reference to a step stand in one text", "give each a value of its own"),
    ],
)
def test_secrets_are_known_by_name_before_anybody_looks_at_the_plan(text: str, says: str, fix: str) -> None:
    found = validate(plan(read("notes"), written(text)), CATALOGUE, secrets={"API_KEY", "OTHER"})
    assert [fault.says for fault in found] == ([says] if says else [])
    assert fix in "".join(fault.fix for fault in found)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ({"tool": "web.fetch", "args": {"url": "https://example.com/?k={{secret:API_KEY}}"}}, "web.fetch must not be given a secret here"),
        ({"tool": "slack.post_message", "args": {"channel": "#general", "text": "{{secret:API_KEY}}"}}, "slack.post_message must not be"),
        ({"tool": "http.request", "args": {"method": "GET", "url": "https://x.example/{{secret:API_KEY}}"}}, "http.request must not be"),
        ({"tool": "http.request", "args": {"method": "GET", "url": "https://x.example", "headers": {"X-Key": "{{secret:API_KEY}}"}}}, ""),
        ({"tool": "http.request", "args": {"method": "POST", "url": "https://x.example", "json": {"k": ["{{secret:API_KEY}}"]}}}, ""),
    ],
)
def test_p11_no_plan_puts_a_secret_where_people_or_strangers_would_read_it(step: dict[str, Any], says: str) -> None:
    catalogue = {**CATALOGUE, **{each.spec.name: each.spec for each in web_tools()}}
    found = validate(plan({"id": "a", **step}), catalogue, secrets={"API_KEY"})
    assert [fault.says[: len(says)] for fault in found] == ([says] if says else [])


def test_a_step_that_has_run_is_not_held_against_a_secret_that_is_gone() -> None:
    assert validate(plan(written("{{secret:GONE}}")), CATALOGUE, secrets=(), done=["keep"]) == []
