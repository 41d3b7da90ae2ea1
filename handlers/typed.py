"""What people typed, as they meant it.

Slack escapes `&`, `<` and `>` in messages and commands and wraps mentions, channels and links in angle brackets. `plain` turns that back
exactly once, and changes nothing else: quotes and dashes stay as they were typed (C014). A link that hides where it leads is written out
with its real address (C012). `flags` is for our own command arguments only: there, curly quotes and long dashes are those of the keyboard.
"""

import re

_TOKEN = re.compile(r"<((?:@[UW][A-Z0-9]+|#[CG][A-Z0-9]+|![a-z]\w*[^|<>]*|[a-z][a-z0-9+.-]*:[^|<>\s]+)(?:\|[^<>\n]*)?)>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # the ampersand last, or "&amp;lt;" would be decoded twice
_DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‑": "-"})
_QUOTES = "\"'`“”„‘’‚«»*_"


def plain(text: str, *, bot_user_id: str = "") -> str:
    """The text with tokens and entities undone once; mentions of the bot itself are left out."""
    pieces, at = [], 0
    for token in _TOKEN.finditer(text):
        pieces += [_decoded(text[at : token.start()]), _token(token[1], bot_user_id)]
        at = token.end()
    return "".join([*pieces, _decoded(text[at:])]).strip()


def flags(text: str) -> list[str]:
    """The words of a command's arguments, with keyboard dashes, without quotes or other marks around them."""
    words = (word.translate(_DASHES).strip(_QUOTES) for word in plain(text).split())
    return [word for word in words if word]


def _decoded(text: str) -> str:
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def _token(inside: str, bot_user_id: str) -> str:
    """What a reader saw in place of one `<…>`; for a link, where it leads."""
    target, _, label = (_decoded(part) for part in inside.partition("|"))
    if target == f"@{bot_user_id}":
        return ""
    if target.startswith("@"):
        return f"@{label}" if label else f"<{target}>"
    if target.startswith("#"):
        return f"#{label.lstrip('#')}" if label else target
    if target.startswith("!"):
        return label or "@" + target[1:].partition("^")[0]
    return _link(target, label)


def _link(address: str, label: str) -> str:
    shown = address.removeprefix("mailto:")
    if not label or label == shown:
        return shown
    if address.rstrip("/") in (f"http://{label}", f"https://{label}"):  # typed without its scheme
        return label
    return f"{label} ({shown})"
