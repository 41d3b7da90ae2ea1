"""What is walked: small plans of every shape, what people may say to change them, and how much of each thing happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

AXES = ("pause", "freeze", "redirect", "edit", "breakpoint", "restart", "crash", "trouble")


@dataclass(frozen=True)
class Shape:
    """A plan in plain notation, replies that change its rest, and the step whose argument a person edits by hand."""

    name: str
    ask: str
    replies: tuple[str, ...]
    edits: str = "a"
    at_most: Mapping[str, int] = field(default_factory=dict)  # per axis, how often it may happen; not named: never
    processes: int = 2

    def __str__(self) -> str:
        about = ", ".join(f"{axis} {most}" for axis, most in self.at_most.items())
        who = "one process" if self.processes == 1 else "two processes"
        return f"{self.name} · {who}" + (f" · {about}" if about else "")

    def bounded(self, *, processes: int = 2, **at_most: int) -> "Shape":
        """The same shape with these bounds. One process is the bot as it runs in one place; two overtake each other."""
        return replace(self, at_most=at_most, processes=processes)

    @property
    def budget(self) -> tuple[int, ...]:
        return tuple(self.at_most.get(axis, 0) for axis in AXES)


SINGLE = Shape("single", "a: say.it name=a", ("skip a", "add b: see.it name=b", "instead a: say.else name=a"))
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
    """What is walked on every commit: each thing that can happen, and the meetings of those that meddle with one another."""
    return [
        SINGLE.bounded(pause=1, freeze=1, crash=1),
        SINGLE.bounded(pause=2, trouble=1),
        SINGLE.bounded(crash=2, trouble=1),
        SINGLE.bounded(breakpoint=1, pause=1, crash=1),
        SINGLE.bounded(restart=1, pause=1, freeze=1),
        SINGLE.bounded(freeze=1, redirect=1),
        SINGLE.bounded(processes=1, restart=1, redirect=1),
        CONFIRMED.bounded(freeze=1, crash=1),
        CONFIRMED.bounded(pause=1, edit=1),
        CONFIRMED.bounded(redirect=1),
        CHAIN.bounded(breakpoint=1, pause=1),
        CHAIN.bounded(redirect=1),
        FAN_OUT.bounded(pause=1, trouble=1),
        FAN_OUT.bounded(crash=1),
        FAN_OUT.bounded(processes=1, redirect=1),
        JOIN.bounded(pause=1, crash=1),
        JOIN.bounded(processes=1, redirect=1),
    ]


def deeper() -> list[Shape]:
    """What takes longer, for those who have the time: more of everything at once."""
    return [
        *usual(),
        SINGLE.bounded(processes=1, redirect=2),
        SINGLE.bounded(pause=1, freeze=1, redirect=1, crash=1),
        CONFIRMED.bounded(redirect=1, edit=1, crash=1),
        CONFIRMED.bounded(redirect=1, freeze=1, restart=1),
        CHAIN.bounded(freeze=1, redirect=1),
        CHAIN.bounded(redirect=1, trouble=1),
        CHAIN.bounded(edit=1, redirect=1),
        CHAIN.bounded(pause=1, redirect=1, crash=1),
        FAN_OUT.bounded(crash=1, trouble=1, pause=1),
        FAN_OUT.bounded(redirect=1, restart=1),
        FAN_OUT.bounded(restart=1, freeze=1, crash=1, pause=1),
        JOIN.bounded(redirect=1, crash=1, pause=1),
        JOIN.bounded(trouble=2, crash=1),
    ]
