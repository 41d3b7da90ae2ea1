"""What a policy makes of a plan, said in full: for each step which line of the file says so, for each person whether their yes would count.

Pure, and without Slack: whom a name means is said by the caller (`Member.listed`). What depends on facts that only Slack knows (who reads a
channel, what was used up of a window) is not looked at here, and can only make a step stricter.
"""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict

from bot.core import policy as policies
from bot.core import tool_rules, wording
from bot.core.catalogue import Catalogue, Effect
from bot.core.facts import Facts
from bot.core.plan import Plan
from bot.core.policy import Member, Verdict
from bot.core.policy_file import Policy
from bot.core.risk import SHADOW, Grade, Level, Mode

SAYS = {
    "nobody_set": "nobody is named under approvers, so nobody may approve",
    "not_allowed": "they are not among those who may approve",
    "barred": "may_not names them",
    "own_request": "who asked does not approve it themselves (may_not, requester)",
    "own_edit": "who made a change to it does not approve it (may_not, editors and redirectors)",
    "source_author": "who wrote the message that became the ask does not approve it (may_not, source_author)",
}


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True)


class Approving(_Said):
    """What a yes at one level of risk needs. Durations in seconds; None: never."""

    level: Level
    approvers: tuple[str, ...]
    escalation: tuple[str, ...]  # may approve too, after `escalate_s`
    may_not: tuple[str, ...]
    quorum: int
    typed: bool  # step-up
    remind_s: int | None
    escalate_s: int | None
    expire_s: int
    on_silence: str  # expires, or goes on where everything only reads


class Trial(_Said):
    """A rule on trial that fitted, and what it would have done."""

    rule: str
    would_be: str


class Explained(_Said):
    """One step. `mode_from`: the line that says the mode, before any rule."""

    id: str
    number: int
    does: str
    tool: str
    effect: Effect | None  # None: nobody knows the tool
    risk: Level
    mode: Mode
    mode_from: str
    reasons: tuple[str, ...]
    rules: tuple[str, ...]
    shadow: tuple[Trial, ...]
    confirm: Approving | None  # what the yes to its real values needs, just before it runs; None: it does not ask again


class Answer(_Said):
    """Would this person's yes count? `kind` is the refusal, `says` the same in words."""

    asked_by: str  # "somebody else", or the person
    escalated: bool
    may: bool
    kind: str | None
    says: str


class Explanation(_Said):
    """The whole. `happens`: denied, runs at once, or waits."""

    happens: str
    risk: Level
    steps: tuple[Explained, ...]
    denied: tuple[str, ...]
    approving: Approving | None  # None where nobody is asked
    answers: tuple[Answer, ...]


def explain(plan: Plan, catalogue: Catalogue, policy: Policy, *, member: Member | None = None, asked_in: str = "") -> Explanation:
    """What happens to the plan, and why. `member`: whose yes is asked about."""
    verdict = policies.evaluate(plan, catalogue, policy, Facts(asked_in=asked_in))
    waits = not verdict.denied and not verdict.releases
    return Explanation(
        happens="denied" if verdict.denied else "waits" if waits else "runs at once",
        risk=verdict.level,
        steps=tuple(_step(plan, grade, catalogue, policy) for grade in verdict.grades),
        denied=tuple(str(fault) for fault in verdict.denied),
        approving=approving(policy, verdict.level, verdict) if waits else None,
        answers=tuple(answers(policy, member, verdict.level)) if member and waits else (),
    )


def approving(policy: Policy, level: Level, verdict: Verdict | None = None) -> Approving:
    """What a yes to a plan needs at that level; without a `verdict`, what the yes to one step's values needs."""
    timer = policy.timers[level]
    escalates = timer.escalate if policy.escalation else None
    return Approving(
        level=level,
        approvers=policy.approvers,
        escalation=policy.escalation if escalates else (),
        may_not=policy.may_not[level],
        quorum=verdict.quorum if verdict else 1,
        typed=level in policy.step_up,
        remind_s=_seconds(timer.remind),
        escalate_s=_seconds(escalates),
        expire_s=int(timer.expire.total_seconds()),
        on_silence="goes on" if verdict and verdict.silence_releases else "expires",
    )


def answers(policy: Policy, member: Member, level: Level) -> list[Answer]:
    """Would this person's yes count: if somebody else asked, if they asked it; where it makes a difference, late in the wait, too."""
    late = bool(policy.escalation and policy.timers[level].escalate)
    found = []
    for asked_by, requester in (("somebody else", ""), (member.id, member.id)):
        early = _answer(policy, member, level, asked_by, requester, escalated=False)
        later = _answer(policy, member, level, asked_by, requester, escalated=True)
        found += [early, later] if late and early.may != later.may else [early]
    return found


def _answer(policy: Policy, member: Member, level: Level, asked_by: str, requester: str, *, escalated: bool) -> Answer:
    no = policies.may_approve(policy, member, requester=requester, level=level, escalated=escalated)
    barred = no == "not_allowed" and not member.listed.isdisjoint(policy.may_not[level])
    says = "may approve" if no is None else SAYS["barred" if barred else no]
    return Answer(asked_by=asked_by, escalated=escalated, may=no is None, kind=no, says=says)


def _step(plan: Plan, grade: Grade, catalogue: Catalogue, policy: Policy) -> Explained:
    step, spec = plan.step(grade.step), catalogue.get(plan.step(grade.step).tool)
    return Explained(
        id=step.id,
        number=step.number,
        does=wording.sentence(step, spec) if spec else step.tool,
        tool=step.tool,
        effect=tool_rules.effect_of(spec, policy) if spec else None,
        risk=grade.level,
        mode=grade.mode,
        mode_from=tool_rules.mode_source(spec, policy) if spec else "no such tool",
        reasons=grade.reasons,
        rules=grade.held,
        shadow=tuple(_trial(rule) for rule in grade.shadow),
        confirm=approving(policy, grade.level) if grade.confirms and grade.mode is not Mode.DENY else None,
    )


def _trial(rule: str) -> Trial:
    name, _, would = rule.partition(SHADOW)
    return Trial(rule=name, would_be=would.removeprefix("would be ").removesuffix(")"))


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else int(span.total_seconds())
