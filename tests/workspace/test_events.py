"""What the bot is told, how often, and what it is never told."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace import Workspace
from tests.doubles.town import People
from tests.doubles.waiting import eventually
from tests.workspace.desk import card, listening, raw_socket


async def test_a_mention_gives_a_message_and_an_app_mention_of_one_timestamp(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        ts = await people.person("requester").say("#ops", "@Pullcord read a & b < c")

        first, second = await bot.next(), await bot.next()
    events = {payload["event"]["type"]: payload["event"] for payload in (first, second)}
    assert set(events) == {"message", "app_mention"}
    assert {event["ts"] for event in events.values()} == {ts}
    assert events["app_mention"]["text"] == "<@U0PULLCORD> read a &amp; b &lt; c"
    assert events["message"]["channel_type"] == "channel"
    assert "thread_ts" not in events["message"]
    assert first["event_id"] != second["event_id"]


async def test_what_people_type_arrives_as_slack_writes_it(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.person("requester").say("@pullcord", "see https://example.com/a?b=1&c=2, @ops-leads and #general, not me@example.com")

        event = await bot.event("message")
    assert event["text"] == "see <https://example.com/a?b=1&amp;c=2>, <!subteam^S0OPSLEADS> and #general, not me@example.com"
    kinds = [element["type"] for element in event["blocks"][0]["elements"][0]["elements"]]
    assert kinds == ["text", "link", "text", "usergroup", "text"]
    assert (event["channel"], event["channel_type"]) == ("D0REQUESTER", "im")


async def test_a_reply_names_its_thread_and_its_parent(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    root = (await slack.chat_postMessage(channel="C0OPS", text="card"))["ts"]
    async with listening(workspace) as bot:
        await people.person("requester").say("#ops", "pause", root)

        event = await bot.event("message")
    assert (event["thread_ts"], event["parent_user_id"]) == (root, "U0PULLCORD")


async def test_the_bots_own_posts_and_updates_come_back_marked_as_its_own(workspace: Workspace, slack: AsyncWebClient) -> None:
    async with raw_socket(workspace) as socket:
        ts = (await slack.chat_postMessage(channel="C0OPS", text="one"))["ts"]
        echo = await take(socket)
        await slack.chat_update(channel="C0OPS", ts=ts, text="two")
        changed = await take(socket)
        await slack.chat_delete(channel="C0OPS", ts=ts)
        deleted = await take(socket)
    assert (echo["bot_id"], echo["app_id"], "subtype" in echo) == ("B0PULLCORD", "A0PULLCORD", False)
    assert (changed["subtype"], changed["message"]["text"], changed["previous_message"]["text"]) == ("message_changed", "two", "one")
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)


async def take(socket: Any) -> dict[str, Any]:
    """The next event, acknowledged."""
    envelope = await socket.receive_json(timeout=5)
    await socket.send_json({"envelope_id": envelope["envelope_id"]})
    return dict(envelope["payload"]["event"])


async def test_people_edit_delete_and_react_and_the_bot_hears_of_it(workspace: Workspace, people: People) -> None:
    member = people.person("member")
    async with listening(workspace) as bot:
        ts = await member.say("#ops", "first")
        await member.edit("#ops", ts, "second")
        await people.call("POST", f"/people/member/messages/{ts}/reactions", {"channel": "#ops", "name": "eyes"})
        await member.delete("#ops", ts)

        heard = await bot.events("message_changed", "reaction_added", "message_deleted")
    assert heard["message_changed"]["message"]["edited"]["user"] == "U0MEMBER"
    assert heard["reaction_added"]["item"] == {"type": "message", "channel": "C0OPS", "ts": ts}
    assert heard["message_deleted"]["deleted_ts"] == ts


async def test_the_bot_hears_nothing_from_a_channel_without_it(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.person("requester").say("#private", "@Pullcord psst")
        await people.person("requester").say("#ops", "aloud")

        assert (await bot.next())["event"]["text"] == "aloud"


async def test_a_partners_message_says_whose_it_is(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.person("partner").say("#partners", "@Pullcord hello")

        payload = await bot.next()
    assert payload["is_ext_shared_channel"]
    assert (payload["event"]["user_team"], payload["event"]["user"]) == ("T0PARTNER", "U0PARTNER")


async def test_other_bots_are_heard_as_bots(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.person("otherbot").say("#ops", "beep")

        assert (await bot.event("message"))["bot_id"] == "B0OTHERBOT"


async def test_opening_home_is_told_and_the_published_view_is_seen(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    async with listening(workspace) as bot:
        assert (await people.call("POST", "/people/approver/home", {}))["view"] is None
        event = await bot.event("app_home_opened")

    await slack.views_publish(user_id=event["user"], view={"type": "home", "blocks": card()})
    home = (await people.call("GET", "/people/approver/home"))["view"]
    assert (event["tab"], event["channel"], home["blocks"][1]["block_id"]) == ("home", "D0APPROVER", "card")
    assert (await people.call("GET", "/people/requester/home"))["view"] is None


async def test_an_event_whose_ack_is_lost_comes_again_three_times(workspace: Workspace, people: People) -> None:
    """At once, after a minute, after five, the same event id each time; then it is given up."""
    async with raw_socket(workspace) as socket:
        await people.person("member").say("#ops", "hello")
        first = await socket.receive_json(timeout=5)
        seen = [(first["retry_attempt"], first["retry_reason"])]
        for wait in (3.1, 63.1, 303.1):
            await people.call("POST", "/clock", {"advance_s": wait})
            again = await socket.receive_json(timeout=5)
            assert again["payload"]["event_id"] == first["payload"]["event_id"]
            seen.append((again["retry_attempt"], again["retry_reason"]))
        await people.call("POST", "/clock", {"advance_s": 3.1})

        async def given_up() -> bool:
            return any(entry["kind"] == "given_up" for entry in (await people.call("GET", "/log"))["entries"])

        await eventually(given_up, "the event to be given up")
    assert seen == [(0, ""), (1, "timeout"), (2, "timeout"), (3, "timeout")]


async def test_a_retry_does_not_come_before_its_time(workspace: Workspace, people: People) -> None:
    async with raw_socket(workspace) as socket:
        await people.person("member").say("#ops", "slow one")
        await socket.receive_json(timeout=5)
        await people.call("POST", "/clock", {"advance_s": 3.1})
        assert (await socket.receive_json(timeout=5))["retry_attempt"] == 1
        await people.call("POST", "/clock", {"advance_s": 50})
        await people.person("member").say("#ops", "next one")

        assert (await socket.receive_json(timeout=5))["payload"]["event"]["text"] == "next one"


async def test_events_wait_for_a_socket(workspace: Workspace, people: People) -> None:
    await people.person("member").say("#ops", "early")

    async with listening(workspace) as bot:
        assert (await bot.event("message"))["text"] == "early"

        async def none_pending() -> bool:
            return bool((await people.call("GET", "/log"))["pending_events"] == 0)

        await eventually(none_pending, "the ack to be heard")


async def test_each_event_goes_to_one_of_two_sockets(workspace: Workspace, people: People) -> None:
    async with raw_socket(workspace) as left, raw_socket(workspace) as right:
        for n in range(4):
            await people.person("member").say("#ops", str(n))

        heard = [[(await take(socket))["text"] for _ in range(2)] for socket in (left, right)]
    assert sorted(heard[0] + heard[1]) == ["0", "1", "2", "3"]


async def test_a_ticket_opens_one_socket_once(workspace: Workspace) -> None:
    url = (await AsyncWebClient(base_url=f"{workspace.url}/api/").apps_connections_open(app_token=workspace.app_token))["url"]
    async with aiohttp.ClientSession() as http, http.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(url)
