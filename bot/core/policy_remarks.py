"""What a policy allows but its author probably did not mean, one sentence each: for `pullcord policy check` and the doctor.

A file that cannot be used is refused (`policy_text`); here is what can be used and yet may surprise: patterns that fit no tool, waits that
nobody can end, lists that became shorter than the profile's by being written, keys that do nothing without another one.
"""

from collections.abc import Iterator
from string import Formatter

from bot.core import tool_rules
from bot.core.catalogue import Catalogue, Effect
from bot.core.policy_file import PROFILE_MAY_NOT, PROFILE_TIMERS, Policy
from bot.core.policy_terms import ID, MADE
from bot.core.risk import Level, Mode


def remarks(policy: Policy, catalogue: Catalogue) -> list[str]:
    """The sentences, in the order of the file's keys: who, where, tools, rules, timers, limits, the rest."""
    looks = (_approvers, _quorum, _may_not, _places)
    said = [line for look in looks for line in look(policy)]
    return [*said, *_tools(policy, catalogue), *_rules(policy), *_timers(policy), *_limits(policy), *_locks(policy, catalogue)]


def _approvers(policy: Policy) -> Iterator[str]:
    if not policy.approvers and policy.profile != "personal":
        yield "nobody is named under approvers, so nobody may approve"
    for channel in (entry for entry in (*policy.approvers, *policy.escalation) if entry.startswith("#")):
        yield f"everybody who joins {channel} may approve; make sure that joining it needs an invitation"


def _quorum(policy: Policy) -> Iterator[str]:
    able = {*policy.approvers, *policy.escalation}
    lists = [entry for entry in able if entry[:1] in ("@", "#") or (ID.fullmatch(entry) and entry[0] in "SCG")]
    asked = {level: policy.quorum.get(level, 1) for level in Level}
    for level, count in asked.items():
        if able and not lists and count > len(able):
            yield f"quorum.{level} is {count}, but only {len(able)} people are named who may approve, so nothing of that risk ever runs"
    if list(asked.values()) != sorted(asked.values()):
        yield f"quorum asks for fewer people at higher risk ({', '.join(f'{level} {count}' for level, count in asked.items())})"
    if policy.step_up and Level.HIGH not in policy.step_up:
        yield "step_up leaves out high, the level for which it is meant"


def _may_not(policy: Policy) -> Iterator[str]:
    """A list that is written takes the place of the profile's, which is easily forgotten."""
    for level in Level:
        lost = [word for word in PROFILE_MAY_NOT[policy.profile][level] if word not in policy.may_not[level]]
        if lost:
            yield f"may_not.{level} leaves out {', '.join(lost)}, whom the profile names, so they may approve at {level} risk"
    people = {entry for who in policy.may_not.values() for entry in who if entry not in MADE}
    if barred := sorted(people & {*policy.approvers}):
        yield f"may_not names {', '.join(barred)}, who also stand under approvers"


def _places(policy: Policy) -> Iterator[str]:
    if policy.profile == "team" and not policy.places.audit:
        yield "places.audit is not set; a team needs an audit channel"


def _tools(policy: Policy, catalogue: Catalogue) -> Iterator[str]:
    for glob, rule in policy.tools.items():
        fitting = [spec for name, spec in catalogue.items() if tool_rules.fits(name, glob)]
        if not fitting:
            yield f"the pattern '{glob}' under tools fits no tool"
        elif rule.mode is Mode.AUTO and all(tool_rules.effect_of(spec, policy) is not Effect.READ for spec in fitting):
            yield f"tools.{glob} is auto, but a tool with an effect asks at least once"
    for name, spec in catalogue.items():
        wanted = tool_rules.ruling(name, policy).effect
        if wanted and wanted is not tool_rules.effect_of(spec, policy):
            yield f"{name} says itself that its effect is {spec.effect}; the file cannot make it {wanted}"
    for effect, stated in policy.effects.items():
        if stated.mode is Mode.AUTO and effect is not Effect.READ:
            yield f"effects.{effect} is auto, but a tool with an effect asks at least once"


def _rules(policy: Policy) -> Iterator[str]:
    names = [rule.name for rule in policy.rules if rule.name]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"two rules are called '{name}'; reasons and records will not tell them apart"
    for number, rule in enumerate(policy.rules, start=1):
        if rule.shadow and rule.marks:
            yield f"{rule.name or f'rule {number}'} is on trial (shadow), so what it marks is not marked"
    for kind, allowed in policy.scopes:
        if allowed == ():
            yield f"scopes.{kind} is an empty list, so no step may name any of the {kind}"


def _timers(policy: Policy) -> Iterator[str]:
    """Only of timers that the file itself sets: the profiles' own say when to escalate, in case there is somebody to escalate to."""
    own = {level: timer for level, timer in policy.timers.items() if timer is not PROFILE_TIMERS[policy.profile][level]}
    for level, timer in own.items():
        if timer.escalate and not policy.escalation:
            yield f"timers.{level}.escalate is set, but nobody is named under escalation, so nobody more is asked"
    if policy.escalation and not any(timer.escalate for timer in policy.timers.values()):
        yield "escalation names people, but no timer says when to ask them (timers.….escalate)"


def _limits(policy: Policy) -> Iterator[str]:
    if policy.limits.money is not None and not policy.prices:
        yield "limits.money is set, but prices names no model, so nothing is counted"
    if policy.keep.full_texts and policy.keep.observations and policy.keep.full_texts > policy.keep.observations:
        yield "keep.full_texts is longer than keep.observations, of which they are the rest"


def _locks(policy: Policy, catalogue: Catalogue) -> Iterator[str]:
    for glob, key in policy.locks.items():
        fitting = [spec for name, spec in catalogue.items() if tool_rules.fits(name, glob)]
        if not fitting:
            yield f"the pattern '{glob}' under locks fits no tool"
        for field in (name for _, name, _, _ in Formatter().parse(key) if name):
            lacking = [spec.name for spec in fitting if field.split(".")[0] not in spec.args_schema.get("properties", {})]
            if lacking:
                yield f"locks.{glob} names {{{field}}}, which is no argument of {lacking[0]}"
