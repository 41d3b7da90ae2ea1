"""`plan check` and `policy check`: the rules, asked without a bot."""

import json
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.doubles.policies import DEMO_POLICY

NOTATION = 'notes: files.read path=notes/today.md\npost: slack.post_message channel=#general text="{{notes.text}}"\n'
AS_DATA = {
    "goal": "Tell everyone",
    "steps": [
        {"id": "notes", "tool": "files.read", "args": {"path": "notes/today.md"}},
        {"id": "post", "tool": "slack.post_message", "args": {"channel": "#general", "text": "{{notes.text}}"}},
    ],
}
AS_YAML = """goal: Tell everyone
steps:
  - {id: notes, tool: files.read, args: {path: notes/today.md}}
  - {id: post, tool: slack.post_message, args: {channel: "#general", text: "{{notes.text}}"}}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the demo's policy."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "policy.yml").write_text(DEMO_POLICY)
    return tmp_path


@pytest.mark.parametrize(("name", "text"), [("plan.txt", NOTATION), ("plan.json", json.dumps(AS_DATA)), ("plan.yml", AS_YAML)])
def test_a_plan_in_each_form_is_graded_with_digest_order_and_reasons(call: Caller, here: Path, name: str, text: str) -> None:
    (here / name).write_text(text)

    told = call("plan", "check", here / name, "--data", here / "data")
    found = json.loads(call("plan", "check", here / name, "--json", "--data", here / "data").out)

    assert told.code == 0
    assert f"medium risk · digest {found['digest'][:8]} · order 1 → 2" in told.out
    assert "waits for 1 approval(s)" in told.out
    assert "2 · Sends a message to #general · medium, ask: it sends words to #general" in told.out
    assert [(step["id"], step["risk"]) for step in found["steps"]] == [("notes", "low"), ("post", "medium")]
    assert found["ok"]


def test_a_plan_that_only_reads_would_run_at_once(call: Caller, here: Path) -> None:
    (here / "plan.txt").write_text("files.read path=notes/today.md")

    assert "runs at once: it only reads" in call("plan", "check", here / "plan.txt", "--data", here / "data").out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: files.raed path=x", "the tool 'files.raed' does not exist; the closest are files.read"),
        ("a: files.read", "the argument 'path' is missing"),
        ("a: files.read path=x\nb: files.read path={{c.text}}", "c"),
        ("", "there is no step here; write one step a line"),
        ('a: files.read path="x', "line 1"),
    ],
)
def test_a_faulty_plan_is_a_no_that_names_each_fault_and_its_fix(call: Caller, here: Path, text: str, says: str) -> None:
    (here / "plan.txt").write_text(text)

    told = call("plan", "check", here / "plan.txt", "--data", here / "data")
    found = json.loads(call("plan", "check", here / "plan.txt", "--json", "--data", here / "data").out)

    assert (told.code, told.err) == (1, "")
    assert told.out.startswith("fault: ")
    assert says in told.out
    assert (found["ok"], bool(found["faults"])) == (False, True)


def test_a_plan_that_the_policy_denies_is_a_no(call: Caller, here: Path) -> None:
    (here / "data" / "policy.yml").write_text('profile: team\napprovers: ["@ops-leads"]\ntools: {"files.delete": {mode: deny}}\n')
    (here / "plan.txt").write_text("files.delete path=x")

    told = call("plan", "check", here / "plan.txt", "--data", here / "data")

    assert told.code == 1
    assert "refused: " in told.out
    assert "the policy does not allow files.delete" in told.out


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("list.json", "[]", "this is no plan; it needs `goal` and `steps`"),
        ("goal.json", '{"goal": 1, "steps": []}', "goal: "),
        ("more.json", json.dumps({**AS_DATA, "approved_by": "me"}), "approved_by: "),
        ("broken.yml", "steps: [", "expected the node content"),
    ],
)
def test_a_file_that_is_no_plan_is_wrong_use(call: Caller, here: Path, name: str, text: str, says: str) -> None:
    (here / name).write_text(text)

    told = call("plan", "check", here / name, "--data", here / "data")

    assert (told.code, told.out) == (2, "")
    assert told.complaint.startswith(f"pullcord: {here / name}: ")
    assert says in told.complaint


def test_a_good_policy_is_ok_and_remarks_tell_what_was_probably_not_meant(call: Caller, here: Path) -> None:
    good = call("policy", "check", here / "data" / "policy.yml")
    (here / "lax.yml").write_text("profile: team\n")
    lax = call("policy", "check", here / "lax.yml")

    assert (good.code, good.out) == (0, "ok: profile team, 1 approver entries, 0 rules\n")
    assert lax.code == 0
    assert "remark: nobody is named under approvers, so nobody may approve" in lax.out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("profile: team\napprovers: [x\n", "line 3"),
        ("profile: team\nflavour: blue\n", "line 2: 'flavour' is not a key of the policy; use profile, approvers"),
        ("profile: nobody\n", "line 1"),
        ("[]", "line 1: the policy is not a mapping; begin with `profile: team`"),
        ("timers:\n  medium: {expire: 30m, then: approve}\n", "lets silence approve at medium risk"),
    ],
)
def test_a_broken_policy_names_file_line_and_fix(call: Caller, here: Path, text: str, says: str) -> None:
    (here / "broken.yml").write_text(text)

    told = call("policy", "check", here / "broken.yml")

    assert (told.code, told.out) == (2, "")
    assert told.complaint.startswith(f"pullcord: {here / 'broken.yml'}, line ")
    assert says in told.complaint
