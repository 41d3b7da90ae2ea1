"""Outside text made fit to be shown: nothing in it can ping, link, style, hide or run over.

Two places exist for it. In rich text and plain text it is literal, so it only has to be visible, short and isolated. In mrkdwn (our own
sentences, and the `text` of a message) it is escaped once as well, and a value is shown as short code made by `inline`. Lengths are
UTF-16 units, as Slack counts them; cuts never fall inside a character that people see as one.
"""

import re
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from bot.core.characters import cut, has_right_to_left, utf16, visible
from handlers.views import links

FSI, PDI = "\u2068", "\u2069"
LINE_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
FALLBACK_LIMIT = 300
NEARBY = timedelta(hours=20)  # nearer than this, a time needs no date
PERSON = re.compile(r"[UW][A-Z0-9_]{2,}")
SMALL_NUMBERS = ("", "one", "two", "three", "four", "five")
EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")


def escape(text: str) -> str:
    """The three characters that mrkdwn reads, replaced once."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str, limit: int = 230) -> str:
    """Visible, on one line, cut at `limit`."""
    return cut(" ".join(visible(LINE_BREAKS.sub(" ", text)).split()), limit)


def isolate(text: str) -> str:
    """Wrapped so that right-to-left text leaves what stands around it in its place; other text as it is."""
    return FSI + text + PDI if has_right_to_left(text) else text


def outside(text: str, limit: int = 230) -> str:
    """Somebody else's words on one line inside a line of ours, for rich text and plain text."""
    return isolate(one_line(text, limit))


def inline(text: str, limit: int = 60) -> str:
    """A value as short code inside mrkdwn; nothing in it can end the code."""
    shown = cut(visible(LINE_BREAKS.sub("⏎", text)).replace("`", "ʹ").strip() or "empty", limit)
    return f"`{escape(isolate(shown))}`"


def plain(text: str, limit: int = 120) -> str:
    """Somebody else's words inside mrkdwn of ours: one line, escaped, without signs that would style them."""
    calm = one_line(text, limit).replace("*", "∗").replace("~", "∼").replace("`", "ʹ").replace("|", "¦")
    return links.as_code(escape(isolate(EDGE_UNDERSCORE.sub("", calm))))


def outgoing(text: str, *, hosts: Collection[str] = ()) -> str:
    """Words of a model, a file or a page as a message of their own: bold and lists work; mentions, broadcasts and hidden links do not.

    Only addresses of `hosts` (names, or patterns such as `*.example.com`) are live links.
    """
    return links.as_code(escape(links.shown(text)), hosts=hosts)


def joined(*parts: str, by: str = " · ") -> str:
    """The parts that say something, with a middle dot between."""
    return by.join(part for part in parts if part)


def fallback(*parts: str) -> str:
    """The `text` of a message from parts that are mrkdwn already; the longest part that is not first gives way when it gets too long."""
    kept = [part for part in parts if part]
    while len(kept) > 1 and utf16(joined(*kept)) > FALLBACK_LIMIT:
        kept.remove(max(kept[1:], key=utf16))
    return joined(*kept)


def date(at: datetime, *, now: datetime | None = None, seconds: bool = False) -> str:
    """A time that each reader sees in a zone of their own; with a date where `now` is given and is far."""
    form = "{time_secs}" if seconds else "{time}"
    far = now is not None and abs(at - now) > NEARBY
    written = f"{at:%d %b} " if far else ""
    return f"<!date^{int(at.timestamp())}^{'{date_short} ' if far else ''}{form}|{written}{_clock(at, seconds)}>"


def date_element(at: datetime, *, seconds: bool = False) -> dict[str, Any]:
    """The same as an element of rich text."""
    form = "{time_secs}" if seconds else "{time}"
    return {"type": "date", "timestamp": int(at.timestamp()), "format": form, "fallback": _clock(at, seconds)}


def _clock(at: datetime, seconds: bool) -> str:
    return f"{at:%H:%M:%S} UTC" if seconds else f"{at:%H:%M} UTC"


def is_person(user: str) -> bool:
    """Is this an id that Slack turns into a person? `clock` and `pullcord` are not."""
    return PERSON.fullmatch(user) is not None


def ping(user: str) -> str:
    """A mention: it notifies, so only for those whom a post waits for, or on a card that is only ever redrawn."""
    return f"<@{user}>" if is_person(user) else plain(user, 40)


def link(url: str, label: str) -> str:
    """A link of our own; `label` is ours too. Without a usable address just the label."""
    usable = url.startswith(("https://", "http://")) and not any(sign in url for sign in "<>| \n")
    return f"<{url.replace('&', '&amp;')}|{label}>" if usable else label


def duration(seconds: float) -> str:
    """`1 s`, `42 s`, `3 min`, `2 h`: a whole number people can say."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"


def count(number: int, thing: str, things: str = "") -> str:
    """`1 step`, `4 steps`."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def in_words(number: int) -> str:
    """`two`; from six on the digits."""
    return SMALL_NUMBERS[number] if 0 < number < len(SMALL_NUMBERS) else str(number)


def listed(words: Iterable[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} {word} {last}" if first else last


def ranges(numbers: Iterable[int], *, final: str = ", ") -> str:
    """`1 to 6, 8`: three or more in a row become a range; `final` stands before the last part."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [part for run in runs for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run])]
    return final.join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
