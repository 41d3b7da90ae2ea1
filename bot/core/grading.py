"""Grading: how much a step can do wrong, decided by code from facts, with reasons in words; the planner's purpose never counts.

The order: what the tool does to the world, then the admin's rules (`matching`), then what raises by itself (`raising`): scopes, windows,
what strangers wrote, what leaves the house, who reads it, what it meets in the same plan. A rule's condition on an argument that is filled
in later can only make the step stricter, since nobody knows the value yet; once it is known, the step is graded again with it. What is
above low never runs by itself. Each reason in words has the name of its rule beside it in `Grade.rules`, if it made a difference.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.core import matching, raising, wording
from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.facts import NOTHING, Facts
from bot.core.flows import World, origin, untrusted_origins
from bot.core.matching import Fit, Look
from bot.core.plan import Plan, Step
from bot.core.policy_file import Policy, Rule
from bot.core.risk import Grade, Level, Mode, highest
from bot.core.tool_rules import STRENGTH, effect_of, fits, mode_of, mode_source, ruling

__all__ = ["STRENGTH", "STRICTNESS", "effect_of", "fits", "grade", "grades", "is_stricter", "mode_of", "ruling"]

STRICTNESS = {Mode.AUTO: 0, Mode.ASK: 1, Mode.CONFIRM: 2, Mode.DENY: 3}
BASE = {
    Effect.READ: (Level.LOW, "it only reads"),
    Effect.WRITE: (Level.MEDIUM, "it changes {}"),
    Effect.SEND: (Level.MEDIUM, "it sends words to {}"),
    Effect.DELETE: (Level.HIGH, "it deletes {}"),
    Effect.EXECUTE: (Level.HIGH, "it runs {}, and nobody can say beforehand what that changes"),
}


@dataclass(frozen=True)
class _Said:
    """One reason, and the rule that gave it; `mode`: what it asks for."""

    why: str
    rule: str
    mode: Mode = Mode.AUTO


@dataclass(frozen=True)
class _Ruled:
    """What the rules made of a step."""

    level: Level
    mode: Mode
    said: tuple[_Said, ...] = ()


def grade(step: Step, plan: Plan, catalogue: Catalogue, policy: Policy, facts: Facts = NOTHING, *, filled: bool = False) -> Grade:
    """The grade of one step. A step whose arguments were filled in meanwhile is still judged by where `plan` says that they come from.

    `filled`: these are the values of the call, so that nothing in them is a reference, whatever it looks like (P7).
    """
    world = World(plan, catalogue, policy, facts)
    return _grade(step, world, filled=filled or step.args != origin(step, world).args)


def grades(plan: Plan, catalogue: Catalogue, policy: Policy, facts: Facts = NOTHING) -> tuple[Grade, ...]:
    """The grades of all steps, in the plan's order."""
    world = World(plan, catalogue, policy, facts)
    return tuple(_grade(step, world, filled=False) for step in plan.steps)


def is_stricter(now: Grade, than: Grade) -> bool:
    """Does it ask for more, by level or by mode?"""
    return now.level.rank > than.level.rank or STRICTNESS[now.mode] > STRICTNESS[than.mode]


def _grade(step: Step, world: World, *, filled: bool) -> Grade:
    spec = world.catalogue.get(step.tool)
    if spec is None:
        return Grade(step=step.id, level=Level.HIGH, mode=Mode.DENY, reasons=("nobody knows this tool",))
    effect = effect_of(spec, world.policy)
    base, words = BASE[effect]
    ruled = _ruled(_look(step, spec, effect, world, filled=filled), world.policy, base, mode_of(spec, world.policy))
    found = raising.raises(raising.Case(step, spec, effect, world, filled))
    level = highest([_up(ruled.level, sum(each.up for each in found)), *(each.least for each in found)])
    mode = _strictest([ruled.mode, *(each.mode for each in found)])
    if mode is Mode.AUTO and (effect is not Effect.READ or level is not Level.LOW):
        mode = Mode.ASK
    denied = mode_of(spec, world.policy) is Mode.DENY
    said = [_Said("no plan may call it", mode_source(spec, world.policy), Mode.DENY)] if denied else []
    said += [*ruled.said, *(_Said(each.why, each.rule, each.mode) for each in found if each.raises)]
    said = sorted(said, key=lambda one: mode is Mode.DENY and one.mode is not Mode.DENY)  # what denies comes first
    own = [words.format(wording.target(step, spec) or spec.name)] if effect is not Effect.READ or level is Level.LOW else []
    reasons = [*(one.why for one in said if one.why), *own, *(each.why for each in found if not each.raises)]
    return Grade(
        step=step.id,
        level=level,
        mode=mode,
        reasons=tuple(dict.fromkeys(reasons)),
        rules=tuple(dict.fromkeys(one.rule for one in said)),
        confirms=mode is Mode.CONFIRM or (level is Level.HIGH and bool(origin(step, world).uses)),
    )


