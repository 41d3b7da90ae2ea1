"""Characters that deceive, and lengths that count: what is in a text that a reader cannot see, and where it may be cut.

Slack counts in UTF-16 units and readers in grapheme clusters, so a text is measured in the one and cut between the others. Hidden
characters (control, zero-width, bidi, blanks that look like nothing, tags) are shown as `⟦U+202E⟧`; joiners and variation selectors stay
where scripts and emoji need them, and line breaks and tabs stay always.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,8}\U000e007f")  # the flags of England and the like are spelled in tags
JOINERS = "\u200c\u200d"
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and marks by category, nothing to the eye
JOINED = ("Lo", "Mn", "Mc", "So", "Sk", "Lm")
ZWJ = "\u200d"


def utf16(text: str) -> int:
    """Length in UTF-16 units, as Slack counts."""
    return len(text) if text.isascii() else len(text) + sum(sign > "\uffff" for sign in text)


def cut(text: str, limit: int) -> str:
    """The text if it has at most `limit` UTF-16 units, else its beginning and "…", together at most `limit`; never half a cluster."""
    if utf16(text) <= limit:
        return text
    kept, length = [], 1
    for cluster in clusters(text):
        length += utf16(cluster)
        if length > limit:
            break
        kept.append(cluster)
    return ("".join(kept).rstrip() + "…") if limit > 0 else ""


def clusters(text: str) -> Iterator[str]:
    """The text in pieces that a reader takes for one character each: letter with marks, emoji with its parts, flag, Hangul syllable."""
    start = 0
    for here in range(1, len(text)):
        if _breaks(text, start, here):
            yield text[start:here]
            start = here
    if text:
        yield text[start:]


def visible(text: str) -> str:
    """The text with every hidden character shown as `⟦U+XXXX⟧`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟦U+{ord(sign):04X}⟧" if is_hidden else sign for sign, is_hidden in hidden_places(text))


def hides(value: Any) -> bool:
    """Does any text in a JSON value (keys too) hold a hidden character?"""
    if isinstance(value, str):
        return any(is_hidden for _, is_hidden in hidden_places(value))
    if isinstance(value, Mapping):
        return any(hides(key) or hides(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(hides(item) for item in value)


def has_right_to_left(text: str) -> bool:
    """Does it hold letters of a script that runs from right to left?"""
    return not text.isascii() and any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)


def hidden_places(text: str) -> Iterator[tuple[str, bool]]:
    """Each character of the text, and whether it is a hidden one."""
    spared = {place for flag in FLAG.finditer(text) for place in range(*flag.span())}
    for here, sign in enumerate(text):
        yield sign, here not in spared and _is_hidden(text, here)


def _is_hidden(text: str, here: int) -> bool:
    sign = text[here]
    if sign in "\n\t" or " " <= sign <= "~":
        return False
    before, after = text[here - 1 : here], text[here + 1 : here + 2]
    if sign in JOINERS:
        return not (_is_joined(before) and _is_joined(after))
    if sign >= "\U000e0100" and _selects(sign):
        return not before or unicodedata.category(before) != "Lo"  # variants of ideographs
    if _selects(sign):
        return not before or _selects(before) or unicodedata.category(before)[0] in "CZ"
    return sign in BLANKS or unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


def _is_joined(sign: str) -> bool:
    """May a joiner stand next to it? In scripts that shape their letters, and in emoji; never in Latin."""
    return bool(sign) and unicodedata.category(sign) in JOINED


def _selects(sign: str) -> bool:
    """A variation selector: it picks a form of the character before it, and hides data when several follow one another."""
    return "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef"


def _breaks(text: str, start: int, here: int) -> bool:
    """May the text be cut before `here`, where the present cluster began at `start`?"""
    before, sign = text[here - 1], text[here]
    if sign.isascii():
        return before + sign != "\r\n"
    if sign == ZWJ or unicodedata.category(sign)[0] == "M" or "\U0001f3fb" <= sign <= "\U0001f3ff" or "\U000e0020" <= sign <= "\U000e007f":
        return False
    if before == ZWJ and unicodedata.category(sign) == "So":
        return False
    if _is_flag_letter(sign) and _is_flag_letter(before):
        return (here - start) % 2 == 0
    return not _continues_hangul(before, sign)


def _is_flag_letter(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _continues_hangul(before: str, sign: str) -> bool:
    """Vowels and finals of a syllable that is spelled in parts."""
    leads = "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return leads and "\u1160" <= sign <= "\u11ff"
