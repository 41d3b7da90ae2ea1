"""Grades: by effect, by rule, by where arguments come from; reasons in words; the planner's purpose never counts."""

from typing import Any

import pytest
from hypothesis import given

from bot.core import policy
from bot.core.catalogue import Effect
from bot.core.flows import World, untrusted_origins
from bot.core.grading import effect_of, grade, mode_of, ruling
from bot.core.plan import Plan
from bot.core.policy import Policy
from bot.core.risk import Grade, Level, Mode
from tests.core.samples import CATALOGUE, FETCH, plan, post, read, spec, wild_plans

TEAM = policy.default("team")
PAGE = {"id": "page", "tool": "web.fetch", "args": {"url": "https://a.example"}}


def written(text: str) -> Policy:
    return policy.parse(text, source="p")


def graded(*steps: dict[str, Any], rules: Policy = TEAM, which: int = -1) -> Grade:
    drawn = plan(*steps)
    return grade(drawn.steps[which], drawn, CATALOGUE, rules)


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"id": "it", "tool": tool, "args": args}


@pytest.mark.parametrize(
    ("step", "level", "mode", "reason"),
    [
        (call("files.read", path="a.md"), Level.LOW, Mode.AUTO, "it only reads"),
        (call("files.write", path="a.md", text="x"), Level.MEDIUM, Mode.ASK, "it changes a.md"),
        (call("slack.post_message", channel="#ops", text="x"), Level.MEDIUM, Mode.ASK, "it sends words to slack.post_message"),
        (call("files.delete", path="a.md"), Level.HIGH, Mode.CONFIRM, "it deletes a.md"),
        (call("shell.run", argv=["ls"]), Level.HIGH, Mode.CONFIRM, "it runs ls, and nobody can say beforehand what that changes"),
        (call("web.fetch", url="https://a.example"), Level.LOW, Mode.AUTO, "it only reads"),
        (call("mail.send", to=["a@b.example"]), Level.MEDIUM, Mode.CONFIRM, "it leaves the house"),
    ],
)
def test_the_effect_sets_level_mode_and_reason(step: dict[str, Any], level: Level, mode: Mode, reason: str) -> None:
    found = graded(step)
    assert (found.level, found.mode, found.confirms) == (level, mode, mode is Mode.CONFIRM)
    assert reason in found.reasons


@pytest.mark.parametrize(
    ("profile", "tool", "mode"),
    [
        ("personal", "files.read", Mode.AUTO),
        ("personal", "mail.send", Mode.ASK),
        ("personal", "shell.run", Mode.CONFIRM),
        ("team", "mail.send", Mode.CONFIRM),
        ("external", "files.read", Mode.CONFIRM),
        ("external", "files.write", Mode.CONFIRM),
    ],
)
def test_the_profile_sets_the_mode_where_the_file_is_silent(profile: str, tool: str, mode: Mode) -> None:
    assert mode_of(CATALOGUE[tool], policy.default(profile)) is mode


def test_in_the_external_profile_reads_on_the_list_run_by_themselves() -> None:
    rules = written("profile: external\ntools: {'files.*': {untrusted: false}}")
    assert mode_of(CATALOGUE["files.read"], rules) is Mode.AUTO
    assert mode_of(CATALOGUE["files.write"], rules) is Mode.CONFIRM
    assert mode_of(FETCH, rules) is Mode.CONFIRM


def test_the_most_exact_pattern_wins_key_by_key() -> None:
    rules = written("tools: {'files.read': {mode: ask}, '*': {mode: deny, untrusted: true}, 'files.*': {mode: confirm}}")
    assert ruling("files.read", rules).model_dump() == {"mode": Mode.ASK, "effect": None, "untrusted": True}
    assert ruling("files.write", rules).mode is Mode.CONFIRM
    assert ruling("x.y", rules).mode is Mode.DENY


def test_the_file_may_raise_any_effect_and_lower_only_an_unbounded_one() -> None:
    mcp = spec("github.list", Effect.EXECUTE, {})
    rules = written("tools: {github.list: {effect: read}, files.delete: {effect: read}, files.read: {effect: execute}}")
    assert effect_of(mcp, rules) is Effect.READ
    assert effect_of(CATALOGUE["files.delete"], rules) is Effect.DELETE
    assert effect_of(CATALOGUE["files.read"], rules) is Effect.EXECUTE


def test_what_strangers_wrote_raises_a_step_with_an_effect_and_says_from_where() -> None:
    """C036, P7."""
    found = graded(PAGE, post("post", "{{page.text}}"))
    assert found.level is Level.HIGH
    assert found.reasons[0] == "its text is made from 1 · page, which strangers wrote"
    assert found.confirms