def _look(step: Step, spec: ToolSpec, effect: Effect, world: World, *, filled: bool) -> Look:
    asked = any("untrusted" in rule.when for rule in world.policy.rules)
    tainted = bool(untrusted_origins(step, world)) if asked else None
    return Look(step, effect, outward=spec.outward, tainted=tainted, facts=world.facts, filled=filled)


def _ruled(look: Look, policy: Policy, base: Level, mode: Mode) -> _Ruled:
    """The strictest of the rules that surely fit replaces level and mode; one that fits in part, or perhaps, only makes them stricter."""
    fitting = [
        (rule.name or f"rule {number}", rule, fit)
        for number, rule in enumerate(policy.rules, start=1)
        if (rule.risk or rule.mode) and (fit := matching.matches(rule, look)) is not Fit.NO
    ]
    sure = [rule for _, rule, fit in fitting if fit is Fit.YES and not rule.shadow]
    ruled = _Ruled(highest([rule.risk for rule in sure if rule.risk]) if any(rule.risk for rule in sure) else base, mode)
    if modes := [rule.mode for rule in sure if rule.mode]:
        ruled = _Ruled(ruled.level, mode if mode is Mode.DENY else _strictest(modes))  # what is denied as such, no rule allows
    counting = [(name, rule, fit) for name, rule, fit in fitting if fit is Fit.YES or _tightens(rule, fit, ruled)]
    tight = [(rule, fit) for _, rule, fit in counting if fit is not Fit.YES and not rule.shadow]
    level = highest([ruled.level, *(rule.risk for rule, _ in tight if rule.risk)])
    mode = _strictest([ruled.mode, *(asks for rule, fit in tight if (asks := _asks(rule, fit)))])
    late = bool(look.step.uses) and not look.filled
    return _Ruled(level, mode, tuple(_says(name, rule, fit, late=late) for name, rule, fit in counting))


def _says(name: str, rule: Rule, fit: Fit, *, late: bool) -> _Said:
    if rule.shadow:
        would = " and ".join(filter(None, (rule.risk and f"{rule.risk} risk", rule.mode)))
        return _Said("", f"{name} (shadow: would be {would})")
    unsure = "" if fit is not Fit.MAYBE else ", if that is what is filled in later" if late else ", if that is what it means"
    return _Said((rule.why or name) + unsure, name, _asks(rule, fit) or Mode.AUTO)


def _asks(rule: Rule, fit: Fit) -> Mode | None:
    """What the rule asks of people. What may turn out to be denied is looked at once its value is known, and until then confirmed."""
    return Mode.CONFIRM if rule.mode is Mode.DENY and fit is Fit.MAYBE else rule.mode


def _tightens(rule: Rule, fit: Fit, than: _Ruled) -> bool:
    """Is it stricter in some respect? What fits in part counts too where it is looser in none: its reason is one."""
    asks = _asks(rule, fit)
    steps = [rule.risk.rank - than.level.rank] if rule.risk else []
    steps += [STRICTNESS[asks] - STRICTNESS[than.mode]] if asks else []
    return max(steps) > 0 or (fit is Fit.PARTLY and min(steps) == 0)


def _strictest(modes: Iterable[Mode]) -> Mode:
    return max(modes, key=STRICTNESS.__getitem__)


def _up(level: Level, by: int) -> Level:
    return list(Level)[min(level.rank + by, Level.HIGH.rank)]
