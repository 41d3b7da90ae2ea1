"""Change a plan by hand: no model, no tokens. What is saved is validated and graded like any plan, and is a revision by its author.

In review it takes the place of the revision before, whose cards decide nothing any more. On a live run that stands it is the new rest: only
steps that have not started can differ, and only what is new, changed or riskier is asked again.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from bot.core import policy, rest
from bot.core.comparison import changes, compare
from bot.core.drafts import Fault
from bot.core.ids import StepId
from bot.core.plan import Plan, Step, fingerprint, numbered
from bot.core.references import find
from bot.core.risk import Grade, Level
from bot.core.run import Event, Hold, Run, RunStatus, StepStatus
from bot.core.snapshot import Revision, Snapshot
from bot.core.validation import validate
from bot.deps import Deps
from bot.errors import PullcordError, Refused
from bot.moving import by_person, move, must_hold
from bot.proposing import for_review, graded, of_the_rest, standing
from bot.store import audit, runs

MADE_BY_HAND = "edit"


class InvalidPlan(PullcordError):
    """What was edited does not hold; `faults` say where and how to mend it. Nothing was saved."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults


@dataclass(frozen=True)
class Checked:
    """What saving this plan would find."""

    faults: tuple[Fault, ...]
    grades: dict[StepId, Grade]
    level: Level


def check(deps: Deps, snapshot: Snapshot, plan: Plan) -> Checked:
    """Validate and grade an unsaved plan as it would be saved. Nothing is stored."""
    states = {state.id: state.status for state in snapshot.steps}
    found = graded(deps, numbered(plan, used=rest.used_numbers(snapshot.revisions, snapshot.steps)))
    faults = _faults(deps, snapshot.plan, found.plan, states, rest.refused_calls(snapshot.entries))
    return Checked((*faults, *found.verdict.denied), {grade.step: grade for grade in found.verdict.grades}, found.verdict.level)


def _faults(
    deps: Deps, stands: Plan | None, plan: Plan, states: dict[StepId, StepStatus], refused: tuple[rest.RefusedCall, ...]
) -> tuple[Fault, ...]:
    found = validate(plan, deps.tools.catalogue, max_steps=deps.policy.limits.steps, done=rest.fixed(plan, states))
    found += rest.refused_again(plan, refused, states)
    if stands is not None:
        found += rest.faults(stands, plan, states)
        gone = [name for name in rest.fixed(stands, states) if all(step.id != name for step in plan.steps)]
        found += [Fault(step=name, says=f"step {stands.step(name).number} · {name} has run and cannot be left out") for name in gone]
    return tuple(found)


async def save(deps: Deps, run_id: str, *, base: int, plan: Plan, who: policy.Member) -> Run:
    """The whole plan as it was edited, begun from revision `base`. Steps with number 0 are new.

    Raises `Refused` (`edit_conflict` if another revision came meanwhile, `edit_too_late` if it can be edited no more, `nothing_changed`, or
    why this person may not) and `InvalidPlan`.
    """

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_be_editable(deps, run, who, base=base)
        current = _current(conn, run)
        if base != current.revision:
            raise Refused("edit_conflict", run=run_id, base=base, current=current.revision, by=current.author, did="edit")
        return _save(conn, deps, run, current, plan, who)

    return await by_person(deps, work)


def _save(conn: Connection, deps: Deps, run: Run, current: Revision, plan: Plan, who: policy.Member, *, shown_again: str = "") -> Run:
    states = runs.statuses(conn, run.id)
    whole = numbered(plan, used=rest.used_numbers(runs.revisions(conn, run.id), runs.steps(conn, run.id)))
    stands = standing(conn, run).plan
    found = graded(deps, whole)
    denied = [fault for fault in found.verdict.denied if fault.step not in rest.fixed(stands, states)]
    if faults := (*_faults(deps, stands, whole, states, rest.refused_calls(audit.entries(conn, run.id))), *denied):
        raise InvalidPlan(faults)
    if found.digest == current.digest:
        raise Refused("nothing_changed", run=run.id, did="edit")
    if run.status is RunStatus.IN_REVIEW:
        facts = {"was": current.digest, "words": compare(current.plan, whole).words()}
        return for_review(conn, deps, run, found, author=who.id, event=Event.REVISED, facts=facts)
    run = move(conn, deps, run, Event.REDIRECT_ASKED, who=who, did="edit", data={"how": MADE_BY_HAND, "text": "", "ts": ""})
    return of_the_rest(conn, deps, run, found, author=who.id, actor=who.id, shown_again=shown_again)


