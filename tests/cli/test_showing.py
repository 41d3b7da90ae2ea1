"""`runs`, `show`, `audit` and `db`: what the database holds, for people and as data."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Caller, ended, start

RUN_KEYS = {"id", "status", "reason", "ask", "requester", "risk", "created_at", "updated_at"}
SHOW_KEYS = RUN_KEYS | {"channel", "thread_ts", "revision", "digest", "plan", "steps", "approvals", "attempts", "audit", "answer"}
STEP_KEYS = {
    "id", "tool", "status", "risk", "risk_reasons", "rules", "attempt", "started_at", "finished_at", "observation", "error",
}  # fmt: skip


def show(call: Caller, folder: Path, place: int) -> dict[str, Any]:
    """A run as data: the newest is at place 0."""
    listed = json.loads(call("runs", "--json", "--data", folder).out)
    return dict(json.loads(call("show", listed[place]["id"], "--json", "--data", folder).out))


def test_runs_lists_the_newest_first_for_people_and_as_data(call: Caller, folder: Path) -> None:
    told = call("runs", "--data", folder)
    listed = json.loads(call("runs", "--json", "--data", folder).out)

    assert told.code == 0
    assert [run["status"] for run in listed] == ["failed", "succeeded"]
    assert all(set(run) == RUN_KEYS for run in listed)
    lines = told.out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [run["id"] for run in listed]
    assert "frobnicate it" in lines[1]
    assert json.loads(call("runs", "--json", "--limit", 1, "--data", folder).out) == listed[:1]


def test_show_as_data_has_the_keys_that_others_rely_on(call: Caller, folder: Path) -> None:
    run = show(call, folder, 1)

    assert set(run) == SHOW_KEYS
    assert set(run["plan"]) == {"goal", "steps"}
    assert all(set(step) == STEP_KEYS for step in run["steps"])
    assert all({"actor", "revision", "digest", "at"} <= set(approval) for approval in run["approvals"])
    assert all({"round", "ok", "raw", "faults"} <= set(attempt) for attempt in run["attempts"])
    assert all(set(entry) == {"seq", "at", "actor", "event", "data", "hash"} for entry in run["audit"])
    assert {"text", "cites", "unsupported"} <= set(run["answer"])


def test_show_as_data_tells_what_happened(call: Caller, folder: Path) -> None:
    run = show(call, folder, 1)

    assert [(step["id"], step["status"], step["risk"]) for step in run["steps"]] == [
        ("save", "succeeded", "medium"),
        ("read", "succeeded", "low"),
    ]
    assert run["steps"][1]["observation"]["text"] == "hello"
    assert run["approvals"][0]["digest"] == run["digest"]
    assert [entry["seq"] for entry in run["audit"]] == list(range(1, len(run["audit"]) + 1))
    assert set(run["answer"]["cites"]) == {"save", "read"}


def test_show_for_people_tells_the_same_in_lines(call: Caller, folder: Path) -> None:
    run = show(call, folder, 1)

    told = call("show", run["id"], "--data", folder)

    assert told.code == 0
    assert f"{run['id']} · succeeded · risk medium" in told.out
    assert "1 · save · files.write · succeeded" in told.out
    assert "approved by U0APPROVER" in told.out


def test_show_attempts_prints_what_the_planner_was_given_and_its_faults(call: Caller, folder: Path) -> None:
    run = show(call, folder, 0)

    told = call("show", run["id"], "--attempts", "--data", folder)

    assert told.code == 0
    assert "round 1 · offline · not usable" in told.out
    assert "? frobnicate it" in run["attempts"][0]["raw"]
    assert "? frobnicate it" in told.out


def test_words_of_others_do_not_steer_the_terminal(call: Caller, folder: Path) -> None:
    run = show(call, folder, 0)

    ways: list[tuple[str, ...]] = [("runs",), ("show", run["id"]), ("show", run["id"], "--attempts")]
    told = [call(*way, "--data", folder) for way in ways]

    assert "\x1b" in run["ask"]
    assert all("\x1b" not in each.out and "⟦U+001B⟧[31m" in each.out for each in told)


def test_an_unknown_run_is_a_no_in_one_line(call: Caller, folder: Path) -> None:
    for arguments in (("show", "R-NONE"), ("show", "R-NONE", "--json"), ("audit", "export", "--run", "R-NONE")):
        told = call(*arguments, "--data", folder)
        assert (told.code, told.out) == (1, ""), arguments
        assert told.complaint == "pullcord: there is no run R-NONE; `pullcord runs` lists them"


def test_audit_verify_says_that_every_chain_holds(call: Caller, folder: Path) -> None:
    told = call("audit", "verify", "--data", folder)

    count = len(call("audit", "export", "--data", folder).out.splitlines()) - 1
    assert (told.code, told.out) == (0, f"{count} entries, every chain holds\n")
    assert json.loads(call("audit", "verify", "--json", "--data", folder).out) == {"ok": True, "entries": count, "broken": []}


def test_audit_verify_names_run_and_entry_that_somebody_changed(call: Caller, folder: Path) -> None:
    run = show(call, folder, 1)["id"]
    tamper(folder, f"UPDATE audit SET actor = 'U0MEMBER' WHERE run_id = '{run}' AND event = 'approved'")
    seq = next(entry["seq"] for entry in show(call, folder, 1)["audit"] if entry["event"] == "approved")

    told = call("audit", "verify", "--data", folder)

    assert told.code == 1
    assert told.out == f"broken: {run} entry {seq}: entry {seq} was changed after it was written\n"
    data = json.loads(call("audit", "verify", "--json", "--data", folder).out)
    assert not data["ok"]
    assert [(each["run"], each["seq"]) for each in data["broken"]] == [(run, seq)]


def test_audit_export_gives_one_entry_a_line_of_all_runs_or_of_one(call: Caller, folder: Path) -> None:
    run = show(call, folder, 1)

    *entries, _ = [json.loads(line) for line in call("audit", "export", "--data", folder).out.splitlines()]
    *mine, _ = [json.loads(line) for line in call("audit", "export", "--run", run["id"], "--data", folder).out.splitlines()]

    assert mine == [entry for entry in entries if entry["run"] == run["id"]]
    assert [entry["event"] for entry in mine] == [entry["event"] for entry in run["audit"]]
    assert len(entries) > len(mine)


def test_db_upgrade_may_be_run_twice_and_from_two_processes(call: Caller, tmp_path: Path) -> None:
    at_once = [start("db", "upgrade", "--data", tmp_path / "new") for _ in range(2)]

    assert [(each.code, each.err) for each in map(ended, at_once)] == [(0, ""), (0, "")]
    assert call("db", "upgrade", "--data", tmp_path / "new").code == 0
    assert call("runs", "--data", tmp_path / "new").out == "No runs yet. Ask for something in Slack: /plan …\n"


@pytest.mark.parametrize("arguments", [("runs",), ("show", "R-NONE"), ("audit", "verify"), ("audit", "export")])
def test_looking_at_a_folder_without_a_database_makes_none(call: Caller, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    told = call(*arguments, "--data", tmp_path / "nothing")

    assert told.code == 2
    assert "no database there; name the folder with --data" in told.complaint
    assert not (tmp_path / "nothing").exists()


def tamper(folder: Path, statement: str) -> None:
    """Change the record as somebody with the file in their hands would: past the triggers."""
    with sqlite3.connect(folder / "pullcord.db") as conn:
        conn.execute("DROP TRIGGER audit_no_update")
        conn.execute(statement)
    conn.close()
