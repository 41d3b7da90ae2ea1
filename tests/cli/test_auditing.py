"""`pullcord audit`: verify against what others keep, the head, and the export that proves itself (C066)."""

import asyncio
import json
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.cli.calling import Caller, read_until, start


def lines(call: Caller, folder: Path, *options: object) -> list[dict[str, Any]]:
    told = call("audit", "export", "--data", folder, *options)
    assert told.code == 0, told.err
    return [json.loads(line) for line in told.out.splitlines()]


def entries(call: Caller, folder: Path, *options: object) -> list[dict[str, Any]]:
    *made, end = lines(call, folder, *options)
    assert end["end"]["entries"] == len(made)
    return made


def rewritten(folder: Path) -> None:
    """A file in which the run that succeeded never was, and the chain of heads begins anew with what is left."""
    with sqlite3.connect(folder / "pullcord.db") as conn:
        for trigger in ("audit_no_update", "audit_no_delete", "heads_no_update", "heads_no_delete", "runs_no_delete"):
            conn.execute(f"DROP TRIGGER {trigger}")
        (gone,) = conn.execute("SELECT id FROM runs WHERE status = 'succeeded'").fetchone()
        query = "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'run_id'"
        for (table,) in conn.execute(query).fetchall():
            conn.execute(f"DELETE FROM {table} WHERE run_id = ?", (gone,))
        conn.execute("DELETE FROM runs WHERE id = ?", (gone,))
        conn.execute("DELETE FROM heads")
    conn.close()


def test_head_prints_what_is_to_be_kept_elsewhere(call: Caller, folder: Path) -> None:
    told = call("audit", "head", "--data", folder)
    data = json.loads(call("audit", "head", "--json", "--data", folder).out)

    assert told.out == f"head {data['n']} · {data['hash']} · {data['at']}\n"
    assert set(data) == {"n", "hash", "at"}


def test_head_of_an_empty_record_is_a_no(call: Caller, tmp_path: Path) -> None:
    call("db", "upgrade", "--data", tmp_path)

    told = call("audit", "head", "--data", tmp_path)

    assert (told.code, told.complaint) == (1, "pullcord: nothing is on record yet, so there is no head to keep")


def test_a_file_that_was_rewritten_is_found_by_a_kept_head_and_by_an_export(call: Caller, folder: Path, tmp_path: Path) -> None:
    kept, exported = tmp_path / "heads.json", tmp_path / "export.jsonl"
    kept.write_text(call("audit", "head", "--json", "--data", folder).out)
    exported.write_text(call("audit", "export", "--data", folder).out)
    for file in (kept, exported):
        assert call("audit", "verify", "--heads", file, "--data", folder).code == 0
    rewritten(folder)

    for file in (kept, exported):
        told = call("audit", "verify", "--heads", file, "--data", folder)
        assert told.code == 1
        assert "broken: heads entry" in told.out


