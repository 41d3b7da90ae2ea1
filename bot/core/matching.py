"""Does a rule's `when` fit a step? Plain matchers, no language: a value, a list of values, a pattern, a bound such as ">100".

A rule may tighten and loosen, and a value may be taken in several ways, so the answer has four shades. What surely fits may loosen; what
fits in some form, or by a fact about the world, can only make a step stricter; so can what may turn out to fit once it is filled in.

| condition | is about |
|---|---|
| `tool` | the tool's name |
| `effect` | read, write, send, delete, execute, as the policy sees it |
| `args.NAME` | any argument, at any depth, by its own name |
| `host`, `path`, `channel` | where the step reaches, whatever the argument is called, as systems read it (see `places`) |
| `reach` | how many people read the channel: ">50" |
| `external` | true: it leaves the house, or people from outside read there |
| `untrusted` | true: an argument is made from what strangers wrote |
| `asked_in`, `asked_by` | the channel of the ask ("#ops"), the requester's user id |
"""

import math
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from bot.core.catalogue import Effect
from bot.core.facts import NOTHING, Facts
from bot.core.places import Kind, Place, channels, places, plain
from bot.core.plan import Step
from bot.core.policy_file import Rule
from bot.core.references import find

COMPARISON = re.compile(r"(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)")


class Fit(StrEnum):
    """Does a condition hold?"""

    NO = "no"
    MAYBE = "maybe"  # what it looks at is filled in later
    PARTLY = "partly"  # in one form, for one item, or by what is known of the world
    YES = "yes"


WEAKEST = (Fit.NO, Fit.MAYBE, Fit.PARTLY, Fit.YES)


@dataclass(frozen=True)
class Look:
    """The step as a rule sees it. `tainted`: is it made from what strangers wrote; None: not asked. `filled`: its values are final."""

    step: Step
    effect: Effect
    outward: bool = False
    tainted: bool | None = None
    facts: Facts = NOTHING
    filled: bool = False

    @property
    def places(self) -> list[Place]:
        """Where it reaches."""
        return places(self.step.args, self.facts, filled=self.filled)


def matches(rule: Rule, look: Look) -> Fit:
    """Does the whole of `when` fit the step? As little as the condition that fits least."""
    return min((_condition(key, wanted, look) for key, wanted in rule.when.items()), key=WEAKEST.index)


def _condition(key: str, wanted: Any, look: Look) -> Fit:
    ask = _ASKED.get(key)
    return ask(look, wanted) if ask else _argument(look.step.args, key.removeprefix("args.").split("."), wanted, filled=look.filled)


def _tool(look: Look, wanted: Any) -> Fit:
    return _sure(any(fnmatchcase(look.step.tool, str(glob)) for glob in _several(wanted)))


def _effect(look: Look, wanted: Any) -> Fit:
    return _sure(any(fnmatchcase(look.effect, str(one)) for one in _several(wanted)))


def _place(kind: Kind) -> Callable[[Look, Any], Fit]:
    def ask(look: Look, wanted: Any) -> Fit:
        found = [place for place in look.places if place.kind is kind]
        return _of_items([_fits_place(place, [str(one) for one in _several(wanted)]) for place in found])

    return ask


def _fits_place(place: Place, patterns: Sequence[str]) -> Fit:
    """All its spellings, some of them, or perhaps: what nobody can read may be anything, and so may the id of an unknown channel."""
    if not place.forms:
        return Fit.MAYBE
    fitting = [any(fnmatchcase(form, one) or fnmatchcase(form, plain(one)) for one in patterns) for form in place.spellings]
    if all(fitting):
        return Fit.YES
    unnamed = place.kind is Kind.CHANNEL and not any(form.startswith("#") for form in place.forms)
    return Fit.PARTLY if any(fitting) else Fit.MAYBE if unnamed else Fit.NO


def _reach(look: Look, wanted: Any) -> Fit:
    known = [look.facts.reach[place].people for place in channels(look.step.args) if place in look.facts.reach]
    return _at_most_partly([people is not None and _compare(people, wanted) is Fit.YES for people in known], look)


def _external(look: Look, wanted: Any) -> Fit:
    if look.outward:
        return _sure(wanted is True)
    known = [look.facts.reach[place].external for place in channels(look.step.args) if place in look.facts.reach]
    return _at_most_partly([outside is wanted for outside in known], look)


