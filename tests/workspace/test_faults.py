"""Misbehaviour on purpose, and the log that measures it."""

import asyncio
import json

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace import Workspace
from tests.doubles.town import People
from tests.doubles.waiting import eventually
from tests.workspace.desk import listening, raw_socket, refusal


async def test_an_error_is_answered_as_often_as_asked(people: People, slack: AsyncWebClient) -> None:
    await people.call("POST", "/faults", {"method": "chat.postMessage", "error": "fatal_error", "times": 2})

    for _ in range(2):
        assert (await refusal(slack.chat_postMessage(channel="C0OPS", text="x")))["error"] == "fatal_error"
    assert (await slack.chat_postMessage(channel="C0OPS", text="x"))["ok"]
    assert len(await people.person("member").messages("#ops")) == 1


async def test_a_429_carries_whole_seconds_to_wait(people: People, slack: AsyncWebClient) -> None:
    await people.call("POST", "/faults", {"method": "*", "status": 429, "retry_after": 7})

    with pytest.raises(SlackApiError) as problem:
        await slack.chat_postMessage(channel="C0OPS", text="x")
    assert problem.value.response.status_code == 429
    assert problem.value.response.headers["Retry-After"] == "7"
    assert problem.value.response.data == {"ok": False, "error": "ratelimited"}


async def test_a_lost_answer_leaves_its_effect(workspace: Workspace, people: People) -> None:
    await people.call("POST", "/faults", {"method": "chat.postMessage", "after_effect": True})

    head = {"Authorization": f"Bearer {workspace.bot_token}"}
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.ClientError):
            await http.post(f"{workspace.url}/api/chat.postMessage", headers=head, json={"channel": "C0OPS", "text": "once"})
    assert [m["text"] for m in await people.person("member").messages("#ops")] == ["once"]


async def test_a_500_after_the_effect_leaves_it_too(people: People, slack: AsyncWebClient) -> None:
    await people.call("POST", "/faults", {"method": "chat.postMessage", "status": 500, "after_effect": True})

    with pytest.raises(SlackApiError):
        await slack.chat_postMessage(channel="C0OPS", text="once")
    assert [m["text"] for m in await people.person("member").messages("#ops")] == ["once"]


async def test_a_delay_only_delays(people: People, slack: AsyncWebClient) -> None:
    await people.call("POST", "/faults", {"method": "chat.postMessage", "delay_ms": 150})

    assert (await slack.chat_postMessage(channel="C0OPS", text="x"))["ok"]
    calls = [entry for entry in (await people.call("GET", "/log"))["entries"] if entry.get("method") == "chat.postMessage"]
    assert calls[0]["ms"] >= 150
    assert calls[0]["ok"]


async def test_faults_are_cleared_and_bad_ones_refused(people: People, slack: AsyncWebClient) -> None:
    assert (await people.call("POST", "/faults", {"method": "auth.test", "eror": "x"}))["error"] == "invalid_arguments"
    await people.call("POST", "/faults", {"method": "auth.test", "error": "x", "times": 9})
    await people.call("DELETE", "/faults")

    assert (await slack.auth_test())["ok"]


async def test_a_dropped_socket_is_opened_again_by_the_bot(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        dropped = await people.call("POST", "/faults/socket", {"drop": True, "reason": "refresh_requested"})
        assert dropped["dropped"] == 1
        await asyncio.wait_for(workspace.wait_connected(), 10)
        await people.person("member").say("#ops", "still there?")

        assert (await bot.event("message"))["text"] == "still there?"


async def test_an_event_can_come_twice_and_again(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.call("POST", "/faults/socket", {"duplicate": 1})
        await people.person("member").say("#ops", "twice")
        first, second = await bot.next(), await bot.next()
        assert first["event_id"] == second["event_id"]

        assert (await people.call("POST", "/faults/socket", {"redeliver": 1}))["redelivered"] == 1
        assert (await bot.next())["event_id"] == first["event_id"]


async def test_a_deaf_workspace_sends_again(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.call("POST", "/faults/socket", {"deaf": 1})
        await people.person("member").say("#ops", "what?")
        first = await bot.next()

        async def unheard() -> bool:
            return any(entry.get("deaf") for entry in (await people.call("GET", "/log"))["entries"])

        await eventually(unheard, "the ack to go unheard")
        await people.call("POST", "/clock", {"advance_s": 3.1})
        assert (await bot.next())["event_id"] == first["event_id"]


async def test_a_refused_connection_keeps_its_ticket(workspace: Workspace, people: People) -> None:
    await people.call("POST", "/faults/socket", {"refuse": 1})

    url = (await AsyncWebClient(base_url=f"{workspace.url}/api/").apps_connections_open(app_token=workspace.app_token))["url"]
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.WSServerHandshakeError) as problem:
            await http.ws_connect(url)
        assert problem.value.status == 409
        async with http.ws_connect(url) as socket:
            assert (await socket.receive_json())["type"] == "hello"


async def test_the_log_holds_calls_and_acks_with_times(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    await refusal(slack.chat_postMessage(channel="C0NOWHERE", text="a secret text"))
    async with raw_socket(workspace) as socket:
        await people.person("member").say("#ops", "hello")
        envelope = await socket.receive_json()
        await socket.send_json({"envelope_id": envelope["envelope_id"]})

        async def acked() -> dict | None:  # type: ignore[type-arg]
            entries = (await people.call("GET", "/log"))["entries"]
            return next((entry for entry in entries if entry["kind"] == "envelope" and entry["acked"]), None)

        entry = await eventually(acked, "the ack in the log")
    assert entry["ack_ms"] >= 0
    assert (entry["event"], entry["retry_attempt"]) == ("message", 0)
    entries = (await people.call("GET", "/log"))["entries"]
    refused = next(entry for entry in entries if entry.get("error") == "channel_not_found")
    assert (refused["method"], refused["channel"], refused["status"]) == ("chat.postMessage", "C0NOWHERE", 200)
    assert "a secret text" not in json.dumps(entries)


async def test_the_page_is_told_that_something_changed_and_not_what(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    async with people.http.get(f"{workspace.url}/people/member/stream") as stream:
        assert (await stream.content.readline()).startswith(b":")
        ts = (await slack.chat_postMessage(channel="C0OPS", text="words"))["ts"]
        await slack.chat_postEphemeral(channel="C0OPS", user="U0APPROVER", text="not for member")
        await slack.views_publish(user_id="U0MEMBER", view={"type": "home", "blocks": []})

        hints = []
        while len(hints) < 2:
            line = await asyncio.wait_for(stream.content.readline(), 5)
            if line.startswith(b"data: "):
                hints.append(json.loads(line[6:]))
    assert hints == [{"kind": "message", "channel": "C0OPS", "ts": ts}, {"kind": "home"}]
