"""Asked once more: the one reminder to the approvers, the escalation to the second list, and what later cards say of both.

Each is one new post, which pings only those whom it is for. Drawn again after that wait is over it says so and pings nobody any more.
"""

from collections.abc import Mapping
from typing import Any

from bot.core import waits
from bot.core.ids import short
from bot.core.run import Event, RunStatus
from bot.core.snapshot import Entry, Snapshot
from handlers.views import blocks, record, words
from handlers.views.scene import Card, Scene
from handlers.views.text import date, duration, is_person, joined, listed, ping, plain

BEGINS = (Event.PLANNED, Event.REVISED, Event.PLAN_KEPT, Event.REGRADED, Event.REDIRECT_PLANNED, Event.HELD)
ANYONE = "anyone in "
CARDS = {"review": "review card", "redirect": "its card", "confirm": "its card"}


def asked_in(snapshot: Snapshot) -> tuple[Entry | None, Entry | None]:
    """The reminder and the escalation of the last wait for people that began, as far as they came."""
    began = record.last(snapshot, *BEGINS)
    later = [entry for entry in snapshot.entries if began is not None and entry.seq > began.seq]
    last = {entry.event: entry for entry in later}
    return last.get(Event.REMINDED), last.get(Event.ESCALATED)


def is_escalated(snapshot: Snapshot) -> bool:
    """Does the run wait now, and may the second list decide too?"""
    run = snapshot.run
    waiting = waits.reviewed(run) is not None or waits.confirmed(run) is not None
    return waiting and asked_in(snapshot)[1] is not None


def reminder(scene: Scene, data: Mapping[str, Any]) -> Card:
    """The one reminder of a wait."""
    entry = _entry(scene, data, Event.REMINDED)
    if not _still_waits(scene, data):
        return _over(scene, data, entry, "The approvers were reminded")
    alone = entry is not None and entry.data.get("who") == ["requester"]
    who = ping(scene.run.requester) if alone else _called(scene.first_list or scene.approvers)
    says = f"{words.WAITS} {who} {scene.run.id} {_waits_for(scene, data)}{_since(scene, entry)}: {_link(scene, data)}"
    facts = joined(words.RISK[words.level_of(scene)], _until(scene), "the only reminder")
    text = f"Reminder for {who}: {scene.run.id} {_waits_for(scene, data)}, {words.RISK[words.level_of(scene)].split(' ', 1)[1].lower()}"
    return Card(f"{text}, {_expires(scene)}.", [blocks.section(says), blocks.context(facts)])


def escalation(scene: Scene, data: Mapping[str, Any]) -> Card:
    """The second list is asked, and may decide too from now on."""
    entry = _entry(scene, data, Event.ESCALATED)
    if not _still_waits(scene, data):
        return _over(scene, data, entry, "The second list was asked too")
    who, others = _called(scene.escalation), (scene.first_list_plain or scene.approvers_plain).replace(ANYONE, "")
    time = _since(scene, entry)
    does = "confirm" if str(data.get("wait")).startswith("confirm.") else "approve"
    given = _given(scene)
    half, nobody = f"{scene.run.id} has {given} of {scene.quorum} approvals", f"nobody of {others} has answered {scene.run.id}"
    why = half + time.replace(" for ", " after ") if given else nobody + time.replace(" for ", " in ")
    says = f"{words.WAITS} {who} {why}. You may {does} it too: {_link(scene, data)}"
    text = f"Escalated to {who}: {why}. It {_expires(scene)}."
    return Card(text, [blocks.section(says), blocks.context(joined(words.RISK[words.level_of(scene)], _until(scene)))])


def told(scene: Scene) -> str:
    """` @ops-leads was reminded 14:12, @duty was asked 14:22.` of the last wait; empty if nobody was."""
    reminded, escalated = asked_in(scene.snapshot)
    named = [(reminded, "reminded"), (escalated, "asked")]
    parts = [f"{_people(scene, entry)} {did} {date(entry.at, now=scene.now)}" for entry, did in named if entry is not None]
    return f" {', '.join(parts)}." if parts else ""