def _untrusted(look: Look, wanted: Any) -> Fit:
    return Fit.PARTLY if look.tainted is None else _sure(look.tainted is wanted)


def _asked_in(look: Look, wanted: Any) -> Fit:
    asked = look.facts.asked_in
    return Fit.PARTLY if asked and any(fnmatchcase(plain(asked), plain(str(one))) for one in _several(wanted)) else Fit.NO


def _asked_by(look: Look, wanted: Any) -> Fit:
    return Fit.PARTLY if look.facts.requester and look.facts.requester in _several(wanted) else Fit.NO


_ASKED: Mapping[str, Callable[[Look, Any], Fit]] = {
    "tool": _tool,
    "effect": _effect,
    "host": _place(Kind.HOST),
    "path": _place(Kind.PATH),
    "channel": _place(Kind.CHANNEL),
    "reach": _reach,
    "external": _external,
    "untrusted": _untrusted,
    "asked_in": _asked_in,
    "asked_by": _asked_by,
}


def _at_most_partly(known: Iterable[bool], look: Look) -> Fit:
    """Facts about the world only ever tighten. A channel that is named later may turn out to be one of these."""
    if any(known):
        return Fit.PARTLY
    late = any(place.kind is Kind.CHANNEL and place.late for place in look.places)
    return Fit.MAYBE if late else Fit.NO


def _argument(value: Any, names: Sequence[str], wanted: Any, *, filled: bool) -> Fit:
    """One argument, found by its path; of lists each item."""
    if isinstance(value, list | tuple):
        return _of_items([_argument(item, names, wanted, filled=filled) for item in value])
    if not names:
        return Fit.MAYBE if not filled and find(value) else _compare(value, wanted)
    if isinstance(value, Mapping):
        return _argument(value[names[0]], names[1:], wanted, filled=filled) if names[0] in value else Fit.NO
    return Fit.MAYBE if not filled and find(value) else Fit.NO


def _of_items(found: Sequence[Fit]) -> Fit:
    """Of several the strongest, but surely only if all of them are sure."""
    best = max(found, key=WEAKEST.index, default=Fit.NO)
    return Fit.PARTLY if best is Fit.YES and set(found) != {Fit.YES} else best


def _compare(value: Any, wanted: Any) -> Fit:
    if isinstance(wanted, list | tuple):
        return max((_compare(value, one) for one in wanted), key=WEAKEST.index, default=Fit.NO)
    bound = COMPARISON.fullmatch(wanted.strip()) if isinstance(wanted, str) else None
    if bound and isinstance(value, str | int | float) and not isinstance(value, bool):
        return _in_bounds(value, bound[1], float(bound[2]))
    if isinstance(wanted, str) and isinstance(value, str):
        found = [fnmatchcase(form, pattern) for form, pattern in zip(_forms(value), (wanted, plain(wanted)), strict=True)]
        return Fit.YES if all(found) else Fit.PARTLY if any(found) else Fit.NO
    if isinstance(wanted, str) and isinstance(value, int | float) and not isinstance(value, bool):
        return _sure(fnmatchcase(str(value), wanted))
    return _sure(type(value) is type(wanted) and value == wanted)


def _in_bounds(value: str | float, sign: str, limit: float) -> Fit:
    """An amount against a bound. A text counts as the number that it spells; one that spells none may be beyond any bound."""
    try:
        number = float(value)
    except ValueError:
        return Fit.PARTLY
    if math.isnan(number):
        return Fit.PARTLY
    holds = number > limit if sign == ">" else number < limit if sign == "<" else number >= limit if sign == ">=" else number <= limit
    return (Fit.PARTLY if isinstance(value, str) else Fit.YES) if holds else Fit.NO


def _forms(value: str) -> tuple[str, str]:
    """As written, and as a system may read it: `Secrets//./Key` is `secrets/key`."""
    read = plain(value)
    return value, posixpath.normpath(read) if "/" in read and "://" not in read else read


def _sure(holds: bool) -> Fit:  # noqa: FBT001 - an answer, turned into another
    return Fit.YES if holds else Fit.NO


def _several(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, list | tuple) else (wanted,)
