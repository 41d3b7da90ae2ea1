"""A redirect that asks nobody (any more): adopted, withdrawn, replaced by another reply, ended with its run, or impossible from the start.

These cards are redrawn, or say something to which nobody has to answer; a person who acted may be mentioned on them.
"""

from collections.abc import Mapping

from bot.core.drafts import Fault
from bot.core.ids import short
from bot.core.run import Event, Redirect, RunStatus
from bot.core.snapshot import Entry
from handlers.views import blocks, held_redirect, ids, record, words
from handlers.views.scene import Block, Card, Element, Scene
from handlers.views.text import count, date, in_words, is_person, joined, listed, outside, ping, plain

MOST_FAULTS = 5
ASKED = (Event.REDIRECT_PLANNED, Event.REGRADED)  # people about a new rest
SETTLING = (Event.REDIRECTED, Event.WITHDRAWN, Event.REDIRECT_ASKED, Event.REDIRECT_FAILED, *ASKED, Event.EXPIRED, Event.STOP_ASKED)
DID = {"reply": "said more", "edited": "edited the reply", "gone": "deleted a reply", "arguments": "changed the values of a step"}


def origin(scene: Scene, revision: int) -> Entry | None:
    """When that revision was proposed; or adopted, if nobody had to be asked."""
    for entry in scene.snapshot.entries:
        proposed = entry.event in ASKED and entry.data.get("proposed") == revision
        if proposed or (entry.event == Event.REDIRECTED and entry.data.get("revision") == revision):
            return entry
    return None


def used_until(scene: Scene, entry: Entry) -> int:
    """How many replies had redirected the run by then."""
    said = [one for one in scene.snapshot.entries if one.event == Event.REDIRECT_ASKED and one.seq < entry.seq]
    return sum(one.data.get("how") == "reply" for one in said)


def decided(scene: Scene, revision: int, planned: Entry) -> Card:
    """What became of a new rest that people were asked about. `scene` is the run under that revision."""
    entry = record.after(scene.snapshot, planned.seq, *SETTLING)
    if entry is None:
        return forgotten(scene, revision)
    if entry.event == Event.REDIRECTED:
        return _approved(scene, planned, entry)
    if entry.event == Event.WITHDRAWN:
        return _withdrawn(scene, planned, entry)
    if entry.event in (Event.REGRADED, Event.REDIRECT_FAILED):
        return _regraded(scene, planned, entry)
    if entry.event in (Event.REDIRECT_ASKED, Event.REDIRECT_PLANNED):
        return _replaced(scene, planned, entry)
    return _over(scene, planned, entry)


def _approved(scene: Scene, planned: Entry, entry: Entry) -> Card:
    said = record.given(scene.snapshot, scene.run.revision, scene.run.digest)
    who = listed(f"{ping(one.actor)}, {date(one.at, now=scene.now)}" for one in said) or f"{ping(entry.actor)}, {date(entry.at)}"
    state = "Approved" if len(said) < 2 else f"Approved by {in_words(len(said))}"
    names = listed(ping(one.actor) for one in said) or ping(entry.actor)
    sentence = blocks.section(f"By {who}. {goes_on(scene)}")
    text = f"Approved: {scene.run.id} revision {scene.run.revision}, the new rest, by {names}"
    digest = f"digest `{short(scene.run.digest)}`" if scene.run.digest else ""
    return _folded(scene, planned, f"{words.YES} {state}", text, [sentence], str(entry.data.get("words") or ""), digest, show=True)


def _withdrawn(scene: Scene, planned: Entry, entry: Entry) -> Card:
    old = record.stood(scene.snapshot, planned.seq)
    stands = f"revision {old.revision}" if old else "the plan as it was"
    why = plain(str(entry.data.get("why") or ""), 120)
    who = f"By {ping(entry.actor)}, {date(entry.at, now=scene.now)}{f': {why}' if why else ''}"
    goes = "goes on with" if scene.run.status in (RunStatus.RUNNING, RunStatus.QUEUED) else "kept"
    sentence = blocks.section(f"{who}. The run {goes} {stands}, as it was approved.")
    text = f"Withdrawn: {scene.run.id} {goes} {stands}, as it was approved."
    return _folded(scene, planned, f"{words.CLOSED} Withdrawn", text, [sentence], "never used")


