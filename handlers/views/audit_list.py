"""The record in words, told privately: one run's entries and whether its chain holds, or the newest decisions over all runs.

Steps are told in one line for as long as nothing else happened; every other entry has a line of its own. Only facts and names stand here,
never somebody's words: those are on the cards and in `pullcord show`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from bot.core.chain import Broken, Head
from bot.core.ids import short
from bot.core.run import FINAL, Event
from bot.core.snapshot import Entry
from handlers.views import blocks, refusals, words
from handlers.views.scene import Card, Element, Scene
from handlers.views.slash import Commands, typed
from handlers.views.text import count, date_element, inline, is_person, joined, one_line
from handlers.views.witness import CHECK, SHOWN

MOST_LINES = 40
E = Event

# What happened, before "by …".
DID: Mapping[str, str] = {
    E.OPENED: "asked",
    E.ATTEMPTED: "planning round",
    E.QUESTION_ASKED: "a question was asked",
    E.QUESTION_ANSWERED: "the question was answered",
    E.RELEASED: "released: every step only reads",
    E.PLAN_REFUSED: "refused by policy",
    E.PLAN_FAILED: "no plan was found",
    E.CHANGES_ASKED: "changes asked for",
    E.PLAN_KEPT: "no other plan was found, the one before waits again",
    E.REVISED: "edited",
    E.APPROVAL_GIVEN: "approved",
    E.BREAKPOINT_SET: "breakpoint set",
    E.PAUSE_ASKED: "paused",
    E.HELD: "held",
    E.CONFIRM_REFUSED: "refused",
    E.RETRIED: "tried again",
    E.SKIPPED_BY_PERSON: "skipped",
    E.HAPPENED: "in doubt, settled: it happened",
    E.NOT_HAPPENED: "in doubt, settled: it did not happen",
    E.REDIRECT_ASKED: "a change of the rest was asked for",
    E.REDIRECT_PLANNED: "a new rest was planned",
    E.REDIRECT_FAILED: "no new rest was found",
    E.REDIRECTED: "the new rest took over",
    E.WITHDRAWN: "the change was withdrawn",
    E.STOP_ASKED: "stopped",
    E.ANSWERED: "answered",
    E.ANSWERED_FAILED: "ended, with a step that failed",
    E.REGRADED: "graded anew, by another policy",
    E.REMINDED: "the approvers were reminded",
    E.ESCALATED: "handed on to the second approvers",
}
STEPS: Mapping[str, str] = {
    E.STEP_STARTED: "started",
    E.STEP_SUCCEEDED: "done",
    E.STEP_FAILED: "failed",
    E.STEP_CANCELLED: "cancelled",
    E.STEP_SKIPPED: "left out",
    E.STEP_IN_DOUBT: "in doubt",
    E.STEP_REQUEUED: "to be tried again",
    E.STEP_KEPT: "kept",
    E.STEP_OUTDATED: "to be read again",
}
QUIET = frozenset({E.SETTLED, E.STEPS_DONE})  # follows from what stands beside it


def of_run(scene: Scene, broken: Broken | None, *, commands: Commands) -> Card:
    """One run's entries, oldest first, and whether its chain holds; `broken`: what was found just now."""
    entries = scene.snapshot.entries
    number = count(len(entries), "entry", "entries")
    if broken is None:
        head = entries[-1].hash[:SHOWN] if entries else ""
        state, text = f"the chain holds (✓ checked now, last entry `{head}`)", "the chain holds"
    else:
        state = text = f"the record is broken at entry {broken.seq}"
    made = [blocks.section(f"{'' if broken is None else f'{words.WRONG} '}*{scene.run.id}* · {number} · {state}")]
    if broken is not None:
        made.append(blocks.plain_context(one_line(f"{broken.says}; later entries of this run cannot be trusted", 400)))
    told = list(_lines(entries, _names(scene), of_run=scene))
    hidden = len(told) - MOST_LINES
    made.append(blocks.rich(*told[-MOST_LINES:]))
    show = inline(f"pullcord show {scene.run.id} --json")
    before = f"{count(hidden, 'line')} before these left out" if hidden > 0 else ""
    made.append(blocks.context(joined(before, f"All of it: {show}", f"every run: {typed(commands, 'cord', 'audit')}")))
    return Card(f"{scene.run.id}: {number}, {text}.", made)


