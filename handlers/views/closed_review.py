"""A review that is over: the same message, folded to four lines that say what became of it and who decided.

These cards are only ever redrawn, and a redraw notifies nobody; so people who acted may be mentioned on them.
"""

from bot.core.ids import short
from bot.core.plan import Step
from bot.core.run import Event, Hold, RunStatus, StepStatus
from bot.core.snapshot import Approval, Entry
from handlers.views import asking, blocks, changes, ids, record, regraded, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK_AGAIN, Block, Card, Element, Scene
from handlers.views.text import count, date, date_element, duration, is_person, joined, listed, one_line, outside, ping


def closed_review(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, revision: int | None = None) -> Card:
    """What became of the review of a revision (the current one unless said)."""
    if revision is not None and revision < scene.run.revision:
        return _earlier(scene, revision)
    if scene.run.status is RunStatus.CANCELLED:
        return cancelled(scene)
    if scene.run.status is RunStatus.EXPIRED:
        return expired(scene, offers)
    if scene.run.status is RunStatus.REFUSED:
        header, sentence = regraded.denied(scene)
        return _folded(scene, header, f"Void: {scene.run.id}. The policy does not allow its plan any more.", sentence, "nothing ran")
    given = record.given(scene.snapshot, scene.run.revision, scene.run.digest)
    return approved(scene, given) if given else released(scene)


def _earlier(scene: Scene, revision: int) -> Card:
    """A revision that does not stand any more: replaced before anybody agreed to it, or approved, and its rest changed since."""
    old = scene.snapshot.revised(revision)
    given = record.given(scene.snapshot, revision, old.digest) if old is not None else []
    stood = [entry for entry in scene.snapshot.entries if entry.event in (Event.APPROVED, Event.RELEASED)]
    ran = any(entry.data.get("revision") == revision for entry in stood)
    if old is None or not ran:
        return superseded(scene, revision)
    return approved(scene.under(old), given, newer=scene.run.revision) if given else released(scene.under(old))


def approved(scene: Scene, given: list[Approval], *, newer: int = 0) -> Card:
    """Somebody said yes, or as many as the quorum needs. `newer`: the revision that has changed the rest of it since."""
    numbers = {2: "two", 3: "three"}
    state = "Approved" if len(given) == 1 else f"Approved by {numbers.get(len(given), str(len(given)))}"
    who = listed(f"{ping(one.actor)}, {date(one.at, now=scene.now)}" for one in given)
    later = [step.number for step in scene.plan.steps if _still_asks(scene, step)]
    step, runs = ("step", "asks once more before it runs") if len(later) == 1 else ("steps", "ask once more before they run")
    asks = f"; {step} {listed(map(str, later))} {runs}" if later else ""
    digest = f"digest `{short(scene.run.digest)}`" if scene.run.digest else ""
    since = f"; the rest has been changed since: revision {newer} stands now" if newer else ""
    sentence = blocks.section(f"By {who}. {_now(scene)}{since or asks}.")
    text = f"Approved: {scene.run.id} revision {scene.run.revision} by {listed(ping(one.actor) for one in given)}"
    return _folded(scene, f"{words.YES} {state}", text, [sentence], digest, words.step_counts(scene), _run_link(scene))


def released(scene: Scene) -> Card:
    """Nobody was needed: every step only reads."""
    entry = record.last(scene.snapshot, Event.RELEASED)
    when = f", {date(entry.at, now=scene.now)}" if entry else ""
    if entry is not None and entry.actor == "clock":
        return _released_by_silence(scene, entry)
    sentence = blocks.section(f"No approval needed: plans that only read may run without one (policy *{scene.policy_name}*){when}.")
    text = f"Released: {scene.run.id} only reads; it runs without an approval."
    return _folded(scene, f"{words.YES} Released: it only reads", text, [sentence], words.step_counts(scene), _run_link(scene))


def _released_by_silence(scene: Scene, entry: Entry) -> Card:
    """People were asked, nobody answered, and the policy lets a plan that only reads go on then."""
    began = record.last(scene.snapshot, *asking.BEGINS)
    waited = f" in {duration((record.until(entry) - began.at).total_seconds())}" if began else ""
    says = f"Nobody answered{waited}. The policy lets plans that only read go on then (rule `timers.low`), {date(entry.at, now=scene.now)}."
    text = f"Released: {scene.run.id} only reads and nobody answered; it runs now."
    return _folded(scene, f"{words.YES} Released: it only reads", text, [blocks.section(says)], words.step_counts(scene), _run_link(scene))


def cancelled(scene: Scene) -> Card:
    """A person dropped it before anything ran; their reason stands behind the bar."""
    entry = record.last(scene.snapshot, Event.CANCELLED)
    reason = record.reason_of(entry)
    lines = [blocks.line(blocks.said("By a person."))]
    if entry:
        who = blocks.person(entry.actor) if is_person(entry.actor) else blocks.said(outside(entry.actor, 40))
        lines = [blocks.line(blocks.said("By "), who, blocks.said(", "), date_element(entry.at), blocks.said(":" if reason else "."))]
    lines += [blocks.quote(blocks.said(outside(reason, 1_000)))] if reason else []
    kept = " The reason is kept on record." if reason else ""
    lines.append(blocks.line(blocks.said(f"Nothing ran.{kept}")))
    text = f"Cancelled: {scene.run.id}{f' by {ping(entry.actor)}' if entry else ''}. Nothing ran."
    return _folded(scene, f"{words.CLOSED} Cancelled", text, [blocks.rich(*lines)], words.step_counts(scene), "nothing ran")