def _replaced(scene: Scene, planned: Entry, entry: Entry) -> Card:
    """Somebody said or edited more: what counts is on a newer card."""
    did = DID.get(str(entry.data.get("how") or ""), "edited the rest by hand")
    newer = record.after(scene.snapshot, planned.seq, *ASKED)
    number = newer.data.get("proposed") if newer else None
    there = words.card_link(scene, "redirect", f"revision {number} ↓") if number else ""
    then = f"{there} does." if there else "the rest is planned again."
    who = f"{ping(entry.actor)} {did}, {date(entry.at, now=scene.now)}. " if is_person(entry.actor) else ""
    sentence = blocks.section(f"{who}This card decides nothing any more; {then}")
    state = f"Replaced by revision {number}" if number else "Replaced: somebody said more"
    text = f"Replaced: {scene.run.id} revision {scene.run.revision}, the new rest."
    return _folded(scene, planned, f"{words.CLOSED} {state}", text, [sentence], "never used")


def _regraded(scene: Scene, planned: Entry, entry: Entry) -> Card:
    """The policy has changed: the same rest is asked for on a newer card, or is not allowed any more."""
    number = entry.data.get("proposed")
    there = words.card_link(scene, "redirect", f"revision {number} ↓") if number else ""
    then = f"the same rest is graded anew; {there} decides" if number else "it does not allow this rest any more; reply with another wish"
    sentence = blocks.section(f"The policy was changed {date(entry.at, now=scene.now)}: {then}.")
    text = f"Void: {scene.run.id} revision {scene.run.revision}, the new rest, because the policy has changed."
    return _folded(scene, planned, f"{words.CLOSED} Void: the policy has changed", text, [sentence], "never used")


def _over(scene: Scene, planned: Entry, entry: Entry) -> Card:
    """The run ended while people were asked: by the clock, or by somebody who pulled the cord."""
    receipt = f"its receipt stands on {words.card_link(scene, 'run', 'its card ↑')}"
    if entry.event == Event.EXPIRED:
        says = f"Nobody answered until {date(record.until(entry), now=scene.now)}. The run stopped here; {receipt}."
        text = f"Expired: {scene.run.id} revision {scene.run.revision}. Nobody answered; the run stopped here."
        return _folded(scene, planned, f"{words.CLOSED} Expired", text, [blocks.section(says)], "never used")
    says = f"{ping(entry.actor)} stopped the run, {date(entry.at, now=scene.now)}; {receipt}."
    text = f"Stopped: {scene.run.id}; revision {scene.run.revision} was never used."
    return _folded(scene, planned, f"{words.CLOSED} Not needed any more", text, [blocks.section(says)], "never used")


def _folded(scene: Scene, planned: Entry, header: str, text: str, sentence: list[Block], *more: str, show: bool = False) -> Card:
    """Header, what was said, id line, one sentence."""
    told = held_redirect.said(scene, record.asks(scene.snapshot, until=planned.seq), mentions=False)
    value = ids.encode(scene.run.id, scene.run.revision)
    button = blocks.button(ids.REVIEW_SHOW_ALL, value, about=words.about(scene)) if show else None
    made = [
        blocks.header(header),
        *([blocks.rich(*told)] if told else []),
        blocks.context(joined(scene.run.id, f"revision {scene.run.revision}", *(part for part in map(_safe, more) if part))),
        *sentence,
        *blocks.actions(f"redirect:{value}.{scene.run.version}", button),
    ]
    return Card(text, made)


def _safe(part: str) -> str:
    """The record's own words (`1 added, 2 kept`) as they are; our code as it is."""
    return part if part.startswith("digest `") else plain(part, 120)


def forgotten(scene: Scene, revision: int) -> Card:
    """A card of which the record knows nothing (any more): it decides nothing."""
    made = [
        blocks.header(f"{words.CLOSED} Not needed any more"),
        blocks.context(joined(scene.run.id, f"revision {revision}")),
        blocks.section(f"This card decides nothing any more; {words.card_link(scene, 'run', 'the run card')} says how the run stands."),
    ]
    return Card(f"Not needed any more: {scene.run.id} revision {revision}.", made)


def adopted_state(scene: Scene) -> str:
    """The state line of a new rest that took over at once."""
    goes = scene.run.status in (RunStatus.RUNNING, RunStatus.ANSWERING)
    return f"{words.RUNS} Changed · goes on" if goes else f"{words.YES} Changed"


