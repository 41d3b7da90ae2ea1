"""Who may do what, and what a plan needs before it may run: pure questions to a `Policy`, answered with values.

`evaluate` grades a plan and says whether it may run at once, for whom it waits, and how long. The `may_*` questions answer None for yes,
else the kind of refusal, which is also the name of the private answer that the person gets. Membership is looked up by the caller at the
click; names never count, only what was resolved to this very person.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel, ConfigDict

from bot.core import grading
from bot.core.catalogue import Catalogue, Effect
from bot.core.drafts import Fault
from bot.core.facts import NOTHING, Facts
from bot.core.plan import Plan
from bot.core.policy_file import Limits, Places, Policy, Rule, Timer, ToolRule, default
from bot.core.policy_remarks import remarks
from bot.core.policy_terms import MADE
from bot.core.policy_text import parse
from bot.core.risk import Grade, Level, Mode, highest

__all__ = [
    "Limits",
    "Member",
    "Places",
    "Policy",
    "Rule",
    "Timer",
    "ToolRule",
    "Verdict",
    "approver_words",
    "default",
    "evaluate",
    "may_approve",
    "may_ask",
    "may_brake",
    "may_decide",
    "may_freeze",
    "may_redirect",
    "parse",
    "remarks",
]


@dataclass(frozen=True)
class Member:
    """A person as known at the click. `listed` holds those entries of the policy's lists that mean this very person."""

    id: str
    team: str = ""
    listed: frozenset[str] = frozenset()
    is_guest: bool = False
    is_bot: bool = False
    is_deactivated: bool = False
    is_stranger: bool = False  # of another workspace
    is_admin: bool = False  # admin or owner of the workspace, as Slack says


class Verdict(BaseModel):
    """What a plan needs under a policy."""

    model_config = ConfigDict(frozen=True)

    level: Level
    grades: tuple[Grade, ...]  # one for each step, in the plan's order
    denied: tuple[Fault, ...] = ()  # steps that may not be planned at all
    releases: bool = False  # every step only reads and may run by itself: runs at once
    silence_releases: bool = False  # every step only reads and the policy lets such a plan go on when nobody answered
    expires_after: timedelta
    quorum: int = 1

    @property
    def shadow(self) -> tuple[str, ...]:
        """What rules on trial would have done, each after its step: "post: loud (shadow: would be deny)"."""
        return tuple(f"{grade.step}: {rule}" for grade in self.grades for rule in grade.shadow)


def evaluate(plan: Plan, catalogue: Catalogue, policy: Policy, facts: Facts = NOTHING) -> Verdict:
    """The plan's grades and what follows from them. Pure; tools that are not in the catalogue are denied.

    Silence releases only what reads by the tools' own word, and is low: whatever the file makes of effects, risks and modes (P9).
    """
    grades = grading.grades(plan, catalogue, policy, facts)
    level = highest([grade.level for grade in grades])
    denied = tuple(_denial(plan, grade) for grade in grades if grade.mode is Mode.DENY)
    timer = policy.timers[level]
    reads = not denied and _only_reads(plan, catalogue, policy)
    return Verdict(
        level=level,
        grades=grades,
        denied=denied,
        releases=reads and all(grade.mode is Mode.AUTO for grade in grades),
        silence_releases=reads and level is Level.LOW and timer.then == "approve" and _declared_reads(plan, catalogue),
        expires_after=timer.expire,
        quorum=policy.quorum.get(level, 1),
    )


def _only_reads(plan: Plan, catalogue: Catalogue, policy: Policy) -> bool:
    """As the policy sees the tools. An empty plan reads nothing and releases nothing."""
    effects = [grading.effect_of(catalogue[step.tool], policy) for step in plan.steps if step.tool in catalogue]
    return bool(plan.steps) and len(effects) == len(plan.steps) and all(effect is Effect.READ for effect in effects)


def _declared_reads(plan: Plan, catalogue: Catalogue) -> bool:
    """By the tools' own word: no line of a policy file can turn an effect into a read for the sake of silence."""
    return all(step.tool in catalogue and catalogue[step.tool].effect is Effect.READ for step in plan.steps)


def _denial(plan: Plan, grade: Grade) -> Fault:
    tool = plan.step(grade.step).tool
    why = f" ({grade.rules[0]}){'' if grade.reasons[0] == grade.rules[0] else f': {grade.reasons[0]}'}" if grade.rules else ""
    return Fault(step=grade.step, field="tool", says=f"the policy does not allow {tool}{why}", fix="reach the goal without it")


