"""The policy file: what it says, and faults with place, fault and mending."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.catalogue import Effect
from bot.core.policy import default, evaluate, parse
from bot.core.policy_file import PROFILE_TIMERS
from bot.core.policy_terms import read_span
from bot.core.risk import Level, Mode
from bot.errors import ConfigurationError
from tests.core.samples import CATALOGUE, plan
from tests.doubles.policies import DEMO_POLICY

DESIGN = """\
profile: team
approvers: [approver, approver2, "@ops-leads"]
quorum: {high: 2}
places: {review: [thread, "#approvals"], audit: "#audit"}
tools:
  "files.write": {mode: ask}
  "shell.*": {mode: deny}
rules:
  - when: {tool: slack.post_message, args.channel: "#general"}
    risk: high
    why: everyone reads it
timers:
  low: {expire: 5m, then: approve}
  medium: {remind: 10m, escalate: 20m, expire: 30m}
  high: {remind: 5m, escalate: 15m, expire: 30m}
limits: {steps: 50, revisions: 3, redirects: 5, unattended: 3, wall: 2h, tokens: 200000}
"""


def test_the_example_of_the_readme_is_read() -> None:
    policy = parse(DESIGN, source="policy.yml")
    assert policy.approvers == ("approver", "approver2", "@ops-leads")
    assert policy.quorum == {Level.HIGH: 2}
    assert (policy.places.review, policy.places.audit) == (("thread", "#approvals"), "#audit")
    assert policy.tools["shell.*"].mode is Mode.DENY
    assert policy.rules[0].risk is Level.HIGH
    assert policy.timers[Level.LOW].then == "approve"
    assert policy.timers[Level.HIGH].remind == timedelta(minutes=5)
    assert (policy.limits.unattended, policy.limits.wall, policy.limits.rounds) == (3, timedelta(hours=2), 2)


def test_the_demo_policy_is_what_the_demo_promises() -> None:
    policy = parse(DEMO_POLICY, source="policy.yml")
    assert (policy.profile, policy.approvers, policy.quorum) == ("team", ("@ops-leads",), {Level.HIGH: 2})
    assert (policy.places.review, policy.places.audit) == (("thread",), "#audit")
    assert [timer.expire for timer in policy.timers.values()] == [timer.expire for timer in default("team").timers.values()]


@pytest.mark.parametrize(
    ("said", "low", "medium", "high"),
    [("{}", 1, 1, 1), ("{high: 2}", 1, 1, 2), ("{medium: 3}", 1, 3, 3), ("{low: 2, high: 4}", 2, 2, 4), ("{medium: 3, high: 1}", 1, 3, 1)],
)
def test_what_is_riskier_needs_as_many_as_what_is_less_so_unless_it_is_said(said: str, low: int, medium: int, high: int) -> None:
    policy = parse(f"quorum: {said}", source="p")
    assert [policy.quorum.get(level, 1) for level in Level] == [low, medium, high]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "{}"])
def test_an_empty_file_is_the_default_profile(text: str) -> None:
    assert parse(text, source="p") == default("team")


@pytest.mark.parametrize("profile", ["personal", "team", "external"])
def test_c019_every_wait_has_an_end_whatever_the_file_says(profile: str) -> None:
    for policy in (default(profile), parse(f"profile: {profile}\ntimers: {{medium: {{remind: 1m}}}}", source="p")):
        assert set(policy.timers) == set(Level)
        assert all(timer.expire > timedelta() for timer in policy.timers.values())
        assert all(timer.then is None for timer in policy.timers.values())


def test_an_unknown_profile_is_a_fault_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="personal, team or external"):
        default("lax")


def test_several_faults_give_the_first_and_their_number() -> None:
    with pytest.raises(ConfigurationError, match=r"line 1: 'profile' cannot be 'x'.*\(and 1 more\)"):
        parse("profile: x\nlimits: {steps: 0}", source="p")


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86_400), ("1h30m", 5400)])
def test_durations(text: str, seconds: int) -> None:
    assert read_span(text) == timedelta(seconds=seconds)


levels = st.sampled_from(list(Level))
modes = st.sampled_from(list(Mode))
timers = st.fixed_dictionaries({"expire": st.sampled_from(["5m", "2h"])}, optional={"then": st.just("approve")})
tool_rules = st.fixed_dictionaries(
    {}, optional={"mode": modes.map(str), "effect": st.sampled_from(list(Effect)).map(str), "untrusted": st.booleans()}
)
files = st.fixed_dictionaries(
    {"profile": st.sampled_from(list(PROFILE_TIMERS)), "timers": st.dictionaries(levels.map(str), timers, max_size=3)},
    optional={
        "tools": st.dictionaries(
            st.sampled_from(["*", "files.*", "files.delete", "shell.run", "slack.post_message"]), tool_rules, max_size=3
        ),
        "rules": st.lists(
            st.fixed_dictionaries({"when": st.just({"tool": "*"}), "risk": levels.map(str), "mode": modes.map(str)}), max_size=2
        ),
    },
)


@given(files, st.lists(st.sampled_from(list(CATALOGUE)), min_size=1, max_size=3))
def test_no_policy_that_is_accepted_lets_silence_approve_an_effect(said: object, tools: list[str]) -> None:
    """P9, C019: whatever effects, modes and risks the file claims."""
    try:
        policy = parse(str(said), source="p")  # Python's dictionaries are YAML
    except ConfigurationError:
        return
    verdict = evaluate(plan(*({"id": f"s{place}", "tool": tool} for place, tool in enumerate(tools))), CATALOGUE, policy)
    effects = {CATALOGUE[tool].effect for tool in tools}
    assert not verdict.silence_releases or effects == {Effect.READ}
    assert not verdict.releases or effects <= {Effect.READ, Effect.EXECUTE}
