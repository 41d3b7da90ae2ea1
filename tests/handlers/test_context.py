"""Payloads are read once, and read right."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.errors import Refused
from handlers import context

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BOT = "U0PULLCORD"
SAID = {"user": "U0ADA", "text": "x", "ts": "1700.0001"}


def event(**fields: Any) -> dict[str, Any]:
    told = {"type": "message", "channel": "C0OPS", "channel_type": "channel", "user": "U0ADA", "ts": "1700.0005", "text": "hello", **fields}
    return {"team_id": "T0HOME", "event_id": "Ev1", "event": {name: value for name, value in told.items() if value is not None}}


def press(**container: Any) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "user": {"id": "U0ADA", "team_id": "T0PARTNER"},
        "team": {"id": "T0HOME"},
        "trigger_id": "1.2.x",
        "container": {"type": "message", "message_ts": "1700.0009", "channel_id": "C0OPS", **container},
        "channel": {"id": "C0OPS"},
        "actions": [{"type": "button", "action_id": "review.approve", "value": "R-7K2Q.2"}],
    }


def test_C010_the_root_of_a_reply_is_its_thread_and_of_a_first_message_itself() -> None:
    reply = context.message(event(thread_ts="1700.0001"), bot_user_id=BOT)
    first = context.message(event(ts="1701.0001", channel="D0ADA", channel_type="im"), bot_user_id=BOT)

    assert reply is not None
    assert (reply.root, reply.thread_ts, reply.is_direct) == ("1700.0001", "1700.0001", False)
    assert first is not None
    assert (first.root, first.thread_ts, first.is_direct) == ("1701.0001", None, True)


def test_C010_keys_name_team_channel_and_timestamp() -> None:
    keys = set()
    for told in (event(), event(channel="C0DEV"), event(ts="1700.0006")):
        said = context.message(told, bot_user_id=BOT)
        assert said is not None
        keys.add(said.event_key)

    assert keys == {"T0HOME:C0OPS:1700.0005", "T0HOME:C0DEV:1700.0005", "T0HOME:C0OPS:1700.0006"}


def test_C001_a_mention_and_the_message_of_the_same_text_have_one_key() -> None:
    mention = event(text=f"<@{BOT}> go")
    mention["event"] |= {"type": "app_mention"}
    said = [context.message(told, bot_user_id=BOT) for told in (mention, event(text=f"<@{BOT}> go"))]

    assert {each.event_key for each in said if each} == {"T0HOME:C0OPS:1700.0005"}
    assert all(each is not None and each.text == "go" and each.calls_us for each in said)


@pytest.mark.parametrize(
    "told",
    [
        event(bot_id="B0OTHER"),
        event(subtype="bot_message", user=None),
        event(subtype="channel_join"),
        event(subtype="message_replied", hidden=True),
        event(user=None),
    ],
)
def test_C011_what_no_person_said_is_no_message(told: dict[str, Any]) -> None:
    assert context.message(told, bot_user_id=BOT) is None


def test_C011_our_own_redraws_and_link_previews_are_no_edits() -> None:
    ours = {"user": BOT, "bot_id": "B0PULLCORD", "text": "T", "ts": "1700.0001", "edited": {"user": BOT, "ts": "2"}}
    preview = {"user": "U0ADA", "text": "see https://a.example", "ts": "1700.0001"}

    for after in (ours, {key: value for key, value in ours.items() if key != "edited"}, preview):
        told = event(subtype="message_changed", user=None, text=None, hidden=True, message=after, previous_message=dict(after))
        assert context.change(told, bot_user_id=BOT) is None


def test_C016_an_edit_with_the_same_words_is_none() -> None:
    before = {"user": "U0ADA", "text": "delete it", "ts": "1700.0001"}
    after = {**before, "edited": {"user": "U0ADA", "ts": "2"}}

    same = context.change(event(subtype="message_changed", message=after, previous_message=before), bot_user_id=BOT)
    other = context.change(event(subtype="message_changed", message={**after, "text": "keep it"}, previous_message=before), bot_user_id=BOT)

    assert same is None
    assert other == context.Change(channel="C0OPS", ts="1700.0001", actor="U0ADA", text="keep it")


@pytest.mark.parametrize(
    "told",
    [
        event(subtype="message_deleted", user=None, deleted_ts="1700.0001", previous_message=dict(SAID)),
        event(
            subtype="message_changed",
            user=None,
            message={"subtype": "tombstone", "user": "USLACKBOT", "ts": "1700.0001"},
            previous_message=dict(SAID),
        ),
    ],
)
def test_C015_a_deletion_names_its_author_in_the_nested_message(told: dict[str, Any]) -> None:
    assert context.change(told, bot_user_id=BOT) == context.Change(channel="C0OPS", ts="1700.0001", actor="U0ADA", text=None)


def test_a_press_carries_ids_and_the_pressers_own_workspace() -> None:
    read = context.press(press(thread_ts="1700.0001"), received_at=NOW)

    assert (read.target.run, read.target.revision) == ("R-7K2Q", 2)
    assert (read.actor, read.team, read.received_at) == ("U0ADA", "T0PARTNER", NOW)
    assert read.place == context.Place(actor="U0ADA", channel="C0OPS", thread_ts="1700.0001")


def test_a_press_on_a_root_card_is_answered_where_the_presser_looks() -> None:
    assert context.press(press(thread_ts="1700.0009"), received_at=NOW).place.thread_ts is None


def test_a_value_that_is_none_of_ours_is_refused_and_not_read() -> None:
    body = press()
    body["actions"][0]["value"] = '{"approved": true}'

    with pytest.raises(Refused, match="unknown_run"):
        _ = context.press(body, received_at=NOW).target


def test_a_submission_gives_what_was_typed_and_chosen_by_block() -> None:
    values = {
        "why": {"value": {"type": "radio_buttons", "selected_option": {"value": "risk"}}},
        "words": {"value": {"type": "plain_text_input", "value": "a &lt; b"}},
        "channel": {"value": {"type": "conversations_select", "selected_conversation": "C0OPS"}},
        "empty": {"value": {"type": "plain_text_input", "value": None}},
    }
    body = {
        "type": "view_submission",
        "user": {"id": "U0ADA", "team_id": "T0HOME"},
        "view": {"id": "V1", "callback_id": "review.cancel", "private_metadata": "R-7K2Q.1", "state": {"values": values}},
    }
    sent = context.submission(body, received_at=NOW)

    assert sent.values == {"why": "risk", "words": "a &lt; b", "channel": "C0OPS"}  # Slack does not escape what is typed into a form
    assert sent.target.run == "R-7K2Q"
