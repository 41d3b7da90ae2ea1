"""From what a tool returned to what may be stored, shown and put before a model: cleaned, masked, bounded, hashed.

Invisible characters can carry orders that no person sees, so they are removed (zero-width, bidirectional, tag characters) or made visible
(control characters); what scripts and emoji need to be read stays. Compatibility forms are left alone: a file's text must not change
meaning on its way. Long strings are cut between characters as people see them, with a note that says so, and the size and hash are always
those of the whole.
"""

import hashlib
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from bot.core.plan import canonical
from bot.core.snapshot import Observation
from bot.errors import ToolFailed
from bot.tools.masks import MASK, redact, redacted

__all__ = ["MASK", "clean", "line", "lossy", "observe", "plain", "redact", "redacted", "size", "summary", "tidy"]

LIMIT = 20_000  # characters of an observation
DEPTH = 40  # levels of nesting
SHORT = 200  # strings up to this length are never cut
BEYOND = 4000  # characters looked at past a cut, where a secret may end

_NOTE = re.compile(r"… cut, [\d,]+ of [\d,]+ characters\Z")

_JOINERS = "\u200c\u200d"
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\r(?!\n)")
_SUSPECT = re.compile(f"{_HIDDEN.pattern}|{_CONTROL.pattern}")


def clean(text: str) -> str:
    """The text without what cannot be seen. Control characters become pictures (␛), lone surrogates `\ufffd`; tabs and line ends stay."""
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(_seen, text)


