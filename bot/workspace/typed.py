"""What a person types, as Slack stores it.

Slack's clients send `@name` as `<@U…>`, escape `&`, `<` and `>`, put addresses in angle brackets, and add a `rich_text` block that says
the same. The bot has to cope with exactly that, so the workspace does it too. `#channel` stays plain text, as it does for whoever does not
pick it from the list.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.workspace.records import Json
from bot.workspace.state import State

MARK = re.compile(
    r"<(@[UW]\w+(?:\|[^<>]*)?|#C\w+(?:\|[^<>]*)?|!subteam\^S\w+(?:\|[^<>]*)?|!(?:here|channel|everyone)(?:\|[^<>]*)?|https?://[^<>\s]+)>"
)
NAME = re.compile(r"(?<![\w@<.])@([\w][\w.\-]*)")
ADDRESS = re.compile(r"https?://[^\s<>|\"'`]+")
BROADCASTS = ("here", "channel", "everyone")
Maker = Callable[[re.Match[str]], tuple[Json | None, int]]  # a find → its element, and how many characters of the find that uses


@dataclass(frozen=True)
class Typed:
    """A message's text on the wire and the block that goes with it."""

    text: str
    blocks: list[Json]


def convert(state: State, raw: str) -> Typed:
    """Return what Slack makes of the text that somebody typed."""
    pieces: list[str | Json] = [raw]
    pieces = [part for piece in pieces for part in _split(piece, MARK, _marked)]
    pieces = [part for piece in pieces for part in _split(piece, ADDRESS, _address)]
    pieces = [part for piece in pieces for part in _split(piece, NAME, lambda found: _named(state, found))]
    elements = [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in pieces if piece]
    text = "".join(escape(piece) if isinstance(piece, str) else _written(piece) for piece in pieces)
    if not elements:
        return Typed(text, [])
    return Typed(text, [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}])


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mentions(text: str, user_id: str) -> bool:
    """Whether this text, in its wire form, calls that user."""
    return f"<@{user_id}>" in text or f"<@{user_id}|" in text


def _split(piece: str | Json, pattern: re.Pattern[str], make: Maker) -> list[str | Json]:
    """Cut the finds of a pattern out of a piece of plain text; a find of which nothing can be made stays text."""
    if not isinstance(piece, str):
        return [piece]
    parts: list[str | Json] = []
    end = 0
    for found in pattern.finditer(piece):
        element, used = make(found)
        if element is None:
            continue
        parts += [piece[end : found.start()], element]
        end = found.start() + used
    return [*parts, piece[end:]]


def _marked(found: re.Match[str]) -> tuple[Json | None, int]:
    inside, used = found[1], len(found[0])
    name = inside.partition("|")[0]
    if name.startswith("@"):
        return {"type": "user", "user_id": name[1:]}, used
    if name.startswith("#"):
        return {"type": "channel", "channel_id": name[1:]}, used
    if name.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": name[9:]}, used
    if name.startswith("!"):
        return {"type": "broadcast", "range": name[1:]}, used
    return {"type": "link", "url": name}, used


def _address(found: re.Match[str]) -> tuple[Json | None, int]:
    url = found[0].rstrip(".,;:!?)")  # the sentence's, not the address's
    return {"type": "link", "url": url}, len(url)


def _named(state: State, found: re.Match[str]) -> tuple[Json | None, int]:
    name = found[1].rstrip(".-")
    used = 1 + len(name)
    wanted = name.lower()
    if wanted in BROADCASTS:
        return {"type": "broadcast", "range": wanted}, used
    for person in state.people.values():
        if wanted in (person.name.lower(), person.real_name.lower()):
            return {"type": "user", "user_id": person.id}, used
    for group in state.groups.values():
        if wanted == group.handle.lower():
            return {"type": "usergroup", "usergroup_id": group.id}, used
    return None, 0


def _written(element: Json) -> str:
    match element["type"]:
        case "user":
            return f"<@{element['user_id']}>"
        case "channel":
            return f"<#{element['channel_id']}>"
        case "usergroup":
            return f"<!subteam^{element['usergroup_id']}>"
        case "broadcast":
            return f"<!{element['range']}>"
        case _:
            return f"<{escape(element['url'])}>"
