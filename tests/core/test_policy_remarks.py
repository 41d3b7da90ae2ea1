"""What can be used and was probably not meant: each remark, and that a file without surprises has none."""

import pytest

from bot.core import policy
from tests.core.samples import CATALOGUE

CALM = "approvers: ['@leads']\nplaces: {audit: '#audit'}\n"

# beside CALM | the remark, or nothing
TABLE = [
    ("", ""),
    ("limits: {wall: 2h, unattended: 3, tokens: 5, steps: 5}", ""),
    ("timers: {high: {remind: 5m, expire: 1h}}", ""),
    ("timers: {low: {expire: 5m, then: approve}}", ""),
    ("tools: {files.write: {mode: auto}}", "tools.files.write is auto, but a tool with an effect asks at least once"),
    ("tools: {'files.*': {mode: auto}}", ""),
    ("tools: {'fils.*': {mode: ask}}", "the pattern 'fils.*' under tools fits no tool"),
    ("tools: {files.delete: {effect: read}}", "files.delete says itself that its effect is delete; the file cannot make it read"),
    ("tools: {shell.run: {effect: read}}", ""),
    ("tools: {files.read: {effect: execute}}", ""),
    ("effects: {send: {mode: auto}}", "effects.send is auto, but a tool with an effect asks at least once"),
    ("effects: {read: {mode: auto}}", ""),
    ("locks: {'site.*': 'deploy:{env}'}", "the pattern 'site.*' under locks fits no tool"),
    ("locks: {'files.*': 'file:{path}'}", ""),
    ("locks: {files.read: 'file:{name}'}", "locks.files.read names {name}, which is no argument of files.read"),
    ("quorum: {high: 3}", ""),
    ("quorum: {medium: 3}", ""),
    ("quorum: {medium: 3, high: 1}", "quorum asks for fewer people at higher risk (low 1, medium 3, high 1)"),
    ("step_up: [high]", ""),
    ("step_up: [medium]", "step_up leaves out high, the level for which it is meant"),
    ("may_not: {high: [requester, editors, redirectors, source_author, '@interns']}", ""),
    (
        "may_not: {high: ['@interns']}",
        "may_not.high leaves out requester, editors, redirectors, source_author, whom the profile names, so they may approve at high risk",
    ),
    ("may_not: {low: []}", "may_not.low leaves out editors, source_author, whom the profile names, so they may approve at low risk"),
    ("may_not: {low: [editors, source_author, '@leads']}", "may_not names @leads, who also stand under approvers"),
    ("escalation: ['@managers']", ""),
    (
        "escalation: ['@managers']\ntimers: {low: {expire: 1h}, medium: {expire: 1h}, high: {expire: 1h}}",
        "escalation names people, but no timer says when to ask them (timers.….escalate)",
    ),
    (
        "timers: {high: {escalate: 5m, expire: 1h}}",
        "timers.high.escalate is set, but nobody is named under escalation, so nobody more is asked",
    ),
    ("escalation: ['#leads']", "everybody who joins #leads may approve; make sure that joining it needs an invitation"),
    ("rules: [{when: {tool: x}, risk: high, name: a}, {when: {tool: y}, risk: high}]", ""),
    (
        "rules: [{when: {tool: x}, risk: high, name: a}, {when: {tool: y}, risk: high, name: a}]",
        "two rules are called 'a'; reasons and records will not tell them apart",
    ),
    ("rules: [{when: {tool: x}, marks: [private], shadow: true}]", "rule 1 is on trial (shadow), so what it marks is not marked"),
    ("scopes: {hosts: []}", "scopes.hosts is an empty list, so no step may name any of the hosts"),
    ("limits: {money: 5}", "limits.money is set, but prices names no model, so nothing is counted"),
    ("limits: {money: 5}\nprices: {m: {input: 1, output: 1}}", ""),
    ("keep: {observations: 1d, full_texts: 2d}", "keep.full_texts is longer than keep.observations, of which they are the rest"),
]


@pytest.mark.parametrize(("text", "remark"), TABLE)
def test_each_remark_and_only_it(text: str, remark: str) -> None:
    assert policy.remarks(policy.parse(CALM + text, source="p"), CATALOGUE) == ([remark] if remark else [])


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("profile: personal", []),
        ("profile: external", ["nobody is named under approvers, so nobody may approve"]),
        (
            "profile: team",
            ["nobody is named under approvers, so nobody may approve", "places.audit is not set; a team needs an audit channel"],
        ),
        (
            "approvers: [ada, bo]\nquorum: {high: 3}\nplaces: {audit: '#audit'}",
            ["quorum.high is 3, but only 2 people are named who may approve, so nothing of that risk ever runs"],
        ),
        ("approvers: [ada, bo]\nescalation: [cy]\nquorum: {high: 3}\nplaces: {audit: '#audit'}", []),
        ("approvers: [ada, S0LEADS]\nquorum: {high: 3}\nplaces: {audit: '#audit'}", []),
    ],
)
def test_who_is_missing_is_said(text: str, remarks: list[str]) -> None:
    assert policy.remarks(policy.parse(text, source="p"), CATALOGUE) == remarks
