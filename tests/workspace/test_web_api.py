"""Every method through Slack's own client, in the shape in which that sends it."""

import json

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace import Workspace
from tests.doubles.town import People
from tests.workspace.desk import button, card, client_of, refusal


async def test_auth_test_says_who_the_bot_is(slack: AsyncWebClient, workspace: Workspace) -> None:
    answer = await slack.auth_test()

    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("U0PULLCORD", "B0PULLCORD", "T0HOME")
    assert answer["url"] == f"{workspace.url}/"


async def test_a_message_is_posted_read_updated_and_deleted(slack: AsyncWebClient) -> None:
    posted = await slack.chat_postMessage(channel="C0OPS", text="hello", blocks=card())
    assert posted["message"]["bot_id"] == "B0PULLCORD"
    assert posted["message"]["blocks"][0]["block_id"], "a block without an id gets one"

    await slack.chat_update(channel="C0OPS", ts=posted["ts"], text="changed")
    history = await slack.conversations_history(channel="C0OPS")
    assert history["messages"][0]["text"] == "changed"
    assert "blocks" not in history["messages"][0], "text without blocks removes the blocks"

    await slack.chat_delete(channel="C0OPS", ts=posted["ts"])
    assert (await slack.conversations_history(channel="C0OPS"))["messages"] == []


async def test_a_channel_is_found_by_name_and_a_person_by_id(slack: AsyncWebClient) -> None:
    assert (await slack.chat_postMessage(channel="#ops", text="by name"))["channel"] == "C0OPS"
    assert (await slack.chat_postMessage(channel="U0APPROVER", text="to you"))["channel"] == "D0APPROVER"


async def test_a_thread_is_read_root_first_and_counted_on_its_root(slack: AsyncWebClient) -> None:
    root = (await slack.chat_postMessage(channel="C0OPS", text="root"))["ts"]
    replies = [(await slack.chat_postMessage(channel="C0OPS", text=f"reply {n}", thread_ts=root))["ts"] for n in range(3)]

    thread = (await slack.conversations_replies(channel="C0OPS", ts=root))["messages"]
    assert [message["ts"] for message in thread] == [root, *replies]
    top = (await slack.conversations_history(channel="C0OPS"))["messages"]
    assert [message["ts"] for message in top] == [root]
    assert (top[0]["reply_count"], top[0]["thread_ts"], top[0]["latest_reply"]) == (3, root, replies[-1])


async def test_a_reply_sent_to_the_channel_too_stands_in_both(slack: AsyncWebClient) -> None:
    root = (await slack.chat_postMessage(channel="C0OPS", text="root"))["ts"]
    await slack.chat_postMessage(channel="C0OPS", text="both", thread_ts=root, reply_broadcast=True)

    assert [m["text"] for m in (await slack.conversations_history(channel="C0OPS"))["messages"]] == ["both", "root"]
    assert [m["text"] for m in (await slack.conversations_replies(channel="C0OPS", ts=root))["messages"]] == ["root", "both"]


async def test_timestamps_are_unique_and_only_grow(slack: AsyncWebClient) -> None:
    stamps = [(await slack.chat_postMessage(channel="C0OPS", text=str(n)))["ts"] for n in range(30)]

    assert stamps == sorted(set(stamps), key=float)
    assert all(len(ts.partition(".")[2]) == 6 for ts in stamps)


async def test_history_is_paged_by_cursor(slack: AsyncWebClient) -> None:
    for n in range(5):
        await slack.chat_postMessage(channel="C0OPS", text=str(n))

    seen, cursor = [], ""
    while True:
        page = await slack.conversations_history(channel="C0OPS", limit=2, cursor=cursor)
        seen.append([message["text"] for message in page["messages"]])
        cursor = page["response_metadata"]["next_cursor"]
        assert page["has_more"] == bool(cursor)
        if not cursor:
            break
    assert seen == [["4", "3"], ["2", "1"], ["0"]]
    assert (await refusal(slack.conversations_history(channel="C0OPS", cursor="nonsense")))["error"] == "invalid_cursor"


