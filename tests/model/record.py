"""A run judged by its record and by what really happened in the world: for walks over the whole bot, where nobody sees each moment."""

from collections import Counter
from collections.abc import Iterator, Mapping

from bot.core.catalogue import Catalogue, Effect
from bot.core.ids import short
from bot.core.run import Event
from bot.core.snapshot import Entry, Snapshot

E = Event
STARTS = frozenset({E.STEP_STARTED, E.STEP_KEPT})


def broken_promises(seen: Snapshot, catalogue: Catalogue, calls: Mapping[str, int]) -> list[str]:
    """What the record, or the world, says against P1–P6. `calls`: how often each call with an effect was made, by idempotency key."""
    return [
        *_started_under_a_brake(seen.entries),
        *_started_without_a_yes(seen),
        *_finished_and_begun_again(seen.entries),
        *_confirmed_by_nobody(seen),
        *_made_too_often(seen, catalogue, calls),
    ]


def _started_under_a_brake(entries: tuple[Entry, ...]) -> Iterator[str]:
    paused = stopped = frozen = False
    for entry in entries:
        paused = entry.event == E.PAUSE_ASKED or (paused and not (entry.event == E.RESUMED and entry.actor != "pullcord"))
        stopped = stopped or entry.event == E.STOP_ASKED
        frozen = entry.event == E.FROZEN or (frozen and entry.event not in (E.THAWED, E.PAUSE_ASKED))  # a person's pause takes its place
        if entry.event in STARTS and (paused or stopped):
            yield f"P4: {entry.data['step']} started after the brake was recorded"
        if entry.event in STARTS and frozen:
            yield f"P4: {entry.data['step']} started in a frozen run"


def _started_without_a_yes(seen: Snapshot) -> Iterator[str]:
    """Each start belongs to a plan that people said yes to, that policy released, or whose every new step runs by itself."""
    approved = None
    for entry in seen.entries:
        if entry.event in (E.APPROVED, E.RELEASED, E.REDIRECTED):
            approved = entry.data["approved"]
        if entry.event == E.APPROVED and not any(yes.digest == approved and yes.kind == "plan" for yes in seen.approvals):
            yield "P2: approved, and nobody said yes to that digest"
        if entry.event == E.REDIRECTED and entry.data["asked"] and all(yes.digest != approved for yes in seen.approvals):
            yield "P1: a new rest came into force without the yes that it needed"
        if entry.event in STARTS and approved is None:
            yield f"P1: {entry.data['step']} started before any yes"


def _finished_and_begun_again(entries: tuple[Entry, ...]) -> Iterator[str]:
    done: set[str] = set()
    for entry in entries:
        step = str(entry.data.get("step"))
        if entry.event in STARTS and step in done:
            yield f"P5: {step} had finished and started again"
        if entry.event in (E.STEP_SUCCEEDED, E.STEP_KEPT, E.HAPPENED):
            done.add(step)
        if entry.event == E.STEP_OUTDATED:
            done.discard(step)


def _confirmed_by_nobody(seen: Snapshot) -> Iterator[str]:
    by_revision = {one.revision: {name for name, grade in one.grades.items() if grade.confirms} for one in seen.revisions}
    confirming: set[str] = set()  # in the revision that is in force
    yes: set[tuple[str, str]] = set()
    for entry in seen.entries:
        step = str(entry.data.get("step"))
        if entry.event in (E.APPROVED, E.RELEASED, E.REDIRECTED):
            confirming = by_revision[entry.data["revision"]]
        if entry.event == E.CONFIRMED:
            yes.add((step, entry.data["filling"]))
        if entry.event in STARTS and step in confirming and (step, entry.data["args_sha256"]) not in yes:
            yield f"P3: {step} started with values that nobody confirmed"


def _made_too_often(seen: Snapshot, catalogue: Catalogue, calls: Mapping[str, int]) -> Iterator[str]:
    """P6, and P1 once more: nothing was called that is not on record as started."""
    again = Counter(str(entry.data["step"]) for entry in seen.entries if entry.event in (E.NOT_HAPPENED, E.STEP_FAILED))
    starts = Counter(
        f"{seen.run.id}.{entry.data['step']}.{short(entry.data['args_sha256'])}" for entry in seen.entries if entry.event == E.STEP_STARTED
    )
    tools = {f"{seen.run.id}.{state.id}": state.tool for state in seen.steps}
    for key, times in calls.items():
        step = key.removeprefix(f"{seen.run.id}.").rpartition(".")[0]
        if not key.startswith(f"{seen.run.id}."):
            continue
        if times > starts[key]:
            yield f"P1: {key} was called {times} times and started {starts[key]} times"
        spec = catalogue.get(tools.get(f"{seen.run.id}.{step}", ""))
        if spec is not None and spec.effect is not Effect.READ and times > 1 + again[step]:
            yield f"P6: {key} was called {times} times"
