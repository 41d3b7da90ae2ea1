"""What a restart keeps, and what even a killed server keeps."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ConfigurationError
from bot.workspace import start_workspace
from tests.doubles.town import People
from tests.workspace.desk import MANIFEST, card, client_of, form, listening, people_of, raw_socket, running

ROOT = Path(__file__).parents[2]


async def test_a_restart_keeps_everything_that_was_said_and_the_tokens(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        slack = client_of(first)
        root = (await slack.chat_postMessage(channel="C0OPS", text="card", blocks=card(), metadata=METADATA))["ts"]
        await slack.chat_postMessage(channel="U0APPROVER", text="psst")
        await slack.chat_postEphemeral(channel="C0OPS", user="U0MEMBER", text="only you")
        await slack.views_publish(user_id="U0MEMBER", view={"type": "home", "blocks": card()})
        async with people_of(first) as people:
            await people.person("member").say("#ops", "a reply", root)
            before = await everything(people)

    async with running(tmp_path) as second, people_of(second) as people:
        assert (second.bot_token, second.app_token, second.people_token) == (first.bot_token, first.app_token, first.people_token)
        assert await everything(people) == before
        fresh = (await client_of(second).chat_postMessage(channel="C0OPS", text="later"))["ts"]
        assert fresh > root


METADATA = {"event_type": "card", "event_payload": {"run": "R-1"}}


async def everything(people: People) -> Any:
    member, approver = people.person("member"), people.person("approver")
    home = (await people.call("GET", "/people/member/home"))["view"]
    return [await member.everything("#ops"), await approver.messages("@pullcord"), await member.ephemerals(), home]


async def test_events_that_were_not_acknowledged_are_delivered_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as first, people_of(first) as people, raw_socket(first) as socket:
        await people.person("member").say("#ops", "did you hear")
        sent = await socket.receive_json(timeout=5)

    async with running(tmp_path) as second, listening(second) as bot:
        again = await bot.next()
    assert again["event_id"] == sent["payload"]["event_id"]


async def test_a_workspace_without_a_folder_keeps_nothing() -> None:
    async with running(None) as first:
        await client_of(first).chat_postMessage(channel="C0OPS", text="x")
    async with running(None) as second:
        assert (await client_of(second).conversations_history(channel="C0OPS"))["messages"] == []


@asynccontextmanager
async def child(data: Path) -> AsyncIterator[tuple[dict[str, str], asyncio.subprocess.Process]]:
    """A workspace in a process of its own, and what it says about itself."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.workspace.serve",
        str(data),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        await asyncio.wait_for(process.stdout.readline(), 20)
        yield json.loads((data / "workspace.json").read_text()), process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


async def test_a_killed_server_has_lost_no_call_that_it_answered(tmp_path: Path) -> None:
    """SIGKILL in the middle of a stream of posts; every post that was answered is there, and the rest of the state too."""
    answered: list[str] = []
    async with child(tmp_path) as (about, process):
        people = People(about["url"], about["people_token"])

        async def talk() -> None:
            while True:
                answered.append(await people.person("member").say("#ops", str(len(answered))))
                if len(answered) == 60:
                    process.send_signal(signal.SIGKILL)

        with pytest.raises((OSError, KeyError)):
            await talk()
        await people.close()

    async with child(tmp_path) as (about, _):
        people = People(about["url"], about["people_token"])
        kept = [message["ts"] for message in await people.person("member").messages("#ops")]
        await people.close()
    assert len(answered) >= 60
    assert kept[: len(answered)] == answered


async def test_a_line_torn_by_a_kill_is_left_out(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        await client_of(first).chat_postMessage(channel="C0OPS", text="whole")
    journal = tmp_path / "workspace-state.jsonl"
    with journal.open("a") as file:
        file.write('["messages","C0OPS 1.000000",{"ts":"1.0')

    async with running(tmp_path) as second:
        assert [m["text"] for m in (await client_of(second).conversations_history(channel="C0OPS"))["messages"]] == ["whole"]


async def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "workspace-state.jsonl").write_text("nonsense\n[]\n")

    with pytest.raises(ConfigurationError, match=r"workspace-state.jsonl: line 1"):
        await start_workspace(data=tmp_path, port=0, manifest=MANIFEST)


async def test_stopping_takes_less_than_half_a_second_with_everything_open(tmp_path: Path) -> None:
    workspace = await start_workspace(data=tmp_path, port=0, manifest=MANIFEST)
    async with people_of(workspace) as people, raw_socket(workspace), people.http.get(f"{workspace.url}/people/member/stream") as stream:
        await stream.content.readline()
        started = asyncio.get_running_loop().time()
        await workspace.stop()
        assert asyncio.get_running_loop().time() - started < 0.5


async def test_what_scripts_read_about_it_is_for_the_owner_only(tmp_path: Path) -> None:
    async with running(tmp_path) as workspace:
        workspace.write_about(tmp_path / "workspace.json")

    about = json.loads((tmp_path / "workspace.json").read_text())
    assert set(about) == {"url", "people_token", "bot_token", "app_token"}
    assert oct((tmp_path / "workspace.json").stat().st_mode)[-3:] == "600"
    assert oct((tmp_path / "workspace-state.jsonl").stat().st_mode)[-3:] == "600"
    assert os.fspath(workspace.url).startswith("http://127.0.0.1:")


async def test_other_people_can_stand_in_for_the_usual_ones(tmp_path: Path) -> None:
    file = tmp_path / "people.yml"
    file.write_text(
        "people: [{name: ada, kind: admin}, {name: lee}]\ngroups: [{handle: leads, users: [ada]}]\n"
        "channels: [{name: ops, members: [ada, lee]}, {name: secret, members: [ada], private: true, bot: false}]\n"
    )

    async with running(tmp_path / "data", people=file) as workspace, people_of(workspace) as people:
        names = [channel["name"] for channel in (await people.call("GET", "/people/ada/channels"))["channels"]]
        assert names == ["ops", "secret", "Pullcord"]


async def test_a_people_file_that_names_nobody_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "people.yml"
    file.write_text("people: [{name: ada}]\nchannels: [{name: ops, members: [bob]}]\n")

    with pytest.raises(ConfigurationError, match="channel ops names bob"):
        await start_workspace(data=None, port=0, manifest=MANIFEST, people=file)


async def test_open_modals_survive_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as first, people_of(first) as people, listening(first):
        answer = await people.call("POST", "/people/approver/shortcuts", {"callback_id": "new_plan"})
        view = (await client_of(first).views_open(trigger_id=answer["trigger_id"], view=form()))["view"]

    async with running(tmp_path) as second, people_of(second) as people:
        assert [found["id"] for found in await people.person("approver").views()] == [view["id"]]


async def test_a_workspace_killed_while_it_was_planted_is_planted_at_the_next_start(tmp_path: Path) -> None:
    async with running(tmp_path):
        pass
    journal = tmp_path / "workspace-state.jsonl"
    people_only = [line for line in journal.read_text().splitlines(keepends=True) if line.startswith('["people"')]
    journal.write_text("".join(people_only[:3]))

    async with running(tmp_path) as again:
        assert (await client_of(again).conversations_info(channel="C0PARTNERS"))["ok"]
        assert len((await client_of(again).users_list())["members"]) == 9


async def test_a_taken_port_is_said_so(tmp_path: Path) -> None:
    async with running(None) as first:
        with pytest.raises(ConfigurationError, match="choose another with --port"):
            await start_workspace(data=tmp_path, port=int(first.url.rpartition(":")[2]), manifest=MANIFEST)
