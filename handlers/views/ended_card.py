"""The run card at the end: done, failed, stopped, or closed before anything ran. Nothing moves any more, and the card says so once.

What happened to the world stands above the log, because it is what people ask first. "Stopped" is written only when all has settled.
"""

from bot.core.ids import short
from bot.core.run import Event, RunStatus, StepStatus
from handlers.views import blocks, closed_review, held_card, ids, receipts, record, step_lines, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK_AGAIN, OFFER_REDIRECT, Block, Card, Element, Scene
from handlers.views.text import count, date, duration, escape, fallback, joined, ping


def ended_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, plain: bool = False) -> Card:
    """The card of a run that has ended."""
    if scene.run.status is RunStatus.SUCCEEDED:
        return succeeded(scene, plain=plain)
    if scene.run.status is RunStatus.STOPPED:
        return stopped(scene, offers)
    if scene.run.status is RunStatus.FAILED:
        return failed(scene, offers, plain=plain)
    return closed_before_running(scene, offers=offers)


def succeeded(scene: Scene, *, plain: bool = False) -> Card:
    """Every step that had to is done, and the answer stands in the thread."""
    done = len(receipts.with_status(scene, StepStatus.SUCCEEDED))
    left_out = len(receipts.with_status(scene, StepStatus.SKIPPED))
    state = f"{done} of {count(len(scene.plan.steps), 'step')}{f', {left_out} left out' if left_out else ''}"
    answer = words.card_link(scene, "answer", "Answer ↓") + " in this thread." if scene.snapshot.answer and done else ""
    named = f"{words.YES} Done" if done else f"{words.CLOSED} Ended"
    made = [
        blocks.header(f"{named} · {state}"),
        words.goal(scene),
        words.id_line(scene, words.approved_by(scene)),
        blocks.section(f"{_finished(scene)} {answer}".strip()),
        receipts.what_was_done(scene),
        receipts.step_log(scene, plain=plain),
        blocks.context(_spent(scene)),
    ]
    return Card(joined(f"{'Done' if done else 'Ended'}: {scene.run.id}", state, "the answer is in the thread" if answer else ""), made)


def failed(scene: Scene, offers: frozenset[str] = NO_OFFERS, *, plain: bool = False) -> Card:
    """A step failed for good, or the answer could not be written."""
    broken = receipts.with_status(scene, StepStatus.FAILED)
    plan = scene.command("plan")
    again = "press Ask again, or " if OFFER_ASK_AGAIN in offers else ""
    lines: list[Element] = []
    for step in broken[:3]:
        state = words.state_of(scene, step)
        lines += [
            blocks.line(blocks.said("! "), blocks.strong(words.numbered(scene, step)), blocks.said(" — failed")),
            blocks.box(held_card.boxed(state.error or "The tool gave no reason.", 500)),
        ]
        if step.on_failure == "stop":
            lines.append(blocks.line(blocks.said("Its rule is "), blocks.literal("on_failure=stop"), blocks.said(", so the run ended.")))
    lines.append(
        blocks.line(
            blocks.strong("Next: "),
            blocks.said(f"mend what is named above, then {again}ask anew with "),
            blocks.literal(plan),
            blocks.said("."),
        )
    )
    made = [
        blocks.header(f"{words.WRONG} Failed · {step_lines.done_of(scene)}"),
        words.goal(scene),
        words.id_line(scene, words.approved_by(scene)),
        blocks.rich(*lines),
        receipts.what_was_done(scene),
        receipts.step_log(scene, plain=plain),
        blocks.context(_spent(scene)),
        *_again(scene, offers),
    ]
    where = f"step {broken[0].number} of {len(scene.plan.steps)}, {escape(words.does(scene, broken[0]))}" if broken else ""
    return Card(fallback(f"Failed: {scene.run.id}", where, step_lines.done_of(scene)), made)


def stopped(scene: Scene, offers: frozenset[str] = NO_OFFERS) -> Card:
    """A receipt: what finished, what was cancelled, what nobody can be sure of."""
    doubtful = len(receipts.with_status(scene, StepStatus.IN_DOUBT))
    state = f"{count(doubtful, 'step')} could not be confirmed" if doubtful else "nothing is left running"
    hint = "To finish or undo this, reply here: it starts a follow-up with what is known." if OFFER_REDIRECT in offers else ""
    made = [
        blocks.header(f"{words.CLOSED} Stopped · {state}"),
        words.goal(scene),
        words.id_line(scene, words.approved_by(scene)),
        blocks.section(f"{_who_stopped(scene)} Nothing further happens."),
        receipts.what_was_done(scene),
        *receipts.receipt(scene),
        blocks.context(_spent(scene), hint),
    ]
    return Card(fallback(f"Stopped: {scene.run.id}", receipts.counts(scene)), made)


def closed_before_running(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """Cancelled or expired before anything ran; the review card tells the same."""
    card = closed_review.cancelled(scene) if scene.run.status is RunStatus.CANCELLED else closed_review.expired(scene)
    body = [block for block in card.blocks if block["type"] not in ("actions", "context")]
    made = [*body[:2], words.id_line(scene, "nothing ran"), *body[2:], *_again(scene, offers)]
    return Card(card.text, made)


def _who_stopped(scene: Scene) -> str:
    entry = record.last(scene.snapshot, Event.STOP_ASKED, Event.EXPIRED)
    if entry is None:
        return ""
    if entry.event == Event.EXPIRED:
        return f"Nobody answered until {date(entry.at, now=scene.now)}, so the run stopped here."
    closed = record.last(scene.snapshot, Event.SETTLED)
    after = f"; closed {date(closed.at, seconds=True)}" if closed and closed.seq > entry.seq else ""
    return f"Stopped by {ping(entry.actor)}, {date(entry.at, seconds=True)}{after}."


def _finished(scene: Scene) -> str:
    began, ended = record.started_at(scene.snapshot), record.ended_at(scene.snapshot)
    if not began or not ended:
        return "Finished."
    return f"Finished {date(ended, now=scene.now)} after {duration((ended - began).total_seconds())}."


def _spent(scene: Scene) -> str:
    began, ended = record.started_at(scene.snapshot), record.ended_at(scene.snapshot)
    took = duration((ended - began).total_seconds()) if began and ended else ""
    used = record.tokens(scene.snapshot)
    return joined(took, f"{used:,} tokens" if used else "no tokens", f"digest `{short(scene.run.digest)}`" if scene.run.digest else "")


def _again(scene: Scene, offers: frozenset[str]) -> list[Block]:
    if OFFER_ASK_AGAIN not in offers:
        return []
    return blocks.actions(f"run:{scene.run.id}.{scene.run.version}", blocks.button(ids.RUN_ASK_AGAIN, scene.run.id, about=scene.run.id))
