"""Cursor paging. A cursor names the first item of the next page, so items that come or go in between shift nothing."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.workspace.records import Json
from bot.workspace.wire import Call, SlackError

T = TypeVar("T")


def page(
    call: Call,
    items: Sequence[T],
    *,
    key: Callable[[T], str],
    usual: int,
    most: int,
    newest_first: bool = False,
) -> tuple[list[T], Json]:
    """One page of items that are in order of their keys, and its `response_metadata`.

    Raises SlackError invalid_cursor, invalid_limit.
    """
    limit = call.number("limit", usual) or usual
    if limit < 0:
        raise SlackError("invalid_limit")
    first = _decode(call.text("cursor"))
    rest = [item for item in items if not first or (key(item) <= first if newest_first else key(item) >= first)]
    shown = rest[: min(limit, most)]
    following = rest[len(shown) :]
    return shown, {"next_cursor": _encode(key(following[0])) if following else ""}


def _encode(key: str) -> str:
    return base64.b64encode(f"next:{key}".encode()).decode()


def _decode(cursor: str) -> str:
    if not cursor:
        return ""
    try:
        plain = base64.b64decode(cursor, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise SlackError("invalid_cursor") from None
    if not plain.startswith("next:"):
        raise SlackError("invalid_cursor")
    return plain.removeprefix("next:")
