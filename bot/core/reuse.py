"""Work that a run has done already: what a finished step returned serves a later step that asks for the very same (P5).

*The same* is the step's fingerprint: tool, definition of the tool, filled-in arguments. Only a step that came (or was changed) with a later
revision than the finished one is looked up: a plan that says the same twice means it twice.
"""

from collections.abc import Collection

from bot.core.ids import Digest, StepId
from bot.core.plan import Plan, Step, step_fingerprint
from bot.core.references import sources
from bot.core.run import StepStatus
from bot.core.snapshot import Snapshot, StepState

Completed = dict[Digest, StepState]


def completed(snapshot: Snapshot) -> Completed:
    """Finished steps by their fingerprint; of equal ones the latest. Steps that a person settled by a note hold no result to be used."""
    found: Completed = {}
    for state in sorted(snapshot.steps, key=lambda state: str(state.finished_at or "")):
        tools = next((one.tool_digests for one in snapshot.revisions if one.revision == state.revision), {})
        if state.status is StepStatus.SUCCEEDED and state.observation and state.args is not None and state.observation.size:
            found[step_fingerprint(state.tool, state.args, tools.get(state.tool, ""))] = state
    return found


def brought(snapshot: Snapshot) -> dict[StepId, int]:
    """By which revision each step came, or was changed last."""
    return {state.id: state.revision for state in snapshot.steps}


def done_before(done: Completed, fingerprint: Digest, *, revision: int) -> StepState | None:
    """The finished step whose result serves a step of that fingerprint that came with that revision, or None."""
    state = done.get(fingerprint)
    return state if state is not None and state.revision < revision else None


def read_again(plan: Plan, step_id: str, changed: Collection[str], reads: Collection[str]) -> tuple[StepId, ...]:
    """The finished steps to run again before this one, as what the `changed` ones read is another now: those, and what was made of them.

    `reads`: steps that only read. Nothing at all if something with an effect was made from them: effects are not repeated.
    """
    above = _sources_of(plan, step_id)
    touched = set(changed) & above
    while more := {step.id for step in plan.steps if step.id in above - touched and touched.intersection(sources(step.args))}:
        touched |= more
    return tuple(step.id for step in plan.steps if step.id in touched) if touched <= set(reads) else ()


def _sources_of(plan: Plan, step_id: str) -> set[str]:
    """Every step whose result this one uses, directly or through others."""
    known: dict[str, Step] = {step.id: step for step in plan.steps}
    found: set[str] = set()
    coming = [*sources(known[step_id].args)]
    while coming:
        name = coming.pop()
        if name in known and name not in found:
            found.add(name)
            coming += sources(known[name].args)
    return found
