"""Where a step reaches, read from its arguments: hosts, paths and channels, in every form in which a system might take them.

What an argument names is told by its own name (`url`, `repo_url`, `path`, `channel`, `channelId`…), at any depth. A host is read by the
parser that our own HTTP client uses, so `good.example@evil.example` is evil.example and `2130706433` is 127.0.0.1. Of a value that is
filled in later nothing is known, except the host of a web address whose beginning stands there already. What cannot be read has no form,
and whoever allows by a list must then refuse.
"""

import ipaddress
import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

from yarl import URL

from bot.core.facts import Facts
from bot.core.references import OPEN, find


class Kind(StrEnum):
    """What a place is; also the plural under `scopes`."""

    HOST = "hosts"
    PATH = "paths"
    CHANNEL = "channels"


NAMES = {
    Kind.HOST: re.compile(r"(?:.*_)?(?:url|uri|href|endpoint|webhook)s?|host(?:name)?"),
    Kind.PATH: re.compile(r"(?:.*_)?(?:path|filename)s?"),
    Kind.CHANNEL: re.compile(r"(?:.*_)?channels?(?:_ids?)?"),
}
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
BEGINNING = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\{}]+[/?#]")
UNREADABLE = re.compile(r"[\x00-\x20\x7f\\]")
HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|\d+")
CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{5,}")
DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True)
class Place:
    """One place that an argument names. `forms`: how it may be taken; none if it cannot be read, or is filled in `late`."""

    kind: Kind
    text: str
    forms: tuple[str, ...] = ()
    late: bool = False
    port: str = ""  # ":8080" where it is not the usual one

    def is_among(self, patterns: tuple[str, ...]) -> bool:
        """Is it on this list of what is allowed, in every form in which it may be taken? Never, if it cannot be read.

        A channel's id and its name are two names of one thing, so that either may be listed.
        """
        listed = [any(self._is_allowed(form, pattern) for pattern in patterns) for form in self.forms]
        return any(listed) if self.kind is Kind.CHANNEL else bool(listed) and all(listed)

    def _is_allowed(self, form: str, pattern: str) -> bool:
        if self.kind is Kind.HOST:
            return fnmatchcase(self._with_port(form), pattern.lower())
        if self.kind is Kind.PATH and not _lies_below(form, pattern):
            return False
        return fnmatchcase(form, pattern)

    def _with_port(self, host: str) -> str:
        return f"[{host}]{self.port}" if ":" in host and self.port else host + self.port

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every form, and the plain one of each (small letters, usual widths), for rules that look for it."""
        wide = [*self.forms] + ([self._with_port(form) for form in self.forms] if self.port else [])
        return tuple(dict.fromkeys((*wide, *(plain(form) for form in wide))))


def places(args: Mapping[str, Any], facts: Facts, *, filled: bool = False) -> list[Place]:
    """Every place that the arguments name, in order. `filled`: all values are final, and what looks like a reference is none."""
    given = [(name, value) for name, value in _leaves(args, "") if value is not None]
    return [_place(kind, value, facts, filled=filled) for name, value in given for kind, names in NAMES.items() if names.fullmatch(name)]


def is_host_among(url: str, patterns: Collection[str]) -> bool:
    """Does this web address lead to a host on the list?"""
    forms, port = host(url)
    return Place(Kind.HOST, url, forms, port=port).is_among(tuple(patterns))


def channels(args: Mapping[str, Any]) -> list[str]:
    """The channels that the arguments name, as they have them; those that are filled in later are left out."""
    named = [value for name, value in _leaves(args, "") if NAMES[Kind.CHANNEL].fullmatch(name) and not find(value)]
    return list(dict.fromkeys(value for value in named if isinstance(value, str) and value))


def plain(text: str) -> str:
    """As a lenient system may read it: usual widths, small letters, no spaces around."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def paths(text: str) -> tuple[str, ...]:
    """The forms of a path: dots and doubled strokes resolved, percent signs decoded or not. None for what no system takes alike."""
    written = text.strip()
    if not written or "\0" in written or "\\" in written:
        return ()
    return tuple(dict.fromkeys(_normal(form) for form in (written, unicodedata.normalize("NFKC", written), unquote(written))))


def host(text: str) -> tuple[tuple[str, ...], str]:
    """The forms of the host that a web address leads to, and its port where that is not the usual one; no form if it cannot be read."""
    text = text.strip()
    beginning = BEGINNING.match(text) if OPEN in text else None
    if UNREADABLE.search(beginning[0] if beginning else text):
        return (), ""
    try:
        url = URL(beginning[0] if beginning else text)
        name, port = (url.raw_host or "").rstrip(".").lower(), url.explicit_port
        usual = port is None or url.is_default_port()
    except ValueError:
        return (), ""
    address = _address(name)
    if not address and not HOST.fullmatch(name):
        return (), ""
    return (address or name,), "" if usual else f":{port}"


def _place(kind: Kind, value: Any, facts: Facts, *, filled: bool) -> Place:
    text = value if isinstance(value, str) else ""
    if not filled and find(value) and not (kind is Kind.HOST and BEGINNING.match(text)):
        return Place(kind, text, late=True)
    if kind is Kind.HOST:
        forms, port = host(text if "://" in text else f"//{text}" if HOST.fullmatch(text.split(":")[0].lower()) else text)
        return Place(kind, text, forms, port=port)
    return Place(kind, text, paths(text) if kind is Kind.PATH else _channel(text, facts))


def _channel(text: str, facts: Facts) -> tuple[str, ...]:
    """As written; a bare name as `#name`; an id also by the name that Slack gave for it."""
    text = text.strip()
    known = facts.reach.get(text)
    if CHANNEL_ID.fullmatch(text):
        return (text, f"#{known.name}") if known and known.name else (text,)
    return (text if text.startswith(("#", "@")) else f"#{text}",) if text else ()


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """(name of the argument, value) for everything that is no list or object; an item of a list has the list's name."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, HUMP.sub("_", str(key)).casefold().replace("-", "_"))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, name)
    elif name:
        yield name, value


def _normal(path: str) -> str:
    """`a//./b/../c` is `a/c`; what climbs out begins with `..`, and two strokes at the beginning are one."""
    return re.sub("^//", "/", posixpath.normpath(path))


def _lies_below(path: str, pattern: str) -> bool:
    """A pattern of a list means what lies below the root; the rest of the disk only if it says so itself."""
    if path == ".." or path.startswith("../"):
        return False
    return not (path.startswith(("/", "~")) or DRIVE.match(path)) or path[:1] == pattern[:1]


def _address(name: str) -> str:
    """An IP address in its usual form, however the host writes it (2130706433, 0x7f.1, 0177.0.0.1, ::ffff:127.0.0.1); else empty."""
    try:
        found = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return _by_numbers(name.split("."))
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _by_numbers(parts: list[str]) -> str:
    """One to four numbers, as the C library takes them; the last fills what is left."""
    if len(parts) > 4 or not all(NUMBER.fullmatch(part) for part in parts):
        return ""
    *first, last = [_number(part) for part in parts]
    if any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        return ""
    whole = sum(part << (24 - 8 * place) for place, part in enumerate(first)) + last
    return str(ipaddress.IPv4Address(whole))


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    octal = len(part) > 1 and part.startswith("0") and set(part) <= set("01234567")
    return int(part, 8 if octal else 10)
