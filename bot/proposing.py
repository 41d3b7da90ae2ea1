"""A plan becomes a revision: graded, stored, and put where policy says: to people, or into force at once.

Used by whoever makes plans: the planner's first draft and its later ones, a person who edits by hand, a reply that changes the rest. Always
part of the caller's transaction; what is raised undoes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot import timing
from bot.core import policy, rest, waits
from bot.core.audit import audit_post
from bot.core.comparison import asked, changes, compare, level_of
from bot.core.facts import NOTHING, Facts
from bot.core.ids import Digest, StepId
from bot.core.plan import Plan, digest
from bot.core.run import Event, Run, RunStatus, StepStatus
from bot.core.snapshot import NewPost, Revision
from bot.deps import Deps
from bot.store import door, history, runs


@dataclass(frozen=True)
class Graded:
    """A plan with all that a revision needs."""

    plan: Plan
    verdict: policy.Verdict
    tools: dict[str, Digest]
    digest: Digest
    facts: Facts = NOTHING  # what was known of the world


def graded(deps: Deps, plan: Plan, facts: Facts = NOTHING) -> Graded:
    """Grade the plan, and fingerprint it together with the definitions of the tools that it calls. `facts`: see `bot.facts.gather`."""
    called = {step.tool for step in plan.steps}
    tools = {name: value for name, value in deps.tools.digests().items() if name in called}
    return Graded(plan, policy.evaluate(plan, deps.tools.catalogue, deps.policy, facts), tools, digest(plan, tools), facts)


def store(conn: Connection, run: Run, found: Graded, *, author: str, at: datetime, adopt: bool) -> Revision:
    """Keep it as the run's next revision; unless `adopt`, the steps stay those of the revision that stands."""
    n = runs.next_revision(conn, run.id)
    grades, level = found.verdict.grades, found.verdict.level
    runs.add_revision(
        conn,
        run.id,
        revision=n,
        plan=found.plan,
        digest=found.digest,
        risk=level,
        grades=grades,
        tool_digests=found.tools,
        author=author,
        at=at,
        adopt=adopt,
    )
    by_step = {grade.step: grade for grade in grades}
    return Revision(
        revision=n, plan=found.plan, digest=found.digest, risk=level, grades=by_step, tool_digests=found.tools, author=author, at=at
    )


def for_review(
    conn: Connection, deps: Deps, run: Run, found: Graded, *, author: str, event: Event, facts: dict[str, Any], releases: bool = True
) -> Run:
    """Before anything ran: the revision waits for people (`event`), or starts at once if every step only reads (and `releases`)."""
    at = deps.now()
    if run.revision:
        _learn(conn, run, found.plan, how=event, at=at)
    new = store(conn, run, found, author=author, at=at, adopt=True)
    data: dict[str, Any] = {**facts, "revision": new.revision, "digest": new.digest, "risk": new.risk, **_on_trial(found)}
    if found.verdict.releases and releases:
        tell = audit_post(deps.audit_place, run.id, Event.RELEASED)
        released = {**data, "approved": new.digest, "deadline": None}
        return door.change(conn, run.id, Event.RELEASED, actor=author, at=at, data=released, tell=tell)
    data["deadline"] = at + found.verdict.expires_after
    tell = [*review_posts(deps, run, new.revision), *audit_post(deps.audit_place, run.id, event)]
    after = door.change(conn, run.id, event, actor=author, at=at, data=data, tell=tell)
    timing.arm(conn, after, wait=waits.of_review(new.revision), level=new.risk, at=at, policy=deps.policy)
    return after


