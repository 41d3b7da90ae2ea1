"""`policy explain`, `policy example` and `policy check --json`: what would happen, which line says so, and whose yes would count."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.policies import NAMES, example
from tests.cli.calling import Caller

POLICY = """
profile: team
approvers: ["@ops-leads", dana]
escalation: ["@managers"]
quorum: {high: 2}
step_up: [high]
may_not: {medium: [editors, source_author, dana]}
places: {audit: "#audit"}
tools: {files.write: {mode: confirm}, "files.delete": {mode: deny}}
effects: {send: {mode: ask}}
rules:
  - {when: {tool: slack.post_message, channel: "#general"}, risk: high, why: everyone reads it, name: loud}
  - {when: {effect: send}, mode: deny, name: trial, shadow: true}
  - {when: {asked_in: "#random"}, mode: confirm, name: not from here}
"""
POST = 'notes: files.read path=notes/today.md\npost: slack.post_message channel=#general text="{{notes.text}}"'


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with that policy."""
    (tmp_path / "policy.yml").write_text(POLICY)
    return tmp_path


def as_data(call: Caller, here: Path, *arguments: object) -> dict[str, Any]:
    return dict(json.loads(call("policy", "explain", *arguments, "--json", "--data", here).out))


def test_each_step_says_its_effect_its_mode_its_risk_its_reasons_and_the_lines_that_say_so(call: Caller, here: Path) -> None:
    told = call("policy", "explain", POST, "--data", here)

    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert lines[0].startswith("high risk · digest ")
    assert lines[0].endswith(" · order 1 → 2 · profile team")
    assert lines[1] == "waits for 2 approval(s), 30m at most, then it expires"
    assert lines[3:6] == ["1 · Reads notes/today.md", "    read · auto (profile team) · low risk", "    because it only reads"]
    assert lines[7:13] == [
        "2 · Sends a message to #general",
        "    send · ask (effects.send) · high risk",
        "    because everyone reads it; it sends words to #general",
        "    rules: loud",
        "    on trial: trial would have made it deny",
        "    asks again just before it runs, with its real values: one more yes, typed, 30m at most",
    ]
    assert lines[14:] == [
        "who may approve: @ops-leads, dana",
        "  after 15m also: @managers",
        "  but not: requester, editors, redirectors, source_author",
        "  2 different people must agree",
        "  the yes is typed, not only pressed",
        "  reminded after 5m",
    ]


def test_the_same_as_data(call: Caller, here: Path) -> None:
    found = as_data(call, here, POST)

    assert (found["ok"], found["happens"], found["risk"]) == (True, "waits", "high")
    first, second = found["steps"]
    assert (first["effect"], first["mode"], first["mode_from"], first["confirm"]) == ("read", "auto", "profile team", None)
    assert (second["mode_from"], second["rules"], second["shadow"]) == ("effects.send", ["loud"], [{"rule": "trial", "would_be": "deny"}])
    assert second["confirm"]["typed"]
    assert found["approving"] == {
        "level": "high",
        "approvers": ["@ops-leads", "dana"],
        "escalation": ["@managers"],
        "may_not": ["requester", "editors", "redirectors", "source_author"],
        "quorum": 2,
        "typed": True,
        "remind_s": 300,
        "escalate_s": 900,
        "expire_s": 1800,
        "on_silence": "expires",
    }
    assert found["answers"] == []


@pytest.mark.parametrize(
    ("plan", "who", "lines"),
    [
        (
            POST,
            ["--as", "lee", "--in", "ops-leads"],
            [
                "lee (in @ops-leads):",
                "  if somebody else asked: may approve",
                "  if they asked it themselves: would be refused, since who asked does not approve it themselves (may_not, requester)",
            ],
        ),
        (
            "files.write path=a.md text=x",
            ["--as", "dana"],
            [
                "dana (in dana):",
                "  if somebody else asked: would be refused, since may_not names them",
                "  if they asked it themselves: would be refused, since may_not names them",
            ],
        ),
        (
            "files.write path=a.md text=x",
            ["--as", "kim", "--in", "@managers"],
            [
                "kim (in @managers):",
                "  if somebody else asked: would be refused, since they are not among those who may approve",
                "  if somebody else asked and nobody answered for 20m: may approve",
                "  if they asked it themselves: would be refused, since they are not among those who may approve",
                "  if they asked it themselves and nobody answered for 20m: may approve",
            ],
        ),
        (
            "files.write path=a.md text=x",
            ["--as", "zoe"],
            [
                "zoe (whom no list of the policy names):",
                "  if somebody else asked: would be refused, since they are not among those who may approve",
                "  if they asked it themselves: would be refused, since they are not among those who may approve",
            ],
        ),
    ],
)
def test_whether_somebody_could_approve_and_why_not(call: Caller, here: Path, plan: str, who: list[str], lines: list[str]) -> None:
    assert call("policy", "explain", plan, *who, "--data", here).out.splitlines()[-len(lines) :] == lines


