"""What stands inside blocks: texts, options, confirm dialogs, buttons, menus, inputs, rich text.

Limits are those of Slack's reference; a field that is not listed is refused, as Slack does.
"""

from typing import Any

from bot.workspace.block_kit.rules import (
    Problems,
    Rule,
    anything,
    array,
    boolean,
    choice,
    integer,
    maybe,
    note,
    shape,
    string,
    typed,
)

DAY = r"\d{4}-\d{2}-\d{2}"
MINUTE = r"\d{2}:\d{2}"
MOMENT = (1_000_000_000, 9_999_999_999)  # ten digits


def plain(most: int = 3000) -> Rule:
    """A plain_text object of so many characters."""
    return typed({"plain_text": shape({"type": anything, "text": string(most), "emoji": boolean}, required=("text",))})


def text(most: int = 3000) -> Rule:
    """A text object of either kind."""
    return typed(
        {
            "plain_text": shape({"type": anything, "text": string(most), "emoji": boolean}, required=("text",)),
            "mrkdwn": shape({"type": anything, "text": string(most), "verbatim": boolean}, required=("text",)),
        }
    )


def option(*, url: bool = False, mrkdwn: bool = False) -> Rule:
    words = text if mrkdwn else plain
    fields = {"text": words(75), "value": string(150), "description": words(75)} | ({"url": string(3000)} if url else {})
    return shape(fields, required=("text", "value"))


CONFIRM = shape(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30), "style": choice("primary", "danger")},
    required=("title", "text", "confirm", "deny"),
)
GROUP = shape({"label": plain(75), "options": array(option(), 1, 100)}, required=("label", "options"))
FILTER = shape(
    {
        "include": array(choice("im", "mpim", "private", "public"), 1, 4),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    }
)
DISPATCH = shape({"trigger_actions_on": array(choice("on_enter_pressed", "on_character_entered"), 1, 2)})
SLACK_FILE = shape({"id": string(255), "url": string(3000)}, one_of=("id", "url"))

ACTION = {"type": anything, "action_id": string(255)}
FOCUS = ACTION | {"focus_on_load": boolean}
MENU = FOCUS | {"placeholder": plain(150), "confirm": CONFIRM}
MANY = MENU | {"max_selected_items": integer(1, 100)}
INPUT = FOCUS | {"placeholder": plain(150), "dispatch_action_config": DISPATCH}
OPTIONS = {"options": array(option(), 1, 100), "option_groups": array(GROUP, 1, 100)}
IMAGE = {"type": anything, "alt_text": string(2000), "image_url": string(3000), "slack_file": SLACK_FILE}
FEEDBACK = shape({"text": plain(75), "value": string(2000), "accessibility_label": string(75)}, required=("text", "value"))


def _choices(fields: dict[str, Rule]) -> Rule:
    return shape(fields | OPTIONS, one_of=("options", "option_groups"))