def of_the_rest(
    conn: Connection,
    deps: Deps,
    run: Run,
    found: Graded,
    *,
    author: str,
    actor: str,
    shown_again: str = "",
    regraded: Mapping[str, Any] | None = None,
) -> Run:
    """While the run stands with an open redirect: ask about what is new, changed or riskier; where nothing is, it takes over at once.

    `shown_again`: the one step that people see once more, with its real values, before it runs. `regraded`: it is the rest that people
    were asked about already, graded by another policy; these facts go on record.
    """
    at = deps.now()
    states = runs.statuses(conn, run.id)
    new = store(conn, run, found, author=author, at=at, adopt=False)
    stands = standing(conn, run)
    must = tuple(step for step in asked(stands, new, deps.tools.catalogue, done=_done(states)) if step != shown_again)
    level = level_of(new, must)
    if not must:
        return adopt(conn, deps, run, new, actor=actor, asked=must)
    event = Event.REDIRECT_PLANNED if regraded is None else Event.REGRADED
    data = {
        **({"digest": new.digest, "risk": level} if regraded is None else regraded),
        "proposed": new.revision,
        "asked": must,
        "words": compare(stands.plan, new.plan).words(),
        "deadline": at + deps.policy.timers[level].expire,
        **_on_trial(found),
    }
    tell = [*review_posts(deps, run, new.revision, card="redirect"), *audit_post(deps.audit_place, run.id, event)]
    after = door.change(conn, run.id, event, actor=actor, at=at, data=data, tell=tell)
    timing.arm(conn, after, wait=waits.of_review(new.revision), level=level, at=at, policy=deps.policy)
    return after


def adopt(conn: Connection, deps: Deps, run: Run, new: Revision, *, actor: str, asked: tuple[StepId, ...], typed: bool = False) -> Run:
    """The revision takes the place of the one that stands; finished steps are kept, failed ones that it does otherwise may run again.

    `typed`: the last yes was given in writing.
    """
    at, stands = deps.now(), standing(conn, run)
    states = runs.statuses(conn, run.id)
    before = {step.id: step for step in stands.plan.steps}
    failed = [step for step in new.plan.steps if states.get(step.id) is StepStatus.FAILED]
    again = [step.id for step in failed if changes(before[step.id], step)]
    differs = compare(stands.plan, new.plan)
    _learn(conn, run, new.plan, how=Event.REDIRECT_ASKED, at=at)
    runs.adopt_revision(conn, run.id, new.revision, again=again)
    data = {
        "revision": new.revision,
        "digest": new.digest,
        "risk": new.risk,
        "approved": new.digest,
        "before": stands.digest,
        "asked": asked,
        "again": again,
        "changed": (*differs.changed, *differs.added),  # what was let go or confirmed of them is asked anew
        "words": differs.words(),
        "deadline": None,
        **({"typed": True} if typed else {}),
    }
    tell = [*audit_post(deps.audit_place, run.id, Event.REDIRECTED)]
    if not asked:  # nobody saw a card of it yet
        tell += review_posts(deps, run, new.revision, card="redirect")
    return door.change(conn, run.id, Event.REDIRECTED, actor=actor, at=at, data=data, tell=tell)


def _on_trial(found: Graded) -> dict[str, Any]:
    """What the policy's rules on trial would have done, for the record; nothing where none of them fitted."""
    return {"shadow": found.verdict.shadow} if found.verdict.shadow else {}


def standing(conn: Connection, run: Run) -> Revision:
    """The revision that stands, whatever a redirect proposes."""
    return next(one for one in runs.revisions(conn, run.id) if one.revision == run.revision)


def _done(states: dict[StepId, StepStatus]) -> list[StepId]:
    return [step for step, status in states.items() if status not in rest.OPEN_TO_CHANGE]


def _learn(conn: Connection, run: Run, new: Plan, *, how: Event, at: datetime) -> None:
    """People changed or removed these steps: that is remembered for later suggestions."""
    old = runs.revision(conn, run.id, run.revision)[0]
    differs = compare(old, new)
    touched = {*differs.changed, *differs.removed}
    history.stepped_in(conn, run.id, [step for step in old.steps if step.id in touched], how=how, at=at)


def review_posts(deps: Deps, run: Run, revision: int, *, card: str = "review") -> list[NewPost]:
    """The review (or redirect) card in every place that policy names: the run's thread, and channels."""
    key, data = f"{run.id}:{card}.{revision}", {"revision": revision}
    return [
        NewPost(run=run.id, card=card, key=key, channel=run.channel, data=data)
        if place == "thread"
        else NewPost(run=run.id, card=card, key=f"{key}@{place}", channel=place, in_thread=False, data=data)
        for place in deps.review_places or ("thread",)
    ]


def is_live(run: Run) -> bool:
    """May the rest of this run still be changed?"""
    return run.status in (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.PAUSING, RunStatus.PAUSED)
