"""Who may do what, what a plan needs, and that a stricter policy never lets more through."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import grading, policy
from bot.core.policy import Member, Policy, evaluate, may_approve, may_ask, may_brake, may_decide, may_freeze, may_redirect
from bot.core.risk import Level, Mode
from bot.errors import ConfigurationError
from tests.core.samples import CATALOGUE, plan, post, read

TEAM = policy.parse('profile: team\napprovers: [boss, "@ops-leads"]\nquorum: {high: 2}', source="p")
PERSONAL = policy.parse("profile: personal", source="p")
SHARED = policy.parse("profile: personal\napprovers: [boss]", source="p")

LEAD = Member(id="U_LEAD", team="T1", listed=frozenset({"@ops-leads"}))
REQUESTER = Member(id="U_REQ", team="T1")
BOTH = replace(REQUESTER, listed=frozenset({"@ops-leads"}))


@pytest.mark.parametrize(
    ("rules", "member", "level", "more", "expected"),
    [
        (TEAM, LEAD, Level.HIGH, {}, None),
        (TEAM, LEAD, Level.HIGH, {"already": ["U_LEAD"]}, "double"),
        (TEAM, LEAD, Level.HIGH, {"already": ["U_OTHER"]}, None),
        (TEAM, REQUESTER, Level.LOW, {}, "not_allowed"),
        (TEAM, REQUESTER, Level.HIGH, {}, "not_allowed"),
        (TEAM, BOTH, Level.MEDIUM, {}, None),
        (TEAM, BOTH, Level.HIGH, {}, "own_request"),
        (TEAM, LEAD, Level.MEDIUM, {"editors": ["U_LEAD"]}, "own_edit"),
        (TEAM, LEAD, Level.MEDIUM, {"source_author": "U_LEAD"}, "source_author"),
        (TEAM, BOTH, Level.MEDIUM, {"source_author": "U_REQ"}, None),
        (TEAM, replace(LEAD, listed=frozenset({"@others"})), Level.LOW, {}, "not_allowed"),
        (TEAM, replace(LEAD, is_guest=True), Level.LOW, {}, "guest"),
        (TEAM, replace(LEAD, is_bot=True), Level.LOW, {}, "bot"),
        (TEAM, replace(LEAD, is_deactivated=True, is_bot=True), Level.LOW, {}, "deactivated"),
        (TEAM, replace(LEAD, is_stranger=True), Level.LOW, {}, "partner"),
        (policy.default("team"), LEAD, Level.LOW, {}, "nobody_set"),
        (policy.default("external"), BOTH, Level.LOW, {}, "nobody_set"),
        (PERSONAL, REQUESTER, Level.HIGH, {}, None),
        (PERSONAL, REQUESTER, Level.HIGH, {"editors": ["U_REQ"]}, None),
        (PERSONAL, REQUESTER, Level.HIGH, {"already": ["U_REQ"]}, "double"),
        (PERSONAL, replace(REQUESTER, is_guest=True), Level.LOW, {}, "guest"),
        (PERSONAL, LEAD, Level.LOW, {}, "nobody_set"),
        (SHARED, LEAD, Level.LOW, {}, "not_allowed"),
        (SHARED, replace(LEAD, listed=frozenset({"boss"})), Level.HIGH, {}, None),
    ],
)
def test_c061_who_may_approve(rules: Policy, member: Member, level: Level, more: dict[str, Any], expected: str | None) -> None:
    assert may_approve(rules, member, requester="U_REQ", level=level, **more) == expected


def test_c067_a_name_alone_gives_no_right() -> None:
    """Only what was resolved to this very person counts, never what they are called."""
    assert may_approve(TEAM, Member(id="boss"), requester="U_REQ", level=Level.LOW) == "not_allowed"


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (REQUESTER, None),
        (LEAD, None),
        (Member(id="U_X"), "not_allowed"),
        (replace(REQUESTER, is_deactivated=True), "deactivated"),
        (replace(REQUESTER, is_guest=True), "guest"),
        (replace(LEAD, is_stranger=True), "partner"),
        (replace(LEAD, is_bot=True), "bot"),
    ],
)
def test_requester_and_approvers_decide_how_a_run_goes_on(member: Member, expected: str | None) -> None:
    """C061: own cancelling is allowed."""
    assert may_decide(TEAM, member, requester="U_REQ") == expected


@pytest.mark.parametrize(
    ("member", "brake", "ask"),
    [
        (Member(id="U_X"), None, None),
        (Member(id="U_X", is_guest=True), None, "guest"),
        (Member(id="U_X", is_bot=True), "bot", "bot"),
        (Member(id="U_X", is_deactivated=True), "deactivated", "deactivated"),
        (Member(id="U_X", is_stranger=True), "partner", "partner"),
    ],
)
def test_anybody_here_may_pull_the_cord_and_members_may_ask(member: Member, brake: str | None, ask: str | None) -> None:
    for rules in (TEAM, PERSONAL, policy.default("external")):
        assert may_brake(rules, member) == brake
        assert may_ask(rules, member) == ask


def test_a_plan_that_only_reads_runs_at_once_and_one_step_with_an_effect_makes_all_of_it_wait() -> None:
    reads = evaluate(plan(read("a"), read("b", "b.md")), CATALOGUE, TEAM)
    mixed = evaluate(plan(read("a"), post("b", "hi")), CATALOGUE, TEAM)
    assert (reads.level, reads.releases, reads.quorum) == (Level.LOW, True, 1)
    assert (mixed.level, mixed.releases) == (Level.MEDIUM, False)
    assert [grade.step for grade in mixed.grades] == ["a", "b"]


def test_high_risk_needs_as_many_as_the_quorum_says_and_its_own_time() -> None:
    rules = policy.parse("approvers: [a]\nquorum: {high: 3}\ntimers: {high: {expire: 7m}}", source="p")
    verdict = evaluate(plan({"id": "a", "tool": "files.delete", "args": {"path": "x"}}), CATALOGUE, rules)
    assert (verdict.level, verdict.quorum, verdict.expires_after) == (Level.HIGH, 3, timedelta(minutes=7))


def test_what_policy_denies_is_a_fault_that_names_step_and_rule() -> None:
    rules = policy.parse("tools: {'shell.*': {mode: deny}}\nrules: [{when: {args.channel: '#ceo'}, mode: deny, name: quiet}]", source="p")
    drawn = plan({"id": "a", "tool": "shell.run", "args": {"argv": ["ls"]}}, post("b", "x", channel="#ceo"), read("c"))
    verdict = evaluate(drawn, CATALOGUE, rules)
    assert [(fault.step, fault.field) for fault in verdict.denied] == [("a", "tool"), ("b", "tool")]
    assert "the policy does not allow slack.post_message (quiet)" in verdict.denied[1].says
    assert not verdict.releases


def test_an_unknown_tool_and_an_empty_plan_are_never_released() -> None:
    assert evaluate(plan({"id": "a", "tool": "no.such"}), CATALOGUE, TEAM).denied
    assert not evaluate(plan({"id": "a", "tool": "no.such"}), CATALOGUE, TEAM).releases
    assert not evaluate(plan(), CATALOGUE, TEAM).releases


def test_an_effect_is_not_released_even_if_the_file_says_auto() -> None:
    rules = policy.parse("tools: {'*': {mode: auto}}", source="p")
    verdict = evaluate(plan(post("a", "hi")), CATALOGUE, rules)
    assert (verdict.releases, verdict.grades[0].mode) == (False, Mode.ASK)


def test_silence_lets_reads_go_on_only_if_the_file_says_so_and_only_reads() -> None:
    """C019, P9."""
    rules = policy.parse(
        "timers: {low: {expire: 5m, then: approve}}\ntools: {'*': {mode: ask}}\nrules: [{when: {tool: '*'}, risk: low}]", source="p"
    )
    assert evaluate(plan(read("a")), CATALOGUE, rules).silence_releases
    assert not evaluate(plan(read("a")), CATALOGUE, TEAM).silence_releases
    lowered = evaluate(plan(read("a"), post("b", "hi")), CATALOGUE, rules)
    assert (lowered.level, lowered.silence_releases) == (Level.LOW, False)


tools = st.lists(st.sampled_from(list(CATALOGUE)), min_size=1, max_size=4)
settings = st.dictionaries(st.sampled_from(list(CATALOGUE)), st.sampled_from(list(Mode)), max_size=4)


@given(tools, settings, st.sampled_from(list(CATALOGUE)), st.sampled_from(list(Mode)))
def test_a_stricter_policy_never_releases_more(names: list[str], modes: dict[str, Mode], changed: str, mode: Mode) -> None:
    strictness = list(Mode)
    rules = Policy.model_validate({"tools": {name: {"mode": one} for name, one in modes.items()}})
    before = modes.get(changed) or grading.mode_of(CATALOGUE[changed], rules)
    stricter = max((before, mode), key=strictness.index)
    other = Policy.model_validate({"tools": {**{name: {"mode": one} for name, one in modes.items()}, changed: {"mode": stricter}}})
    drawn = plan(*({"id": f"s{place}", "tool": name} for place, name in enumerate(names)))
    now, then = evaluate(drawn, CATALOGUE, other), evaluate(drawn, CATALOGUE, rules)
    assert not now.releases or then.releases
    assert len(now.denied) >= len(then.denied)
    assert all(one.confirms or not earlier.confirms or one.mode is Mode.DENY for one, earlier in zip(now.grades, then.grades, strict=True))


# the cord: who may brake, let go, change the rest, hold everything

CORD_ADMIN = Member(id="U0ADMIN", is_admin=True)


@pytest.mark.parametrize(
    ("cord", "question", "allowed"),
    [
        ("", "may_brake", "requester approver member guest admin"),
        ("", "may_decide", "requester approver"),
        ("", "may_redirect", "requester approver"),
        ("", "may_freeze", "admin"),
        ("cord: {pull: [approvers]}", "may_brake", "approver"),
        ("cord: {let_go: [anyone]}", "may_decide", "requester approver member admin"),
        ("cord: {redirect: [requester]}", "may_redirect", "requester"),
        ("cord: {freeze: [approvers]}", "may_freeze", "approver"),
        ('admins: ["@ops-leads"]', "may_freeze", "approver"),
        ('cord: {let_go: ["@ops-leads", admins]}', "may_decide", "approver admin"),
    ],
)
def test_who_may_do_what_with_the_cord_is_what_the_file_says(cord: str, question: str, allowed: str) -> None:
    rules = policy.parse(f'approvers: ["@ops-leads"]\n{cord}\n', source="p")
    people = {
        "requester": Member(id="U0REQUESTER"),
        "approver": Member(id="U0APPROVER", listed=frozenset({"@ops-leads"})),
        "member": Member(id="U0MEMBER"),
        "guest": Member(id="U0GUEST", is_guest=True),
        "admin": CORD_ADMIN,
        "bot": Member(id="U0BOT", is_bot=True, is_admin=True, listed=frozenset({"@ops-leads"})),
        "gone": Member(id="U0GONE", is_deactivated=True, listed=frozenset({"@ops-leads"})),
        "partner": Member(id="U0PARTNER", is_stranger=True),
    }
    asked = {"may_freeze": lambda who: may_freeze(rules, who)}.get(
        question, lambda who: QUESTIONS[question](rules, who, requester="U0REQUESTER")
    )
    assert [name for name, who in people.items() if asked(who) is None] == allowed.split()


QUESTIONS = {"may_brake": may_brake, "may_decide": may_decide, "may_redirect": may_redirect}


def test_a_list_of_the_cord_that_names_nobody_is_refused_with_what_to_write() -> None:
    with pytest.raises(ConfigurationError, match="names nobody"):
        policy.parse("cord: {pull: []}", source="policy.yml")
