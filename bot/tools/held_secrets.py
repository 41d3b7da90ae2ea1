"""The secrets that this process holds, known by their very letters: always right, and nearly free.

A value is looked for as it is, and as it is often written: in base64 (wherever it begins in what was encoded, so that an `Authorization:
Basic` header is seen through), in an address, in JSON; of a value with several lines, each line. Longer ones are looked for first.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

SHORTEST = 6  # characters: what is shorter stands in ordinary words
LINE = 8  # ... of one line of several


class Held:
    """Values and what stands in for them. Replaced whole at each change, so that threads may read meanwhile."""

    def __init__(self) -> None:
        self._masks: dict[str, str] = {}
        self._times: Counter[str] = Counter()
        self._forms: tuple[tuple[str, str], ...] = ()

    def add(self, value: str, mask: str) -> None:
        """Cover this value from now on; one that is too short is left out."""
        if len(value) < SHORTEST or value in mask:  # "secret" stands in every mask
            return
        self._times[value] += 1
        if self._masks.setdefault(value, mask) == mask and self._times[value] == 1:
            self._write()

    def drop(self, value: str) -> None:
        """Take back one `add`."""
        self._times[value] -= 1
        if self._times[value] <= 0:
            del self._times[value]
            if self._masks.pop(value, None) is not None:
                self._write()

    def _write(self) -> None:
        found = {form: mask for value, mask in self._masks.items() for form in forms(value)}
        self._forms = tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))

    def covered(self, text: str) -> str:
        """The text with every value in it replaced by its mask."""
        for form, mask in self._forms:
            if form in text:
                text = text.replace(form, mask)
        return text


def forms(value: str) -> set[str]:
    """How the value may be written."""
    written = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe=""), quote_plus(value)}
    written |= {line.strip() for line in value.splitlines() if len(line.strip()) >= LINE}
    written |= set(_in_base64(value.encode("utf-8", "surrogatepass")))
    return {form for form in written if len(form) >= SHORTEST}


def _in_base64(raw: bytes) -> Iterator[str]:
    """The letters that the value alone decides, for each place where it may begin in three encoded bytes."""
    for before in range(3):
        text = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        whole = text[(0, 2, 3)[before] : -1 if (before + len(raw)) % 3 else None]
        if len(whole) >= LINE:
            yield whole
            yield whole.replace("+", "-").replace("/", "_")
