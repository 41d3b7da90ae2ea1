"""Grading: how much a step can do wrong, decided by code from facts, with reasons in words; the planner's purpose never counts.

The order: what the tool does to the world, then the admin's rules, then what the arguments are made of. Words that strangers wrote,
flowing into a step with an effect, raise it; so does anything that was read here and leaves the house. A rule's condition on an argument
that is filled in later can only make the step stricter, since nobody knows the value yet. All walks are safe on plans with loops and with
unknown steps.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from bot.core import wording
from bot.core.catalogue import Catalogue, Effect, ToolSpec
from bot.core.plan import Plan, Step
from bot.core.policy_file import Policy, Rule, ToolRule
from bot.core.references import find, sources
from bot.core.risk import Grade, Level, Mode

STRENGTH = {Effect.READ: 0, Effect.WRITE: 1, Effect.SEND: 1, Effect.DELETE: 2, Effect.EXECUTE: 3}
STRICTNESS = {Mode.AUTO: 0, Mode.ASK: 1, Mode.CONFIRM: 2, Mode.DENY: 3}
BASE = {
    Effect.READ: (Level.LOW, "it only reads"),
    Effect.WRITE: (Level.MEDIUM, "it changes {}"),
    Effect.SEND: (Level.MEDIUM, "it sends words to {}"),
    Effect.DELETE: (Level.HIGH, "it deletes {}"),
    Effect.EXECUTE: (Level.HIGH, "it runs {}, and nobody can say beforehand what that changes"),
}
COMPARISON = re.compile(r"(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)")
STRANGERS = "which strangers wrote"


class Fit(StrEnum):
    """Does a rule's condition hold? `maybe`: the argument is filled in later."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


@dataclass(frozen=True)
class _Ruled:
    """What the rules made of a step."""

    level: Level
    mode: Mode
    reasons: tuple[str, ...]
    rules: tuple[str, ...]


def grade(step: Step, plan: Plan, catalogue: Catalogue, policy: Policy) -> Grade:
    """The grade of one step. A step whose arguments were filled in meanwhile is still judged by where `plan` says that they come from."""
    spec = catalogue.get(step.tool)
    if spec is None:
        return Grade(step=step.id, level=Level.HIGH, mode=Mode.DENY, reasons=("nobody knows this tool",))
    effect = effect_of(spec, policy)
    base, words = BASE[effect]
    ruled = _apply_rules(step, policy, _Ruled(base, mode_of(spec, policy), (), ()))
    raised = [*_tainted(step, plan, catalogue, policy, effect), *_leaving(step, plan, spec), *_hidden(step, effect)]
    level = _up(ruled.level, sum(up for _, up in raised))
    mode = Mode.ASK if ruled.mode is Mode.AUTO and effect is not Effect.READ else ruled.mode
    first, last = [why for why, up in raised if up], [why for why, up in raised if not up]
    reasons = [*ruled.reasons, *first, words.format(wording.target(step, spec) or spec.name), *last]
    late = bool(find(_origin(step, plan).args))
    return Grade(
        step=step.id,
        level=level,
        mode=mode,
        reasons=tuple(dict.fromkeys(reasons)),
        rules=ruled.rules,
        confirms=mode is Mode.CONFIRM or (level is Level.HIGH and late),
    )


def fits(name: str, glob: str) -> bool:
    """Does a tool's name fit a pattern of the policy?"""
    return fnmatchcase(name, glob)


def ruling(name: str, policy: Policy) -> ToolRule:
    """What `tools:` says of a tool: each key from the most exact pattern that sets it."""
    found = sorted((glob for glob in policy.tools if fits(name, glob)), key=_exactness)
    merged: dict[str, Any] = {}
    for glob in found:
        merged |= policy.tools[glob].model_dump(exclude_none=True)
    return ToolRule.model_validate(merged)


def effect_of(spec: ToolSpec, policy: Policy) -> Effect:
    """The tool's effect as policy sees it. The file may raise any tool, and lower only what is declared as `execute`.

    A tool of which nothing is known (a server's hints count for nothing) is declared so; a declared write, send or delete stays one.
    """
    wanted = ruling(spec.name, policy).effect
    if wanted and (spec.effect is Effect.EXECUTE or STRENGTH[wanted] >= STRENGTH[spec.effect]):
        return wanted
    return spec.effect


