"""Risk: three levels, set by code, always with reasons in words."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.core.ids import StepId

ORDER = ("low", "medium", "high")
SHADOW = " (shadow: "  # begins what a rule on trial would have done; no rule's name can hold it


class Level(StrEnum):
    """How much a step or a plan can do wrong."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0, 1, 2: comparable, where the words are not."""
        return ORDER.index(self.value)


class Mode(StrEnum):
    """What policy asks of people before a tool runs."""

    AUTO = "auto"  # nobody, if the whole plan is auto
    ASK = "ask"  # one approval of the plan
    CONFIRM = "confirm"  # that, and once more with the real arguments
    DENY = "deny"  # cannot be planned


class Grade(BaseModel):
    """The grade of one step: its level, why (half sentences, most important first) and the rules that said so."""

    model_config = ConfigDict(frozen=True)

    step: StepId
    level: Level
    mode: Mode
    reasons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    confirms: bool = False  # holds just before it runs and shows its real arguments

    @property
    def shadow(self) -> tuple[str, ...]:
        """What rules on trial would have done: "name (shadow: would be high risk and deny)"."""
        return tuple(rule for rule in self.rules if SHADOW in rule)

    @property
    def held(self) -> tuple[str, ...]:
        """The names of the rules that made a difference."""
        return tuple(rule for rule in self.rules if SHADOW not in rule)


def highest(levels: list[Level]) -> Level:
    """The plan's level is that of its riskiest step; an empty plan is low."""
    return max(levels, key=lambda level: level.rank, default=Level.LOW)
