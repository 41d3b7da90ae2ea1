"""A step is graded again once its values are known: what a plan could not say, the values do.

The grade that was approved is the floor. Values that make the step stricter hold it for a person, with the new reasons; values that the
policy denies are never used, whoever has said yes to the plan. Equal or milder values change nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.grading import STRICTNESS, is_stricter
from bot.core.plan import Step
from bot.core.risk import Grade, Level, Mode
from bot.core.run import Event
from bot.core.snapshot import Entry

Judge = Callable[[Step, Mapping[str, Any]], Grade]


@dataclass(frozen=True)
class Judged:
    """What the values of a step made of it. `denied`: why the tool must not be called; `stricter`: the grade that now holds, if it rose."""

    denied: str = ""
    stricter: Grade | None = None


def judged(judge: Judge | None, step: Step, args: Mapping[str, Any], stored: Grade | None) -> Judged:
    """The step with its filled-in arguments before the policy that holds now."""
    if judge is None:
        return Judged()
    now = judge(step, args)
    if now.mode is Mode.DENY:
        return Judged(denied=denial(step.tool, now))
    return Judged(stricter=_risen(now, stored) if stored is None or is_stricter(now, stored) else None)


def denial(tool: str, grade: Grade) -> str:
    """The policy's sentence: `the policy does not allow http.request here: evil.example is not among … (scopes.hosts)`."""
    rule = f" ({grade.rules[0]})" if grade.rules else ""
    return f"the policy does not allow {tool} here: {grade.reasons[0]}{rule}"


def _risen(now: Grade, stored: Grade | None) -> Grade:
    """The stricter of both in each respect: what was approved stays the floor."""
    level = max(now.level, stored.level, key=lambda level: level.rank) if stored else now.level
    mode = max(now.mode, stored.mode, key=STRICTNESS.__getitem__) if stored else now.mode
    return now.model_copy(update={"level": level, "mode": mode, "confirms": True})


def as_data(grade: Grade | None) -> dict[str, Any]:
    """What goes on record, and with the card, where the values made a step stricter; nothing where they did not."""
    if grade is None:
        return {}
    return {"level": grade.level.value, "mode": grade.mode.value, "reasons": list(grade.reasons), "rules": list(grade.rules)}


def as_held(stored: Grade, data: Mapping[str, Any]) -> Grade:
    """The grade with which a step is held: as stored, or as `as_data` wrote it down."""
    if "level" not in data:
        return stored
    said: dict[str, Any] = {name: tuple(data.get(name, ())) for name in ("reasons", "rules")}
    said |= {"level": Level(data["level"]), "mode": Mode(data.get("mode", stored.mode)), "confirms": True}
    return stored.model_copy(update=said)


def held_grade(entries: Iterable[Entry], stored: Grade, *, filling: str) -> Grade:
    """The grade that a confirm of this filling (its digest, or the beginning of it) is about, read from the record."""
    mine = [entry.data for entry in entries if entry.event == Event.HELD and entry.data.get("step") == stored.step]
    found = [data for data in mine if data.get("filling") and filling.startswith(data["filling"])]
    return as_held(stored, found[-1]) if found else stored
