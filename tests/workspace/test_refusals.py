"""What Slack refuses, refused here with the same words; the limits of Block Kit one by one."""

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.doubles.town import People
from tests.workspace.desk import button, card, form, refusal

Blocks = list[dict[str, Any]]


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def section(text: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def actions(*elements: Any, **more: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements), **more}


def select(options: Blocks) -> dict[str, Any]:
    return {"type": "static_select", "action_id": "s", "placeholder": plain("Pick"), "options": options}


def option(text: str = "a", value: str = "a") -> dict[str, Any]:
    return {"text": plain(text), "value": value}


TASK = {"type": "task_card", "task_id": "1", "title": "t", "status": "pending"}
GROUP = {"label": plain("g"), "options": [option()]}
ENTRY = {"type": "plain_text_input", "action_id": "i"}
TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}

BAD: list[tuple[str, Blocks, str]] = [
    ("51 blocks", [section()] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    ("long section", [section("x" * 3001)], "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
    ("empty text", [section("")], "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    ("no text, no fields", [{"type": "section"}], "[json-pointer:/blocks/0]"),
    ("11 fields", [{"type": "section", "fields": [plain("x")] * 11}], "no more than 10 items allowed [json-pointer:/blocks/0/fields]"),
    ("long field", [{"type": "section", "fields": [plain("x" * 2001)]}], "must be less than 2001 characters"),
    ("long header", [{"type": "header", "text": plain("x" * 151)}], "must be less than 151 characters [json-pointer:/blocks/0/text/text]"),
    ("mrkdwn header", [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "unsupported type: mrkdwn"),
    ("long button", [actions(button("x" * 76))], "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"),
    ("long value", [actions(button(value="x" * 2001))], "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]"),
    ("green button", [actions(button() | {"style": "green"})], "[json-pointer:/blocks/0/elements/0/style]"),
    ("26 elements", [actions(*[button(action_id=str(n)) for n in range(26)])], "no more than 25 items allowed"),
    ("same action id", [actions(button(), button())], "[json-pointer:/blocks/0/elements/1/action_id]"),
    ("same block id", [section(block_id="b"), section(block_id="b")], "[json-pointer:/blocks/1/block_id]"),
    ("unknown block", [{"type": "sparkle"}], "unsupported type: sparkle [json-pointer:/blocks/0/type]"),
    ("unknown property", [section(sparkle=1)], "invalid additional property: sparkle [json-pointer:/blocks/0]"),
    ("not an object", ["hello"], "must provide an object [json-pointer:/blocks/0]"),  # type: ignore[list-item]
    ("11 in context", [{"type": "context", "elements": [plain("x")] * 11}], "no more than 10 items allowed"),
    ("long option", [actions(select([option("x" * 76)]))], "must be less than 76 characters"),
    ("long option value", [actions(select([option(value="x" * 151)]))], "must be less than 151 characters"),
    ("101 options", [actions(select([option(value=str(n)) for n in range(101)]))], "no more than 100 items allowed"),
    ("6 in overflow", [actions({"type": "overflow", "action_id": "o", "options": [option()] * 6})], "no more than 5 items allowed"),
    ("image without alt", [{"type": "image", "image_url": "http://x/y.png"}], "missing required field: alt_text"),
    ("long markdown", [{"type": "markdown", "text": "x" * 12_001}], "must be less than 12001 characters"),
    ("much markdown", [{"type": "markdown", "text": "x" * 7_000}] * 2, "must be less than 12001 characters together"),
    ("bad status", [TASK | {"status": "soon"}], "[json-pointer:/blocks/0/status]"),
    ("two plans", [{"type": "plan", "title": "p", "tasks": [TASK]}] * 2, "Cannot have more than 1 plan block"),
    ("51 tasks", [{"type": "plan", "title": "p", "tasks": [TASK] * 51}], "no more than 50 items allowed"),
    ("plan with a text object", [{"type": "plan", "title": plain("p")}], "must be a string [json-pointer:/blocks/0/title]"),
    ("alert in a message", [{"type": "alert", "text": plain("x")}], "unsupported type: alert"),
    ("options and groups", [actions(select([option()]) | {"option_groups": [GROUP]})], "exactly one of"),
    ("input without label", [{"type": "input", "element": ENTRY}], "missing required field: label"),
]


@pytest.mark.parametrize(("blocks", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
async def test_bad_blocks_are_refused_with_a_pointer(slack: AsyncWebClient, blocks: Blocks, words: str) -> None:
    body = await refusal(slack.chat_postMessage(channel="C0OPS", text="x", blocks=blocks))

    assert body["error"] == "invalid_blocks"
    assert any(words in error for error in body["errors"]), body["errors"]
    assert body["response_metadata"]["messages"] == [f"[ERROR] {error}" for error in body["errors"]]
    checked = await refusal(slack.blocks_validate(blocks=blocks))
    assert checked["errors"][0]["pointer"].startswith("/blocks")


async def test_two_tables_have_an_error_of_their_own(slack: AsyncWebClient) -> None:
    body = await refusal(slack.chat_postMessage(channel="C0OPS", text="x", blocks=[TABLE, TABLE]))

    assert (body["error"], body["errors"]) == ("invalid_attachments", ["only_one_table_allowed"])


async def test_what_is_just_within_the_limits_is_taken(slack: AsyncWebClient) -> None:
    blocks = [
        section("x" * 3000),
        {"type": "header", "text": plain("x" * 150)},
        actions(button("x" * 75, value="x" * 2000)),
        {"type": "plan", "title": "p", "tasks": [TASK]},
        TABLE,
        *[{"type": "divider"}] * 45,
    ]

    assert (await slack.blocks_validate(blocks=blocks))["ok"]
    assert (await slack.chat_postMessage(channel="C0OPS", text="x", blocks=blocks))["ok"]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ({"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": "C0PRIVATE", "text": "x"}, "channel_not_found"),
        ({"channel": "C0OPS"}, "no_text"),
        ({"channel": "C0OPS", "text": "x", "thread_ts": "1.000000"}, "invalid_thread_ts"),
        ({"channel": "C0OPS", "text": "x", "blocks": "not json"}, "invalid_blocks_format"),
        ({"channel": "C0OPS", "text": "x", "metadata": {"event_type": "a"}}, "invalid_metadata_format"),
        ({"channel": "C0OPS", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ({"text": "x"}, "invalid_arguments"),
    ],
)
async def test_a_post_is_refused(slack: AsyncWebClient, call: dict[str, Any], error: str) -> None:
    assert (await refusal(slack.api_call("chat.postMessage", json=call)))["error"] == error


async def test_a_channel_that_the_bot_left_out_of_is_not_written_to(slack: AsyncWebClient, people: People) -> None:
    """A private channel without the bot does not exist for it, whatever it asks."""
    assert (await refusal(slack.conversations_info(channel="C0PRIVATE")))["error"] == "channel_not_found"
    assert (await refusal(slack.conversations_history(channel="C0PRIVATE")))["error"] == "channel_not_found"
    assert (await refusal(slack.conversations_join(channel="C0PRIVATE")))["error"] == "channel_not_found"


async def test_updates_are_refused_for_others_messages_gone_ones_and_long_text(slack: AsyncWebClient, people: People) -> None:
    theirs = await people.person("member").say("#ops", "mine")
    own = (await slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]

    assert (await refusal(slack.chat_update(channel="C0OPS", ts=theirs, text="y")))["error"] == "cant_update_message"
    assert (await refusal(slack.chat_delete(channel="C0OPS", ts=theirs)))["error"] == "cant_delete_message"
    assert (await refusal(slack.chat_update(channel="C0OPS", ts="1.000000", text="y")))["error"] == "message_not_found"
    assert (await refusal(slack.chat_update(channel="C0OPS", ts=own, text="y" * 4001)))["error"] == "msg_too_long"


async def test_a_long_post_is_cut_and_not_refused(slack: AsyncWebClient) -> None:
    posted = await slack.chat_postMessage(channel="C0OPS", text="x" * 41_000)

    assert len(posted["message"]["text"]) == 40_000


async def test_a_private_message_needs_its_reader_in_the_channel(slack: AsyncWebClient) -> None:
    assert (await refusal(slack.chat_postEphemeral(channel="C0OPS", user="U0PARTNER", text="x")))["error"] == "user_not_in_channel"


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (form(title=plain("x" * 25)), "must be less than 25 characters [json-pointer:/view/title/text]"),
        (form(private_metadata="x" * 3001), "must be less than 3001 characters [json-pointer:/view/private_metadata]"),
        (form(submit=None), "must define `submit` to use an `input` block in modals"),
        (form(blocks=[{"type": "markdown", "text": "x"}]), "unsupported type: markdown [json-pointer:/view/blocks/0/type]"),
        (form(blocks=[section()] * 101), "no more than 100 items allowed [json-pointer:/view/blocks]"),
        (form(callback_id="x" * 256), "must be less than 256 characters [json-pointer:/view/callback_id]"),
        ({"type": "home", "blocks": []}, "unsupported type: home"),
    ],
)
async def test_bad_modals_are_refused_before_their_trigger_is_used(slack: AsyncWebClient, view: dict[str, Any], words: str) -> None:
    body = await refusal(slack.api_call("views.open", json={"trigger_id": "any", "view": view}))

    assert body["error"] == "invalid_arguments"
    assert any(words in message for message in body["response_metadata"]["messages"]), body


async def test_people_act_only_where_they_are(people: People) -> None:
    async def error(user: str, channel: str) -> str:
        answer = await people.call("POST", f"/people/{user}/messages", {"channel": channel, "text": "x"})
        return str(answer.get("error"))

    assert await error("partner", "#ops") == "channel_not_found"
    assert await error("guest", "#audit") == "channel_not_found"
    assert await error("deactivated", "#ops") == "account_inactive"
    assert await error("nobody", "#ops") == "user_not_found"
    assert await error("partner", "#partners") == "None"


async def test_commands_are_those_of_the_manifest_and_not_for_threads_or_strangers(people: People) -> None:
    async def error(user: str, **body: str) -> str:
        return str((await people.call("POST", f"/people/{user}/commands", body)).get("error"))

    assert await error("requester", channel="#ops", command="/nothing") == "unknown_command"
    assert await error("requester", channel="#ops", command="/plan", thread_ts="1.000000") == "command_in_thread"
    assert await error("partner", channel="#partners", command="/plan") == "unknown_command"


def test_a_card_of_this_test_is_itself_valid() -> None:
    from bot.workspace.block_kit.limits import check_blocks

    assert check_blocks(card()) == []
