"""What no rule, fact or value can do: make a grade milder than it was. Drawn plans, policies and facts."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.core.facts import NOTHING, Facts
from bot.core.grading import STRICTNESS, grade, grades
from bot.core.judging import as_data, as_held, judged
from bot.core.plan import Plan
from bot.core.policy import Policy
from bot.core.policy_file import Rule
from bot.core.risk import Grade, Mode
from tests.core.grading_cases import TOOLS, WORLD
from tests.core.samples import plan, wild_plans

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("files.read", {"path": "a.md"}),
    ("files.read", {"path": ".env"}),
    ("files.read", {"path": "{{a.text}}"}),
    ("files.write", {"path": "a.md", "text": "{{b.text}}"}),
    ("files.write", {"path": "{{a.path}}", "text": "x"}),
    ("files.delete", {"path": "tmp/x"}),
    ("web.fetch", {"url": "https://a.example"}),
    ("web.fetch", {"url": "https://a.example/?q={{b.text}}"}),
    ("http.request", {"url": "{{c.url}}", "json": "{{secret:TOKEN}}"}),
    ("slack.post_message", {"channel": "#general", "text": "{{a.text}}"}),
    ("slack.post_message", {"channel": "{{b.channel}}", "text": "x\u202e"}),
    ("slack.read_channel", {"channel": "#board"}),
    ("mail.send", {"to": ["{{c.to}}"]}),
    ("bank.pay", {"amount": 400, "to": "x"}),
    ("bank.pay", {"amount": "{{a.amount}}", "to": "x"}),
    ("no.such", {}),
]
WHENS: list[dict[str, Any]] = [
    {"tool": "*"},
    {"tool": "files.*"},
    {"effect": ("send", "write")},
    {"host": "*.example"},
    {"path": "tmp/*"},
    {"path": "*.md"},
    {"channel": "#general"},
    {"reach": ">50"},
    {"external": True},
    {"external": False},
    {"untrusted": True},
    {"untrusted": False},
    {"asked_in": "#ops"},
    {"asked_by": "U0REQUESTER"},
    {"args.amount": ">100"},
    {"args.text": "*"},
]
calls = st.lists(st.sampled_from(CALLS), min_size=1, max_size=5)
rules = st.builds(
    lambda when, risk, mode, shadow, marks: Rule(when=when, risk=risk, mode=mode, shadow=shadow, marks=marks),
    st.sampled_from(WHENS),
    st.sampled_from(["low", "medium", "high"]),
    st.sampled_from([None, "auto", "ask", "confirm", "deny"]),
    st.booleans(),
    st.sampled_from([(), ("private",), ("untrusted",)]),
)
strict = st.builds(
    lambda when, says: Rule(when=when, **says),
    st.sampled_from(WHENS),
    st.sampled_from([{"risk": "high"}, {"mode": "deny"}, {"risk": "high", "mode": "deny"}, {"risk": "high", "mode": "confirm"}]),
)
policies = st.builds(
    lambda profile, rules, then: Policy.model_validate(
        {"profile": profile, "rules": tuple(rules), "windows": ({"tool": "*", "most": 2, "within": "1h", "then": then},)}
    ),
    st.sampled_from(["personal", "team", "external"]),
    st.lists(rules, max_size=3),
    st.sampled_from(["high", "confirm", "deny"]),
)
NAMED = sorted(name for name in WORLD.reach if name.startswith("#"))  # an id that gets a name is another value, not another fact
facts = st.builds(
    lambda names, tools, spent: replace(
        WORLD, reach={name: WORLD.reach[name] for name in names}, approved_before=None if tools is None else frozenset(tools), spent=spent
    ),
    st.sets(st.sampled_from(NAMED)),
    st.none() | st.sets(st.sampled_from(sorted(TOOLS))),
    st.sampled_from([{}, {0: 1.0}, {0: 5.0}]),
)
VALUES = ["a.md", "tmp/x", "../x", ".env", "#general", "#ops", "https://b.example", "https://b.example@c.test/", "{{a.b}}", 500, "nan"]


def steps(drawn: list[tuple[str, dict[str, Any]]]) -> Plan:
    return plan(*({"id": name, "tool": tool, "args": args} for name, (tool, args) in zip("abcde", drawn, strict=False)))


def is_milder(now: Grade, than: Grade) -> bool:
    return now.level.rank < than.level.rank or STRICTNESS[now.mode] < STRICTNESS[than.mode] or (than.confirms and not now.confirms)


def milder(now: tuple[Grade, ...], than: tuple[Grade, ...]) -> list[tuple[Grade, Grade]]:
    return [(one, other) for one, other in zip(now, than, strict=True) if is_milder(one, other) and one.mode is not Mode.DENY]


@given(calls, policies, strict, facts, st.integers(0, 3))
def test_a_rule_that_says_high_or_deny_never_lowers_a_grade(drawn: list[Any], policy: Policy, rule: Rule, known: Facts, place: int) -> None:
    longer = policy.model_copy(update={"rules": (*policy.rules[:place], rule, *policy.rules[place:])})
    assert not milder(grades(steps(drawn), TOOLS, longer, known), grades(steps(drawn), TOOLS, policy, known))


@given(calls, policies, facts)
def test_a_fact_about_the_world_never_lowers_a_grade(drawn: list[Any], policy: Policy, known: Facts) -> None:
    assert not milder(grades(steps(drawn), TOOLS, policy, known), grades(steps(drawn), TOOLS, policy, NOTHING))


@given(calls, policies, facts)
def test_a_shadow_rule_changes_nothing_but_what_is_written_down(drawn: list[Any], policy: Policy, known: Facts) -> None:
    without = policy.model_copy(update={"rules": tuple(rule for rule in policy.rules if not rule.shadow)})
    for one, other in zip(grades(steps(drawn), TOOLS, policy, known), grades(steps(drawn), TOOLS, without, known), strict=True):
        assert (one.level, one.mode, one.confirms) == (other.level, other.mode, other.confirms)


@given(calls, policies, facts, st.sampled_from(["paths", "hosts", "channels"]))
def test_a_scope_never_lowers_a_grade(drawn: list[Any], policy: Policy, known: Facts, kind: str) -> None:
    narrow = policy.model_copy(update={"scopes": policy.scopes.model_copy(update={kind: ("x",)})})
    assert not milder(grades(steps(drawn), TOOLS, narrow, known), grades(steps(drawn), TOOLS, policy, known))


@given(calls, policies, facts, st.lists(st.sampled_from(VALUES), min_size=5, max_size=5))
def test_the_approved_grade_is_the_floor_when_values_come(drawn: list[Any], policy: Policy, known: Facts, values: list[Any]) -> None:
    whole = steps(drawn)
    for step, stored in zip(whole.steps, grades(whole, TOOLS, policy, known), strict=True):
        args = {name: new if "{{" in str(value) else value for (name, value), new in zip(step.args.items(), values, strict=False)}

        def judge(step: Any, args: Any) -> Grade:
            return grade(step.model_copy(update={"args": args}), whole, TOOLS, policy, known, filled=True)

        found = judged(judge, step, args, stored)
        assert bool(found.denied) == (judge(step, args).mode is Mode.DENY)
        if found.stricter is not None:
            assert found.stricter.confirms
            assert not is_milder(found.stricter, stored)
            assert as_held(stored, as_data(found.stricter)) == found.stricter


@given(calls, policies, facts)
def test_every_raise_has_a_reason_and_nothing_above_low_runs_by_itself(drawn: list[Any], policy: Policy, known: Facts) -> None:
    for found in grades(steps(drawn), TOOLS, policy, known):
        assert found.reasons
        assert all(reason.strip() for reason in found.reasons)
        assert found.mode is not Mode.AUTO or found.level.rank == 0


@given(wild_plans(), policies, facts)
def test_c029_any_plan_can_be_graded_by_any_policy_in_any_world(drawn: Plan, policy: Policy, known: Facts) -> None:
    assert len(grades(drawn, TOOLS, policy, known)) == len(drawn.steps)
