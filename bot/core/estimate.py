"""In which order a plan runs, in words, and roughly how long: what the line at the foot of a review says.

Both are safe on any plan: steps on a loop have no place in the order and are left out.
"""

from collections.abc import Sequence

from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.plan import Plan, Step, levels
from bot.core.wording import joined

SECONDS = {Effect.READ: 2.0, Effect.WRITE: 2.0, Effect.SEND: 1.0, Effect.DELETE: 2.0, Effect.EXECUTE: 30.0}
UNKNOWN = 5.0


def order_line(plan: Plan) -> str:
    """The running order by number: "1 and 2 together → 3 → 4", "1 to 6 and 8 together → 7". A step without a number is named by its id."""
    return " → ".join(_group(level) for level in levels(plan))


def estimate_seconds(plan: Plan, catalogue: Catalogue) -> float:
    """Rough seconds along the longest chain of steps that wait for each other, waiting for people not counted."""
    ends: dict[str, float] = {}
    for level in levels(plan):
        for step in level:
            begins = max((ends.get(name, 0.0) for name in step.needs), default=0.0)
            ends[step.id] = begins + _seconds(step, catalogue.get(step.tool))
    return max(ends.values(), default=0.0)


def _seconds(step: Step, spec: ToolSpec | None) -> float:
    """A step that says for how long it waits is believed; a step never takes longer than its own limit."""
    said = step.args.get("seconds")
    if isinstance(said, int | float) and not isinstance(said, bool) and said > 0:
        guess = float(said)
    else:
        guess = SECONDS[spec.effect] if spec else UNKNOWN
    return min(guess, step.timeout_s or (spec.timeout_s if spec else guess))


def _group(level: Sequence[Step]) -> str:
    numbers = sorted(step.number for step in level if step.number)
    words = [*_spans(numbers), *(step.id for step in level if not step.number)]
    return joined(words) + (" together" if len(level) > 1 else "")


def _spans(numbers: Sequence[int]) -> list[str]:
    """[1, 2, 3, 5, 6] → ["1 to 3", "5", "6"]: three or more in a row are a span."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [word for run in runs for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run])]