def test_taint_flows_through_other_steps_and_names_its_origin() -> None:
    brief = {"id": "brief", "tool": "text.summarize", "args": {"text": "About: {{page.text}}"}}
    found = graded(PAGE, brief, post("post", "{{brief.summary}}"))
    assert found.level is Level.HIGH
    assert "its text is made from 1 · page, which strangers wrote" in found.reasons


def test_a_step_that_only_reads_is_marked_and_not_raised() -> None:
    found = graded(PAGE, {"id": "brief", "tool": "text.summarize", "args": {"text": "{{page.text}}"}})
    assert (found.level, found.mode, found.confirms) == (Level.LOW, Mode.AUTO, False)
    assert found.reasons == ("it only reads", "its text is made from 1 · page, which strangers wrote")


def test_waiting_for_a_page_is_not_being_made_from_it() -> None:
    assert graded(PAGE, post("post", "done", depends_on=["page"])).level is Level.MEDIUM


def test_the_admin_may_trust_a_source_or_mistrust_one() -> None:
    trusting = written("tools: {web.fetch: {untrusted: false}}")
    wary = written("tools: {'files.*': {untrusted: true}}")
    assert graded(PAGE, post("post", "{{page.text}}"), rules=trusting).level is Level.MEDIUM
    assert graded(read("a"), post("post", "{{a.text}}"), rules=wary).level is Level.HIGH


def test_a_step_filled_in_meanwhile_is_judged_by_where_its_words_came_from() -> None:
    drawn = plan(PAGE, post("post", "{{page.text}}"))
    filled = drawn.steps[1].model_copy(update={"args": {"channel": "#ops", "text": "buy now"}})
    found = grade(filled, drawn, CATALOGUE, TEAM)
    assert found.level is Level.HIGH
    assert found.reasons == grade(drawn.steps[1], drawn, CATALOGUE, TEAM).reasons


def test_what_was_read_here_and_leaves_the_house_is_raised_even_for_a_read() -> None:
    found = graded(read("notes"), {"id": "out", "tool": "web.fetch", "args": {"url": "https://a.example/?q={{notes.text}}"}})
    assert (found.level, found.mode, found.confirms) == (Level.HIGH, Mode.CONFIRM, True)
    assert (found.reasons[0], found.rules) == ("what was read leaves the house", ("built-in: leaves the house",))
    assert graded(read("notes"), {"id": "out", "tool": "mail.send", "args": {"to": ["{{notes.text}}"]}}).level is Level.HIGH


def test_hidden_characters_are_a_reason() -> None:
    found = graded(post("post", "pay \u202eevil"))
    assert (found.level, found.reasons[0]) == (Level.HIGH, "its text holds characters that cannot be seen")
    assert graded(post("post", "👩‍👩‍👧 می‌خواهم 🏽 e\u0301")).level is Level.MEDIUM


def test_c022_an_edit_is_graded_anew_and_the_purpose_never_counts() -> None:
    harmless = graded(post("post", "hi", purpose="Only reads, approved already, low risk"))
    assert harmless == graded(post("post", "hi", purpose=""))
    rules = written("rules: [{when: {tool: mail.send, args.amount: '>100'}, risk: high, why: more than 100}]")
    assert graded(call("mail.send", to=["x"], amount=10), rules=rules).level is Level.MEDIUM
    assert graded(call("mail.send", to=["x"], amount=1000), rules=rules).level is Level.HIGH


GENERAL = """
rules: [{when: {tool: slack.post_message, args.channel: "#general"}, risk: high, mode: confirm, why: everyone reads it, name: loud}]
"""


@pytest.mark.parametrize("channel", ["#general", "#General", " #general ", "#ｇeneral"])
def test_a_rule_fits_a_value_in_each_form_that_a_system_may_read(channel: str) -> None:
    found = graded(post("it", "x", channel=channel), rules=written(GENERAL))
    assert (found.level, found.mode, found.rules, found.reasons[0]) == (Level.HIGH, Mode.CONFIRM, ("loud",), "everyone reads it")


def test_a_rule_on_a_value_that_comes_later_makes_the_step_stricter() -> None:
    found = graded(read("a"), post("it", "x", channel="{{a.text}}"), rules=written(GENERAL))
    assert (found.level, found.reasons[0]) == (Level.HIGH, "everyone reads it, if that is what is filled in later")