async def test_history_keeps_to_the_span_that_is_asked_for(slack: AsyncWebClient) -> None:
    stamps = [(await slack.chat_postMessage(channel="C0OPS", text=str(n)))["ts"] for n in range(4)]

    inside = await slack.conversations_history(channel="C0OPS", oldest=stamps[0], latest=stamps[3])
    assert [message["text"] for message in inside["messages"]] == ["2", "1"]
    whole = await slack.conversations_history(channel="C0OPS", oldest=stamps[0], latest=stamps[3], inclusive=True)
    assert len(whole["messages"]) == 4


async def test_metadata_comes_back_only_when_asked_for_and_survives_an_update(slack: AsyncWebClient) -> None:
    metadata = {"event_type": "run_card", "event_payload": {"run": "R-1"}}
    ts = (await slack.chat_postMessage(channel="C0OPS", text="x", metadata=metadata))["ts"]
    await slack.chat_update(channel="C0OPS", ts=ts, text="y")

    assert "metadata" not in (await slack.conversations_history(channel="C0OPS"))["messages"][0]
    asked = await slack.conversations_replies(channel="C0OPS", ts=ts, include_all_metadata=True)
    assert asked["messages"][0]["metadata"] == metadata


async def test_conversations_are_told_as_the_bot_may_know_them(slack: AsyncWebClient) -> None:
    names = [channel["name"] for channel in (await slack.conversations_list(types="public_channel,private_channel"))["channels"]]
    assert sorted(names) == ["approvals", "audit", "general", "ops", "partners"]

    partners = (await slack.conversations_info(channel="C0PARTNERS"))["channel"]
    assert partners["is_ext_shared"]
    assert partners["is_member"]
    members = await slack.conversations_members(channel="C0PARTNERS", limit=2)
    assert len(members["members"]) == 2
    assert members["response_metadata"]["next_cursor"]
    opened = await slack.conversations_open(users=["U0APPROVER"], return_im=True)
    assert (opened["channel"]["id"], opened["channel"]["is_im"]) == ("D0APPROVER", True)
    assert (await slack.conversations_join(channel="C0OPS"))["channel"]["id"] == "C0OPS"


async def test_people_are_told_as_what_they_are(slack: AsyncWebClient) -> None:
    async def who(user_id: str) -> dict:  # type: ignore[type-arg]
        return dict((await slack.users_info(user=user_id))["user"])

    assert (await who("U0GUEST"))["is_restricted"]
    assert (await who("U0DEACTIVATED"))["deleted"]
    assert (await who("U0PARTNER"))["team_id"] == "T0PARTNER"
    assert (await who("U0OTHERBOT"))["is_bot"]
    assert len((await slack.users_list())["members"]) == 9
    assert (await slack.users_lookupByEmail(email="approver@example.com"))["user"]["id"] == "U0APPROVER"
    groups = (await slack.usergroups_list(include_users=True))["usergroups"]
    assert [(group["handle"], group["users"]) for group in groups] == [("ops-leads", ["U0APPROVER", "U0APPROVER2"])]
    assert (await slack.usergroups_users_list(usergroup=groups[0]["id"]))["users"] == ["U0APPROVER", "U0APPROVER2"]
    assert (await slack.bots_info(bot="B0OTHERBOT"))["bot"]["user_id"] == "U0OTHERBOT"
    assert (await slack.team_info())["team"]["id"] == "T0HOME"


async def test_reactions_are_added_once_and_taken_back(slack: AsyncWebClient) -> None:
    ts = (await slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]
    await slack.reactions_add(channel="C0OPS", timestamp=ts, name="eyes")

    assert (await refusal(slack.reactions_add(channel="C0OPS", timestamp=ts, name="eyes")))["error"] == "already_reacted"
    found = await slack.reactions_get(channel="C0OPS", timestamp=ts)
    assert found["message"]["reactions"] == [{"name": "eyes", "users": ["U0PULLCORD"], "count": 1}]
    await slack.reactions_remove(channel="C0OPS", timestamp=ts, name="eyes")
    assert (await refusal(slack.reactions_remove(channel="C0OPS", timestamp=ts, name="eyes")))["error"] == "no_reaction"


async def test_a_file_is_uploaded_into_a_thread_and_read_by_people(slack: AsyncWebClient, people: People) -> None:
    root = (await slack.chat_postMessage(channel="C0OPS", text="root"))["ts"]
    done = await slack.files_upload_v2(channel="C0OPS", thread_ts=root, filename="plan.txt", content="six steps", initial_comment="Here")

    reply = (await people.person("member").messages("#ops", root))[1]
    assert (reply["text"], reply["files"][0]["id"]) == ("Here", done["file"]["id"])
    async with people.http.get(reply["files"][0]["url_private"]) as answer:
        assert await answer.text() == "six steps"