REFUSAL = {"requester": "own_request", "editors": "own_edit", "redirectors": "own_edit", "source_author": "source_author"}


def may_approve(
    policy: Policy,
    member: Member,
    *,
    requester: str,
    level: Level,
    already: Collection[str] = (),
    editors: Collection[str] = (),
    redirectors: Collection[str] = (),
    source_author: str | None = None,
    escalated: bool = False,
) -> str | None:
    """None if this person's yes counts, else the kind of refusal.

    `already`: who said yes to this digest; `editors`: who wrote part of this by hand; `redirectors`: whose replies it follows;
    `source_author`: whose message became the ask; `escalated`: nobody answered in time, so the second list is asked too.
    """
    own = member.id == requester
    alone = policy.profile == "personal" and own
    if not policy.approvers and not alone:
        return "nobody_set"
    refusal = _unfit(member, guests=False)
    if refusal is None and not alone and member.listed.isdisjoint(approver_words(policy, escalated)):
        refusal = "not_allowed"
    if refusal is None:
        hands = (own, member.id in editors, member.id in redirectors, member.id == source_author and not own)
        refusal = _kept_out(policy, member, level, {word for word, had in zip(MADE, hands, strict=True) if had})
    return refusal or ("double" if member.id in already else None)


def _kept_out(policy: Policy, member: Member, level: Level, made: Collection[str]) -> str | None:
    """Why an able person's yes does not count for this very plan (`may_not`): who made it does not also approve it."""
    barred = policy.may_not[level]
    refusal = next((REFUSAL[word] for word in MADE if word in made and word in barred), None)
    listed = member.listed.intersection(barred) - {*MADE}
    return refusal or ("not_allowed" if listed else None)


def may_decide(policy: Policy, member: Member, *, requester: str) -> str | None:
    """Edit, cancel, resume, continue, retry, skip (`cord.let_go`). None, or the kind of refusal."""
    return _unfit(member, guests=False) or _among(policy, policy.cord.let_go, member, requester=requester)


def may_brake(policy: Policy, member: Member, *, requester: str = "") -> str | None:
    """Pause, stop and set breakpoints (`cord.pull`): unless the policy says otherwise anybody here, guests too. None, or the refusal."""
    return _unfit(member, guests=True) or _among(policy, policy.cord.pull, member, requester=requester)


def may_redirect(policy: Policy, member: Member, *, requester: str) -> str | None:
    """Change the rest of a live run by a reply (`cord.redirect`). None, or the kind of refusal."""
    return _unfit(member, guests=False) or _among(policy, policy.cord.redirect, member, requester=requester)


def may_freeze(policy: Policy, member: Member) -> str | None:
    """Hold everything, and let it go (`cord.freeze`). None, or the kind of refusal."""
    no = _unfit(member, guests=False) or _among(policy, policy.cord.freeze, member, requester="")
    return "not_admin" if no == "not_allowed" else no


def _among(policy: Policy, who: Collection[str], member: Member, *, requester: str) -> str | None:
    """None if the member is meant by one of these entries."""
    words = {
        "anyone": True,
        "requester": member.id == requester,
        "approvers": _is_approver(policy, member),
        "admins": _is_admin(policy, member),
    }
    meant = any(words.get(entry, entry in member.listed) for entry in who)
    return None if meant else "not_allowed"


def _is_admin(policy: Policy, member: Member) -> bool:
    return not member.listed.isdisjoint(policy.admins) if policy.admins else member.is_admin


def may_ask(policy: Policy, member: Member) -> str | None:  # noqa: ARG001 — the same in every profile
    """Begin a run: members of this workspace. None, or the kind of refusal."""
    return _unfit(member, guests=False)


def approver_words(policy: Policy, escalated: bool = False) -> tuple[str, ...]:  # noqa: FBT001, FBT002 - a fact about the wait
    """The people and groups who may approve, as the file names them; once `escalated` the second list too."""
    return tuple(dict.fromkeys((*policy.approvers, *policy.escalation))) if escalated else policy.approvers


def _is_approver(policy: Policy, member: Member) -> bool:
    return not member.listed.isdisjoint(policy.approvers)


def _unfit(member: Member, *, guests: bool) -> str | None:
    """Facts about a person that no list outweighs."""
    if member.is_deactivated:
        return "deactivated"
    if member.is_bot:
        return "bot"
    if member.is_stranger:
        return "partner"
    return "guest" if member.is_guest and not guests else None
