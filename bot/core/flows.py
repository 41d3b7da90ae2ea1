"""What flows where in a plan: words that strangers wrote, and what is nobody else's business, along references and through files.

A step is fed by the steps that its arguments name, and, if it reads a file, by the steps of the same plan that write that file: putting
a stranger's words into a file first makes nothing clean. All walks end on plans with loops and pass over steps that do not exist.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.core import credentials
from bot.core.catalogue import Catalogue, Effect
from bot.core.facts import NOTHING, Facts
from bot.core.matching import Fit, Look, matches
from bot.core.places import Kind, channels, places
from bot.core.plan import Plan, Step
from bot.core.policy_file import Policy
from bot.core.references import secrets, sources
from bot.core.tool_rules import effect_of, ruling


@dataclass(frozen=True)
class World:
    """What a plan is looked at with; what is found out about the plan as a whole is found out once."""

    plan: Plan
    catalogue: Catalogue
    policy: Policy
    facts: Facts = NOTHING

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """By id; of several with one id the last."""
        return {str(step.id): step for step in self.plan.steps}

    @cached_property
    def effects(self) -> Mapping[str, Effect]:
        """By tool, as the policy sees it; unknown tools are left out."""
        known = [self.catalogue[name] for name in {step.tool for step in self.plan.steps} if name in self.catalogue]
        return {spec.name: effect_of(spec, self.policy) for spec in known}

    @cached_property
    def feeds(self) -> Mapping[str, Sequence[str]]:
        """By a step's id: the steps whose results stand in its arguments, and those that write the file that it reads."""
        writers = [step for step in self.plan.steps if self.declared_effect(step) is Effect.WRITE]
        written = [(path, step.id) for step in writers for path in _files(step)]
        readers = {step.id for step in self.plan.steps if self.declared_effect(step) is Effect.READ}
        return {step.id: (*step.uses, *(_writers(step, written) if step.id in readers else ())) for step in self.plan.steps}

    @cached_property
    def strange(self) -> frozenset[str]:
        """Ids of the steps whose results strangers wrote."""
        return frozenset(step.id for step in self.plan.steps if _is_strange(step, self))

    @cached_property
    def private(self) -> Mapping[str, str]:
        """Why what a step handles is nobody else's business, by the ids of the steps that handle such things."""
        return {step.id: why for step in self.plan.steps if (why := why_private(step, self))}

    def declared_effect(self, step: Step) -> Effect | None:
        """As the tool itself says, whatever the policy makes of it (`effects`); None for an unknown tool."""
        spec = self.catalogue.get(step.tool)
        return spec.effect if spec else None


def origin(step: Step, world: World) -> Step:
    """The step as the plan has it, with its references, even if the one at hand is filled in."""
    found = world.steps.get(step.id, step)
    return found if found.tool == step.tool else step


def untrusted_origins(step: Step, world: World) -> list[tuple[str, Step]]:
    """(argument, step whose words strangers wrote) for each argument that is made from such a step, directly or through others."""
    planned = origin(step, world)
    if not planned.uses:
        return []
    late = [(name, sources(value)) for name, value in planned.args.items()]
    return [(name, found) for name, starts in late if starts for found in _strange(starts, world)]


def upstream(step: Step, world: World) -> list[Step]:
    """Every step whose result, or something made from it, may stand in the arguments of this one; nearest first."""
    return list(_walk(origin(step, world).uses, world, until=lambda _: False))


def why_private(step: Step, world: World) -> str:
    """Why what this step handles is nobody else's business, as the end of a sentence about it; empty if nothing says so."""
    if names := secrets(origin(step, world).args):
        return f"uses the secret {names[0]}"
    found = places(step.args, world.facts)
    if any(place.kind is Kind.PATH and credentials.on_the_way(place.text) for place in found):
        return "names a file where credentials are usually kept"
    reads = world.effects.get(step.tool, Effect.EXECUTE) in (Effect.READ, Effect.EXECUTE)
    private = [name for name in channels(step.args) if name in world.facts.reach and world.facts.reach[name].private]
    if reads and private:
        return f"reads the private channel {private[0]}"
    if reads and _marked(step, world, "private"):
        return "reads what the policy calls private"
    return ""


def _strange(starts: Sequence[str], world: World) -> Iterator[Step]:
    """The untrusted steps from which the data of `starts` flows."""
    return (step for step in _walk(starts, world, until=lambda step: step.id in world.strange) if step.id in world.strange)


def _is_strange(step: Step, world: World) -> bool:
    spec = world.catalogue.get(step.tool)
    stated = ruling(step.tool, world.policy).untrusted
    return spec is None or (spec.untrusted_output if stated is None else stated) or _marked(step, world, "untrusted")


def _marked(step: Step, world: World, mark: str) -> bool:
    """Does a rule mark what this step returns? One that may fit marks it too."""
    rules = [rule for rule in world.policy.rules if mark in rule.marks and not rule.shadow]
    spec = world.catalogue.get(step.tool)
    if not rules or spec is None:
        return False
    look = Look(step, effect_of(spec, world.policy), outward=spec.outward, facts=world.facts)
    return any(matches(rule, look) is not Fit.NO for rule in rules)


def _walk(starts: Sequence[str], world: World, *, until: Callable[[Step], bool]) -> Iterator[Step]:
    """The steps upstream of these names, each once; not beyond a step of which `until` says so."""
    seen, waiting = set[str](), deque(starts)
    while waiting:
        name = waiting.popleft()
        step = world.steps.get(name)
        if step is None or name in seen:
            continue
        seen.add(name)
        yield step
        if not until(step):
            waiting.extend(world.feeds[name])


def _writers(step: Step, written: Sequence[tuple[str, str]]) -> list[str]:
    """The steps that write what this one reads: that file, or one in the folder that it looks through."""
    read = _files(step) if written else []
    return [writer for file, writer in written if any(path in (file, ".") or file.startswith(f"{path}/") for path in read)]


def _files(step: Step) -> list[str]:
    return [place.forms[0] for place in places(step.args, NOTHING) if place.kind is Kind.PATH and place.forms]
