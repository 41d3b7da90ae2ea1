"""Change a plan by hand: no model, no tokens. What is saved is validated and graded like any plan, and is a revision by its author.

In review it takes the place of the revision before, whose cards decide nothing any more. On a live run that stands it is the new rest: only
steps that have not started can differ, and only what is new, changed or riskier is asked again.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot import facts, guard
from bot.core import policy, rest
from bot.core.comparison import changes, compare
from bot.core.drafts import Fault
from bot.core.facts import Facts
from bot.core.ids import StepId
from bot.core.plan import Plan, Step, numbered
from bot.core.references import find, secrets
from bot.core.risk import Grade, Level
from bot.core.run import Event, Run, RunStatus, StepStatus
from bot.core.snapshot import Revision, Snapshot
from bot.core.validation import validate
from bot.deps import Deps
from bot.errors import PullcordError, Refused
from bot.moving import by_person, move
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


async def check(deps: Deps, snapshot: Snapshot, plan: Plan) -> Checked:
    """Validate and grade an unsaved plan as it would be saved. Nothing is stored."""
    plan = deps.secrets.typed_plan(plan, snapshot.run.id)
    states = {state.id: state.status for state in snapshot.steps}
    known = await facts.of_run(deps, plan, snapshot.run.id)
    found = graded(deps, numbered(plan, used=rest.used_numbers(snapshot.revisions, snapshot.steps)), known)
    faults = _faults(deps, snapshot.run.id, snapshot.plan, found.plan, states, rest.refused_calls(snapshot.entries))
    return Checked((*faults, *found.verdict.denied), {grade.step: grade for grade in found.verdict.grades}, found.verdict.level)


def _faults(
    deps: Deps, run_id: str, stands: Plan | None, plan: Plan, states: dict[StepId, StepStatus], refused: tuple[rest.RefusedCall, ...]
) -> tuple[Fault, ...]:
    limits, names = deps.policy.limits, deps.secrets.names(run_id)
    found = validate(plan, deps.tools.catalogue, max_steps=limits.steps, done=rest.fixed(plan, states), secrets=names)
    found += rest.refused_again(plan, refused, states)
    if stands is not None:
        found += rest.faults(stands, plan, states)
        gone = [name for name in rest.fixed(stands, states) if all(step.id != name for step in plan.steps)]
        found += [Fault(step=name, says=f"step {stands.step(name).number} · {name} has run and cannot be left out") for name in gone]
    return tuple(found)


async def save(deps: Deps, run_id: str, *, base: int, plan: Plan, who: policy.Member, received_at: datetime | None = None) -> Run:
    """The whole plan as it was edited, begun from revision `base`. Steps with number 0 are new.

    Raises `Refused` (`edit_conflict` if another revision came meanwhile, `edit_too_late` if it can be edited no more, `nothing_changed`, or
    why this person may not) and `InvalidPlan`.
    """

    plan = deps.secrets.typed_plan(plan, run_id)
    known = await facts.of_run(deps, plan, run_id)

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_edit(conn, deps, run, who, received_at or deps.now(), base=base)
        current = _current(conn, run)
        if base != current.revision:
            raise Refused("edit_conflict", run=run_id, base=base, current=current.revision, by=current.author, did="edit")
        return _save(conn, deps, run, current, plan, who, known)

    return await by_person(deps, work)


def _save(
    conn: Connection,
    deps: Deps,
    run: Run,
    current: Revision,
    plan: Plan,
    who: policy.Member,
    known: Facts,
    *,
    shown_again: str = "",
) -> Run:
    states = runs.statuses(conn, run.id)
    whole = numbered(plan, used=rest.used_numbers(runs.revisions(conn, run.id), runs.steps(conn, run.id)))
    stands = standing(conn, run).plan
    found = graded(deps, whole, known)
    denied = [fault for fault in found.verdict.denied if fault.step not in rest.fixed(stands, states)]
    if faults := (*_faults(deps, run.id, stands, whole, states, rest.refused_calls(audit.entries(conn, run.id))), *denied):
        raise InvalidPlan(faults)
    if found.digest == current.digest:
        raise Refused("nothing_changed", run=run.id, did="edit")
    if run.status is RunStatus.IN_REVIEW:
        differs = {"was": current.digest, "words": compare(current.plan, whole).words()}
        return for_review(conn, deps, run, found, author=who.id, event=Event.REVISED, facts=differs)
    run = move(conn, deps, run, Event.REDIRECT_ASKED, who=who, did="edit", data={"how": MADE_BY_HAND, "text": "", "ts": ""})
    return of_the_rest(conn, deps, run, found, author=who.id, actor=who.id, shown_again=shown_again)


async def may_edit(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """Raise what `save` would raise now for this person or the state of the run."""

    def look(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_edit(conn, deps, run, who, deps.now(), base=run.revision)
        return run

    return await deps.store.read(look)


def _current(conn: Connection, run: Run) -> Revision:
    """The revision that an edit begins from: what a redirect proposes, else what stands."""
    n = run.proposed or run.revision
    return next(one for one in runs.revisions(conn, run.id) if one.revision == n)


async def change_arguments(
    deps: Deps,
    run_id: str,
    step: str,
    *,
    digest8: str,
    args: dict[str, Any],
    who: policy.Member,
    received_at: datetime | None = None,
) -> Run:
    """Other values for the step that waits for confirmation; with those it asks again, so that nobody confirms what was not shown.

    `digest8`: the filling that the form was made from. `args`: all arguments, literal. Raises `Refused` and `InvalidPlan` as `save` does.
    """

    args = deps.secrets.typed_in(args, run_id)
    known = await _known(deps, run_id, step, args)

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_change_arguments(conn, deps, run, step, digest8, who, received_at or deps.now())
        stands = standing(conn, run)
        planned = stands.plan.step(step)
        wanted = _as_planned(planned, _filled(conn, run_id, step), args)
        changed = planned.model_copy(update={"args": wanted, "depends_on": planned.needs})
        if not changes(planned, changed):
            raise Refused("nothing_changed", run=run_id, did="change arguments")
        plan = stands.plan.model_copy(update={"steps": tuple(changed if one.id == step else one for one in stands.plan.steps)})
        shown_again = step if _asks_again(deps, stands, plan, step, known) else ""
        return _save(conn, deps, run, stands, plan, who, known, shown_again=shown_again)

    return await by_person(deps, work)


async def _known(deps: Deps, run_id: str, step: str, args: dict[str, Any]) -> Facts:
    """What is to be known of the world for the plan that stands, with these values for one step."""

    def look(conn: Connection) -> Plan:
        return standing(conn, runs.get(conn, run_id)).plan

    plan = await deps.store.read(look)
    steps = tuple(one.model_copy(update={"args": args}) if one.id == step else one for one in plan.steps)
    return await facts.of_run(deps, plan.model_copy(update={"steps": steps}), run_id)


def _filled(conn: Connection, run_id: str, step: str) -> dict[str, Any]:
    """The values with which the step waits."""
    return next((state.args for state in runs.steps(conn, run_id) if state.id == step), None) or {}


def _as_planned(planned: Step, filled: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    """Values that stayed as they were filled in keep their references; the others are literal. Raises `InvalidPlan`.

    A literal value with `{{…}}` in it would be filled in once more, and what a step returned could name another step (P7).
    """
    wanted = {name: planned.args[name] if name in planned.args and filled.get(name) == value else value for name, value in args.items()}
    changed = {name: value for name, value in wanted.items() if value != planned.args.get(name)}
    late = [name for name, value in changed.items() if find(value) or _brought(value, planned.args.get(name), filled.get(name))]
    if late:
        raise InvalidPlan(
            tuple(Fault(step=planned.id, field=f"args.{name}", says="{{…}} would be filled in anew", fix=NO_BRACES) for name in late)
        )
    return wanted


def _brought(value: Any, planned: Any, filled: Any) -> bool:
    """Does it name a secret that only what a step returned has named so far?"""
    return bool(set(secrets(value)) & (set(secrets(filled)) - set(secrets(planned))))


NO_BRACES = "write the value itself, without double braces"


def _asks_again(deps: Deps, stands: Revision, plan: Plan, step: str, known: Facts) -> bool:
    """Will the step hold for confirmation with its new values, at no higher risk than was approved?"""
    grades = {grade.step: grade for grade in graded(deps, plan, known).verdict.grades}
    old, new = stands.grades[StepId(step)], grades[StepId(step)]
    return new.confirms and new.level.rank <= old.level.rank


async def may_change_arguments(deps: Deps, run_id: str, step: str, digest8: str, *, who: policy.Member) -> Run:
    """Raise what `change_arguments` would raise now for this person or the state of the run."""

    def look(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_change_arguments(conn, deps, run, step, digest8, who, deps.now())
        return run

    return await deps.store.read(look)
