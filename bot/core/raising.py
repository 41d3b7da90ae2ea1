"""What raises a grade by itself, whatever the policy file says: built-in rules with names, each with its reason in words.

They add to what the effect and the admin's rules made of a step, and never take anything away. A rule file may lower where it begins; it
cannot switch these off.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core import windows, wording
from bot.core.catalogue import Effect, ToolSpec
from bot.core.flows import World, origin, untrusted_origins, upstream
from bot.core.places import Kind, channels, places
from bot.core.plan import Step, dependents
from bot.core.policy_file import Window
from bot.core.references import OPEN, secrets
from bot.core.risk import Level, Mode

STRANGERS = "which strangers wrote"
MANY, VERY_MANY = 50, 200  # people who read a channel: above the first it is said, above the second it raises
THEN = {"high": (Level.HIGH, Mode.AUTO), "confirm": (Level.LOW, Mode.CONFIRM), "deny": (Level.HIGH, Mode.DENY)}


@dataclass(frozen=True)
class Case:
    """One step before the court: with its references, or with its values filled in."""

    step: Step
    spec: ToolSpec
    effect: Effect  # as the policy sees it
    world: World
    filled: bool = False  # all its values are final

    @property
    def planned(self) -> Step:
        """As the plan has it, with its references."""
        return origin(self.step, self.world)

    @property
    def goes_out(self) -> bool:
        """Does it bring words to people or systems outside?"""
        return self.spec.outward or (self.effect is not Effect.READ and any(self.outside_channels()))

    def outside_channels(self) -> list[str]:
        """The channels that it names in which people from outside read."""
        reach = self.world.facts.reach
        return [name for name in channels(self.step.args) if name in reach and reach[name].external]


@dataclass(frozen=True)
class Raise:
    """One finding. `up`: levels on top; `least`, `mode`: at least that. A finding without any of these only says something."""

    why: str
    rule: str
    up: int = 0
    least: Level = Level.LOW
    mode: Mode = Mode.AUTO

    @property
    def raises(self) -> bool:
        """Does it do more than say something?"""
        return bool(self.up) or self.least is not Level.LOW or self.mode is not Mode.AUTO


def raises(case: Case) -> list[Raise]:
    """Everything that raises this step, or is worth a word."""
    return [each for look in _LOOKS for each in look(case)]


def _scopes(case: Case) -> list[Raise]:
    """A place outside of what the policy allows is denied, by every name that it may have; one that comes later is judged then."""
    found = []
    for place in places(case.step.args, case.world.facts, filled=case.filled):
        allowed: Sequence[str] | None = getattr(case.world.policy.scopes, place.kind)
        if allowed is None or place.late or place.is_among(tuple(allowed)):
            continue
        shown = wording.shown(place.forms[0] + place.port if place.kind is Kind.HOST and place.forms else place.text)
        why = f"{shown or 'nothing'} is not among the {place.kind} that the policy allows"
        found.append(Raise(why, f"scopes.{place.kind}", least=Level.HIGH, mode=Mode.DENY))
    return found


def _windows(case: Case) -> list[Raise]:
    """Beyond what one requester may do within a time, counted in the plan's order on top of what is used up already."""
    given = case.world.policy.windows
    if not given:
        return []
    spent = dict(case.world.facts.spent)
    for earlier in _before(case):
        for number, window in enumerate(given):
            effect = case.world.effects.get(earlier.tool)
            if effect is not None and windows.counts(window, earlier.tool, effect):
                spent[number] = spent.get(number, 0.0) + windows.amount(window, earlier.args)
    args = _literal(case.step.args) if case.filled else case.step.args
    over = windows.beyond(given, spent, case.step.tool, case.effect, args)
    return [_beyond(number, window) for number, window in over]


def _literal(value: Any) -> Any:
    """The value without anything that could pass for a reference, for whoever would take it to be known later."""
    if isinstance(value, Mapping):
        return {key: _literal(item) for key, item in value.items()}
    return value.replace(OPEN, "{ {") if isinstance(value, str) else value


def _before(case: Case) -> list[Step]:
    steps = case.world.plan.steps
    here = next((number for number, step in enumerate(steps) if step.id == case.step.id), 0)
    return list(steps[:here])


def _beyond(number: int, window: Window) -> Raise:
    least, mode = THEN[window.then]
    return Raise(windows.says(window), f"window {number + 1}", least=least, mode=mode)


