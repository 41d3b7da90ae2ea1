"""Is this payload within Slack's limits? The checks of single blocks, the rules across blocks, and the error bodies.

The same checker answers `blocks.validate`, posting and `views.*`, so what the first lets pass the others do not refuse.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from bot.workspace.block_kit.blocks import BLOCKS, SURFACES
from bot.workspace.block_kit.elements import plain
from bot.workspace.block_kit.rules import Problems, Rule, anything, array, boolean, choice, maybe, note, shape, string, typed
from bot.workspace.records import Json
from bot.workspace.wire import SlackError

MOST_BLOCKS = {"message": 50, "modal": 100, "home": 100}
MOST_MARKDOWN = 12_000
MOST_IN_TABLES = 10_000
MOST_VIEW_BYTES = 250_000
ONE_PER_MESSAGE = {"plan": "Cannot have more than 1 plan block", "table": "only_one_table_allowed"}

_VIEW: dict[str, Rule] = {
    "type": choice("modal", "home"),
    "blocks": anything,
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
    "private_metadata": string(3000, least=0),
}
VIEW = {
    "modal": shape(
        _VIEW
        | {
            "title": plain(24),
            "submit": maybe(plain(24)),
            "close": maybe(plain(24)),
            "clear_on_close": boolean,
            "notify_on_close": boolean,
            "submit_disabled": boolean,
        },
        required=("type", "title", "blocks"),
    ),
    "home": shape(_VIEW, required=("type", "blocks")),
}


def check_blocks(blocks: Any, *, surface: str = "message", pointer: str = "/blocks") -> Problems:
    """Everything that Slack would say against these blocks on that surface (message, modal, home)."""
    problems: Problems = []
    array(typed(BLOCKS, allowed=SURFACES[surface]), 0, MOST_BLOCKS[surface])(blocks, pointer, problems)
    if not problems:  # the rules across blocks may then rely on each block's shape
        problems += _across(blocks, pointer)
    return problems


def check_view(view: Any) -> Problems:
    """Everything that Slack would say against this modal or Home view."""
    problems: Problems = []
    typed(VIEW)(view, "/view", problems)
    if problems:
        return problems
    problems += check_blocks(view["blocks"], surface=view["type"], pointer="/view/blocks")
    if view["type"] == "modal" and not view.get("submit") and any(block.get("type") == "input" for block in view["blocks"]):
        note(problems, "/view", "must define `submit` to use an `input` block in modals", kind="required", expected="submit")
    return problems


def refuse_blocks(problems: Problems) -> SlackError:
    """The answer of chat.* to bad blocks."""
    if any("only_one_table_allowed" in problem.message for problem in problems):
        return SlackError("invalid_attachments", errors=["only_one_table_allowed"], response_metadata={"messages": _messages(problems)})
    return SlackError("invalid_blocks", errors=[str(problem) for problem in problems], response_metadata={"messages": _messages(problems)})


def refuse_view(problems: Problems) -> SlackError:
    """The answer of views.* to a bad view."""
    first = "[ERROR] failed to match all allowed schemas [json-pointer:/view]"
    return SlackError("invalid_arguments", response_metadata={"messages": [first, *_messages(problems)]})


def require_blocks(blocks: Any) -> list[Json]:
    """The blocks of a message, checked. Raises SlackError."""
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    problems = check_blocks(blocks)
    if problems:
        raise refuse_blocks(problems)
    return blocks


def require_view(view: Any, *, kind: str) -> Json:
    """A view of that kind (modal, home), checked. Raises SlackError."""
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", response_metadata={"messages": ["[ERROR] missing required field: view"]})
    if len(json.dumps(view)) > MOST_VIEW_BYTES:
        raise SlackError("view_too_large")
    problems = check_view(view)
    if not problems and view["type"] != kind:
        note(problems, "/view/type", f"unsupported type: {view['type']}", kind="enum", expected=[kind], got=view["type"])
    if problems:
        raise refuse_view(problems)
    return view


def structured(problems: Problems) -> list[Json]:
    """The `errors` of blocks.validate."""
    return [
        {
            "code": problem.code,
            "message": problem.message,
            "field": problem.pointer.rpartition("/")[2],
            "pointer": problem.pointer,
            "constraint": dict(problem.constraint),
        }
        for problem in problems
    ]


def parts(node: Any, pointer: str = "") -> Iterator[tuple[str, Json]]:
    """Every object inside, depth first, with its pointer."""
    if isinstance(node, dict):
        yield pointer, node
        for name, value in node.items():
            yield from parts(value, f"{pointer}/{name}")
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from parts(value, f"{pointer}/{place}")


def _messages(problems: Problems) -> list[str]:
    return [f"[ERROR] {problem}" for problem in problems]


def _across(blocks: list[Json], pointer: str) -> Problems:
    problems: Problems = []
    inside = [list(parts(block, f"{pointer}/{place}")) for place, block in enumerate(blocks)]
    _unique(((found[0][0], block.get("block_id")) for found, block in zip(inside, blocks, strict=True)), "block_id", problems)
    for found in inside:
        _unique(((at, part.get("action_id")) for at, part in found), "action_id", problems)
    for kind, words in ONE_PER_MESSAGE.items():
        for place in [place for place, block in enumerate(blocks) if block["type"] == kind][1:]:
            note(problems, f"{pointer}/{place}", words, kind="max_items", expected=1, got=kind)
    _sum(blocks, "markdown", MOST_MARKDOWN, pointer, problems)
    _sum(blocks, "table", MOST_IN_TABLES, pointer, problems)
    focused = [at for found in inside for at, part in found if part.get("focus_on_load")]
    for at in focused[1:]:
        note(problems, f"{at}/focus_on_load", "only one element may have focus_on_load", kind="max_items", expected=1, got=len(focused))
    return problems


def _unique(found: Iterable[tuple[str, Any]], name: str, problems: Problems) -> None:
    seen: set[str] = set()
    for pointer, value in found:
        if value is not None and value in seen:
            note(problems, f"{pointer}/{name}", f"`{name}` already exists: {value}", kind="unique", expected="unique", got=value)
        elif value is not None:
            seen.add(value)


def _sum(blocks: list[Json], kind: str, most: int, pointer: str, problems: Problems) -> None:
    """All blocks of one kind together may not be longer than that."""
    texts = [part["text"] for block in blocks if block["type"] == kind for _, part in parts(block) if isinstance(part.get("text"), str)]
    total = sum(map(len, texts))
    if total > most:
        words = f"{kind} blocks must be less than {most + 1} characters together"
        note(problems, pointer, words, kind="max_length", expected=most, got=total)
