"""The confirm card: a risky step has its real values now, and a person agrees to exactly these or does not.

The button carries the filling (the first eight of the digest of the values); other values would be another filling and ask again. Where the
tool can tell, target and before → after are shown; where it cannot, the card says so. What does not stand here in full cannot be confirmed
from here.
"""

from collections.abc import Mapping
from typing import Any

from bot.core.ids import short
from bot.core.plan import Step
from bot.core.run import Event, Hold, RunStatus, StepStatus
from bot.core.snapshot import Entry
from handlers.views import blocks, filling, ids, record, step_lines, words
from handlers.views.scene import NO_OFFERS, OFFER_CHANGE_ARGUMENTS, Block, Card, Element, Scene
from handlers.views.text import date, date_element, escape, fallback, is_person, joined, outside, ping, ranges

Values = Mapping[str, Any]
STARTED = {
    StepStatus.FAILED: "failed",
    StepStatus.IN_DOUBT: "is in doubt",
    StepStatus.CANCELLED: "was cancelled",
    StepStatus.SKIPPED: "was left out",
}
SETTLING = (Event.CONFIRMED, Event.CONFIRM_REFUSED, Event.EXPIRED, Event.STOP_ASKED)


def confirm_card(
    scene: Scene, step_id: str, *, args: Values, digest: str, preview: Values | None = None, offers: frozenset[str] = NO_OFFERS
) -> Card:
    """The confirm of one filling of a step as it stands now: open, or closed with what became of it.

    `args` are the filled-in values, `digest` is theirs, `preview` is the tool's (`target`, `facts`, `before`, `after`), if it has one.
    """
    step = scene.plan.step(step_id)
    run = scene.run
    held = run.reason is Hold.CONFIRM and run.held_step == step_id and run.status in (RunStatus.PAUSED, RunStatus.PAUSING)
    if held and _is_current(scene, step_id, args):
        return open_confirm(scene, step, args=args, digest=digest, preview=preview, offers=offers)
    return _closed(scene, step, digest, still_held=held)


def _is_current(scene: Scene, step_id: str, args: Values) -> bool:
    """Are these still the values that the step would run with?"""
    now = words.state_of(scene, scene.plan.step(step_id)).args
    return now is None or dict(now) == dict(args)


def open_confirm(
    scene: Scene, step: Step, *, args: Values, digest: str, preview: Values | None = None, offers: frozenset[str] = NO_OFFERS
) -> Card:
    """People are asked once more, with the real values."""
    body, whole = filling.filling_body(scene, step, args, preview)
    whole = whole and blocks.size(body) <= blocks.MOST_CHARACTERS - 1_500
    if not whole:
        body = filling.in_brief(scene, step, args, preview)
    grade = words.grade_of(scene, step)
    place = f"step {step.number} of {len(scene.plan.steps)}"
    made = [
        blocks.header(f"{words.WAITS} Needs confirmation · {words.RISK[grade.level]}"),
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step)))),
        words.id_line(scene, place, "the plan was approved; this step asks once more with its real values", requester=False),
        blocks.divider(),
        *body,
        blocks.divider(),
        blocks.section("\n".join(_terms(scene, step, args, preview, whole))),
        *_buttons(scene, step, digest, whole, offers),
        blocks.context(f"values `{short(digest)}` · Confirm covers exactly these values; if they change, it asks again"),
    ]
    return Card(_fallback(scene, step, whole), made)


def _terms(scene: Scene, step: Step, args: Values, preview: Values | None, whole: bool) -> list[str]:
    lines = []
    if not whole:
        number = filling.page_count(scene, step, args, preview)
        where = "; *Confirm* is there" if number == 1 else f" and go through its {number} pages; *Confirm* is on the last one"
        lines.append(f"*Not shown in full here.* Open *Show all*{where}.")
    lines.append(f"*Who may confirm:* {scene.approvers}")
    if scene.run.deadline:
        until = date(scene.run.deadline, now=scene.now)
        lines.append(f"*Until:* {until}, then the step expires, nothing is changed and the run stops here")
    if scene.run.status is RunStatus.PAUSING:
        lines.append("Other steps are still finishing; the buttons come when they have.")
    return lines


def _buttons(scene: Scene, step: Step, digest: str, whole: bool, offers: frozenset[str]) -> list[Block]:
    if scene.run.status is not RunStatus.PAUSED:
        return []
    value, hears = ids.encode(scene.run.id, scene.run.revision, step.id, digest), words.about(scene, step.id)
    change = blocks.button(ids.CONFIRM_CHANGE, value, about=hears) if OFFER_CHANGE_ARGUMENTS in offers else None
    main = ids.CONFIRM_CONFIRM if whole else ids.CONFIRM_SHOW_ALL
    return blocks.actions(
        f"confirm:{scene.run.id}.{scene.run.version}",
        blocks.button(main, value, about=hears, style="primary"),
        blocks.button(ids.CONFIRM_REFUSE, value, about=hears),
        change,
    )


def _fallback(scene: Scene, step: Step, whole: bool) -> str:
    level = f"{words.grade_of(scene, step).level.value.capitalize()} risk"
    until = f"until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    unread = "" if whole else "too long for this card: open Show all"
    named = f"Needs confirmation: {scene.run.id} step {step.number}"
    return fallback(named, escape(words.does(scene, step)), level, unread, f"{scene.approvers} {until}".strip())


