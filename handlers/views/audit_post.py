"""The audit channel: one post for each change that people made or the clock made for them.

Three blocks: the fact, who and when to the second; words from outside as plain context; facts with the entry's number and the head of the
chain, which makes the channel a second witness. These posts ping nobody: people are links to profiles, with their ids beside, since names
can change.
"""

import json
from collections.abc import Mapping

from bot.core.characters import cut
from bot.core.ids import short
from bot.core.plan import Step
from bot.core.run import Event
from bot.core.snapshot import Entry
from handlers.views import blocks, receipts, refusals, words
from handlers.views.scene import Card, Scene
from handlers.views.text import date, is_person, joined, outside, plain

HEAD = 12

# Symbol, words in the post, words in the fallback text.
TITLES: Mapping[str, tuple[str, str]] = {
    Event.RELEASED: (words.YES, "Released: it only reads"),
    Event.PLAN_REFUSED: (words.WRONG, "Refused by policy"),
    Event.PLAN_FAILED: (words.WRONG, "No plan found"),
    Event.APPROVAL_GIVEN: (words.YES, "Approved"),
    Event.APPROVED: (words.YES, "Approved"),
    Event.CANCELLED: (words.CLOSED, "Cancelled"),
    Event.EXPIRED: (words.CLOSED, "Expired"),
    Event.BREAKPOINT_SET: (words.STANDS, "Breakpoint set"),
    Event.PAUSE_ASKED: (words.STANDS, "Paused"),
    Event.HELD: (words.WAITS, "Held"),
    Event.RESUMED: (words.RUNS, "Resumed"),
    Event.CONTINUED: (words.RUNS, "Continued"),
    Event.CONFIRMED: (words.YES, "Confirmed"),
    Event.CONFIRM_REFUSED: (words.CLOSED, "Refused"),
    Event.RETRIED: (words.RUNS, "Retry"),
    Event.SKIPPED_BY_PERSON: (words.CLOSED, "Skipped"),
    Event.HAPPENED: (words.WRONG, "In doubt, settled: it happened"),
    Event.NOT_HAPPENED: (words.WRONG, "In doubt, settled: it did not happen"),
    Event.STOP_ASKED: (words.CLOSED, "Stopped"),
    Event.ANSWERED: (words.YES, "Done"),
    Event.ANSWERED_FAILED: (words.WRONG, "Ended, with a step that failed"),
    Event.CLICK_REFUSED: (words.CLOSED, "Refused"),
    Event.OPENED: (words.WORKS, "Asked"),
    Event.PLANNED: (words.WAITS, "Planned"),
}
OF_REVISION = frozenset(
    {Event.RELEASED, Event.APPROVAL_GIVEN, Event.APPROVED, Event.CANCELLED, Event.EXPIRED, Event.PLANNED, Event.PLAN_REFUSED}
)
NOTHING_RAN = frozenset({Event.CANCELLED, Event.PLAN_REFUSED, Event.PLAN_FAILED})


def audit_post(scene: Scene, entry: Entry) -> Card:
    """The post for one entry of this run."""
    symbol, title = TITLES.get(entry.event, (words.WORKS, entry.event.replace("_", " ").capitalize()))
    what = _what(scene, entry)
    by = _by(scene, entry)
    made = [
        blocks.section(f"{symbol} *{title}* · {joined(what, by, date(entry.at, seconds=True))}"),
        blocks.plain_context(_words(scene, entry)),
        blocks.context(joined(*_facts(scene, entry), f"entry {entry.seq}", f"head `{entry.hash[:HEAD]}`")),
    ]
    return Card(_fallback(scene, entry, title, what), made)


def _what(scene: Scene, entry: Entry) -> str:
    """`R-7K2Q revision 1`, `R-7K2Q step 9`, `Approve on R-7K2Q revision 1`."""
    step = _step(scene, entry)
    named: str = scene.run.id
    if step is not None:
        named = f"{named} step {step.number}"
    elif revision := _revision(scene, entry):
        named = f"{named} revision {revision}"
    if entry.event == Event.CLICK_REFUSED:
        return f"{plain(str(entry.data.get('did', 'a click')), 40).capitalize()} on {named}"
    return named


def _revision(scene: Scene, entry: Entry) -> int:
    """The revision that the entry is about, 0 if none."""
    if entry.event == Event.CLICK_REFUSED:
        facts = json.loads(str(entry.data.get("facts") or "{}"))
        return int(facts.get("revision") or 0)
    return int(entry.data.get("revision") or scene.run.revision) if entry.event in OF_REVISION else 0


