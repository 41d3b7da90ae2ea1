"""The audit channel: one post for each change that people made or the clock made for them.

Three blocks: the fact, who and when to the second; words from outside as plain context; facts with the entry's number and hash and the
chain's head as of then, which makes the channel a second witness. A post is made once, and may be made late: it is drawn from its entry and
the run as of then, so its words do not depend on what has become of the run meanwhile. These posts ping nobody: people are links to
profiles, with their ids beside, since names can change.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from bot.core import budget
from bot.core.chain import Head
from bot.core.characters import cut
from bot.core.comparison import compare
from bot.core.ids import short
from bot.core.judging import held_grade
from bot.core.plan import Step
from bot.core.risk import Level
from bot.core.run import FINAL, Event, RunStatus
from bot.core.snapshot import Entry
from handlers.views import asking, blocks, receipts, record, refusals, regraded, reloaded, witness, words
from handlers.views.scene import Card, Scene
from handlers.views.text import count, date, is_person, joined, link, outside, plain

# Symbol, words in the post, words in the fallback text.
TITLES: Mapping[str, tuple[str, str]] = {
    Event.RELEASED: (words.YES, "Released: it only reads"),
    Event.PLAN_REFUSED: (words.WRONG, "Refused by policy"),
    Event.PLAN_FAILED: (words.WRONG, "No plan found"),
    Event.APPROVAL_GIVEN: (words.YES, "Approved"),
    Event.APPROVED: (words.YES, "Approved"),
    Event.CANCELLED: (words.CLOSED, "Cancelled"),
    Event.EXPIRED: (words.CLOSED, "Expired"),
    Event.REMINDED: (words.WAITS, "Reminded"),
    Event.ESCALATED: (words.WAITS, "Escalated"),
    Event.REGRADED: (words.WAITS, "Graded anew: the policy has changed"),
    Event.PROLONGED: (words.RUNS, "More time, after the freeze"),
    Event.CHANGES_ASKED: (words.WORKS, "Changes asked for"),
    Event.REVISED: (words.YES, "Edited"),
    Event.REDIRECT_ASKED: (words.STANDS, "Change of the rest asked for"),
    Event.REDIRECT_PLANNED: (words.WAITS, "New rest planned"),
    Event.REDIRECTED: (words.YES, "Redirected"),
    Event.WITHDRAWN: (words.CLOSED, "Withdrawn"),
    Event.FROZEN: (words.STANDS, "Frozen"),
    Event.THAWED: (words.RUNS, "Thawed"),
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
    {
        Event.RELEASED,
        Event.APPROVAL_GIVEN,
        Event.APPROVED,
        Event.CANCELLED,
        Event.EXPIRED,
        Event.ESCALATED,
        Event.REGRADED,
        Event.PLANNED,
        Event.PLAN_REFUSED,
        Event.CHANGES_ASKED,
        Event.REVISED,
        Event.REDIRECT_PLANNED,
        Event.REDIRECTED,
    }
)
SPOKEN: Mapping[str, tuple[str, ...]] = {  # whose words stand beside what the entry is about
    Event.CANCELLED: ("reason", "note"),
    Event.CONFIRM_REFUSED: ("reason", "note"),
    Event.HAPPENED: ("reason", "note"),
    Event.CHANGES_ASKED: ("words",),
    Event.REDIRECT_ASKED: ("text",),
    Event.WITHDRAWN: ("why",),
    Event.FROZEN: ("why",),
}
HOW = {
    "reply": "by a reply",
    "edit": "by hand",
    "arguments": "other arguments",
    "edited": "a reply was edited",
    "gone": "a reply was deleted",
}
REVISING = frozenset({Event.CHANGES_ASKED, Event.REVISED, Event.REDIRECT_PLANNED, Event.REDIRECTED})
ALWAYS: Mapping[str, str] = {
    Event.CANCELLED: "nothing ran",
    Event.PLAN_REFUSED: "nothing ran",
    Event.PLAN_FAILED: "nothing ran",
    Event.CONFIRM_REFUSED: "nothing was changed",
    Event.PAUSE_ASKED: "nothing started after this entry",
}


def audit_post(scene: Scene, entry: Entry, *, head: Head | None = None) -> Card:
    """The post for one entry of this run, the same whenever it is drawn (but for names, and links to cards that did not stand then)."""
    scene = replace(scene, snapshot=record.as_of(scene.snapshot, entry.seq))
    symbol, title = TITLES.get(entry.event, (words.WORKS, entry.event.replace("_", " ").capitalize()))
    title = "Confirmed" if entry.event == Event.APPROVAL_GIVEN and entry.data.get("step") else title
    what = _what(scene, entry)
    by = _by(scene, entry)
    made = [
        blocks.section(f"{symbol} *{title}* · {joined(what, by, date(entry.at, seconds=True))}"),
        blocks.plain_context(_words(scene, entry)),
        blocks.context(joined(*_facts(scene, entry), witness.marks(entry, head))),
    ]
    return Card(_fallback(scene, entry, title, what), made)


def whole_bot(entry: Entry, *, team_url: str, name: str = "", head: Head | None = None) -> Card:
    """The post for an entry that is about the whole bot and no run: frozen, thawed. `name` is what the actor is called."""
    symbol, title = TITLES.get(entry.event, (words.WORKS, plain(entry.event.replace("_", " "), 40).capitalize()))
    shown = plain(name, 60) or plain(entry.actor, 60)
    person = is_person(entry.actor)
    address = f"{team_url.rstrip('/')}/team/{entry.actor}"
    who = f"{link(address, shown)} `{entry.actor}`" if person else f"by {plain(entry.actor, 40)}"
    if entry.event in reloaded.TITLES:
        return reloaded.of_entry(entry, who=who, when=date(entry.at, seconds=True), marks=witness.marks(entry, head))
    held, running = (int(entry.data.get(key) or 0) for key in ("held", "running"))
    frozen = entry.event == Event.FROZEN
    facts = [
        f"{count(held, 'run')} {'held' if frozen else 'went on' if entry.event == Event.THAWED else ''}".strip(),
        f"{count(running, 'step')} {'was' if running == 1 else 'were'} running and will finish" if frozen and running else "",
        "no run and no step starts" if frozen else "",
    ]
    why = outside(str(entry.data.get("why") or ""), 600) or "no reason given"
    made = [
        blocks.section(f"{symbol} *{title}* · {joined('everything', who, date(entry.at, seconds=True))}"),
        blocks.plain_context(why),
        blocks.context(joined(*facts, witness.marks(entry, head))),
    ]
    by = f"{shown} ({entry.actor})" if person else shown
    return Card(cut(f"{title}: everything, by {by}", 300), made)


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
    named = entry.data.get("proposed") or entry.data.get("revision") or entry.data.get("revision_was")
    return int(named or scene.run.revision) if entry.event in OF_REVISION else 0


def _by(scene: Scene, entry: Entry) -> str:
    if entry.event == Event.EXPIRED:
        return "nobody answered"
    if not is_person(entry.actor):
        return f"by {plain(entry.actor, 40)}"
    asked = "as asked by " if entry.event == Event.REDIRECT_PLANNED else ""
    return f"{asked}{words.profile(scene, entry.actor)} `{entry.actor}`"


def _step(scene: Scene, entry: Entry) -> Step | None:
    name = entry.data.get("step")
    return next((step for step in scene.plan.steps if step.id == name), None)


def _words(scene: Scene, entry: Entry) -> str:
    """What the entry is about, and the reason that somebody gave, in words from outside."""
    step = _step(scene, entry)
    about = words.numbered(scene, step) if step else words.goal_of(scene)
    if entry.event in (Event.REDIRECTED, Event.REDIRECT_PLANNED):
        said = [str(one.data.get("text") or "") for one in record.asks(scene.snapshot, until=entry.seq)]
        reason = " / ".join(text for text in said if text.strip())
    else:
        reason = next((str(entry.data[name]) for name in SPOKEN.get(entry.event, ()) if entry.data.get(name)), "")
    return f"{about} — “{outside(reason, 600)}”" if reason.strip() else about


def _facts(scene: Scene, entry: Entry) -> list[str]:
    facts = []
    if entry.event in REVISING:
        return [*_revising(scene, entry), words.card_link(scene, "run", "card") if scene.links.get("run") else ""]
    if entry.event in OF_REVISION or entry.event in (Event.CONFIRMED, Event.CONFIRM_REFUSED):
        facts.append(_risk(scene, entry))
    if entry.event in (Event.APPROVED, Event.APPROVAL_GIVEN):
        values = "values" if entry.data.get("step") else "digest"
        facts += [_first(scene, entry), _digest(entry, values), f"{words.asked_by(scene)} `{plain(scene.run.requester, 40)}`"]
    if entry.event in (Event.CONFIRMED, Event.CONFIRM_REFUSED):
        facts.append(_digest(entry, "values"))
    facts += ["in writing"] if entry.data.get("typed") else []
    if (granted := budget.granted(entry)) is not None:
        facts.append(f"a quarter more {plain(granted, 20)} granted, once")
    facts += _outcome(scene, entry)
    return [*facts, words.card_link(scene, "run", "card") if scene.links.get("run") else ""]


def _revising(scene: Scene, entry: Entry) -> list[str]:
    """What another revision changed: `2 changed, 1 removed · 1 step needs approval · digest a → b`."""
    new = scene.snapshot.revised(_revision(scene, entry))
    old = record.before(scene.snapshot, new.revision) if new and entry.event == Event.REVISED else record.stood(scene.snapshot, entry.seq)
    if entry.event == Event.CHANGES_ASKED:
        return ["nothing can be approved until another revision is there"]
    if new is None:
        return [plain(str(entry.data.get("words") or ""), 120), _digest(entry, "digest")]
    differs = compare(old.plan, new.plan).words() if old else plain(str(entry.data.get("words") or ""), 120)
    digests = f"digest `{short(old.digest)}` → `{short(new.digest)}`" if old else _digest(entry, "digest")
    void = f"revision {old.revision} is void" if old and entry.event == Event.REVISED else ""
    return [differs, _asked_words(entry), digests, void]


def _asked_words(entry: Entry) -> str:
    asked = entry.data.get("asked")
    if not isinstance(asked, list | tuple):
        return ""
    number = len(asked)
    if entry.event == Event.REDIRECTED:
        return f"{count(number, 'step')} {'was' if number == 1 else 'were'} approved" if number else "nothing had to be approved"
    return f"{count(number, 'step')} {'needs' if number == 1 else 'need'} approval"


def _risk(scene: Scene, entry: Entry) -> str:
    step = _step(scene, entry)
    about = scene.snapshot.revised(_revision(scene, entry))
    level = _as_held(scene, entry, step) if step else about.risk if about else words.level_of(scene)
    symbol, word = words.RISK[level].split(" ", 1)
    given, needed = entry.data.get("count"), entry.data.get("needed")
    progress = f", approval {int(given)} of {int(needed)}" if given and needed else ""
    return f"{symbol} {words.lowered(word)}{progress}"


def _as_held(scene: Scene, entry: Entry, step: Step) -> Level:
    """What the step was when this happened: as approved, or as its real values made it."""
    before = [one for one in scene.snapshot.entries if one.seq <= entry.seq]
    return held_grade(before, words.grade_of(scene, step), filling=str(entry.data.get("filling", ""))).level


def _first(scene: Scene, entry: Entry) -> str:
    """Who said yes to the same before."""
    same, given = ("revision", "digest"), [one for one in scene.snapshot.entries if one.event == Event.APPROVAL_GIVEN]
    first = next((one for one in given if all(one.data.get(name) == entry.data.get(name) for name in same)), None)
    if entry.event != Event.APPROVED or first is None:
        return ""
    return f"first: {words.profile(scene, first.actor)} `{plain(first.actor, 40)}` {date(first.at, seconds=True)}"


def _digest(entry: Entry, word: str) -> str:
    digest = entry.data.get("filling") or entry.data.get("digest")  # of a step's filled-in values, or of the plan
    return f"{word} `{plain(short(str(digest)), 8)}`" if digest else ""


def _outcome(scene: Scene, entry: Entry) -> list[str]:
    """What the change led to, or did not."""
    if entry.event == Event.CLICK_REFUSED:
        return [f"why: {refusals.why(str(entry.data.get('kind', '')))}", "nothing changed"]
    if entry.event in (Event.ESCALATED, Event.REGRADED, Event.EXPIRED) or "policy" in entry.data:
        return _by_itself(scene, entry)
    if entry.event in ALWAYS:
        return [ALWAYS[entry.event]]
    if entry.event in (Event.HAPPENED, Event.NOT_HAPPENED) and is_person(entry.actor):
        return ["said by a person, not checked by the tool"]
    if entry.event == Event.REDIRECT_ASKED:
        return [HOW.get(str(entry.data.get("how")), ""), "nothing started after this entry"]
    if entry.event == Event.WITHDRAWN:
        return [f"revision {scene.run.revision} stands"]
    if entry.event in (Event.ANSWERED, Event.ANSWERED_FAILED, Event.STOP_ASKED) and entry.data.get("to") in FINAL:
        return [receipts.counts(scene)]
    return ["nothing starts after this entry"] if entry.event == Event.STOP_ASKED else []


def _by_itself(scene: Scene, entry: Entry) -> list[str]:
    """What nobody decided."""
    if entry.event == Event.ESCALATED:
        return [f"asked too: {asking.people(scene, entry)}", "by the clock, nobody had answered"]
    if entry.event == Event.REGRADED:
        return [regraded.difference(scene, entry), "what was approved so far does not count"]
    if entry.event == Event.PLAN_REFUSED:
        return ["the policy has changed", "nothing ran"]
    ran = "the run stopped here" if entry.data.get("to") == RunStatus.STOPPED else "nothing ran"
    return [asking.times(scene), "by the clock, not by a person", ran]


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
