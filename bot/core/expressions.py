"""Regular expressions that an admin writes and that run over whatever tools return: short, sound, and never slow.

Python's matcher backtracks, so an expression that can be matched in many ways can stand still over one long line, and everything with it.
The ways are counted by its shape: what has too many is refused, some harmless ones too. A repetition without a bound counts, and is used,
as one of at most 200: a bound such as {1,40} says what is meant and costs less.
"""

import re
import warnings
from collections.abc import Iterator
from math import inf

LONGEST = 200
UNBOUNDED = 200  # times; how often + and * repeat at most
MOST_WAYS = 2**16  # to match from one place on
MOST_TIMES = 64  # of what can be matched in more than one way
SIGNS = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!>]|<[=!]|P<\w+>|P=\w+\)|[aiLmsux-]+[:)]))?|\{\d*,?\d*\}|[*+?)|]|.", re.DOTALL
)


def expression(value: str) -> str:
    """The same text, if it can be used; ValueError (fault; mending) if it is long, broken, fits the empty text, or might never end."""
    if len(value) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters; write a shorter expression, or two")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(value)
    except (re.error, Warning, OverflowError, RecursionError) as fault:
        raise ValueError(f"is not a regular expression ({fault}); mend it, in single quotes so that \\ stays as it is") from fault
    if compiled.search("") is not None:
        raise ValueError("fits the empty text and so would mask everything; say what must be there")
    if is_slow(value):
        raise ValueError("can be matched in too many ways, which might never end; write bounds such as {1,40} in place of + and *")
    return value


def bounded(text: str) -> str:
    """The same expression, with no repetition without a bound: how it is to be compiled."""
    return "".join(_bounded(sign) if kind == "repeat" else sign for kind, sign in _signs(text))


def _bounded(sign: str) -> str:
    least, most = _times(sign)
    return sign if most is not None else f"{{{least},{least + UNBOUNDED}}}"


def is_slow(text: str) -> bool:
    """Might it try too many ways? Of what stands in a row they multiply, of a choice they add up, a repetition raises them to its power."""
    groups = [_Ways()]
    for kind, sign in _signs(text):
        if kind == "open":
            groups.append(_Ways())
        elif kind == "close":
            inner = groups.pop()
            groups[-1].then(inner.all)
        elif kind == "choice":
            groups[-1].choice()
        elif kind == "repeat":
            groups[-1].repeat(*_times(sign))
        elif kind == "other":
            groups[-1].then(1)
    return groups[0].all > MOST_WAYS


class _Ways:
    """In how many ways one group may match."""

    def __init__(self) -> None:
        self.others: float = 0  # of the choices before
        self.row: float = 1  # of what stands in a row, but for the last
        self.last: float = 1

    @property
    def all(self) -> float:
        return self.others + self.row * self.last

    def then(self, ways: float) -> None:
        self.row, self.last = self.row * self.last, ways

    def choice(self) -> None:
        self.others, self.row, self.last = self.all, 1, 1

    def repeat(self, least: int, most: int | None) -> None:
        if self.last > 1:
            often = most if most is not None else inf
            self.last = self.last**often if often <= MOST_TIMES and self.last <= MOST_WAYS else inf
        self.last *= (most if most is not None else least + UNBOUNDED - 1) - least + 1


def _times(sign: str) -> tuple[int, int | None]:
    """Least and most of a repetition; None: without a bound."""
    if sign in ("*", "+", "?"):
        return int(sign == "+"), 1 if sign == "?" else None
    least, comma, most = sign[1:-1].partition(",")
    return int(least or 0), int(most) if most else None if comma else int(least or 0)


def _signs(text: str) -> Iterator[tuple[str, str]]:
    """The whole text, sign by sign: what opens, closes, chooses, repeats; `how` is what makes a repetition lazy or greedy for good."""
    after = -1
    for found in SIGNS.finditer(text):
        sign = found[0]
        if sign[0] == "(":
            yield ("other" if sign.endswith(")") else "open"), sign
        elif sign == ")":
            yield "close", sign
        elif sign == "|":
            yield "choice", sign
        elif found.start() == after and sign in "?+":
            yield "how", sign
        elif sign in "*+?" or (sign[0] == "{" and re.fullmatch(r"\{(?:\d+,?\d*|,\d*)\}", sign)):
            yield "repeat", sign
            after = found.end()
        else:
            yield "other", sign