def mode_of(spec: ToolSpec, policy: Policy) -> Mode:
    """The tool's mode before the rules: by the profile, unless `tools:` says otherwise."""
    stated = ruling(spec.name, policy)
    if stated.mode:
        return stated.mode
    effect = effect_of(spec, policy)
    if effect is Effect.READ:
        listed = policy.profile != "external" or any(fits(spec.name, glob) for glob in policy.tools)
        return Mode.AUTO if listed else Mode.CONFIRM
    outside = spec.outward and policy.profile == "team"
    return Mode.CONFIRM if policy.profile == "external" or outside or STRENGTH[effect] > 1 else Mode.ASK


def matches(rule: Rule, step: Step) -> Fit:
    """Does the whole of `when` fit the step? A tool's name is compared as it is, arguments also in their plain forms."""
    if not fits(step.tool, str(rule.when.get("tool", "*"))):
        return Fit.NO
    conditions = [(key.removeprefix("args."), wanted) for key, wanted in rule.when.items() if key != "tool"]
    found = [_condition(step.args, path, wanted, lax=_is_lax(rule)) for path, wanted in conditions]
    if Fit.NO in found:
        return Fit.NO
    return Fit.MAYBE if Fit.MAYBE in found else Fit.YES


def untrusted_origins(step: Step, plan: Plan, catalogue: Catalogue, policy: Policy) -> list[tuple[str, Step]]:
    """(argument, step whose words strangers wrote) for each argument that is made from such a step, directly or through others."""
    late = [(name, sources(value)) for name, value in _origin(step, plan).args.items()]
    return [(name, origin) for name, starts in late for origin in _strange(starts, plan, catalogue, policy)]


def is_untrusted(step: Step, plan: Plan, catalogue: Catalogue, policy: Policy) -> bool:
    """Is what this step returns written by strangers, or made from what was?"""
    return next(_strange([step.id], plan, catalogue, policy), None) is not None


def _strange(starts: Sequence[str], plan: Plan, catalogue: Catalogue, policy: Policy) -> Iterator[Step]:
    """The untrusted steps from which the data of `starts` flows; a visited set keeps it finite on loops."""
    steps = {str(step.id): step for step in plan.steps}
    seen, waiting = set[str](), list(starts)
    while waiting:
        name = waiting.pop(0)
        step = steps.get(name)
        if step is None or name in seen:
            continue
        seen.add(name)
        spec = catalogue.get(step.tool)
        stated = ruling(step.tool, policy).untrusted
        if spec is None or (spec.untrusted_output if stated is None else stated):
            yield step
        else:
            waiting += sources(step.args)


def _tainted(step: Step, plan: Plan, catalogue: Catalogue, policy: Policy, effect: Effect) -> list[tuple[str, int]]:
    """One level up where the step has an effect; a remark where it only reads. However many arguments: once."""
    found = untrusted_origins(step, plan, catalogue, policy)
    up = int(effect is not Effect.READ)
    said = dict.fromkeys(f"its {name} is made from {wording.named(origin)}, {STRANGERS}" for name, origin in found)
    return [(why, up if index == 0 else 0) for index, why in enumerate(said)]


def _leaving(step: Step, plan: Plan, spec: ToolSpec) -> list[tuple[str, int]]:
    """What was read leaves the house: one level up."""
    if not spec.outward:
        return []
    if find(_origin(step, plan).args):
        return [("what was read leaves the house", 1)]
    return [] if spec.effect is Effect.READ else [("it leaves the house", 0)]


def _hidden(step: Step, effect: Effect) -> list[tuple[str, int]]:
    """Characters that cannot be seen, in what a person would have to read."""
    names = [name for name, value in step.args.items() if wording.hides(value)]
    return [(f"its {name} holds characters that cannot be seen", int(effect is not Effect.READ)) for name in names[:1]]