def _closed(scene: Scene, step: Step, digest: str, *, still_held: bool) -> Card:
    entry = _settling(scene, step, digest)
    if still_held or entry is None:
        return _void(scene, step, digest, still_held=still_held)
    if entry.event == Event.CONFIRMED:
        return _confirmed(scene, step, digest, entry)
    if entry.event == Event.CONFIRM_REFUSED:
        return _refused(scene, step, digest, entry)
    return _over(scene, step, digest, entry)


def _settling(scene: Scene, step: Step, digest: str) -> Entry | None:
    """The entry that ended the wait for this filling."""
    for entry in reversed(scene.snapshot.entries):
        about = entry.data.get("step") == step.id and _same(entry.data.get("filling"), digest)
        if entry.event in SETTLING and (about or entry.event in (Event.EXPIRED, Event.STOP_ASKED)):
            return entry
    return None


def _same(full: str | None, filling: str) -> bool:
    """Is the card's filling (perhaps only its first eight) the one that the record names?"""
    return full is None or short(full) == short(filling)


def _confirmed(scene: Scene, step: Step, digest: str, entry: Entry) -> Card:
    said = [one for one in scene.snapshot.approvals if one.kind == "confirm" and _same(one.digest, digest)]
    who = " and ".join(f"{ping(one.actor)}, {date(one.at, now=scene.now)}" for one in said) or f"{ping(entry.actor)}, {date(entry.at)}"
    state = "Confirmed by two" if len(said) == 2 else "Confirmed"
    names = " and ".join(ping(one.actor) for one in said) or ping(entry.actor)
    text = f"Confirmed: {scene.run.id} step {step.number} by {names}"
    return _folded(scene, step, digest, f"{words.YES} {state}", text, [blocks.section(f"By {who}. {_ran(scene, step)}")])


def _ran(scene: Scene, step: Step) -> str:
    """What a confirmed step has come to by now."""
    status = words.state_of(scene, step).status
    if status is StepStatus.SUCCEEDED:
        return "The step ran with these values."
    if status in (StepStatus.PENDING, StepStatus.RUNNING):
        return "The run ended before the step started." if scene.run.is_final else "The step runs with these values."
    return f"The step was started with these values and {STARTED.get(status, 'ended')}."


def _refused(scene: Scene, step: Step, digest: str, entry: Entry) -> Card:
    reason = record.reason_of(entry)
    who = blocks.person(entry.actor) if is_person(entry.actor) else blocks.said(outside(entry.actor, 40))
    lines = [blocks.line(blocks.said("By "), who, blocks.said(", "), date_element(entry.at), blocks.said(":" if reason else "."))]
    lines += [blocks.quote(blocks.said(outside(reason, 1_000)))] if reason else []
    lines.append(blocks.line(blocks.said(f"Nothing was changed. {_lost(scene, step)}".strip())))
    text = f"Refused: {scene.run.id} step {step.number} by {ping(entry.actor)}. Nothing was changed."
    return _folded(scene, step, digest, f"{words.CLOSED} Refused", text, [blocks.rich(*lines)])


def _lost(scene: Scene, step: Step) -> str:
    lost = step_lines.dropped_with(scene, step.id)
    if not lost:
        return ""
    one = len(lost) == 1
    numbers = ranges([other.number for other in lost], final=" and ")
    return f"{'Step' if one else 'Steps'} {numbers} {'needs it and is' if one else 'need it and are'} left out."


def _over(scene: Scene, step: Step, digest: str, entry: Entry) -> Card:
    """The run ended while the step waited: by the clock, or by somebody who pulled the cord."""
    there = words.card_link(scene, "run", "its card ↑")
    receipt = f"Nothing was changed by this step and the run has stopped; its receipt stands on {there}."
    if entry.event == Event.EXPIRED:
        text = f"Expired: {scene.run.id} step {step.number}. Nothing was changed."
        says = blocks.section(f"Nobody answered until {date(entry.at, now=scene.now)}. {receipt}")
        return _folded(scene, step, digest, f"{words.CLOSED} Expired", text, [says])
    text = f"Stopped: {scene.run.id} before step {step.number}. Nothing was changed by it."
    says = blocks.section(f"{ping(entry.actor)} stopped the run, {date(entry.at, now=scene.now)}. {receipt}")
    return _folded(scene, step, digest, f"{words.CLOSED} Not needed any more", text, [says])


def _void(scene: Scene, step: Step, digest: str, *, still_held: bool) -> Card:
    newer = words.card_link(scene, "confirm", "The new card ↓") if still_held else ""
    text = f"Void: {scene.run.id} step {step.number}, because its values changed.{' A new card asks.' if still_held else ''}"
    says = blocks.section(f"The values have changed. This card confirms nothing any more.{f' {newer} asks again.' if newer else ''}")
    return _folded(scene, step, digest, f"{words.CLOSED} Void: the values changed", text, [says])


def _folded(scene: Scene, step: Step, digest: str, header: str, text: str, sentence: list[Block]) -> Card:
    value = ids.encode(scene.run.id, scene.run.revision, step.id, digest)
    show: Element = blocks.button(ids.CONFIRM_SHOW_ALL, value, about=words.about(scene, step.id))
    place = f"step {step.number} of {len(scene.plan.steps)}"
    made = [
        blocks.header(header),
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step)))),
        blocks.context(joined(scene.run.id, f"revision {scene.run.revision}", place, f"values `{short(digest)}`")),
        *sentence,
        *blocks.actions(f"confirm:{value}.{scene.run.version}", show),
    ]
    return Card(text, made)
