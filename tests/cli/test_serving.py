"""`start`, `workspace` and `check`, against a local workspace in a process of its own."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calling import Caller, ended, read_until, start
from tests.doubles.policies import DEMO_POLICY


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    process = start("workspace", "--port", 0, "--data", tmp_path / "town")
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def environment(workspace: "subprocess.Popen[str]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The lines that the workspace prints for a bot, and a policy; set for calls in this process, too."""
    read_until(workspace, "ready http://127.0.0.1:")
    given = dict(part.split("=", 1) for part in read_until(workspace, "SLACK_API_URL=").split())
    (tmp_path / "policy.yml").write_text(DEMO_POLICY)
    given |= {"PULLCORD_POLICY": str(tmp_path / "policy.yml"), "PULLCORD_DATABASE_URL": f"sqlite:///{tmp_path / 'pullcord.db'}"}
    given |= {"PULLCORD_FILES": str(tmp_path / "files")}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return given


def test_the_workspace_tells_its_address_and_ends_when_told(workspace: "subprocess.Popen[str]", tmp_path: Path) -> None:
    ready = read_until(workspace, "ready ")
    about = json.loads((tmp_path / "town" / "workspace.json").read_text())

    assert ready == f"ready {about['url']}/?token={about['people_token']}"
    assert set(about) == {"url", "people_token", "bot_token", "app_token"}
    workspace.send_signal(signal.SIGTERM)
    told = ended(workspace)
    assert (told.code, told.err) == (0, "")


def test_a_second_workspace_in_the_same_folder_is_turned_away(workspace: "subprocess.Popen[str]", tmp_path: Path) -> None:
    read_until(workspace, "ready ")

    told = ended(start("workspace", "--port", 0, "--data", tmp_path / "town"))

    assert (told.code, told.out) == (2, "")
    assert "this folder; stop it first, or " in told.complaint


def test_a_port_that_is_taken_is_said(call: Caller) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        told = call("workspace", "--port", port)

    assert told.code == 2
    assert told.complaint == f"pullcord: port {port} cannot be used (Address already in use); choose another with --port, or 0 for any"


def test_check_goes_through_everything_and_finds_it_good(call: Caller, environment: dict[str, str]) -> None:
    told = call("check")

    assert told.code == 0, told.out
    lines = told.out.splitlines()
    assert all(line.startswith("ok ") for line in lines)
    for about in ("settings", "policy", "tools", "database", "slack", "scopes", "channel: #audit"):
        assert any(about in line for line in lines), about
    found = json.loads(call("check", "--json").out)
    assert [each["ok"] for each in found] == [True] * len(lines)


def test_check_says_which_channel_is_missing_and_what_to_do(call: Caller, environment: dict[str, str]) -> None:
    policy = Path(environment["PULLCORD_POLICY"])
    policy.write_text(DEMO_POLICY.replace('"#audit"', '"#nosuch"').replace("[thread]", '[thread, "#private"]'))

    told = call("check")

    assert told.code == 1
    wrong = [line for line in told.out.splitlines() if line.startswith("WRONG")]
    assert len(wrong) == 2
    assert all("/invite" in line for line in wrong)
    assert "#nosuch is not there" in wrong[0]


def test_check_says_whom_the_policy_names_in_vain_and_that_a_quorum_cannot_be_reached(call: Caller, environment: dict[str, str]) -> None:
    text = """
approvers: ["@ops-leads", dana]
quorum: {high: 9}
may_not: {high: [requester, editors, redirectors, source_author, "@intern"]}
places: {audit: "#audit"}
"""
    Path(environment["PULLCORD_POLICY"]).write_text(text)

    told = call("check")

    assert told.code == 1
    assert [line for line in told.out.splitlines() if line.startswith("WRONG")] == [
        "WRONG people: dana means nobody in this workspace; correct the name in the policy, or give the id",
        "WRONG people: @intern means nobody in this workspace; correct the name in the policy, or give the id",
        "WRONG people: quorum.high is 9, but only 2 people are on the lists; name more",
    ]


def test_check_says_which_token_is_wrong(call: Caller, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-wrong")

    told = call("check")

    assert told.code == 1
    assert "WRONG slack: SLACK_BOT_TOKEN: Slack says invalid_auth; copy the bot token of the installed app" in told.out


def test_check_without_anything_says_what_to_set(call: Caller) -> None:
    told = call("check")

    assert told.code == 1
    assert "WRONG slack: SLACK_BOT_TOKEN is not set" in told.out


def test_start_without_a_token_says_which(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")

    told = ended(start("start"))

    assert (told.code, told.complaint) == (2, "pullcord: SLACK_BOT_TOKEN: needed; it is on the app's page under Install App")


@pytest.mark.parametrize("name", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
def test_start_with_a_wrong_token_says_which(environment: dict[str, str], name: str) -> None:
    told = ended(start("start", **{name: "xoxb-wrong"}))

    assert told.code == 2
    assert told.complaint.startswith(f"pullcord: {name}: Slack says invalid_auth; copy the ")


def test_start_where_nobody_answers_says_where(environment: dict[str, str]) -> None:
    told = ended(start("start", SLACK_API_URL="http://127.0.0.1:9/api/"))

    assert told.code == 2
    assert told.complaint.startswith("pullcord: SLACK_API_URL: http://127.0.0.1:9/api/ does not answer")


def test_start_with_a_policy_that_is_no_text_says_so(environment: dict[str, str]) -> None:
    Path(environment["PULLCORD_POLICY"]).write_bytes(bytes(range(256)))

    told = ended(start("start"))

    assert told.code == 2
    assert "this is not a text file in UTF-8" in told.complaint