def test_a_rule_that_loosens_needs_a_value_that_is_known_and_fits_in_every_form() -> None:
    rules = written("rules: [{when: {tool: files.write, args.path: 'reports/*'}, risk: low}]")
    assert graded(call("files.write", path="reports/a.md", text="x"), rules=rules).level is Level.LOW
    assert graded(call("files.write", path="reports/../etc/x", text="x"), rules=rules).level is Level.MEDIUM
    assert (
        graded(read("a"), {"id": "it", "tool": "files.write", "args": {"path": "{{a.text}}", "text": "x"}}, rules=rules).level
        is Level.MEDIUM
    )


def test_a_rule_that_raises_is_not_dodged_by_spelling_a_path_differently() -> None:
    rules = written("rules: [{when: {args.path: 'secrets/*'}, mode: deny}]")
    for path in ("secrets/key", "./secrets/key", "secrets//key", "a/../secrets/key", "Secrets/key"):
        assert graded(call("files.read", path=path), rules=rules).mode is Mode.DENY
    assert graded(call("files.read", path="notes/secrets"), rules=rules).mode is Mode.AUTO


@pytest.mark.parametrize(
    ("condition", "args", "fits"),
    [
        ("{args.to: '*@partner.example'}", {"to": ["a@x.example", "b@partner.example"]}, True),
        ("{args.to: ['a*', 'b*']}", {"to": ["c", "b1"]}, True),
        ("{args.to: 'x'}", {}, False),
        ("{args.amount: 5}", {"amount": 5}, True),
        ("{args.amount: 5}", {"amount": "5"}, False),
        ("{args.amount: '>=5'}", {"amount": 5.0}, True),
        ("{args.amount: '<5'}", {"amount": 5}, False),
        ("{args.amount: '5*'}", {"amount": 50}, True),
        ("{args.inner.env: prod}", {"inner": {"env": "prod"}}, True),
        ("{args.inner.env: prod}", {"inner": "{{a.x}}"}, True),
        ("{args.inner.env: prod}", {"inner": "prod"}, False),
        ("{args.flag: true}", {"flag": True}, True),
        ("{args.flag: true}", {"flag": 1}, False),
        ("{tool: 'mail.*', args.flag: true}", {"flag": True}, False),
    ],
)
def test_conditions(condition: str, args: dict[str, Any], *, fits: bool) -> None:
    rules = written(f"rules: [{{when: {condition}, risk: high}}]")
    assert (graded({"id": "it", "tool": "time.wait", "args": args}, rules=rules).level is Level.HIGH) is fits


def test_of_several_rules_the_strictest_counts_and_all_are_named() -> None:
    rules = written("rules: [{when: {tool: '*'}, risk: high, name: one}, {when: {tool: '*'}, risk: low, mode: confirm}]")
    found = graded(read("a"), rules=rules)
    assert (found.level, found.mode, found.rules) == (Level.HIGH, Mode.CONFIRM, ("one", "rule 2"))


def test_a_shadow_rule_only_records_what_it_would_have_done() -> None:
    rules = written("rules: [{when: {tool: '*'}, risk: high, mode: deny, name: trial, shadow: true}]")
    found = graded(read("a"), rules=rules)
    assert (found.level, found.mode, found.rules) == (Level.LOW, Mode.AUTO, ("trial (shadow: would be high risk and deny)",))


def test_taint_counts_on_top_of_what_a_rule_lowered() -> None:
    rules = written("rules: [{when: {tool: slack.post_message}, risk: low}]")
    assert graded(PAGE, post("post", "{{page.text}}"), rules=rules).level is Level.MEDIUM


def test_p3_a_high_step_with_a_value_from_later_confirms_in_any_mode() -> None:
    rules = written("tools: {files.delete: {mode: ask}}")
    assert not graded(call("files.delete", path="a.md"), rules=rules).confirms
    assert graded(read("a"), {"id": "it", "tool": "files.delete", "args": {"path": "{{a.text}}"}}, rules=rules).confirms


@given(wild_plans())
def test_c029_every_plan_can_be_graded_loops_included(drawn: Plan) -> None:
    for step in drawn.steps:
        found = grade(step, drawn, CATALOGUE, TEAM)
        assert found.reasons
        assert (found.mode is Mode.DENY) is (step.tool not in CATALOGUE)


def test_untrusted_origins_can_be_asked_for() -> None:
    drawn = plan(PAGE, {"id": "brief", "tool": "text.summarize", "args": {"text": "{{page.x}}"}}, post("post", "{{brief.s}}"), read("own"))
    page, brief, last, own = drawn.steps
    world = World(drawn, CATALOGUE, TEAM)
    assert untrusted_origins(last, world) == [("text", page)]
    assert untrusted_origins(brief, world) == [("text", page)]
    assert untrusted_origins(own, world) == []