async def test_a_thread_shows_status_title_and_prompts(slack: AsyncWebClient, people: People) -> None:
    ts = await people.person("requester").say("@pullcord", "hello")
    await slack.assistant_threads_setStatus(channel_id="D0REQUESTER", thread_ts=ts, status="is planning", loading_messages=["…"])
    await slack.assistant_threads_setTitle(channel_id="D0REQUESTER", thread_ts=ts, title="Hello")
    await slack.assistant_threads_setSuggestedPrompts(channel_id="D0REQUESTER", thread_ts=ts, prompts=[{"title": "a", "message": "b"}])

    path = f"/people/requester/channels/D0REQUESTER/messages?thread_ts={ts}"
    shown = (await people.call("GET", path))["thread"]
    assert (shown["status"], shown["title"], shown["prompts"][0]["title"]) == ("is planning", "Hello", "a")
    await slack.chat_postMessage(channel="D0REQUESTER", thread_ts=ts, text="here it is")
    assert (await people.call("GET", path))["thread"]["status"] == ""


async def test_a_permalink_leads_people_to_the_message(slack: AsyncWebClient, workspace: Workspace, people: People) -> None:
    ts = (await slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]
    link = (await slack.chat_getPermalink(channel="C0OPS", message_ts=ts))["permalink"]

    assert link == f"{workspace.url}/archives/C0OPS/p{ts.replace('.', '')}"
    async with people.http.get(link, allow_redirects=False) as answer:
        assert answer.headers["Location"] == f"/#at=C0OPS&thread={ts}"


async def test_flat_carriers_bring_structures_as_json_text(workspace: Workspace) -> None:
    """Form, multipart and query do what a JSON body does, team_id is taken and ignored."""
    blocks = json.dumps(card(button()))
    fields = {"channel": "C0OPS", "text": "x", "blocks": blocks, "team_id": "T0HOME"}
    head = {"Authorization": f"Bearer {workspace.bot_token}"}
    multipart = aiohttp.FormData(fields, default_to_multipart=True)
    async with aiohttp.ClientSession() as http:
        for how in ({"data": fields}, {"data": multipart}, {"params": fields}):
            async with http.post(f"{workspace.url}/api/chat.postMessage", headers=head, **how) as answer:
                body = await answer.json()
                assert body["message"]["blocks"][1]["block_id"] == "card", body
        async with http.get(f"{workspace.url}/api/chat.postMessage", params=fields | {"token": workspace.bot_token}) as answer:
            assert (await answer.json())["ok"], "the token may be an argument"


async def test_tokens_are_checked_by_kind(workspace: Workspace) -> None:
    async def error(token: str | None, method: str) -> str:
        head = {"Authorization": f"Bearer {token}"} if token else {}
        async with aiohttp.ClientSession() as http, http.post(f"{workspace.url}/api/{method}", headers=head) as answer:
            assert answer.status == 200
            return str((await answer.json()).get("error"))

    assert await error(None, "auth.test") == "not_authed"
    assert await error("xoxb-wrong", "auth.test") == "invalid_auth"
    assert await error(workspace.bot_token, "apps.connections.open") == "not_allowed_token_type"
    assert await error(workspace.app_token, "chat.postMessage") == "not_allowed_token_type"
    assert await error(workspace.people_token, "auth.test") == "invalid_auth"
    assert await error(workspace.bot_token, "no.such.method") == "unknown_method"


async def test_a_client_of_another_workspace_is_a_stranger(workspace: Workspace) -> None:
    client = client_of(workspace)
    client.token = "xoxb-other"

    assert (await refusal(client.conversations_info(channel="C0OPS")))["error"] == "invalid_auth"


async def test_an_update_of_the_blocks_alone_leaves_the_text(slack: AsyncWebClient) -> None:
    ts = (await slack.chat_postMessage(channel="C0OPS", text="kept"))["ts"]
    after = await slack.api_call("chat.update", json={"channel": "C0OPS", "ts": ts, "blocks": card()})

    assert (after["text"], len(after["message"]["blocks"])) == ("kept", 2)