def _seen(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    if _HIDDEN.match(char):
        return char if _needed(found.string, found.start(), char) else ""
    if char in "\r\u2028\u2029":
        return "\n"
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\ufffd"


def invisible(text: str) -> int:
    """How many characters `clean` removes because nobody can see them; soft hyphens and byte order marks are ordinary and do not count."""
    if text.isascii():
        return 0
    found = (hit for hit in _HIDDEN.finditer(text) if hit[0] not in "\u00ad\ufeff")
    return sum(not _needed(text, hit.start(), hit[0]) for hit in found)


def _needed(text: str, at: int, char: str) -> bool:
    """Joiners between the letters or pictures that they join, and one variation selector after a picture, are part of the writing."""
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    if char in "\ufe0e\ufe0f":
        return bool(before) and (_pictured(before) or before in "#*0123456789")
    if char in _JOINERS:
        return bool(before and after) and (_joins(before) and _joins(after))
    return False


def _joins(char: str) -> bool:
    return _pictured(char) or char == "\ufe0f" or (ord(char) > 0x5FF and unicodedata.category(char) in ("Lo", "Mn", "Mc"))


def _pictured(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Sk", "Sm", "Po") and ord(char) > 0xA8


def line(text: str, limit: int = 120) -> str:
    """One cleaned and masked line, cut with an ellipsis: for progress, errors and other words on cards."""
    words = " ".join(redact(clean(text)).split())
    return words if len(words) <= limit else words[: _edge(words, limit - 1)] + "…"


def tidy(text: str, limit: int) -> str:
    """Cleaned, masked, and at most about `limit` characters, with a note of how many there were.

    Cut after masking, so that no secret escapes by losing its end, but only what may be kept is looked at: megabytes cost nothing.
    """
    if len(text) <= limit:
        return redact(clean(text))
    kept = redact(clean(text[: limit + BEYOND]))
    kept = kept[: _edge(kept, limit)]
    opened = kept.rfind("⟦", -16)
    if opened > kept.rfind("⟧"):
        kept = kept[:opened]
    return f"{kept}… cut, {len(kept):,} of {len(text):,} characters"


def _edge(text: str, at: int) -> int:
    """The last place at or before `at` that does not split a character and its marks, a joined emoji or a flag. Looks back 32 at most."""
    for place in range(at, max(0, at - 32), -1):
        if not _glued(text, place):
            return place
    return at


def _glued(text: str, at: int) -> bool:
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.category(after) in ("Mn", "Mc", "Me") or after in _JOINERS or before == "\u200d":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or (before, after) == ("\r", "\n"):
        return True
    flags = 0
    while at - 1 - flags >= 0 and "\U0001f1e6" <= text[at - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"


def lossy(text: str) -> str | None:
    """Why this text is not the whole of what it was made from (cut or masked), or None: what a tool that stores text must refuse."""
    if masked := MASK.search(text):
        return "a secret in it was masked" if masked[0].startswith("⟦secret ") else "personal data in it was masked"
    if _NOTE.search(text):
        return "it was cut"
    return None


def plain(value: Any) -> Any:
    """The value as JSON: models, dates and paths become what JSON has, bytes base64. Raises `ToolFailed` for what cannot be JSON."""
    try:
        return to_jsonable_python(value, bytes_mode="base64", by_alias=True)
    except (PydanticSerializationError, ValueError, RecursionError) as fault:
        raise ToolFailed(f"The result is not JSON: {line(str(fault), 200)}") from fault


def observe(
    value: Any,
    *,
    untrusted: bool,
    limit: int = LIMIT,
    cover: Callable[[str], str] | None = None,
    keep: Callable[[str], str] | None = None,
) -> Observation:
    """The observation of a result. Its value holds about `limit` characters at most; raises `ToolFailed` if it is not JSON.

    `cover` masks what the policy takes for personal data. `keep` stores the whole text of a result that had to be cut, cleaned and masked
    like the rest, and gives the name under which it is found.
    """
    value = plain(value)
    try:
        whole = canonical(value)
    except RecursionError as fault:
        raise ToolFailed("The result is nested too deeply to be kept.") from fault
    kept, was_cut = _bounded(value, limit)
    masked = redacted(kept)
    hidden = sum(invisible(text[: limit + BEYOND]) for text in _strings(value))
    says = summary(value)
    return Observation(
        value=_each(masked, cover) if cover else masked,
        says=_said(cover(says) if cover else says, hidden),
        sha256=hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest(),
        size=len(whole),
        cut=was_cut,
        untrusted=untrusted,
        hidden=hidden,
        full=keep(_whole_text(value, cover)) if was_cut and keep else "",
    )


def _said(says: str, hidden: int) -> str:
    """What cannot be seen is not taken away in silence."""
    return f"{says}, {_count(hidden, 'invisible character', 'invisible characters')} removed" if hidden else says


def _whole_text(value: Any, cover: Callable[[str], str] | None) -> str:
    """The whole result as text that people can read: each field under its name."""
    value = redacted(_each(_shallow(value, DEPTH)[0], clean))
    fields = value.items() if isinstance(value, dict) else [("", value)]
    lines = [f"{name}: " * bool(name) + (held if isinstance(held, str) else canonical(held)) for name, held in fields]
    text = redact("\n".join(lines))
    return cover(text) if cover else text


def _bounded(value: Any, limit: int) -> tuple[Any, bool]:
    """The value cleaned; if it is too long, with its longest strings cut first, then with lists and objects shortened, until it fits."""
    value, was_deep = _shallow(value, DEPTH)
    weight = _weight(value)
    if weight <= limit:
        return _each(value, clean), was_deep
    lengths = sorted(len(text) for text in _strings(value))
    room = _room(lengths, limit - (weight - sum(lengths)))
    share = min(limit, _longest(value))
    while share > 1 and _weight(value, room) > limit:
        share //= 2
        value = _shortened(value, share)
    value = _each(value, lambda text: tidy(text, room))
    return (value if _weight(value) <= limit * 1.2 else tidy(canonical(value), limit)), True


def _weight(value: Any, most: int = sys.maxsize) -> int:
    """About how many characters the value takes if no text is longer than `most`; JSON's escapes do not count, nobody reads them."""
    if isinstance(value, str):
        return min(len(value), most)
    if isinstance(value, list):
        return 2 + sum(_weight(item, most) + 2 for item in value)
    if isinstance(value, dict):
        return 2 + sum(len(key) + _weight(item, most) + 4 for key, item in value.items())
    return len(str(value))


def _longest(value: Any) -> int:
    """How many entries the longest list or object in it has."""
    if not isinstance(value, (list, dict)):
        return 0
    return max(len(value), max(map(_longest, value.values() if isinstance(value, dict) else value), default=0))


def _room(lengths: list[int], space: int) -> int:
    """How long each string may be so that all fit into `space`; short ones leave their share to the long ones, none goes below `SHORT`."""
    for at, length in enumerate(lengths):
        share = space // (len(lengths) - at)
        if length > share:
            return max(SHORT, share - 60)
        space -= length
    return max(SHORT, lengths[-1]) if lengths else SHORT


def _shortened(value: Any, most: int) -> Any:
    """Lists and objects with at most `most` entries each, and a note of how many were left out."""
    if isinstance(value, list):
        rest = len(value) - most
        kept = [_shortened(item, most) for item in value[:most]]
        return [*kept, f"… cut, {rest:,} more"] if rest > 0 else kept
    if isinstance(value, dict):
        rest = len(value) - most
        items = {key: _shortened(item, most) for key, item in list(value.items())[:most]}
        return {**items, "…": f"cut, {rest:,} more"} if rest > 0 else items
    return value


def _shallow(value: Any, depth: int) -> tuple[Any, bool]:
    """The value without what JSON does not hold (infinite numbers) or nobody reads (deep nesting), and whether that was cut."""
    if not isinstance(value, (list, dict)):
        return (str(value) if isinstance(value, float) and not math.isfinite(value) else value), False
    if depth == 0:
        return "… cut, nested too deeply", True
    if isinstance(value, list):
        pairs = [_shallow(item, depth - 1) for item in value]
        return [item for item, _ in pairs], any(deep for _, deep in pairs)
    fields = {key: _shallow(item, depth - 1) for key, item in value.items()}
    return {key: item for key, (item, _) in fields.items()}, any(deep for _, deep in fields.values())


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every string changed, the names of fields included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _each(item, change) for key, item in value.items()}
    return value


def summary(value: Any) -> str:
    """One line for cards, from the shape of the result: "38 lines", "3 files", "HTTP 200, 1.2 kB", "done"."""
    if isinstance(value, dict):
        return _summary_of_fields(value)
    if isinstance(value, str):
        return _amount(value)
    if isinstance(value, list):
        return _count(len(value), "entry", "entries")
    return "done" if value in (None, True) else line(canonical(value), 80)


def _summary_of_fields(value: dict[str, Any]) -> str:
    status, text = value.get("status"), value.get("text")
    if isinstance(status, int) and isinstance(text, str):
        return f"HTTP {status}, {size(len(text.encode('utf-8', 'replace')))}"
    if isinstance(text, str):
        return _amount(text)
    lists = [(name, held) for name, held in value.items() if isinstance(held, list)]
    if len(lists) == 1:
        name, held = lists[0]
        return _count(len(held), _singular(name), name.replace("_", " "))
    texts = [held for held in value.values() if isinstance(held, str)]
    if len(value) == 1 and texts and len(texts[0].splitlines()) > 1:
        return _amount(texts[0])
    summarized = value.get("summary")
    return _amount(summarized) if isinstance(summarized, str) else "done"


def _amount(text: str) -> str:
    lines = len(text.splitlines())
    return _count(lines, "line", "lines") if lines > 1 else _count(len(text), "character", "characters")


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _singular(name: str) -> str:
    for ending, instead in (("ies", "y"), ("ches", "ch"), ("sses", "ss"), ("s", "")):
        if name.endswith(ending):
            return name[: -len(ending)] + instead
    return name


def size(count: int) -> str:
    """A number of bytes in words: "812 bytes", "1.2 kB", "3.4 MB"."""
    if count < 1000:
        return _count(count, "byte", "bytes")
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
