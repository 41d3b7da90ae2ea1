"""What somebody types who says yes in writing: the name of what the riskiest step touches, exactly.

A name that cannot be typed as it is shown (filled in later, long, on two lines, with hidden characters) is no good for that; the run's own
id stands in for it.
"""

from collections.abc import Collection, Mapping
from typing import Any

from bot.core.catalogue import Catalogue
from bot.core.plan import Plan, Step
from bot.core.references import find
from bot.core.risk import Grade
from bot.core.wording import shown

LONGEST = 40


def riskiest(plan: Plan, grades: Mapping[str, Grade], steps: Collection[str]) -> Step | None:
    """The first of these steps in running order that is as risky as any of them."""
    found = [step for step in plan.steps if step.id in steps]
    return min(found, key=lambda step: (-grades[step.id].level.rank if step.id in grades else 0, step.number), default=None)


def wanted(run_id: str, step: Step | None, catalogue: Catalogue, *, args: Mapping[str, Any] | None = None) -> str:
    """What must be typed for a yes to that step: the name of its target, else the run's id. `args`: its values, once they are filled in."""
    spec = catalogue.get(step.tool) if step else None
    if step is None or spec is None or not spec.target:
        return run_id
    return _name(step.args if args is None else args, spec.target) or run_id


def _name(args: Mapping[str, Any], path: str) -> str:
    """The argument of that path, if a person can type it as it stands; else nothing."""
    value: Any = args
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, str | int) or find(value):
        return ""
    text = str(value)
    return text if text == text.strip() and shown(text, limit=LONGEST) == text else ""


def is_typed(wants: str, typed: str | None) -> bool:
    """Is that what was wanted? Capitals count, blanks around it do not."""
    return typed is not None and typed.strip() == wants