def test_the_answers_as_data_name_the_refusals(call: Caller, here: Path) -> None:
    found = as_data(call, here, POST, "--as", "lee", "--in", "ops-leads")

    assert (found["as"], found["listed"]) == ("lee", ["@ops-leads"])
    assert [(each["asked_by"], each["may"], each["kind"]) for each in found["answers"]] == [
        ("somebody else", True, None),
        ("lee", False, "own_request"),
    ]


def test_a_plan_that_only_reads_asks_nobody(call: Caller, here: Path) -> None:
    (here / "plan.txt").write_text("files.read path=a.md")
    told = call("policy", "explain", here / "plan.txt", "--as", "dana", "--data", here)

    assert told.out.splitlines()[1] == "runs at once: it only reads"
    assert "dana" not in told.out


def test_rules_that_look_at_where_it_was_asked_can_be_tried(call: Caller, here: Path) -> None:
    found = as_data(call, here, "files.read path=a.md", "--asked-in", "#random")

    assert (found["steps"][0]["mode"], found["steps"][0]["rules"]) == ("confirm", ["not from here"])


def test_silence_that_releases_reads_is_said(call: Caller, here: Path) -> None:
    (here / "silent.yml").write_text("approvers: [a]\ntools: {'files.*': {mode: ask}}\ntimers: {low: {expire: 5m, then: approve}}")
    told = call("policy", "explain", "files.read path=a.md", "--policy", here / "silent.yml", "--data", here)

    assert told.out.splitlines()[1] == "waits for 1 approval(s), 5m at most, then, if nobody answered, it goes on: it only reads"


def test_a_plan_that_the_policy_denies_is_a_no(call: Caller, here: Path) -> None:
    told = call("policy", "explain", "files.delete path=a.md", "--as", "dana", "--data", here)
    found = as_data(call, here, "files.delete path=a.md")

    assert told.code == 1
    assert "cannot be planned: the policy denies it" in told.out
    assert "refused: " in told.out
    assert (found["ok"], found["happens"], found["approving"]) == (False, "denied", None)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nosuch.json"], 2, "nosuch.json: cannot be read"),
        (["files.read path=a.md", "--in", "ops-leads"], 2, "--in says where somebody belongs; say who with --as"),
        (["files.read path=a.md", "--as", "x", "--in", "nobody"], 2, "it names @ops-leads, @managers"),
        (["files.raed path=a.md"], 1, "the tool 'files.raed' does not exist"),
        (["files.read path=a.md", "--policy", "nosuch.yml"], 2, "nosuch.yml: cannot be read"),
    ],
)
def test_what_cannot_be_explained_says_why(call: Caller, here: Path, arguments: list[str], code: int, says: str) -> None:
    told = call("policy", "explain", *arguments, "--data", here)

    assert told.code == code
    assert says in told.out + told.err


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_printed_as_it_is_shipped_and_is_sound(call: Caller, tmp_path: Path, name: str) -> None:
    told = call("policy", "example", name)
    (tmp_path / "policy.yml").write_text(told.out)
    checked = call("policy", "check", tmp_path / "policy.yml")

    assert (told.code, told.out) == (0, example(name))
    assert (checked.code, checked.out.count("remark"), checked.out[:3]) == (0, 0, "ok:")


def test_an_example_that_there_is_none_of_is_wrong_use(call: Caller) -> None:
    told = call("policy", "example", "lax")

    assert (told.code, told.out) == (2, "")
    assert "name one of personal, team, external, demo" in told.complaint


def test_a_check_as_data_says_what_it_found_or_what_is_wrong(call: Caller, here: Path) -> None:
    good = call("policy", "check", here / "policy.yml", "--json")
    (here / "broken.yml").write_text("profile: lax")
    broken = call("policy", "check", here / "broken.yml", "--json")

    found = json.loads(good.out)
    remarks = found.pop("remarks")
    assert (good.code, found) == (0, {"ok": True, "profile": "team", "approvers": ["@ops-leads", "dana"], "rules": 3})
    assert "may_not names dana, who also stand under approvers" in remarks
    assert broken.code == 2
    assert json.loads(broken.out) == {
        "ok": False,
        "fault": f"{here / 'broken.yml'}, line 1: 'profile' cannot be 'lax'; use personal, team or external",
    }
