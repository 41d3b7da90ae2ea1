"""The manifest and the listeners know of the same things, and the app asks for no more than it uses."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from handlers import register, slack
from handlers.views import ids

ROOT = Path(__file__).parents[2]

# Why each scope is asked for: the Slack methods and events in our code that need it.
NEEDED_FOR = {
    "app_mentions:read": ("event app_mention",),
    "channels:history": ("event message.channels", "conversations_history", "conversations_replies"),
    "channels:read": ("conversations_info", "conversations_list", "conversations_members"),
    "chat:write": ("chat_postMessage", "chat_update", "chat_postEphemeral"),
    "commands": ("commands and shortcuts",),
    "groups:history": ("event message.groups", "conversations_history", "conversations_replies"),
    "groups:read": ("conversations_info", "conversations_list", "conversations_members"),
    "im:history": ("event message.im", "conversations_history", "conversations_replies"),
    "im:read": ("conversations_info",),
    "reactions:write": ("reactions_add",),
    "usergroups:read": ("usergroups_list", "usergroups_users_list"),
    "users:read": ("users_info", "users_list"),
}
NEEDS_NO_SCOPE = {"auth_test", "views_open", "views_push", "views_update", "views_publish"}


@pytest.fixture
def manifest() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "manifest.yml").read_text())
    return read


def test_every_event_has_a_listener_and_every_listener_its_event(manifest: dict[str, Any]) -> None:
    assert set(manifest["settings"]["event_subscriptions"]["bot_events"]) == set(register.EVENTS)


def test_every_command_has_a_listener_and_every_listener_its_command(manifest: dict[str, Any]) -> None:
    named = {command["command"] for command in manifest["features"]["slash_commands"]}

    assert named == set(slack.command_names("").values()) == {f"/{name}" for name in register.COMMANDS}


def test_every_shortcut_has_a_listener_and_every_listener_its_shortcut(manifest: dict[str, Any]) -> None:
    assert {shortcut["callback_id"] for shortcut in manifest["features"]["shortcuts"]} == set(register.SHORTCUTS)


def test_every_scope_has_a_reason_and_every_call_its_scope(manifest: dict[str, Any]) -> None:
    families = "chat|conversations|users|usergroups|views|reactions|files|auth|im|team|bots|pins"
    called = set()
    for path in (ROOT / "handlers").glob("*.py"):
        called |= set(re.findall(rf"\.((?:{families})_\w+)\(", path.read_text()))
    reasons = {reason for needs in NEEDED_FOR.values() for reason in needs}
    events = {f"event {name}" for name in manifest["settings"]["event_subscriptions"]["bot_events"]} - {"event app_home_opened"}

    assert set(manifest["oauth_config"]["scopes"]["bot"]) == set(NEEDED_FOR)
    assert called - NEEDS_NO_SCOPE == {reason for reason in reasons if "_" in reason and not reason.startswith("event")}
    assert {reason for reason in reasons if reason.startswith("event ")} == events


def test_it_keeps_slacks_limits(manifest: dict[str, Any]) -> None:
    shown = manifest["display_information"]
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert 175 <= len(shown["long_description"]) <= 4000
    assert all(len(shortcut["name"]) <= 24 and len(shortcut["description"]) <= 150 for shortcut in manifest["features"]["shortcuts"])
    assert all(len(command["command"]) <= 32 for command in manifest["features"]["slash_commands"])
    assert manifest["settings"]["socket_mode_enabled"]
    assert manifest["settings"]["interactivity"]["is_enabled"]
    assert manifest["features"]["app_home"]["home_tab_enabled"]


NOT_YET = {ids.RUN_PLAN_AGAIN, ids.NOTE_KEEP}


def test_every_button_has_a_listener_or_is_known_as_not_offered_yet() -> None:
    assert set(ids.LABELS) - NOT_YET <= set(register.PRESSES)
    assert not NOT_YET & set(register.PRESSES)


def test_every_form_that_can_be_sent_has_a_listener() -> None:
    forms = {value for name, value in vars(ids).items() if name.startswith("VIEW_")}

    assert forms == set(register.SUBMISSIONS) | set(register.ANSWERS)
    assert not set(register.SUBMISSIONS) & set(register.ANSWERS)