async def may_edit(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """Raise what `save` would raise now for this person or the state of the run."""

    def look(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_be_editable(deps, run, who, base=run.revision)
        return run

    return await deps.store.read(look)


def _must_be_editable(deps: Deps, run: Run, who: policy.Member, *, base: int) -> None:
    facts: dict[str, Any] = {"run": run.id, "base": base, "status": run.status, "did": "edit", "at": run.updated_at}
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, **facts)
    if run.status is RunStatus.PAUSED and run.reason is Hold.IN_DOUBT:
        raise Refused("held_otherwise", reason=run.reason, **facts)
    if run.status not in (RunStatus.IN_REVIEW, RunStatus.PAUSED):
        raise Refused("edit_too_late", **facts)


def _current(conn: Connection, run: Run) -> Revision:
    """The revision that an edit begins from: what a redirect proposes, else what stands."""
    n = run.proposed or run.revision
    return next(one for one in runs.revisions(conn, run.id) if one.revision == n)


async def change_arguments(deps: Deps, run_id: str, step: str, *, digest8: str, args: dict[str, Any], who: policy.Member) -> Run:
    """Other values for the step that waits for confirmation; with those it asks again, so that nobody confirms what was not shown.

    `digest8`: the filling that the form was made from. `args`: all arguments, literal. Raises `Refused` and `InvalidPlan` as `save` does.
    """

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_wait_for_these(conn, deps, run, step, digest8, who)
        stands = standing(conn, run)
        planned = stands.plan.step(step)
        wanted = _as_planned(planned, _filled(conn, run_id, step), args)
        changed = planned.model_copy(update={"args": wanted, "depends_on": planned.needs})
        if not changes(planned, changed):
            raise Refused("nothing_changed", run=run_id, did="change arguments")
        plan = stands.plan.model_copy(update={"steps": tuple(changed if one.id == step else one for one in stands.plan.steps)})
        return _save(conn, deps, run, stands, plan, who, shown_again=step if _asks_again(deps, stands, plan, step) else "")

    return await by_person(deps, work)


def _filled(conn: Connection, run_id: str, step: str) -> dict[str, Any]:
    """The values with which the step waits."""
    return next((state.args for state in runs.steps(conn, run_id) if state.id == step), None) or {}


def _as_planned(planned: Step, filled: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    """Values that stayed as they were filled in keep their references; the others are literal. Raises `InvalidPlan`.

    A literal value with `{{…}}` in it would be filled in once more, and what a step returned could name another step (P7).
    """
    wanted = {name: planned.args[name] if name in planned.args and filled.get(name) == value else value for name, value in args.items()}
    late = [name for name, value in wanted.items() if value != planned.args.get(name) and find(value)]
    if late:
        raise InvalidPlan(
            tuple(Fault(step=planned.id, field=f"args.{name}", says="{{…}} would be filled in anew", fix=NO_BRACES) for name in late)
        )
    return wanted


NO_BRACES = "write the value itself, without double braces"


def _asks_again(deps: Deps, stands: Revision, plan: Plan, step: str) -> bool:
    """Will the step hold for confirmation with its new values, at no higher risk than was approved?"""
    grades = {grade.step: grade for grade in graded(deps, plan).verdict.grades}
    old, new = stands.grades[StepId(step)], grades[StepId(step)]
    return new.confirms and new.level.rank <= old.level.rank


async def may_change_arguments(deps: Deps, run_id: str, step: str, digest8: str, *, who: policy.Member) -> Run:
    """Raise what `change_arguments` would raise now for this person or the state of the run."""

    def look(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        _must_wait_for_these(conn, deps, run, step, digest8, who)
        return run

    return await deps.store.read(look)


def _must_wait_for_these(conn: Connection, deps: Deps, run: Run, step: str, digest8: str, who: policy.Member) -> None:
    must_hold(run, step, Event.CONFIRMED, did="change arguments")
    stands = standing(conn, run)
    changed = [name for name, value in stands.tool_digests.items() if deps.tools.digests().get(name) != value]
    if changed:
        raise Refused("tool_changed", run=run.id, step=step, tools=changed, revision=run.revision, did="change arguments")
    if run.reason is not Hold.CONFIRM:
        raise Refused("held_otherwise", run=run.id, reason=run.reason, did="change arguments")
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, run=run.id, step=step, did="change arguments")
    state = runs.step(conn, run.id, step)
    if not fingerprint(state.args if state else None).startswith(digest8):
        raise Refused("confirm_void", run=run.id, step=step)