def expired(scene: Scene, offers: frozenset[str] = NO_OFFERS) -> Card:
    """Nobody decided in time. That is the clock's doing, nobody's no."""
    entry = record.last(scene.snapshot, Event.EXPIRED)
    waited = f" in {duration((record.until(entry) - scene.run.created_at).total_seconds())}" if entry else ""
    until = f" until {date(record.until(entry), now=scene.now)}" if entry else " in time"
    sentence = blocks.section(f"Nobody answered{until}. Nothing ran.{asking.told(scene)}")
    text = f"Expired: {scene.run.id}. Nobody answered{waited}. Nothing ran."
    again = blocks.button(ids.RUN_ASK_AGAIN, scene.run.id, about=scene.run.id) if OFFER_ASK_AGAIN in offers else None
    return _folded(scene, f"{words.CLOSED} Expired", text, [sentence], words.step_counts(scene), "nothing ran", first=again)


def superseded(scene: Scene, revision: int) -> Card:
    """A newer revision stands; this card decides nothing any more."""
    newer = scene.run.revision
    there = words.card_link(scene, "review", f"revision {newer} ↓")
    if (voided := regraded.replaced(scene, revision, there)) is not None:
        header, said = voided
        text = f"Void: {scene.run.id} revision {revision}, because the policy has changed. Revision {newer} {_stands(scene)}."
        return _folded(scene, header, text, said, there, revision=revision)
    sentence = blocks.section(f"{_who_replaced(scene, revision)}This card decides nothing any more; {there} does.")
    text = f"Replaced: {scene.run.id} revision {revision}. Revision {newer} {_stands(scene)}."
    return _folded(scene, f"{words.CLOSED} Replaced by revision {newer}", text, [sentence], there, revision=revision)


def _stands(scene: Scene) -> str:
    return "waits for approval" if scene.run.status is RunStatus.IN_REVIEW else "stands now"


def _who_replaced(scene: Scene, revision: int) -> str:
    """`@approver2 edited the plan, 14:10: 2 changed, 1 removed. `"""
    old = scene.snapshot.revised(revision)
    new = next((one for one in scene.snapshot.revisions if one.revision > revision), None)
    if old is None or new is None:
        return ""
    what = f", {date(new.at, now=scene.now)}: {changes.counted(old, new)}. "
    if is_person(new.author):
        return f"{ping(new.author)} edited the plan{what}"
    asked = [entry for entry in scene.snapshot.entries if entry.event == Event.CHANGES_ASKED and entry.at <= new.at]
    return f"{ping(asked[-1].actor)} asked for changes{what}" if asked else ""


def void(scene: Scene, *, tools: list[str], revision: int | None = None) -> Card:
    """What was shown is not what would run any more: the definitions of these tools have changed since."""
    named = listed(f"`{one_line(tool, 60)}`" for tool in tools[:3])
    given = [one for one in scene.snapshot.approvals if one.kind == "plan" and one.revision == (revision or scene.run.revision)]
    lost = f", so {count(len(given), 'approval')} {'is' if len(given) == 1 else 'are'} void" if given else ""
    sentence = blocks.section(
        f"The definition of {named} has changed. What was shown is no longer what would run{lost}. Nothing runs from this card."
    )
    text = f"Void: {scene.run.id} revision {revision or scene.run.revision}, because {named} has changed."
    return _folded(scene, f"{words.CLOSED} Void: a tool has changed", text, [sentence], revision=revision)


def _folded(
    scene: Scene, header: str, text: str, sentence: list[Block], *more: str, revision: int | None = None, first: Element | None = None
) -> Card:
    """Header, goal, id line, one sentence, Show all."""
    number = revision or scene.run.revision
    value = ids.encode(scene.run.id, number)
    show = blocks.button(ids.REVIEW_SHOW_ALL, value, about=words.about(scene, revision=number)) if number else None
    made = [
        blocks.header(header),
        words.goal(scene),
        blocks.context(joined(scene.run.id, f"revision {number}" if number else "", *more)),
        *sentence,
        *blocks.actions(f"review:{value}.{scene.run.version}", first, show),
    ]
    return Card(text, made)


def _run_link(scene: Scene) -> str:
    return words.card_link(scene, "run", "run card") if scene.links.get("run") else ""


def _still_asks(scene: Scene, step: Step) -> bool:
    """Will this step ask once more, with its real values?"""
    waits = words.state_of(scene, step).status is StepStatus.PENDING and not scene.run.is_final
    return waits and words.grade_of(scene, step).confirms


def _now(scene: Scene) -> str:
    """What the approval has led to by now."""
    if scene.run.status is RunStatus.QUEUED:
        return "The run starts after the thaw" if scene.snapshot.freeze else "The run starts when a place is free"
    if scene.run.status is RunStatus.PAUSED and scene.run.reason is Hold.PERSON and not record.started_at(scene.snapshot):
        return "The run is paused"
    return "The run has ended" if scene.run.is_final else "The run has started"