def _by(scene: Scene, entry: Entry) -> str:
    if entry.event == Event.EXPIRED:
        return "nobody answered"
    if not is_person(entry.actor):
        return f"by {plain(entry.actor, 40)}"
    return f"{words.profile(scene, entry.actor)} `{entry.actor}`"


def _step(scene: Scene, entry: Entry) -> Step | None:
    name = entry.data.get("step")
    return next((step for step in scene.plan.steps if step.id == name), None)


def _words(scene: Scene, entry: Entry) -> str:
    """What the entry is about, and the reason that somebody gave, in words from outside."""
    step = _step(scene, entry)
    about = words.numbered(scene, step) if step else words.goal_of(scene)
    reason = str(entry.data.get("reason") or entry.data.get("note") or "")
    spoken = entry.event in (Event.CANCELLED, Event.CONFIRM_REFUSED, Event.HAPPENED) and reason
    return f"{about} — “{outside(reason, 600)}”" if spoken else about


def _facts(scene: Scene, entry: Entry) -> list[str]:
    facts = []
    if entry.event in OF_REVISION or entry.event in (Event.CONFIRMED, Event.CONFIRM_REFUSED):
        facts.append(_risk(scene, entry))
    if entry.event in (Event.APPROVED, Event.APPROVAL_GIVEN):
        facts += [_first(scene, entry), _digest(entry, "digest"), f"{words.asked_by(scene)} `{plain(scene.run.requester, 40)}`"]
    if entry.event in (Event.CONFIRMED, Event.CONFIRM_REFUSED):
        facts.append(_digest(entry, "values"))
    facts += _outcome(scene, entry)
    return [*facts, words.card_link(scene, "run", "card") if scene.links.get("run") else ""]


def _risk(scene: Scene, entry: Entry) -> str:
    step = _step(scene, entry)
    level = words.grade_of(scene, step).level if step else words.level_of(scene)
    symbol, word = words.RISK[level].split(" ", 1)
    count, needed = entry.data.get("count"), entry.data.get("needed")
    progress = f", approval {int(count)} of {int(needed)}" if count and needed else ""
    return f"{symbol} {words.lowered(word)}{progress}"


def _first(scene: Scene, entry: Entry) -> str:
    earlier = [
        one
        for one in scene.snapshot.approvals
        if one.kind == "plan" and one.actor != entry.actor and one.digest == entry.data.get("digest")
    ]
    if entry.event != Event.APPROVED or not earlier:
        return ""
    first = earlier[0]
    return f"first: {words.profile(scene, first.actor)} `{plain(first.actor, 40)}` {date(first.at, seconds=True)}"


def _digest(entry: Entry, word: str) -> str:
    digest = entry.data.get("filling") or entry.data.get("digest")  # of a step's filled-in values, or of the plan
    return f"{word} `{plain(short(str(digest)), 8)}`" if digest else ""


def _outcome(scene: Scene, entry: Entry) -> list[str]:
    """What the change led to, or did not."""
    if entry.event == Event.CLICK_REFUSED:
        return [f"why: {refusals.why(str(entry.data.get('kind', '')))}", "nothing changed"]
    if entry.event == Event.EXPIRED:
        ran = "nothing ran" if not scene.run.approved else "the run stopped here"
        return ["by the clock, not by a person", ran]
    if entry.event in NOTHING_RAN:
        return ["nothing ran"]
    if entry.event == Event.CONFIRM_REFUSED:
        return ["nothing was changed"]
    if entry.event in (Event.HAPPENED, Event.NOT_HAPPENED) and is_person(entry.actor):
        return ["said by a person, not checked by the tool"]
    if entry.event == Event.PAUSE_ASKED:
        return ["nothing started after this entry"]
    ends = entry.event in (Event.ANSWERED, Event.ANSWERED_FAILED, Event.STOP_ASKED)
    return (
        [receipts.counts(scene)]
        if ends and scene.run.is_final
        else ["nothing starts after this entry"]
        if entry.event == Event.STOP_ASKED
        else []
    )


def _fallback(scene: Scene, entry: Entry, title: str, what: str) -> str:
    who = f" by {words.name_of(scene, entry.actor)} ({entry.actor})" if is_person(entry.actor) else ""
    if entry.event == Event.EXPIRED:
        who = ", nobody answered"
    facts: list[str] = []
    if entry.event in (Event.APPROVED, Event.APPROVAL_GIVEN):
        counted = entry.data.get("needed") and int(entry.data["needed"]) > 1
        facts = [f"{int(entry.data['count'])} of {int(entry.data['needed'])}" if counted else "", _digest(entry, "digest").replace("`", "")]
    if entry.event == Event.CLICK_REFUSED:
        facts = [refusals.why(str(entry.data.get("kind", "")))]
    return cut(joined(f"{title}: {what}{who}", *facts, by=", "), 300)
