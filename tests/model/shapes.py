"""What is walked: small plans of every shape, what people may say to change them, and how much of each thing happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field

AXES = ("pause", "freeze", "redirect", "edit", "breakpoint", "restart", "crash", "trouble")


@dataclass(frozen=True)
class Shape:
    """A plan in plain notation, replies that change its rest, and the step whose argument a person edits by hand."""

    name: str
    ask: str
    replies: tuple[str, ...]
    edits: str = "a"
    at_most: Mapping[str, int] = field(default_factory=dict)  # per axis, how often it may happen; not named: never

    def bounded(self, **at_most: int) -> "Shape":
        return Shape(self.name, self.ask, self.replies, self.edits, at_most)

    @property
    def budget(self) -> tuple[int, ...]:
        return tuple(self.at_most.get(axis, 0) for axis in AXES)


SINGLE = Shape("single", "a: say.it name=a", ("skip a", "add b: say.it name=b", "instead a: say.else name=a"))
CONFIRMED = Shape("confirmed", "a: ask.first name=a", ("add b: see.it name=b", "instead a: ask.else name=a"))
CHAIN = Shape(
    "chain",
    "r: see.it name=r\na: say.it name={{r.name}} !break",
    ("skip a", "add b: say.it name=b", "instead a: say.else name={{r.name}}", "add q: see.it name=r"),
)
FAN_OUT = Shape(
    "fan-out",
    "r: see.it name=r\na: say.it name={{r.name}}\nb: say.it name=b after=r",
    ("skip b", "instead b: say.else name=b", "add c: see.it name=r after=a"),
)
JOIN = Shape(
    "join",
    "r: see.it name=r\ns: say.it name=s\na: ask.first name={{r.name}}{{s.name}}",
    ("skip a", "instead s: say.else name=s", "instead a: ask.else name={{r.name}}{{s.name}}"),
)


def usual() -> list[Shape]:
    """What is walked on every commit."""
    return [
        SINGLE.bounded(pause=1, crash=1),
        SINGLE.bounded(pause=1, freeze=1, redirect=1, crash=1),
    ]


def deeper() -> list[Shape]:
    """What takes longer, for those who have the time."""
    return usual()
