"""Long text in pieces that Slack will take: no cut inside what belongs together, nothing lost.

What belongs together: a character as people see it, an entity (`&amp;`), a link, a mention, a run of sources (`[1][2]`). A code fence that
a cut goes through is closed before it and opened again after it; apart from these added fences the pieces are the text. Lengths are UTF-16
units, as Slack counts.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from bot.core.characters import clusters, utf16

FENCE = re.compile(r"```(?P<info>[\w+.#-]*(?=\n))?")
TOGETHER = re.compile(
    r"```[\w+.#-]*\n?"
    r"|<[^<>\n]{1,3000}>"  # a link or mention as Slack writes it
    r"|\[[^\[\]\n]{1,500}\]\([^()\s]{1,2500}\)"  # a link as Markdown writes it
    r"|(?:\[\d{1,3}\])+"
    r"|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{1,8});"
    r"|https?://[^\s<>|]{1,2500}"
    r"|`[^`\n]{1,500}`"
    r"|[\ud800-\udbff][\udc00-\udfff]",
    re.IGNORECASE,
)
CLOSING = "\n```"
BREAKS = ("\n\n", "\n", ". ", "。", " ")  # where a cut is best: after a paragraph, a line, a sentence, a word


@dataclass(frozen=True)
class _Cuts:
    """The places where the text may be cut, in order, and how many UTF-16 units stand before each."""

    places: list[int]
    units: list[int]


def split(text: str, limit: int = 2900) -> list[str]:
    """The text in pieces of at most `limit` UTF-16 units (at least 100), in order; `[text]` if it fits."""
    if utf16(text) <= limit:
        return [text]
    cuts, whole = _cuts(text, limit // 2), utf16(text)
    pieces, here, before, opening = [], 0, 0, ""
    while len(opening) + whole - before > limit:
        end = _cut(text, cuts, here, before + limit - len(opening) - len(CLOSING))
        following = _open_fence(opening, text[here:end])
        pieces.append(opening + text[here:end] + (CLOSING if following else ""))
        before += utf16(text[here:end])
        here, opening = end, following
    return [*pieces, opening + text[here:]]


def _cuts(text: str, longest: int) -> _Cuts:
    """Between any two clusters, but not inside what belongs together (if that is not longer than half a piece)."""
    inside = {place for found in TOGETHER.finditer(text) if utf16(found[0]) <= longest for place in range(found.start() + 1, found.end())}
    cuts, place, units = _Cuts([], []), 0, 0
    for cluster in clusters(text):
        place, units = place + len(cluster), units + utf16(cluster)
        if place not in inside:
            cuts.places.append(place)
            cuts.units.append(units)
    return cuts


def _open_fence(opening: str, piece: str) -> str:
    """The fence that is open after `piece`, as it must be opened again; empty if none is."""
    for found in FENCE.finditer(piece):
        opening = "" if opening else f"```{found['info'] or ''}\n"
    return opening


def _cut(text: str, cuts: _Cuts, start: int, most: int) -> int:
    """The best place for a cut after `start` with at most `most` units before it."""
    first, last = bisect_right(cuts.places, start), bisect_right(cuts.units, most)
    if first >= last:  # one cluster longer than a piece: it has to be cut
        return next(end for end in range(len(text), start, -1) if end == start + 1 or utf16(text[:end]) <= most)
    later_half = cuts.places[(first + last) // 2 : last]
    for sign in BREAKS:
        for place in reversed(later_half):
            if text.endswith(sign, start, place):
                return place
    return cuts.places[last - 1]