def adopted_end(scene: Scene, entry: Entry) -> list[Block]:
    """What a new rest that took over at once led to, and the cord while the run is live."""
    run = scene.run
    again = [step for step in scene.plan.steps if step.id in (entry.data.get("again") or ())]
    numbers = listed(str(step.number) for step in again)
    repeats = f" {'Step' if len(again) == 1 else 'Steps'} {numbers} {'is' if len(again) == 1 else 'are'} tried again." if again else ""
    moves = [ids.RUN_PAUSE, ids.RUN_STOP] if run.status is RunStatus.RUNNING else []
    moves = [ids.RUN_STOP] if run.status in (RunStatus.PAUSING, RunStatus.PAUSED) else moves
    styles = {ids.RUN_STOP: "danger"}
    pressed = [blocks.button(action, run.id, about=run.id, style=styles.get(action, "")) for action in moves]
    return [blocks.section(f"{goes_on(scene)}{repeats}"), *blocks.actions(f"redirect:{run.id}.{run.version}", *pressed)]


def goes_on(scene: Scene, *, plain: bool = False) -> str:
    """How the run stands under its new rest, in a sentence; `plain`: without a link."""
    if scene.run.is_final:
        return "The run has ended."
    if scene.run.status in (RunStatus.PAUSED, RunStatus.PAUSING):
        its_card = "its card" if plain else words.card_link(scene, "run", "its card")
        return f"The new plan stands; what the run waits for is on {its_card}."
    return "The run goes on."


# there is no such plan


def impossible(scene: Scene, version: int) -> Card:
    """No plan does what was said: why, and what can be done. `version` is the run's when that was found; 0: the last time."""
    entry = _failure(scene, version)
    after = record.after(scene.snapshot, entry.seq, *SETTLING) if entry else None
    is_open = scene.run.redirect is Redirect.NO_PLAN and after is None
    told = held_redirect.said(scene, record.asks(scene.snapshot, until=entry.seq if entry else None), mentions=False)
    old = record.stood(scene.snapshot, entry.seq) if entry and after else None
    stands = f"revision {old.revision} stayed" if old else f"revision {scene.run.revision} still stands"
    stands = "" if after is not None and after.event == Event.REDIRECTED else stands
    value, hears = scene.run.id, scene.run.id
    made = [
        blocks.header(f"{words.WAITS} No new plan for the rest" if is_open else f"{words.CLOSED} No new plan was found"),
        *([blocks.rich(*told)] if told else []),
        blocks.context(joined(scene.run.id, stands, "paused" if is_open else _then(after))),
        blocks.rich(*_why(entry), *([_next()] if is_open else [])),
        *blocks.actions(
            f"redirect:{value}.{scene.run.version}",
            blocks.button(ids.RUN_NEVER_MIND, value, about=hears) if is_open else None,
            blocks.button(ids.RUN_STOP, value, about=hears, style="danger") if is_open else None,
        ),
    ]
    stays = "The run waits with the plan as it was." if is_open else "The plan stayed as it was."
    return Card(f"{scene.run.id}: no new plan for the rest. {stays}", made)


def _failure(scene: Scene, version: int) -> Entry | None:
    failures = [entry for entry in scene.snapshot.entries if entry.event == Event.REDIRECT_FAILED]
    later = [entry for entry in failures if int(entry.data.get("version") or entry.seq) > version]
    return later[0] if version and later else failures[-1] if failures else None


def _why(entry: Entry | None) -> list[Element]:
    said = entry.data.get("faults") if entry else None
    faults = [fault_words(fault) for fault in said] if isinstance(said, list | tuple) else []
    if not faults:
        return [blocks.line(blocks.said("No plan was found for what was said."))]
    more = [[blocks.said(f"and {count(len(faults) - MOST_FAULTS, 'more')}")]] if len(faults) > MOST_FAULTS else []
    if len(faults) == 1:
        return [blocks.line(blocks.said(f"{faults[0][:1].upper()}{faults[0][1:].removesuffix('.')}."))]
    return [
        blocks.line(blocks.said("What was planned does not pass the checks:")),
        blocks.bullets([*([blocks.said(fault)] for fault in faults[:MOST_FAULTS]), *more]),
    ]


def fault_words(fault: object) -> str:
    """One fault as the record keeps it: in words, or as data."""
    if isinstance(fault, Mapping) and fault.get("says"):
        fault = Fault.model_validate({name: fault.get(name) for name in ("says", "step", "field", "fix") if fault.get(name) is not None})
    return outside(str(fault), 200) or "no reason is known"


def _next() -> Element:
    return blocks.line(blocks.strong("Next: "), blocks.said("reply with another wish, press Never mind to go on as approved, or Stop."))


def _then(after: Entry | None) -> str:
    said = {
        Event.WITHDRAWN: "withdrawn",
        Event.STOP_ASKED: "the run was stopped",
        Event.EXPIRED: "the run expired",
        Event.REDIRECTED: "another rest took its place",
    }
    return said.get(Event(after.event), "somebody said more") if after else ""