def _taint(case: Case) -> list[Raise]:
    """One level up where the step has an effect; a remark where it only reads. However many arguments: once."""
    found = untrusted_origins(case.step, case.world)
    up = int(case.effect is not Effect.READ)
    said = dict.fromkeys(f"its {name} is made from {wording.named(step)}, {STRANGERS}" for name, step in found)
    return [Raise(why, "built-in: taint", up=up if index == 0 else 0) for index, why in enumerate(said)]


def _leaving(case: Case) -> list[Raise]:
    """What was read leaves the house: high, and seen before it goes. From outside to outside again (a link of a page): one level up."""
    if not case.spec.outward:
        return []
    rule = "built-in: leaves the house"
    if not case.planned.uses:
        return [] if case.spec.effect is Effect.READ else [Raise("it leaves the house", rule)]
    above = [case.world.catalogue.get(step.tool) for step in upstream(case.step, case.world)]
    if above and all(spec is not None and spec.outward for spec in above):
        return [Raise("what was read outside leaves the house again", rule, up=1)]
    return [Raise("what was read leaves the house", rule, up=1, least=Level.HIGH, mode=Mode.CONFIRM)]


def _hidden(case: Case) -> list[Raise]:
    """Characters that cannot be seen, in what a person would have to read."""
    names = [name for name, value in case.step.args.items() if wording.hides(value)]
    up = int(case.effect is not Effect.READ)
    return [Raise(f"its {name} holds characters that cannot be seen", "built-in: hidden characters", up=up) for name in names[:1]]


def _reach(case: Case) -> list[Raise]:
    """Many people, or people from outside, read what is sent. Each channel is said; one level up, however many there are."""
    if case.effect is Effect.READ:
        return []
    found = []
    for name in channels(case.step.args):
        known = case.world.facts.reach.get(name)
        people = known.people if known and known.people is not None else 0
        shown = wording.shown(name)
        if known and known.external:
            found.append(Raise(f"people from outside read {shown}", "built-in: reach", up=1))
        if people > MANY:
            found.append(Raise(f"{people:,} people read {shown}", "built-in: reach", up=int(people > VERY_MANY)))
    return _once(found)


def _combined(case: Case) -> list[Raise]:
    """Secrets and private data in one plan with a step that goes outside: high where they flow into it, else one level up."""
    if not case.goes_out:
        return []
    rule = "built-in: combination"
    found = [Raise(f"it takes the secret {name} out of the house", rule, up=1) for name in secrets(case.planned.args)]
    above = upstream(case.step, case.world)
    private = case.world.private
    flows = [step for step in above if step.id in private]
    found += [Raise(f"it sends out what comes from {_said(step, private)}", rule, up=1, least=Level.HIGH) for step in flows]
    after = {step.id for step in (case.step, *above, *dependents(case.world.plan, case.step.id))} if private else set()
    beside = [step for step in case.world.plan.steps if step.id in private and step.id not in after]
    found += [Raise(f"it goes outside, in one plan with {_said(step, private)}", rule, up=1) for step in beside]
    return _once(found)


def _said(step: Step, private: Mapping[str, str]) -> str:
    """ "2 · keys, which names a file where credentials are usually kept"."""
    return f"{wording.named(step)}, which {private[step.id]}"


def _novelty(case: Case) -> list[Raise]:
    """Nobody here has said yes to this tool yet: said of every effect, and one level up where it can do the most harm."""
    known = case.world.facts.approved_before
    if known is None or case.spec.name in known or case.effect is Effect.READ:
        return []
    up = int(case.spec.outward or case.effect in (Effect.DELETE, Effect.EXECUTE))
    return [Raise(f"nobody here has approved {case.spec.name} before", "built-in: novelty", up=up)]


def _once(found: list[Raise]) -> list[Raise]:
    """All that was found; the first of those that go up counts, the others only say so."""
    first = next((number for number, each in enumerate(found) if each.up), None)
    return [each if number == first or not each.up else replace(each, up=0) for number, each in enumerate(found)]


_LOOKS: tuple[Callable[[Case], list[Raise]], ...] = (
    _scopes,
    _windows,
    _taint,
    _leaving,
    _hidden,
    _reach,
    _combined,
    _novelty,
)
