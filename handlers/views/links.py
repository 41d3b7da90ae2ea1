"""Addresses in somebody else's words: none is a live link unless its host is known, and none hides where it leads (C012).

Slack makes links of addresses by itself in mrkdwn and in the `text` of a message; inside code it does not. So what is not known is shown as
short code. A host is known if policy names it (`hosts`), or if it stood in the words that people asked for or approved.
"""

import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|(?<![A-Za-z0-9.])www\.|mailto:|tel:)(?:(?!&[lg]t;)[^\s<>`|¦])+")
MASKED = re.compile(r"<((?:[A-Za-z][A-Za-z0-9+.-]*:|www\.)[^<>|\s]*)\|([^<>|\n]*)>")
CODE = re.compile(r"```.*?```|(?<![\w`])`[^`\n]+`(?![\w`])", re.DOTALL)  # as far as Slack is sure to take it for code
TRAILING = ".,;:!?)]}\"'*_~"


def shown(text: str) -> str:
    """The text with every link written out: `<https://evil.example|bank>` becomes `bank (https://evil.example)`."""
    return MASKED.sub(lambda link: f"{link[2]} ({link[1]})" if link[2].strip() and link[2] != link[1] else link[1], text)


def as_code(text: str, *, hosts: Collection[str] = ()) -> str:
    """The text, escaped already, with addresses as short code; those of known hosts stay as they are, and so does what is code already."""
    pieces, at = [], 0
    for code in CODE.finditer(text):
        pieces += [_coded(text[at : code.start()], hosts), code[0]]
        at = code.end()
    return "".join([*pieces, _coded(text[at:], hosts)])


def hosts_in(text: str) -> Iterator[str]:
    """The hosts of the addresses that stand in a text."""
    for found in ADDRESS.finditer(text):
        if host := host_of(found[0]):
            yield host


def host_of(address: str) -> str:
    """Where a web address leads; empty where readers, browsers and we might not agree on that (user names, backslashes, other scripts)."""
    address = address.rstrip(TRAILING)
    if not address.isascii() or not address.isprintable() or any(sign in address for sign in "\\@"):
        return ""
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _coded(text: str, hosts: Collection[str]) -> str:
    def one(found: re.Match[str]) -> str:
        address = found[0].rstrip(TRAILING)
        host = host_of(address)
        known = bool(host) and any(fnmatchcase(host, pattern.lower()) for pattern in hosts)
        return found[0] if known else f"`{address}`{found[0][len(address) :]}"

    return ADDRESS.sub(one, text.replace("`", "'")) if ADDRESS.search(text) else text  # no stray mark may end or begin our code
