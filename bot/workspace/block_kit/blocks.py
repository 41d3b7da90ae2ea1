"""Which blocks there are, what each may hold, and on which surface it may stand."""

from bot.workspace.block_kit.elements import (
    BUTTON,
    CELL,
    COLUMN,
    ELEMENTS,
    IMAGE,
    IN_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    RICH_TEXT_BLOCK,
    SOURCE,
    plain,
    text,
)
from bot.workspace.block_kit.rules import Problems, Rule, anything, array, boolean, choice, integer, shape, string, typed

BLOCK: dict[str, Rule] = {"type": anything, "block_id": string(255)}
PICTURE = typed({"image": ELEMENTS["image"]})
TASK = {
    "task_id": string(255),
    "title": string(3000),
    "status": choice("pending", "in_progress", "complete", "error"),
    "details": RICH_TEXT_BLOCK,
    "output": RICH_TEXT_BLOCK,
    "sources": array(SOURCE, 0, 100),
}
TASK_CARD = shape(BLOCK | TASK, required=("task_id", "title", "status"))
CARD = shape(
    BLOCK
    | {
        "hero_image": PICTURE,
        "icon": PICTURE,
        "slack_icon": anything,
        "title": text(150),
        "subtitle": text(150),
        "subtext": text(150),
        "body": text(200),
        "actions": array(typed({"button": BUTTON}), 1, 2),
    },
    any_of=("hero_image", "title", "actions", "body"),
)
SERIES = shape({"name": string(75), "data": array(anything, 1, 20)}, required=("name", "data"))
IN_CONTAINER = ("actions", "context", "divider", "file", "header", "image", "input", "rich_text", "section", "table", "video")


def _child(value: object, pointer: str, problems: Problems) -> None:
    typed(BLOCKS, allowed=IN_CONTAINER)(value, pointer, problems)


BLOCKS: dict[str, Rule] = {
    "section": shape(
        BLOCK
        | {
            "text": text(3000),
            "fields": array(text(2000), 1, 10),
            "accessory": typed(ELEMENTS, allowed=IN_SECTION),
            "expand": boolean,
        },
        any_of=("text", "fields"),
    ),
    "actions": shape(BLOCK | {"elements": array(typed(ELEMENTS, allowed=IN_ACTIONS), 1, 25)}, required=("elements",)),
    "context": shape(
        BLOCK
        | {
            "elements": array(typed({"plain_text": plain(), "mrkdwn": text(), "image": ELEMENTS["image"]}), 1, 10),
        },
        required=("elements",),
    ),
    "context_actions": shape(
        BLOCK
        | {
            "elements": array(typed(ELEMENTS, allowed=("feedback_buttons", "icon_button")), 1, 5),
        },
        required=("elements",),
    ),
    "divider": shape(BLOCK),
    "header": shape(BLOCK | {"text": plain(150), "level": integer(1, 4)}, required=("text",)),
    "image": shape(BLOCK | IMAGE | {"title": plain(2000)}, required=("alt_text",), one_of=("image_url", "slack_file")),
    "input": shape(
        BLOCK
        | {
            "label": plain(2000),
            "element": typed(ELEMENTS, allowed=IN_INPUT),
            "hint": plain(2000),
            "optional": boolean,
            "dispatch_action": boolean,
        },
        required=("label", "element"),
    ),
    "markdown": shape(BLOCK | {"text": string(12_000)}, required=("text",)),
    "rich_text": RICH_TEXT_BLOCK,
    "table": shape(
        BLOCK
        | {
            "rows": array(array(typed(CELL), 1, 20), 1, 100),
            "column_settings": array(COLUMN, 1, 20),
        },
        required=("rows",),
    ),
    "data_table": shape(
        BLOCK
        | {
            "caption": string(3000),
            "rows": array(array(typed(CELL), 1, 20), 2, 101),
            "page_size": integer(1, 100),
            "row_header_column_index": integer(0, 19),
        },
        required=("caption", "rows"),
    ),
    "data_visualization": shape(
        BLOCK
        | {
            "title": string(50),
            "chart": anything,
            "chart_type": anything,
            "series": array(SERIES, 1, 6),
            "labels": array(anything, 1, 20),
            "segments": array(anything, 1, 6),
        },
        required=("title",),
    ),
    "plan": shape(BLOCK | {"title": string(3000), "tasks": array(typed({"task_card": TASK_CARD}), 0, 50)}, required=("title",)),
    "task_card": TASK_CARD,
    "alert": shape(BLOCK | {"text": text(200), "level": choice("default", "info", "warning", "error", "success")}, required=("text",)),
    "card": CARD,
    "carousel": shape(BLOCK | {"elements": array(typed({"card": CARD}), 1, 10)}, required=("elements",)),
    "container": shape(
        BLOCK
        | {
            "title": text(150),
            "rich_text_title": RICH_TEXT_BLOCK,
            "subtitle": text(150),
            "icon": PICTURE,
            "child_blocks": array(_child, 1, 10),
            "width": choice("narrow", "standard", "wide", "full"),
            "is_collapsible": boolean,
            "default_collapsed": boolean,
            "has_header_divider": boolean,
        },
        required=("child_blocks",),
        one_of=("title", "rich_text_title"),
    ),
    "video": shape(
        BLOCK
        | {
            "title": plain(199),
            "alt_text": string(2000),
            "video_url": string(3000),
            "thumbnail_url": string(3000),
            "title_url": string(3000),
            "description": plain(),
            "provider_icon_url": string(3000),
            "provider_name": string(255),
            "author_name": string(49),
        },
        required=("title", "alt_text", "video_url", "thumbnail_url"),
    ),
    "file": shape(BLOCK | {"external_id": string(255), "source": choice("remote")}, required=("external_id", "source")),
    "call": shape(BLOCK | {"call_id": string(255), "api_decoration_available": boolean, "call": anything}, required=("call_id",)),
    "auth_provider": shape(
        BLOCK
        | {
            "value": string(150),
            "name": string(75),
            "is_connected": boolean,
            "description": string(150),
            "icon_url": string(3000),
            "auth_url": string(3000),
            "disconnect_url": string(3000),
            "connected_identity": string(75),
            "connected_context": string(75),
            "accessory": anything,
            "fallback": anything,
        },
        required=("value", "name", "is_connected"),
    ),
}

EVERYWHERE = ("section", "actions", "context", "divider", "header", "image", "input", "rich_text", "card", "video")
SURFACES: dict[str, tuple[str, ...]] = {
    "message": (
        *EVERYWHERE,
        "context_actions",
        "markdown",
        "table",
        "data_table",
        "data_visualization",
        "plan",
        "task_card",
        "carousel",
        "container",
        "file",
        "call",
        "auth_provider",
    ),
    "modal": (*EVERYWHERE, "alert"),
    "home": (*EVERYWHERE, "table", "data_table", "carousel", "container"),
}