BUTTON = shape(
    ACTION
    | {
        "text": plain(75),
        "value": string(2000, least=0),
        "url": string(3000),
        "style": choice("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": string(75),
        "agent_prompt": string(4000),
        "agent_prompt_display": anything,
        "visible_to_user_ids": array(string(255), 1, 100),
    },
    required=("text",),
)

ELEMENTS: dict[str, Rule] = {
    "button": BUTTON,
    "workflow_button": shape(
        ACTION
        | {
            "text": plain(75),
            "workflow": anything,
            "style": choice("primary", "danger"),
            "accessibility_label": string(75),
        },
        required=("text", "workflow"),
    ),
    "checkboxes": shape(
        FOCUS
        | {
            "options": array(option(mrkdwn=True), 1, 10),
            "initial_options": array(option(mrkdwn=True), 1, 10),
            "confirm": CONFIRM,
        },
        required=("options",),
    ),
    "radio_buttons": shape(
        FOCUS
        | {
            "options": array(option(mrkdwn=True), 1, 10),
            "initial_option": option(mrkdwn=True),
            "confirm": CONFIRM,
        },
        required=("options",),
    ),
    "overflow": shape(ACTION | {"options": array(option(url=True), 1, 5), "confirm": CONFIRM}, required=("options",)),
    "static_select": _choices(MENU | {"initial_option": option()}),
    "multi_static_select": _choices(MANY | {"initial_options": array(option(), 1, 100)}),
    "external_select": shape(MENU | {"initial_option": option(), "min_query_length": integer(0, 150)}),
    "multi_external_select": shape(MANY | {"initial_options": array(option(), 1, 100), "min_query_length": integer(0, 150)}),
    "users_select": shape(MENU | {"initial_user": string(255)}),
    "multi_users_select": shape(MANY | {"initial_users": array(string(255), 1, 100)}),
    "conversations_select": shape(
        MENU
        | {
            "initial_conversation": string(255),
            "default_to_current_conversation": boolean,
            "response_url_enabled": boolean,
            "filter": FILTER,
        }
    ),
    "multi_conversations_select": shape(
        MANY
        | {
            "initial_conversations": array(string(255), 1, 100),
            "default_to_current_conversation": boolean,
            "filter": FILTER,
        }
    ),
    "channels_select": shape(MENU | {"initial_channel": string(255), "response_url_enabled": boolean}),
    "multi_channels_select": shape(MANY | {"initial_channels": array(string(255), 1, 100)}),
    "datepicker": shape(MENU | {"initial_date": string(10, pattern=DAY)}),
    "timepicker": shape(MENU | {"initial_time": string(5, pattern=MINUTE), "timezone": string(255)}),
    "datetimepicker": shape(FOCUS | {"initial_date_time": integer(*MOMENT), "confirm": CONFIRM}),
    "plain_text_input": shape(
        INPUT
        | {
            "initial_value": string(3000, least=0),
            "multiline": boolean,
            "min_length": integer(0, 3000),
            "max_length": integer(1, 3000),
        }
    ),
    "number_input": shape(
        INPUT
        | {
            "is_decimal_allowed": boolean,
            "initial_value": string(255),
            "min_value": string(255),
            "max_value": string(255),
        },
        required=("is_decimal_allowed",),
    ),
    "email_text_input": shape(INPUT | {"initial_value": string(3000)}),
    "url_text_input": shape(INPUT | {"initial_value": string(3000)}),
    "rich_text_input": shape(INPUT | {"initial_value": anything, "min_lines": integer(1, 100), "max_lines": integer(1, 100)}),
    "file_input": shape(ACTION | {"filetypes": array(string(255), 1, 100), "max_files": integer(1, 10)}),
    "feedback_buttons": shape(
        ACTION | {"positive_button": FEEDBACK, "negative_button": FEEDBACK},
        required=("positive_button", "negative_button"),
    ),
    "icon_button": shape(
        ACTION
        | {
            "icon": choice("trash"),
            "text": plain(75),
            "value": string(2000),
            "accessibility_label": string(75),
            "confirm": CONFIRM,
            "visible_to_user_ids": array(string(255), 1, 100),
        },
        required=("icon", "text"),
    ),
    "image": shape(IMAGE, required=("alt_text",), one_of=("image_url", "slack_file")),
}

MENUS = ("static_select", "external_select", "users_select", "conversations_select", "channels_select")
MENUS_OF_MANY = tuple(f"multi_{kind}" for kind in MENUS)
PICKERS = ("datepicker", "timepicker", "datetimepicker")
IN_ACTIONS = ("button", "workflow_button", "checkboxes", "radio_buttons", "overflow", "rich_text_input", *MENUS, *MENUS_OF_MANY, *PICKERS)
IN_SECTION = ("button", "workflow_button", "checkboxes", "radio_buttons", "overflow", "image", *MENUS, *MENUS_OF_MANY, *PICKERS)
IN_INPUT = (
    "checkboxes",
    "radio_buttons",
    *MENUS,
    *MENUS_OF_MANY,
    *PICKERS,
    "plain_text_input",
    "number_input",
    "email_text_input",
    "url_text_input",
    "rich_text_input",
    "file_input",
)

STYLE = shape(dict.fromkeys(("bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink"), boolean))


def _inline(fields: dict[str, Rule], *required: str) -> Rule:
    return shape({"type": anything, "style": STYLE} | fields, required=required)


INLINE: dict[str, Rule] = {
    "text": _inline({"text": string(100_000)}, "text"),
    "link": _inline({"url": string(3000), "text": string(100_000, least=0), "unsafe": boolean}, "url"),
    "emoji": _inline({"name": string(255), "unicode": string(255), "skin_tone": integer(1, 6)}, "name"),
    "user": _inline({"user_id": string(255)}, "user_id"),
    "usergroup": _inline({"usergroup_id": string(255)}, "usergroup_id"),
    "channel": _inline({"channel_id": string(255)}, "channel_id"),
    "team": _inline({"team_id": string(255)}, "team_id"),
    "broadcast": _inline({"range": choice("here", "channel", "everyone")}, "range"),
    "color": _inline({"value": string(7)}, "value"),
    "date": _inline(
        {
            "timestamp": integer(0, MOMENT[1]),
            "format": string(255),
            "url": string(3000),
            "fallback": string(3000),
        },
        "timestamp",
        "format",
    ),
}
WORDS = array(typed(INLINE), 0, 10_000)
SECTION = shape({"type": anything, "elements": WORDS}, required=("elements",))
BORDER = integer(0, 1)

RICH_TEXT: dict[str, Rule] = {
    "rich_text_section": SECTION,
    "rich_text_quote": shape({"type": anything, "elements": WORDS, "border": BORDER}, required=("elements",)),
    "rich_text_preformatted": shape(
        {
            "type": anything,
            "elements": WORDS,
            "border": BORDER,
            "language": string(255),
        },
        required=("elements",),
    ),
    "rich_text_list": shape(
        {
            "type": anything,
            "elements": array(typed({"rich_text_section": SECTION}), 0, 1000),
            "style": choice("bullet", "ordered"),
            "indent": integer(0, 8),
            "offset": integer(0, 1_000_000),
            "border": BORDER,
        },
        required=("elements", "style"),
    ),
}


RICH_TEXT_BLOCK = shape(
    {"type": choice("rich_text"), "block_id": string(255), "elements": array(typed(RICH_TEXT), 0, 1000)},
    required=("type", "elements"),
)


def number(value: Any, pointer: str, problems: Problems) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        note(problems, pointer, "must be a number", kind="type", expected="number", got=type(value).__name__)


CELL: dict[str, Rule] = {
    "raw_text": shape({"type": anything, "text": string(10_000, least=0)}, required=("text",)),
    "raw_number": shape({"type": anything, "value": number, "text": string(10_000, least=0)}, required=("value",)),
    "rich_text": RICH_TEXT_BLOCK,
}
COLUMN = maybe(shape({"align": choice("left", "center", "right"), "is_wrapped": boolean}))
SOURCE = typed({"url": shape({"type": anything, "url": string(3000), "text": string(3000)}, required=("url", "text"))})
