"""Shell-like words, read and written: the small print of plain notation.

A word is `name=value` or bare. Values: bare scalars as JSON reads them (`5`, `true`, `null`), quoted ones always text, `[…]` and `{…}` as
JSON, `{{…}}` verbatim. Double quotes know `\\n`, `\\t`, `\\r`, `\\"`, `\\\\` and `\\uXXXX`; single quotes know nothing. Quotes may span
lines. The curly quotes that phones and Slack put in count where they delimit and nowhere else. What is written here is read back as the
same value, hidden characters as escapes, so that a text can be looked at.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bot.core.characters import hidden_places
from bot.core.references import CLOSE, OPEN, closing

SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d{0,3999})(?:\.\d+)?(?:[eE][+-]?\d+)?")
BARE = re.compile(r"[\w./:@%+,#~*?&()|<>=-]+")
ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$", "`": "`", "\n": ""}
CURLY = {"“": '”“"', "”": '”“"', "„": '”“"', "‘": "’'", "’": "’'", "‚": "’‘'"}
DASHES = ("--", "—", "–")


@dataclass(frozen=True)
class Word:
    """`name` is None for a bare word. `plain`: the value was written without quotes. `quoted_name`: the name stood in quotes."""

    value: Any
    line: int
    name: str | None = None
    plain: bool = True
    quoted_name: bool = False


@dataclass
class Statement:
    """The words of one step, its purpose, and what could not be read: (line, fault, mending)."""

    line: int
    words: list[Word] = field(default_factory=list)
    purpose: str = ""
    faults: list[tuple[int, str, str]] = field(default_factory=list)


class _Unreadable(Exception):  # noqa: N818 — private, and always caught in `statements`
    """A quote is not closed: what follows cannot be told apart any more."""


# Is this argument of this tool text by its schema? Then nothing bare is read as a number or a list. (tool, argument) → answer
WantsText = Callable[[str, str], bool]


def statements(text: str, *, wants_text: WantsText) -> Iterator[Statement]:
    """The steps of a text in plain notation, in order. Comments and blank lines are skipped."""
    reader = _Reader(text, wants_text)
    while reader.begin():
        yield reader.statement()


def write(value: Any) -> str:
    """A value as notation: read back, it is the same value."""
    if isinstance(value, str):
        return value if _is_bare(value) else quote(value)
    text = json.dumps(value, ensure_ascii=False)
    return "".join(_json_escape(sign) if is_hidden else sign for sign, is_hidden in hidden_places(text))


def write_name(name: str, *, reserved: frozenset[str]) -> str:
    """An argument's name; in quotes where it is odd, or would be taken for the step's own."""
    return name if re.fullmatch(r"[A-Za-z_][\w.-]*", name) and name not in reserved and _is_bare(name) else quote(name)


def quote(text: str) -> str:
    """The text in double quotes, on one line."""
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(short.get(sign) or (_escape(sign) if is_hidden else sign) for sign, is_hidden in hidden_places(text)) + '"'


def _is_bare(text: str) -> bool:
    return bool(BARE.fullmatch(text)) and not SCALAR.fullmatch(text) and not any(is_hidden for _, is_hidden in hidden_places(text))


def _escape(sign: str) -> str:
    return f"\\u{ord(sign):04X}" if sign <= "\uffff" else f"\\U{ord(sign):08X}"


def _json_escape(sign: str) -> str:
    return json.dumps(sign)[1:-1]


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else match[0]
    return ESCAPES.get(match[3], match[0])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a name stands there twice")
    return dict(pairs)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


JSON = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_unique)


def scalar(text: str) -> Any:
    """A bare word as JSON reads it, or the text itself."""
    if not SCALAR.fullmatch(text):
        return text
    value = json.loads(text)
    return text if isinstance(value, float) and not math.isfinite(value) else value


class _Reader:
    """A place in the text, moving forward."""

    def __init__(self, text: str, wants_text: WantsText) -> None:
        self.text, self.wants_text = text, wants_text
        self.at, self.end = 0, len(text)

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def begin(self) -> bool:
        """Moves to the next statement; False at the end of the text."""
        while self.at < self.end:
            sign = self.text[self.at]
            if sign == "#":
                self.at = self._find("\n")
            elif sign.isspace() or sign == ";":
                self.at += 1
            else:
                return True
        return False

    def statement(self) -> Statement:
        found = Statement(self.line)
        tool = ""
        while self._more():
            if self._is_dash():
                found.purpose = self._purpose(found)
                continue
            try:
                word = self._word(tool, found)
            except _Unreadable as fault:
                found.faults.append((self.line, str(fault), 'close it, or write \\" for a quote inside quotes'))
                self.at = self.end
                break
            if word.name is None and isinstance(word.value, str) and not word.value.endswith(":") and not tool:
                tool = word.value.rpartition(":")[2]
            found.words.append(word)
        return found

    def _find(self, signs: str) -> int:
        match = re.compile(f"[{signs}]").search(self.text, self.at)
        return match.start() if match else self.end

    def _more(self) -> bool:
        """Skips blanks within a statement; False at its end."""
        while self.at < self.end:
            if self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] in "\n;":
                return False
            elif self.text[self.at].isspace():
                self.at += 1
            else:
                return True
        return False

    def _is_dash(self) -> bool:
        dash = next((dash for dash in DASHES if self.text.startswith(dash, self.at)), "")
        after = self.text[self.at + len(dash) : self.at + len(dash) + 1]
        return bool(dash) and (not after or after.isspace())

    def _purpose(self, found: Statement) -> str:
        """What follows `--`: the rest of the line up to `;`, or one quoted text."""
        self.at += 2 if self.text.startswith("--", self.at) else 1
        if not self._more():
            return ""
        if self.text[self.at] == '"':
            self.at += 1
            try:
                return self._quoted('"')
            except _Unreadable as fault:
                found.faults.append((self.line, str(fault), "close it"))
        start, self.at = self.at, self._find("\n;")
        return self.text[start : self.at].strip()

    def _word(self, tool: str, found: Statement) -> Word:
        line, name, text, plain, quoted_name = self.line, None, "", True, False
        while self.at < self.end and not (self.text[self.at].isspace() or self.text[self.at] == ";"):
            sign = self.text[self.at]
            if sign == "=" and name is None and (text or not plain):
                name, text, quoted_name, plain = text, "", not plain, True
                self.at += 1
                if self._opens_json() and not self.wants_text(tool, name):
                    return Word(self._json(found), line, name, plain=True, quoted_name=quoted_name)
            elif self.text.startswith(OPEN, self.at):
                text += self._reference()
            elif sign in "\"'\\" or (sign in CURLY and not text):
                self.at += 1
                plain = False
                text += self._escaped() if sign == "\\" else self._quoted(sign)
            else:
                text += sign
                self.at += 1
        typed = plain and name is not None and not self.wants_text(tool, name)
        return Word(scalar(text) if typed else text, line, name, plain=plain, quoted_name=quoted_name)

    def _opens_json(self) -> bool:
        return self.text[self.at : self.at + 1] in ("[", "{") and not self.text.startswith(OPEN, self.at)

    def _reference(self) -> str:
        """A reference is taken as it stands, blanks and quotes and all."""
        end = closing(self.text, self.at + len(OPEN))
        start, self.at = self.at, end + len(CLOSE) if end >= 0 else self._find("\n")
        return self.text[start : self.at]

    def _escaped(self) -> str:
        self.at += 1
        sign = self.text[self.at - 1 : self.at]
        return "" if sign == "\n" else sign

    def _quoted(self, opening: str) -> str:
        """The inside of quotes whose opening has been read. A curly one closes where a word may end: an apostrophe does not."""
        start, here = self.at, self.at
        while here < self.end:
            sign = self.text[here]
            if sign == "\\" and opening not in "'‘’‚":
                here += 2
                continue
            if sign == opening if opening in "\"'" else sign in CURLY[opening] and self._ends_word(here + 1):
                self.at = here + 1
                inside = self.text[start:here]
                return inside if opening in "'‘’‚" else ESCAPE.sub(_unescape, inside)
            here += 1
        raise _Unreadable(f"the quote {opening} is not closed")

    def _ends_word(self, here: int) -> bool:
        return here >= self.end or self.text[here].isspace() or self.text[here] == ";"

    def _json(self, found: Statement) -> Any:
        """A list or an object. Curly quotes are read as straight ones only if it cannot be read otherwise."""
        straight = self.text.translate(str.maketrans("“”„", '"""'))
        for text in (self.text, straight):
            try:
                value, end = JSON.raw_decode(text, self.at)
            except (ValueError, RecursionError):
                continue
            if self._ends_word(end):
                self.at = end
                return value
        line, start = self.line, self.at
        self.at = self._find("\n;")
        says = f"'{self.text[start : min(self.at, start + 40)]}' is not a list or an object in JSON"
        found.faults.append((line, says, 'write it like ["a", "b"] or {"a": 1}, or in quotes if it is text'))
        return None