def newest(entries: Sequence[Entry], names: Mapping[str, str], head: Head | None, *, commands: Commands) -> Card:
    """The newest decisions that this person may know of, newest first, and how the record is checked."""
    kept = f"Head {head.n} `{head.hash[:SHOWN]}` · check everything: {CHECK}" if head else f"Check everything: {CHECK}"
    one = f"one run: {typed(commands, 'cord', 'audit', 'R-7K2QX')}"
    if not entries:
        says = "*Nothing was decided yet.* Each approval, refusal and stop is put on record here, and in the audit channel if there is one."
        start = f"*Next:* {typed(commands, 'plan')} with what you want."
        return Card("Nothing was decided yet.", [blocks.section(f"{says}\n{start}"), blocks.context(joined(kept, one))])
    lines = [_line(entry, _with_run(entry, _told(entry, _namer(names), None))) for entry in entries]
    made = [blocks.section(f"*The newest decisions · {len(lines)}*"), blocks.rich(*lines)]
    made.append(blocks.context(joined(kept, one, "only runs that you can see")))
    return Card(f"The newest {count(len(lines), 'decision')}.", made)


Namer = Callable[[str], str]


def _names(scene: Scene) -> Namer:
    return lambda actor: words.name_of(scene, actor)


def _namer(names: Mapping[str, str]) -> Namer:
    return lambda actor: one_line(names.get(actor, actor), 60)


def _lines(entries: Sequence[Entry], name: Namer, *, of_run: Scene) -> Iterator[Element]:
    shown = [entry for entry in entries if entry.event not in QUIET]
    for are_steps, some in groupby(shown, key=lambda entry: entry.event in STEPS):
        group = list(some)
        if are_steps:
            yield _line(group[0], _steps_told(group))
        else:
            yield from (_line(entry, _told(entry, name, of_run)) for entry in group)


def _line(entry: Entry, says: str) -> Element:
    return blocks.line(date_element(entry.at, seconds=True), blocks.said(f"  {says}"))


def _with_run(entry: Entry, says: str) -> str:
    return says if entry.run == "-" else f"{entry.run} {says}"


def _steps_told(group: Sequence[Entry]) -> str:
    counted = {word: sum(entry.event == event for entry in group) for event, word in STEPS.items()}
    return "steps: " + ", ".join(f"{number} {word}" for word, number in counted.items() if number)


def _told(entry: Entry, name: Namer, scene: Scene | None) -> str:
    """`approved by approver, 1 of 1, digest 9f2c41d8`."""
    if entry.event == E.CLICK_REFUSED:
        did = one_line(str(entry.data.get("did") or "a click"), 40)
        return f"refused: {did} by {name(entry.actor)} ({one_line(refusals.why(str(entry.data.get('kind') or '')), 120)})"
    did = DID.get(entry.event, entry.event.replace("_", " "))
    by = f" by {name(entry.actor)}" if is_person(entry.actor) else " by the clock" if entry.actor == "clock" else ""
    if entry.event == E.ATTEMPTED:
        did = f"{did} {int(entry.data.get('round') or 0)}{'' if entry.data.get('ok') else ': not usable'}"
    return joined(f"{_step(entry, scene)}{did}{by}", *_facts(entry), by=", ")


def _step(entry: Entry, scene: Scene | None) -> str:
    """The step that the entry is about: `step 2: `, or by its id where the plan is not at hand."""
    step = str(entry.data.get("step") or "")
    number = next((one.number for one in scene.plan.steps if one.id == step), None) if scene else None
    return f"step {number or one_line(step, 40)}: " if step else ""


def _facts(entry: Entry) -> list[str]:
    data = entry.data
    revision = data.get("proposed") or data.get("revision")
    facts = [f"revision {int(revision)}" if revision and entry.event != E.RELEASED else ""]
    if data.get("count") and data.get("needed"):
        facts.append(f"{int(data['count'])} of {int(data['needed'])}")
    if seal := data.get("filling") or data.get("digest"):
        facts.append(f"{'values' if data.get('filling') else 'digest'} {short(str(seal))}")
    if data.get("risk") and revision:
        facts.append(f"{data['risk']} risk")
    if entry.event == E.HELD and data.get("reason"):
        facts.append(str(data["reason"]).replace("_", " "))
    ended = data.get("to") in FINAL and entry.event not in (data.get("to"), E.STOP_ASKED)
    return [*facts, f"the run {data['to']}" if ended else ""]
