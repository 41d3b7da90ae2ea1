"""A confirm that is over, or that cannot be answered just now: the same message, folded to what became of it and who decided.

These cards are only ever redrawn, and a redraw notifies nobody; so people who acted may be mentioned on them.
"""

from bot.core.ids import short
from bot.core.plan import Step
from bot.core.run import Event, StepStatus
from bot.core.snapshot import Entry
from handlers.views import blocks, ids, record, step_lines, words
from handlers.views.scene import Block, Card, Element, Scene
from handlers.views.text import date, date_element, is_person, joined, outside, ping, plain, ranges

STARTED = {
    StepStatus.FAILED: "failed",
    StepStatus.IN_DOUBT: "is in doubt",
    StepStatus.CANCELLED: "was cancelled",
    StepStatus.SKIPPED: "was left out",
}
DECIDED = (Event.CONFIRMED, Event.CONFIRM_REFUSED)
MEANWHILE = (Event.PAUSE_ASKED, Event.REDIRECT_ASKED)
OF_THE_RUN = (Event.EXPIRED, Event.STOP_ASKED, *MEANWHILE)


def confirm_closed(scene: Scene, step: Step, digest: str, *, still_held: bool) -> Card:
    """A filling that cannot be confirmed (any more), or not just now. `still_held`: the step waits, but with other values."""
    entry = _settling(scene, step, digest)
    if still_held or entry is None:
        return _void(scene, step, digest, still_held=still_held)
    made = {Event.CONFIRMED: _confirmed, Event.CONFIRM_REFUSED: _refused, Event.PAUSE_ASKED: _meanwhile, Event.REDIRECT_ASKED: _meanwhile}
    return made.get(Event(entry.event), _over)(scene, step, digest, entry)


def _settling(scene: Scene, step: Step, digest: str) -> Entry | None:
    """The entry that ended the wait for this filling, or that holds it up: decided on, the run ended, or somebody paused or redirected."""
    over: Entry | None = None
    asked = False
    for entry in scene.snapshot.entries:
        of_step = entry.data.get("step") == step.id
        about = of_step and _same(entry.data.get("filling"), digest)
        decided = over is not None and over.event in DECIDED
        if (entry.event in DECIDED and about) or (entry.event in OF_THE_RUN and not decided):
            over = entry
        elif entry.event == Event.HELD and about:
            over, asked = None, True  # it asks (again)
        elif entry.event == Event.HELD and of_step and asked and not decided:
            return None  # it asks with other values
    return over if over is None or over.event not in MEANWHILE or _may_ask_again(scene, step, over) else None


def _may_ask_again(scene: Scene, step: Step, entry: Entry) -> bool:
    """Is the step still to come, as it was planned? Then what came between only holds the question up."""
    adopted = record.after(scene.snapshot, entry.seq, Event.REDIRECTED)
    return adopted is None and not scene.run.is_final and words.state_of(scene, step).status is StepStatus.PENDING


def _meanwhile(scene: Scene, step: Step, digest: str, entry: Entry) -> Card:
    """Somebody paused the run, or wants another rest, while the step waited: it asks again once that is settled."""
    paused = entry.event == Event.PAUSE_ASKED
    did = "paused the run meanwhile" if paused else "wants the rest to be different"
    until = "until somebody presses *Resume*" if paused else "before that is decided"
    who = ping(entry.actor) if is_person(entry.actor) else outside(entry.actor, 40)
    says = f"{who} {did}, {date(entry.at, now=scene.now)}: nothing can be confirmed {until}. If the step still comes then, it asks again."
    state = "Paused meanwhile" if paused else "Not asked just now"
    text = f"{state}: {scene.run.id} step {step.number} cannot be confirmed {until.replace('*', '')}."
    return _folded(scene, step, digest, f"{words.STANDS} {state}", text, [blocks.section(says)])


def left_out(scene: Scene, step_id: str, digest: str) -> Card:
    """The step is not in the plan any more: its rest was changed while it waited."""
    old = next((one for one in reversed(scene.snapshot.revisions) if any(step.id == step_id for step in one.plan.steps)), None)
    says = "The rest of the run was changed, and this step is not in it any more. Nothing was changed by it."
    if old is None:
        place = blocks.context(joined(scene.run.id, f"step {plain(step_id, 40)}", f"values `{short(digest)}`"))
        text = f"Void: {scene.run.id}, the step is not in the plan any more."
        return Card(text, [blocks.header(f"{words.CLOSED} Void: not in the plan any more"), place, blocks.section(says)])
    was = scene.under(old)
    step = old.plan.step(step_id)
    text = f"Void: {scene.run.id} step {step.number} is not in the plan any more. Nothing was changed by it."
    return _folded(was, step, digest, f"{words.CLOSED} Void: not in the plan any more", text, [blocks.section(says)], show=False)


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
    lines.append(
        blocks.line(
            blocks.said(f"Nothing was changed. {_lost(scene, step)} The same call is not proposed again in this run.".replace("  ", " "))
        )
    )
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
    state, why = _what_changed(scene, step, digest)
    text = f"Void: {scene.run.id} step {step.number}, because {words.lowered(why)}.{' A new card asks.' if still_held else ''}"
    says = blocks.section(f"{why}. This card confirms nothing any more.{f' {newer} asks again.' if newer else ''}")
    return _folded(scene, step, digest, f"{words.CLOSED} Void: {state}", text, [says])


def _what_changed(scene: Scene, step: Step, digest: str) -> tuple[str, str]:
    """Why these values are not asked about any more: somebody's change of the plan, another definition of the tool, or other values."""
    held = [one for one in scene.snapshot.entries if one.event == Event.HELD and one.data.get("step") == step.id]
    asked = next((one for one in reversed(held) if _same(one.data.get("filling"), digest)), None)
    later = record.after(scene.snapshot, asked.seq, Event.REDIRECTED) if asked else None
    if later is not None:
        return "the plan changed", f"The plan was changed, {date(later.at, now=scene.now)}"
    spec = scene.catalogue.get(step.tool)
    approved = scene.snapshot.tool_digests.get(step.tool)
    if approved is not None and (spec is None or spec.digest != approved):
        return "the tool changed", "The tool has another definition now than when the plan was approved"
    return "the values changed", "The values have changed"


def _folded(scene: Scene, step: Step, digest: str, header: str, text: str, sentence: list[Block], *, show: bool = True) -> Card:
    value = ids.encode(scene.run.id, scene.run.revision, step.id, digest)
    button: Element | None = blocks.button(ids.CONFIRM_SHOW_ALL, value, about=words.about(scene, step.id)) if show else None
    place = f"step {step.number} of {len(scene.plan.steps)}"
    made = [
        blocks.header(header),
        blocks.rich(blocks.line(blocks.strong(words.numbered(scene, step)))),
        blocks.context(joined(scene.run.id, f"revision {scene.run.revision}", place, f"values `{short(digest)}`")),
        *sentence,
        *blocks.actions(f"confirm:{value}.{scene.run.version}", button),
    ]
    return Card(text, made)