def _apply_rules(step: Step, policy: Policy, ruled: _Ruled) -> _Ruled:
    """The strictest of the rules that fit replaces level and mode; one that only may fit cannot make anything looser."""
    risks: list[Level] = []
    modes: list[Mode] = []
    reasons, names = [], []
    for number, rule in enumerate(policy.rules, start=1):
        fit = matches(rule, step)
        stricter = _is_stricter(rule, ruled)
        if fit is Fit.NO or (fit is Fit.MAYBE and not stricter):
            continue
        name = rule.name or f"rule {number}"
        if rule.shadow:
            names.append(f"{name} (shadow: would be {' and '.join(filter(None, (rule.risk and f'{rule.risk} risk', rule.mode)))})")
            continue
        names.append(name)
        reasons.append((rule.why or name) + (", if that is what is filled in later" if fit is Fit.MAYBE else ""))
        risks += [rule.risk] if rule.risk else []
        modes += [rule.mode] if rule.mode else []
    level = max(risks, key=lambda level: level.rank, default=ruled.level)
    return _Ruled(level, max(modes, key=STRICTNESS.__getitem__, default=ruled.mode), tuple(reasons), tuple(names))


def _is_stricter(rule: Rule, than: _Ruled) -> bool:
    return bool((rule.risk and rule.risk.rank > than.level.rank) or (rule.mode and STRICTNESS[rule.mode] > STRICTNESS[than.mode]))


def _is_lax(rule: Rule) -> bool:
    """Does it let something through that would stand out otherwise? Then every form of a value must fit, not just one."""
    return rule.risk is Level.LOW or rule.mode in (Mode.AUTO, Mode.ASK)


def _condition(args: Mapping[str, Any], path: str, wanted: Any, *, lax: bool) -> Fit:
    value: Any = args
    for name in path.split("."):
        if find(value) and not isinstance(value, Mapping):
            return Fit.MAYBE
        if not isinstance(value, Mapping) or name not in value:
            return Fit.NO
        value = value[name]
    if isinstance(value, list | tuple):
        found = [_compare(item, wanted, lax=lax) for item in value]
        return next((fit for fit in (Fit.YES, Fit.MAYBE) if fit in found), Fit.NO)
    return _compare(value, wanted, lax=lax)


def _compare(value: Any, wanted: Any, *, lax: bool) -> Fit:
    if find(value):
        return Fit.MAYBE
    if isinstance(wanted, tuple):
        return Fit.YES if any(_compare(value, one, lax=lax) is Fit.YES for one in wanted) else Fit.NO
    if isinstance(wanted, str) and isinstance(value, str):
        found = [fnmatchcase(form, pattern) for form, pattern in zip(_forms(value), _patterns(wanted), strict=True)]
        return Fit.YES if (all(found) if lax else any(found)) else Fit.NO
    if isinstance(wanted, str) and isinstance(value, int | float) and not isinstance(value, bool):
        return Fit.YES if _in_bounds(value, wanted) else Fit.NO
    return Fit.YES if type(value) is type(wanted) and value == wanted else Fit.NO


def _in_bounds(value: float, wanted: str) -> bool:
    """An amount against ">100" and the like, or its digits against a pattern."""
    bound = COMPARISON.fullmatch(wanted.strip())
    if not bound:
        return fnmatchcase(str(value), wanted)
    sign, limit = bound[1], float(bound[2])
    return value > limit if sign == ">" else value < limit if sign == "<" else value >= limit if sign == ">=" else value <= limit


def _forms(value: str) -> tuple[str, str]:
    """As written, and as a system may read it: `Secrets//./Key` is `secrets/key`."""
    plain = unicodedata.normalize("NFKC", value).strip().casefold()
    return value, posixpath.normpath(plain) if "/" in plain and "://" not in plain else plain


def _patterns(wanted: str) -> tuple[str, str]:
    return wanted, unicodedata.normalize("NFKC", wanted).strip().casefold()


def _exactness(glob: str) -> tuple[bool, int, str]:
    """Sorts patterns from loose to exact: a name without wildcards last, else by the number of literal characters."""
    literal = re.sub(r"[*?]|\[[^]]*\]", "", glob)
    return literal == glob, len(literal), glob


def _up(level: Level, by: int) -> Level:
    return list(Level)[min(level.rank + by, Level.HIGH.rank)]


def _origin(step: Step, plan: Plan) -> Step:
    """The step as the plan has it, with its references, even if the one at hand is filled in."""
    return next((found for found in plan.steps if found.id == step.id and found.tool == step.tool), step)
