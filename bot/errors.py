"""What can go wrong, and whose business it is.

`Refused` is a normal, polite answer: the rules say no, nothing changed, and the person is told privately why and what to do next.
Every other exception is a fault: ours to mend, logged with its trace, shown only as an apology with a reference number.
"""

from typing import Any


class PullcordError(Exception):
    """The root of everything that this package raises on purpose."""


class Refused(PullcordError):
    """The rules say no; nothing changed. `kind` names the answer (see `handlers.views.refusals`), `facts` fill its words."""

    def __init__(self, kind: str, **facts: Any) -> None:
        super().__init__(kind)
        self.kind = kind
        self.facts = facts

    def __str__(self) -> str:
        said = ", ".join(f"{key}={value}" for key, value in self.facts.items())
        return f"{self.kind} ({said})" if said else self.kind


class ConfigurationError(PullcordError):
    """The settings, the policy or a tool file cannot be used. The text is one line that says where and what to do."""


class ToolFailed(PullcordError):
    """A tool could not do its work; the text is for people: what failed and, where known, what to do."""


class ModelFault(PullcordError):
    """A model gave nothing usable. `kind` is one of no_answer, refused, cut, too_long, unreachable, rejected, malformed."""

    def __init__(self, kind: str, say: str, *, raw: str = "", tokens_in: int = 0, tokens_out: int = 0) -> None:
        super().__init__(say)
        self.kind = kind
        self.raw = raw
        self.tokens_in, self.tokens_out = tokens_in, tokens_out  # what the call cost all the same


class Unavailable(PullcordError):
    """The store is closed or busy beyond its bounds; trying again later is right."""
