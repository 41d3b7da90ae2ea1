"""What the rules know of a tool: its words, its schema and its effect, never its code.

`bot.tools.registry` makes one `ToolSpec` for each tool; the planner, the validation, the grading, the digest and the cards read it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from bot.core.ids import Digest
from bot.core.plan import fingerprint


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"  # looks; changes nothing
    WRITE = "write"  # changes something of ours
    SEND = "send"  # puts words before people
    DELETE = "delete"  # takes something away
    EXECUTE = "execute"  # runs something whose effect we cannot bound


@dataclass(frozen=True)
class ToolSpec:
    """A tool as data. `scope` is the tool's own word on where it may reach: a sentence if these arguments go too far, else None."""

    name: str
    description: str
    effect: Effect
    args_schema: Mapping[str, Any]  # JSON Schema, draft 2020-12
    result_schema: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""  # "Sends a message to {channel}"; empty: verb and target are used
    target: str = ""  # the argument that names what is touched, such as "path"
    idempotent: bool = False  # repeating it with the same arguments does no harm
    lock: str = ""  # "deploy:{env}"
    untrusted_output: bool = False  # what it returns was written by strangers
    outward: bool = False  # its arguments leave the house
    secrets: tuple[str, ...] | None = None  # arguments that may name secrets; None: all, or none where words go out (see `takes_secrets`)
    previews: bool = False
    verifies: bool = False
    tells_freshness: bool = False  # it can say whether what it read has changed since
    timeout_s: float = 120.0
    at_once: int | None = None  # how many calls of it may be at work at one time, in all runs together
    scope: Callable[[Mapping[str, Any]], str | None] | None = None

    @cached_property
    def digest(self) -> Digest:
        """Fingerprint of the definition: a changed description, schema or effect voids approvals that covered it."""
        return fingerprint(
            {
                "name": self.name,
                "description": self.description,
                "effect": self.effect,
                "args": self.args_schema,
                "says": self.says,
                "lock": self.lock,
                "idempotent": self.idempotent,
            }
        )

    def takes_secrets(self, argument: str) -> bool:
        """May `{{secret:NAME}}` stand in that argument? Nowhere by itself where words are put before people, or leave the house."""
        if self.secrets is None:
            return self.effect is not Effect.SEND and not self.outward
        return argument in self.secrets

    @property
    def repeatable(self) -> bool:
        """May it be called again when nobody knows whether the first call ended? Reads and declared-idempotent tools only."""
        return self.effect is Effect.READ or self.idempotent


Catalogue = Mapping[str, ToolSpec]