def test_a_file_of_heads_without_a_head_is_wrong_use(call: Caller, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")

    for file, says in ((tmp_path / "none.json", "there is no head in it"), (tmp_path / "missing.json", "cannot be read")):
        told = call("audit", "verify", "--heads", file, "--data", folder)
        assert told.code == 2
        assert says in told.complaint


def test_an_export_is_judged_without_the_database(call: Caller, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text(call("audit", "export", "--data", folder).out)
    count = len(file.read_text().splitlines()) - 1

    told = call("audit", "verify", "--file", file)

    assert (told.code, told.out) == (0, f"{count} entries, every chain holds\n")
    assert json.loads(call("audit", "verify", "--file", file, "--json").out) == {"ok": True, "entries": count, "broken": []}
    file.write_text(file.read_text().replace('"U0APPROVER"', '"U0MEMBER"'))
    told = call("audit", "verify", "--file", file)
    assert told.code == 1
    assert "was changed after it was written" in told.out


def test_an_excerpt_says_that_it_is_one(call: Caller, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text(call("audit", "export", "--decisions", "--data", folder).out)

    told = call("audit", "verify", "--file", file)

    assert told.code == 0
    assert "an excerpt: what it leaves out is not judged" in told.out


def test_export_is_narrowed_by_run_time_actor_event_and_decisions(call: Caller, folder: Path) -> None:
    every = entries(call, folder)
    run = next(entry["run"] for entry in every if entry["event"] == "approved")
    middle = every[len(every) // 2]["at"]

    assert entries(call, folder, "--run", run) == [entry for entry in every if entry["run"] == run]
    assert entries(call, folder, "--since", middle) == [entry for entry in every if entry["at"] >= middle]
    assert entries(call, folder, "--until", middle) == [entry for entry in every if entry["at"] < middle]
    assert {entry["actor"] for entry in entries(call, folder, "--actor", "U0APPROVER")} == {"U0APPROVER"}
    some = entries(call, folder, "--event", "approved", "--event", "opened")
    assert [entry["event"] for entry in some] == ["opened", "approved", "opened"]
    decided = {entry["event"] for entry in entries(call, folder, "--decisions")}
    assert {"approved", "answered"} <= decided
    assert "step_started" not in decided
    assert call("audit", "export", "--since", "yesterday", "--data", folder).code == 2


def test_every_line_of_an_export_carries_what_proves_it(call: Caller, folder: Path) -> None:
    *made, end = lines(call, folder)

    assert all({"run", "seq", "at", "actor", "event", "data", "prev", "hash"} <= set(entry) for entry in made)
    assert end["end"]["head"] == json.loads(call("audit", "head", "--json", "--data", folder).out)
    assert end["end"]["filters"] == {}


@pytest.fixture
def channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AsyncWebClient]:
    """A workspace with an audit channel, named by the environment as for the bot."""
    process: subprocess.Popen[str] = start("workspace", "--port", 0, "--data", tmp_path / "town")
    try:
        read_until(process, "ready ")
        given = dict(part.split("=", 1) for part in read_until(process, "SLACK_API_URL=").split())
        for name, value in {**given, "PULLCORD_AUDIT_CHANNEL": "#audit"}.items():
            monkeypatch.setenv(name, value)
        yield AsyncWebClient(token=given["SLACK_BOT_TOKEN"], base_url=given["SLACK_API_URL"])
    finally:
        process.kill()
        process.communicate()


def test_what_stands_in_the_channel_finds_a_run_that_was_removed(call: Caller, folder: Path, channel: AsyncWebClient) -> None:
    for entry in (entry for entry in entries(call, folder) if entry["event"] in ("approved", "answered")):
        payload = {"card": "audit", "key": f"{entry['run']}:audit.{entry['seq']}", "entry": entry["seq"], "hash": entry["hash"]}
        payload |= {"head": entry["head"]["n"], "head_hash": entry["head"]["hash"]}
        metadata = {"event_type": "pullcord_card", "event_payload": payload}
        asyncio.run(channel.chat_postMessage(channel="C0AUDIT", text="Approved", metadata=metadata))
    told = call("audit", "verify", "--channel", "--data", folder)
    assert (told.code, told.err) == (0, "")
    assert "2 entries and 2 heads kept elsewhere agree" in told.out
    rewritten(folder)

    told = call("audit", "verify", "--channel", "--data", folder)

    assert told.code == 1
    assert "is missing, though the channel tells of it" in told.out


def test_a_channel_that_cannot_be_read_says_what_to_do(
    call: Caller, folder: Path, channel: AsyncWebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value, says in (
        ("PULLCORD_AUDIT_CHANNEL", "#nowhere", "/invite the bot"),
        ("SLACK_BOT_TOKEN", "xoxb-wrong", "`pullcord check` says what to do"),
        ("SLACK_API_URL", "http://127.0.0.1:9/api/", "does not answer"),
    ):
        monkeypatch.setenv(name, value)
        told = call("audit", "verify", "--channel", "--data", folder)
        assert told.code == 2
        assert says in told.complaint
