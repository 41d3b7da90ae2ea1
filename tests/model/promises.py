"""What must hold, whatever happens: the promises P1–P6, judged by what is on record and by nothing that the product remembers for itself.

A `Memory` goes along each path of the walk: which brakes were recorded and not let go, which calls with an effect are out, what exactly was
confirmed, which breakpoints were waved through. Each move is judged with it; each new state is judged by itself.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from bot.core.catalogue import Effect
from bot.core.plan import Plan, fingerprint
from bot.core.references import sources
from bot.core.risk import Mode
from bot.core.run import Event, Redirect
from tests.model.facts import Facts, Said, StepFacts
from tests.model.moves import Moves, Result

E = Event
FINAL = frozenset({"succeeded", "failed", "stopped", "cancelled", "expired", "refused"})
NOTHING_RUNS = FINAL | {"in_review", "queued", "paused", "answering"}
STARTS = frozenset({E.STEP_STARTED, E.STEP_KEPT})


class Memory(NamedTuple):
    """What somebody who only watched the record would remember."""

    paused: bool = False
    stopped: bool = False
    out: frozenset[tuple[str, str]] = frozenset()  # (step, filling) of calls with an effect that may have happened
    confirmed: frozenset[tuple[str, str, str]] = frozenset()  # (step, tool, filling)
    waved: frozenset[str] = frozenset()  # breakpoints that somebody let go


def wrong_state(facts: Facts) -> str:
    """What is wrong with a state by itself; empty if nothing is."""
    held = facts.status in ("pausing", "paused")
    digests = {n: digest for n, digest, _ in facts.revisions}
    checks = {
        "a run that stands has no reason": held and facts.reason is None,
        "a run that goes on has a reason to stand": facts.reason is not None and not held,
        "a run that does not stand is held at a step": facts.held is not None and not held,
        f"a step runs although the run is {facts.status}": facts.status in NOTHING_RUNS and bool(facts.running),
        "a redirect is open in a run that does not stand": facts.redirect is not None and not held,
        "a review without a proposal": facts.redirect == Redirect.REVIEW and facts.proposed is None,
        "a proposal that nobody reviews": facts.redirect != Redirect.REVIEW and facts.proposed is not None,
        "what is proposed is not stored": facts.proposed is not None and facts.proposed not in digests,
        "the row names another digest than its revision has": facts.digest != digests.get(facts.revision),
        "a step succeeded without an observation": any(step.status == "succeeded" and not step.observation for step in facts.steps),
    }
    return next((words for words, broken in checks.items() if broken), "")


def judge(moves: Moves, memory: Memory, at: int, result: Result) -> tuple[Memory, str]:
    """The memory after the move, and the first promise that it broke."""
    before, after = moves.facts[at], moves.facts[result.to]
    broken = [result.wrong, *_finished_work_lost(before, after), *_yes_to_something_else(before, after)]
    for said in result.said:
        broken += _judge_entry(moves, memory, before, after, said, result.held)
        memory = _remember(moves, memory, before, after, said)
    return memory, next((words for words in broken if words), "")


def _judge_entry(moves: Moves, memory: Memory, before: Facts, after: Facts, said: Said, held: str) -> Iterator[str]:
    step = said.data.get("step")
    if said.event in STARTS:
        yield from _judge_start(moves, memory, before, after, str(step), said.data)
        if held != after.approved:
            yield f"P1: {step} was started by a process that had another plan in its hands"
    if said.event == E.STEP_KEPT:
        yield from _judge_kept(before, after, str(step), said.data)
    if said.event == E.STEP_REQUEUED and _has_effect(moves, after, str(step)):
        yield f"P6: {step} has an effect, was cut off, and may run again although nobody said that it did not happen"


def _judge_start(moves: Moves, memory: Memory, before: Facts, after: Facts, step: str, data: dict[str, Any]) -> Iterator[str]:
    filling = data["args_sha256"]
    row = after.step(step)
    plan, grades = moves.plans[after.digest or ""]
    if memory.paused or memory.stopped or before.frozen:
        yield f"P4: {step} started after the brake was recorded"
    if row is None or all(one.id != step for one in plan.steps) or after.approved != after.digest:
        yield f"P1: {step} started and is no step of the approved revision"
        return
    sure = (step, row.tool, filling) in memory.confirmed
    if not _was_approved(moves, after, step) and not sure:
        yield f"P1: {step} started without everybody's yes to it"
    if grades[step].confirms and not sure:
        yield f"P3: {step} started and nobody confirmed {row.tool} with exactly these values"
    marked = plan.step(step).breakpoint or step in before.breakpoints
    if marked and step not in memory.waved:
        yield f"a breakpoint before {step} was passed and nobody let it go"
    if _has_effect(moves, after, step) and (step, filling) in memory.out:
        yield f"P6: {step} started twice with one key"


def _judge_kept(before: Facts, after: Facts, step: str, data: dict[str, Any]) -> Iterator[str]:
    source, kept = before.step(data["kept_from"]), after.step(step)
    if source is None or kept is None or source.status != "succeeded" or _work(source) != _work(kept):
        yield f"P5: {step} was taken as done and is not the same work"


def _work(step: StepFacts) -> tuple[str | None, ...]:
    return step.tool, step.args, step.observation


def _remember(moves: Moves, memory: Memory, before: Facts, after: Facts, said: Said) -> Memory:
    step, event = str(said.data.get("step")), said.event
    paused, stopped, out, confirmed, waved = memory
    if event == E.PAUSE_ASKED or (event == E.RESUMED and said.actor != "pullcord"):
        paused = event == E.PAUSE_ASKED
    elif event == E.STOP_ASKED:
        stopped = True
    elif event == E.BREAKPOINT_SET:
        waved -= {step}
    elif event == E.CONTINUED:
        waved |= {step}
    elif event == E.REDIRECTED:
        waved -= _differing(moves, before, after)
    elif event == E.CONFIRMED:
        row = before.step(step)
        confirmed |= {(step, row.tool if row else "", said.data["filling"])}
    elif event == E.STEP_STARTED and _has_effect(moves, after, step):
        out |= {(step, said.data["args_sha256"])}
    elif event in (E.STEP_FAILED, E.STEP_CANCELLED, E.NOT_HAPPENED):  # it is known that nothing happened
        out = frozenset(key for key in out if key[0] != step)
    return Memory(paused, stopped, out, confirmed, waved)


def _differing(moves: Moves, before: Facts, after: Facts) -> set[str]:
    """Steps that another revision changed: to let go of the old form is not to let go of the new one."""
    old, new = moves.plans[before.digest or ""][0], moves.plans[after.digest or ""][0]
    said = {step.id: (step.tool, step.args) for step in old.steps}
    return {step.id for step in new.steps if said.get(step.id) != (step.tool, step.args)}


def _was_approved(moves: Moves, facts: Facts, step: str) -> bool:
    """Is the step, with all that its values are made of, part of a revision that enough people approved? Or a read that needs nobody?"""
    plan, grades = moves.plans[facts.digest or ""]
    spec = moves.world.deps.tools.catalogue[plan.step(step).tool]
    if spec.effect is Effect.READ and grades[step].mode is Mode.AUTO:
        return True
    meant = _meaning(plan, step)
    for _, digest, _ in facts.revisions:
        there, graded = moves.plans[digest]
        yes = {actor for actor, _, said, kind, _ in facts.approvals if kind == "plan" and said == digest}
        has_it = any(one.id == step for one in there.steps) and _meaning(there, step) == meant
        if has_it and len(yes) >= moves.world.deps.policy.quorum.get(graded[step].level, 1):
            return True
    return False


def _meaning(plan: Plan, name: str) -> str:
    """What the step does, and what its values are made of."""
    step = plan.step(name)
    return fingerprint([step.tool, step.args, sorted(step.needs), [_meaning(plan, source) for source in sources(step.args)]])


def _has_effect(moves: Moves, facts: Facts, step: str) -> bool:
    row = facts.step(step)
    return row is not None and moves.world.deps.tools.catalogue[row.tool].effect is not Effect.READ


def _finished_work_lost(before: Facts, after: Facts) -> Iterator[str]:
    for step in before.steps:
        now = after.step(step.id)
        if step.status == "succeeded" and (now is None or now.status != step.status or _work(now) != _work(step)):
            yield f"P5: {step.id} had finished and is not what it was"


def _yes_to_something_else(before: Facts, after: Facts) -> Iterator[str]:
    known = {n: digest for n, digest, _ in before.revisions}
    for _, n, digest, kind, _ in set(after.approvals) - set(before.approvals):
        if kind == "plan" and (known.get(n) != digest or n != (before.proposed or before.revision)):
            yield f"P2: a yes to revision {n} was taken for something that did not wait"
