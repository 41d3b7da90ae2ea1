"""Commands, clicks, shortcuts and modals, against Slack's own bolt."""

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.workspace import Workspace
from tests.doubles.town import People, text_of
from tests.workspace.desk import Payload, button, card, form, listening, refusal, say_nothing


async def test_a_click_is_acknowledged_and_its_card_updated(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    async def approve(body: Payload, client: AsyncWebClient) -> None:
        done = card(button("Stop", action_id="stop"), block_id="running")
        await client.chat_update(channel=body["channel"]["id"], ts=body["container"]["message_ts"], text="Running", blocks=done)

    await slack.chat_postMessage(channel="C0OPS", text="Approve?", blocks=card())
    async with listening(workspace, answering=approve) as bot:
        approver = people.person("approver")
        answer = await approver.press("Approve", (await approver.messages("#ops"))[0], "#ops")

        payload = await bot.next()
    assert answer["acked"]
    assert 0 <= answer["ack_ms"] < 3000
    assert payload["actions"][0] | {"action_ts": ""} == {
        "type": "button",
        "action_id": "approve",
        "block_id": "card",
        "value": "R-1",
        "text": {"type": "plain_text", "text": "Approve"},
        "action_ts": "",
    }
    assert (payload["user"]["id"], payload["user"]["team_id"], payload["message"]["text"]) == ("U0APPROVER", "T0HOME", "Approve?")
    assert (payload["channel"], payload["trigger_id"]) == ({"id": "C0OPS", "name": "ops"}, answer["trigger_id"])
    assert text_of((await approver.messages("#ops"))[0]).startswith("Running")


async def test_a_button_that_is_gone_can_still_be_pressed(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    ts = (await slack.chat_postMessage(channel="C0OPS", text="Approve?", blocks=card()))["ts"]
    old = (await people.person("approver").messages("#ops"))[0]
    await slack.chat_update(channel="C0OPS", ts=ts, text="Done")

    async with listening(workspace) as bot:
        assert (await people.person("approver").press("Approve", old, "#ops"))["acked"]
        payload = await bot.next()
        while payload.get("type") != "block_actions":
            payload = await bot.next()
    assert (payload["actions"][0]["action_id"], payload["actions"][0]["value"], payload["message"]["text"]) == ("approve", "R-1", "Done")


async def test_a_choice_carries_the_whole_option(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    option = {"text": {"type": "plain_text", "text": "Step 4"}, "value": "4"}
    menu = {"type": "static_select", "action_id": "pause_before", "placeholder": {"type": "plain_text", "text": "…"}, "options": [option]}
    ts = (await slack.chat_postMessage(channel="C0OPS", text="x", blocks=card(menu)))["ts"]

    async with listening(workspace) as bot:
        body = {"channel": "#ops", "message_ts": ts, "action_id": "pause_before", "selected_option": {"value": "4"}}
        await people.call("POST", "/people/member/actions", body)
        payload = await bot.next()
        while payload.get("type") != "block_actions":
            payload = await bot.next()
    assert payload["actions"][0]["selected_option"] == option
    assert payload["actions"][0]["type"] == "static_select"


async def test_a_click_without_a_bot_fails_at_once_and_a_lost_ack_is_told(
    workspace: Workspace,
    people: People,
    slack: AsyncWebClient,
) -> None:
    await slack.chat_postMessage(channel="C0OPS", text="Approve?", blocks=card())
    approver = people.person("approver")
    message = (await approver.messages("#ops"))[0]
    alone = await approver.press("Approve", message, "#ops")
    assert (alone["acked"], alone["trouble"]) == (False, "dispatch_failed")

    async with listening(workspace):
        await people.call("POST", "/faults/socket", {"deaf": 2})  # the echo of the post may take one
        unheard = await approver.press("Approve", message, "#ops")
    assert (unheard["acked"], unheard["trouble"]) == (False, "operation_timeout")


async def test_a_command_is_answered_privately_by_its_ack(workspace: Workspace, people: People) -> None:
    async def answer(body: Payload, client: AsyncWebClient) -> Payload:
        return {"text": f"planning {body['text']}"}

    async with listening(workspace, answering=answer) as bot:
        done = await people.person("requester").command("#ops", "/plan", "read <a> & b")
        payload = await bot.next()

    assert done["acked"]
    assert done["response"]["text"] == "planning read <a> & b"
    assert (payload["channel_name"], payload["user_name"], payload["is_enterprise_install"]) == ("ops", "requester", "false")
    assert [m["text"] for m in await people.person("requester").ephemerals()] == ["planning read <a> & b"]
    assert await people.person("approver").ephemerals() == []
    assert await people.person("requester").messages("#ops") == []


async def test_a_command_that_answers_in_the_channel_is_read_by_everybody(workspace: Workspace, people: People) -> None:
    async def answer(body: Payload, client: AsyncWebClient) -> Payload:
        return {"text": "for all", "response_type": "in_channel"}

    async with listening(workspace, answering=answer):
        await people.person("requester").command("#ops", "/plan", "x")

    assert [m["text"] for m in await people.person("guest").messages("#ops")] == ["for all"]


async def test_names_in_a_command_are_escaped_only_where_the_manifest_says_so(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.person("requester").command("#ops", "/told", "@approver")
        await people.person("requester").command("#ops", "/plan", "@approver")

        assert [(await bot.next())["text"], (await bot.next())["text"]] == ["<@U0APPROVER>", "@approver"]


async def test_a_response_url_takes_five_answers_within_half_an_hour(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        await people.person("requester").command("#private", "/plan", "x")
        used = AsyncWebhookClient((await bot.next())["response_url"])
        await people.person("requester").command("#private", "/plan", "x")
        late = AsyncWebhookClient((await bot.next())["response_url"])

    assert [(await used.send(text=str(n))).status_code for n in range(6)] == [200] * 5 + [404]
    assert [m["text"] for m in await people.person("requester").ephemerals()] == ["0", "1", "2", "3", "4"]
    await people.call("POST", "/clock", {"advance_s": 1801})
    expired = await late.send(text="late")
    assert (expired.status_code, "expired_url" in expired.body) == (404, True)


async def test_a_response_url_replaces_and_deletes_the_private_message_it_came_from(workspace: Workspace, people: People) -> None:
    async def answer(body: Payload, client: AsyncWebClient) -> Payload | None:
        return {"text": "private card", "blocks": card()} if "command" in body else None

    async with listening(workspace, answering=answer) as bot:
        requester = people.person("requester")
        await requester.command("#ops", "/plan", "x")
        await bot.next()
        shown = (await requester.ephemerals())[0]
        await requester.press("Approve", shown, "#ops")
        click = await bot.next()

    assert click["container"]["is_ephemeral"]
    assert "message" not in click, "Slack does not tell what an ephemeral message said"
    url = AsyncWebhookClient(click["response_url"])
    await url.send(text="replaced", replace_original=True)
    assert [(m["text"], m["ts"]) for m in await requester.ephemerals()] == [("replaced", shown["ts"])]
    await url.send_dict({"delete_original": True})
    assert await requester.ephemerals() == []


async def test_private_messages_are_seen_by_one_person_only(people: People, slack: AsyncWebClient) -> None:
    await slack.chat_postEphemeral(channel="C0OPS", user="U0APPROVER", text="only you")

    assert [m["text"] for m in await people.person("approver").ephemerals()] == ["only you"]
    for other in ("requester", "approver2", "member", "guest"):
        assert await people.person(other).ephemerals() == []
    assert (await slack.conversations_history(channel="C0OPS"))["messages"] == []


async def test_a_shortcut_brings_the_message_and_a_global_one_brings_no_channel(workspace: Workspace, people: People) -> None:
    async with listening(workspace) as bot:
        ts = await people.person("member").say("#ops", "restart api")
        await bot.event("message")
        await people.call("POST", "/people/member/shortcuts", {"callback_id": "plan_from_message", "channel": "#ops", "message_ts": ts})
        on_message = await bot.next()
        await people.call("POST", "/people/member/shortcuts", {"callback_id": "new_plan"})
        everywhere = await bot.next()

    assert (on_message["type"], on_message["message"]["text"], on_message["channel"]["id"]) == ("message_action", "restart api", "C0OPS")
    assert (everywhere["type"], "channel" in everywhere, "response_url" in everywhere) == ("shortcut", False, False)


async def test_a_modal_goes_from_error_to_done(workspace: Workspace, people: People) -> None:
    async def answer(body: Payload, client: AsyncWebClient) -> Payload | None:
        if body.get("type") == "shortcut":
            await client.views_open(trigger_id=body["trigger_id"], view=form(private_metadata="R-1"))
        if body.get("type") == "view_submission" and len(body["view"]["state"]["values"]["reason"]["why"]["value"]) < 5:
            return {"response_action": "errors", "errors": {"reason": "Say more."}}
        return None

    async with listening(workspace, answering=answer) as bot:
        approver = people.person("approver")
        await people.call("POST", "/people/approver/shortcuts", {"callback_id": "new_plan"})
        view = (await approver.views())[0]
        assert await people.person("requester").views() == []

        empty = await approver.submit(view["id"], {})
        assert (empty["acked"], empty["response_action"]) == (None, "errors"), "Slack's client does not send it"
        short = await approver.submit(view["id"], {"reason": {"why": {"value": "no"}}})
        assert (short["acked"], short["errors"]) == (True, {"reason": "Say more."})
        assert [v["id"] for v in await approver.views()] == [view["id"]]
        done = await approver.submit(view["id"], {"reason": {"why": {"type": "plain_text_input", "value": "too risky"}}})
        assert (done["acked"], done["view"]) == (True, None)

        last = [await bot.next() for _ in range(3)][-1]
    assert await approver.views() == []
    assert last["view"]["state"]["values"] == {"reason": {"why": {"type": "plain_text_input", "value": "too risky"}}}
    assert (last["view"]["private_metadata"], last["view"]["callback_id"]) == ("R-1", "deny")


async def trigger(people: People) -> str:
    answer = await people.call("POST", "/people/approver/shortcuts", {"callback_id": "new_plan"})
    return str(answer["trigger_id"])


async def test_modals_stack_three_deep_and_close_one_by_one_or_all(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    push = {"type": "button", "action_id": "more", "text": {"type": "plain_text", "text": "More"}}
    view = form(blocks=[*form()["blocks"], *card(push)], notify_on_close=True)
    async with listening(workspace) as bot:
        await slack.views_open(trigger_id=await trigger(people), view=view)
        await bot.next()
        for depth in (2, 3):
            top = (await people.person("approver").views())[-1]
            pressed = await people.call("POST", f"/people/approver/views/{top['id']}/actions", {"action_id": "more"})
            await slack.views_push(trigger_id=pressed["trigger_id"], view=view)
            assert len(await people.person("approver").views()) == depth
        views = await people.person("approver").views()
        pressed = await people.call("POST", f"/people/approver/views/{views[-1]['id']}/actions", {"action_id": "more"})
        assert (await refusal(slack.views_push(trigger_id=pressed["trigger_id"], view=view)))["error"] == "push_limit_reached"

        closed = await people.call("POST", f"/people/approver/views/{views[-1]['id']}/close", {})
        assert closed["view"]["id"] == views[1]["id"]
        assert (await people.call("POST", f"/people/approver/views/{views[1]['id']}/close", {"clear": True}))["view"] is None
        heard = [await bot.next() for _ in range(5)]
    told = [(body["view"]["id"], body["is_cleared"]) for body in heard if body["type"] == "view_closed"]
    assert told == [(views[2]["id"], False), (views[0]["id"], True)]


async def test_a_submission_can_be_answered_with_another_view(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    follow = {"response_action": "update", "view": form(callback_id="second")}

    async def answer(body: Payload, client: AsyncWebClient) -> Payload | None:
        return dict(follow) if body.get("type") == "view_submission" else None

    async with listening(workspace, answering=answer):
        view = (await slack.views_open(trigger_id=await trigger(people), view=form()))["view"]
        values = {"reason": {"why": {"value": "because"}}}
        updated = await people.person("approver").submit(view["id"], values)
        assert (updated["response_action"], updated["view"]["callback_id"], updated["view"]["id"]) == ("update", "second", view["id"])
        assert updated["view"]["hash"] != view["hash"]
        follow["response_action"] = "push"
        pushed = await people.person("approver").submit(view["id"], values)
        assert pushed["view"]["previous_view_id"] == view["id"]
        follow.pop("view")
        follow["response_action"] = "clear"
        await people.person("approver").submit(pushed["view"]["id"], values)
    assert await people.person("approver").views() == []


async def test_a_trigger_works_once_and_for_three_seconds(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    async with listening(workspace):
        used, late = await trigger(people), await trigger(people)
    await slack.views_open(trigger_id=used, view=form())

    assert (await refusal(slack.views_open(trigger_id=used, view=form())))["error"] == "exchanged_trigger_id"
    assert (await refusal(slack.views_open(trigger_id="1.2.x", view=form())))["error"] == "invalid_trigger_id"
    await people.call("POST", "/clock", {"advance_s": 3.1})
    assert (await refusal(slack.views_open(trigger_id=late, view=form())))["error"] == "expired_trigger_id"


async def test_an_update_that_names_an_old_hash_is_refused_and_entries_survive_a_good_one(
    workspace: Workspace,
    people: People,
    slack: AsyncWebClient,
) -> None:
    async with listening(workspace, answering=say_nothing):
        view = (await slack.views_open(trigger_id=await trigger(people), view=form(external_id="mine")))["view"]
        entered = {"reason": {"why": {"value": "typed so far"}}}
        await people.call("POST", f"/people/approver/views/{view['id']}/actions", {"action_id": "why", "value": "x", "values": entered})

    again = (await slack.views_update(external_id="mine", view=form(external_id="mine"), hash=view["hash"]))["view"]
    assert (await refusal(slack.views_update(view_id=view["id"], view=form(), hash=view["hash"])))["error"] == "hash_conflict"
    assert again["state"]["values"]["reason"]["why"]["value"] == "x"
    with pytest.raises(SlackApiError, match="not_found"):
        await slack.views_update(view_id="V0GONE", view=form())


async def test_entering_what_a_form_does_not_ask_for_is_a_slip(workspace: Workspace, people: People, slack: AsyncWebClient) -> None:
    async with listening(workspace):
        view = (await slack.views_open(trigger_id=await trigger(people), view=form()))["view"]
        answer = await people.person("approver").submit(view["id"], {"nope": {"x": {"value": "1"}}})

    assert (answer["ok"], answer["error"]) == (False, "invalid_values")
    assert "reason/why" in answer["detail"]