def times(scene: Scene) -> str:
    """`reminded 14:12:00, escalated 14:22:00`, for the record."""
    reminded, escalated = asked_in(scene.snapshot)
    named = [(reminded, "reminded"), (escalated, "escalated")]
    return ", ".join(f"{did} {date(entry.at, seconds=True)}" for entry, did in named if entry is not None)


def people(scene: Scene, entry: Entry) -> str:
    """Who was asked by that entry, in plain words."""
    who = entry.data.get("who")
    named = [str(each) for each in who] if isinstance(who, list | tuple) else []
    return listed(_one(scene, each) for each in named) or "the approvers"


def _people(scene: Scene, entry: Entry) -> str:
    who = entry.data.get("who")
    return f"{people(scene, entry)} {'was' if not isinstance(who, list | tuple) or len(who) < 2 else 'were'}"


def _one(scene: Scene, entry: str) -> str:
    if entry == "requester":
        return words.profile(scene, scene.run.requester)
    return words.profile(scene, entry) if is_person(entry) else plain(entry, 60)


def _entry(scene: Scene, data: Mapping[str, Any], event: Event) -> Entry | None:
    found = [entry for entry in scene.snapshot.entries if entry.event == event and entry.data.get("wait") == data.get("wait")]
    return found[-1] if found else None


def _still_waits(scene: Scene, data: Mapping[str, Any]) -> bool:
    kind, _, about = str(data.get("wait")).partition(".")
    if kind == "review":
        return str(waits.reviewed(scene.run)) == about
    held = record.last(scene.snapshot, Event.HELD)
    step = waits.confirmed(scene.run)
    return step is not None and held is not None and about == f"{step}.{short(str(held.data.get('filling')))}"


def _given(scene: Scene) -> int:
    """How many have said yes already to what the run waits for."""
    asked = scene.snapshot.revised(waits.reviewed(scene.run) or 0)
    return len(record.given(scene.snapshot, asked.revision, asked.digest)) if asked is not None else 0


def _over(scene: Scene, data: Mapping[str, Any], entry: Entry | None, did: str) -> Card:
    when = f", {date(entry.at, now=scene.now)}" if entry is not None else ""
    what = "a yes to one step" if str(data.get("wait")).startswith("confirm.") else "approval"
    says = f"{scene.run.id} waited here for {what}. {did}{when}. That is settled."
    return Card(says, [blocks.section(says)])


def _called(words_of_people: str) -> str:
    """`anyone in @a or @b` as those who are called: `@a @b`."""
    return words_of_people.replace(ANYONE, "").replace(" or ", " ")


def _waits_for(scene: Scene, data: Mapping[str, Any]) -> str:
    kind, _, about = str(data.get("wait")).partition(".")
    step = next((step for step in scene.plan.steps if step.id == about.partition(".")[0]), None)
    if kind == "confirm" and step is not None:
        return f"waits for confirmation of step {step.number}"
    return "waits for approval of its new rest" if scene.run.status is RunStatus.PAUSED else "waits for approval"


def _since(scene: Scene, entry: Entry | None) -> str:
    began = [one for one in scene.snapshot.entries if entry is not None and one.seq < entry.seq and one.event in BEGINS]
    return f" for {duration((entry.at - began[-1].at).total_seconds())}" if entry is not None and began else ""


def _link(scene: Scene, data: Mapping[str, Any]) -> str:
    kind = str(data.get("wait")).partition(".")[0]
    kind = "redirect" if kind == "review" and scene.run.status is RunStatus.PAUSED else kind
    return words.card_link(scene, kind, CARDS[kind])


def _expires(scene: Scene) -> str:
    return f"expires {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else "waits on"


def _until(scene: Scene) -> str:
    if not scene.run.deadline:
        return ""
    live = scene.run.status is RunStatus.PAUSED
    return f"{_expires(scene)}, then {'the run stops here' if live else 'nothing runs'}"
