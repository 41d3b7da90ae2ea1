"""Short posts in the run's thread: one new message whenever somebody is needed, and one visible outcome for everything that is said there.

A redraw notifies nobody, so these do, and they ping only those whom the run waits for. A note that is drawn again after that wait is over
says so and pings nobody any more.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bot.core.plan import Step
from bot.core.run import LIVE, Event, Hold, RunStatus, StepStatus
from handlers.views import asking, blocks, case, ids, planning_card, record, regraded, replies, step_lines, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK_AGAIN, OFFER_CHANGE_REST, Block, Card, Scene
from handlers.views.text import date, escape, fallback, inline, joined, outside, ping

MOVES = {
    Hold.STEP_FAILED: "Retry, Skip or Stop",
    Hold.BREAKPOINT: "Continue or Stop",
    Hold.UNATTENDED: "Continue or Stop",
    Hold.BUDGET: "Continue or Stop",
    Hold.IN_DOUBT: "It happened, It did not happen or Stop",
    Hold.CONFIRM: "Confirm or Refuse",
}
CAN_CHANGE = frozenset({Hold.STEP_FAILED, Hold.BREAKPOINT, Hold.UNATTENDED, Hold.BUDGET})


def note_card(scene: Scene, data: Mapping[str, Any], *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """The note that an outbox row asks for; `data["kind"]` says which. A kind that is new becomes a note of the state."""
    kind = str(data.get("kind"))
    if kind in ("needs_you", "in_doubt"):
        return needs_you(scene, data, offers)
    if kind == "expired":
        return expired(scene, offers)
    if kind in ("not_understood", "reply_not_understood"):
        return replies.not_understood(scene, offers=offers)
    if kind in replies.KINDS:
        return replies.KINDS[kind](scene, data)
    if kind in ASKED:
        return ASKED[kind](scene, data)
    return PLAIN.get(kind, status)(scene)


def needs_you(scene: Scene, data: Mapping[str, Any], offers: frozenset[str] = NO_OFFERS) -> Card:
    """The run stands and waits for somebody; the card has the buttons, this has the ping."""
    reason = Hold(data["reason"]) if data.get("reason") in tuple(Hold) else scene.run.reason or Hold.PERSON
    step = next((step for step in scene.plan.steps if step.id == data.get("step")), None)
    why = _why(scene, reason, step)
    waits = scene.run.status in (RunStatus.PAUSED, RunStatus.PAUSING) and scene.run.reason is reason
    if not waits or (step is not None and scene.run.held_step != step.id):
        return Card(f"{scene.run.id} waited here: {why}.", [blocks.section(f"{scene.run.id} waited here: {why}. That is settled.")])
    who = ping(scene.run.requester)
    more = bool(data.get("more", True))  # of the budget; where it was granted before, only the requester can do something about it
    if reason is Hold.IN_DOUBT or (reason is Hold.BUDGET and more):
        who = f"{who}, {scene.approvers}:"
    there = words.card_link(scene, "run", "Its card ↑")
    moves = MOVES.get(reason, "Resume or Stop") if more else "Stop"
    if reason in CAN_CHANGE and OFFER_CHANGE_REST in offers:
        moves = moves.replace(" or Stop", ", Change the rest or Stop") if more else "Change the rest or Stop"
    says = f"{words.WAITS} {who} {scene.run.id} waits for you: {why}. {there}: {moves}."
    return Card(fallback(f"{who} {scene.run.id} waits for you", f"{why}. {moves} on its card."), [blocks.section(says)])


def _why(scene: Scene, reason: Hold, step: Step | None) -> str:
    if step is None:
        return case.HOLDS[reason]
    does = escape(words.lowered(words.does(scene, step)))
    if reason is Hold.STEP_FAILED:
        return f"step {step.number} failed ({does})"
    if reason is Hold.IN_DOUBT:
        return f"step {step.number} is in doubt ({does}): it was running when Pullcord went down"
    if reason is Hold.BREAKPOINT:
        return f"it stands at a breakpoint before step {step.number} ({does})"
    return f"{case.HOLDS[reason]} (step {step.number}, {does})"


def status(scene: Scene) -> Card:
    """How the run stands, for one who asks."""
    state, more = _state(scene)
    where = words.card_link(scene, "run", "its card ↑")
    made: list[Block] = [
        blocks.rich(blocks.line(blocks.said(f"{case.symbol(scene)} "), blocks.strong(state), blocks.said(f"{more}."))),
        blocks.context(joined(scene.run.id, where, f"as of {date(scene.now, seconds=True)}")),
    ]
    return Card(fallback(f"{scene.run.id}: {escape(words.lowered(state))}", escape(more.lstrip(", "))), made)


def _state(scene: Scene) -> tuple[str, str]:
    """The state in words, and what is going on."""
    named = scene.run.status.value.replace("_", " ").capitalize()
    if scene.run.status is RunStatus.IN_REVIEW:
        return "Needs approval", ", nothing has run"
    if scene.run.status not in LIVE or not scene.plan.steps:
        return named, ""
    now = step_lines.running_steps(scene)
    doing = f", now {words.numbered(scene, now[0])}" if now else ""
    held = f", {case.standing_for(scene.run)}" if scene.run.reason else ""
    waiting = next((step for step in scene.plan.steps if words.state_of(scene, step).status is StepStatus.PENDING), None)
    after = f". Next: {words.numbered(scene, waiting)}" if waiting and scene.run.status is RunStatus.RUNNING else ""
    return f"{named} · {step_lines.done_of(scene)}", f"{doing}{held}{after}"


def expired(scene: Scene, offers: frozenset[str] = NO_OFFERS) -> Card:
    """The requester learns that nobody decided, or that a held run has ended."""
    entry = record.last(scene.snapshot, Event.EXPIRED)
    until = f" until {date(record.until(entry), now=scene.now)}" if entry else ""
    ran = scene.run.status is RunStatus.STOPPED
    again = OFFER_ASK_AGAIN in offers and not ran
    lost = "Nothing ran, nothing is lost: *Ask again* plans and asks anew." if again else "Nothing ran."
    then = f"What was done stands on {words.card_link(scene, 'run', 'its card ↑')}." if ran else lost
    more = "" if again else f" Ask again with {inline(scene.command('plan'))}."
    says = f"{words.CLOSED} {ping(scene.run.requester)} {scene.run.id} has expired: nobody answered{until}. {then}{more}"
    pressed = blocks.button(ids.RUN_ASK_AGAIN, scene.run.id, about=scene.run.id) if again else None
    text = f"{ping(scene.run.requester)} {scene.run.id} has expired: nobody answered{until}."
    return Card(text, [blocks.section(says), *blocks.actions(f"note:{scene.run.id}.{scene.run.version}", pressed)])


def ask_edited(scene: Scene) -> Card:
    """The asking message was edited; a plan never changes by that."""
    says = "The plan is for the words as they were asked; editing a message changes no plan."
    lines = [
        blocks.line(blocks.said(f"{words.WAITS} "), blocks.strong("The ask has been edited."), blocks.said(f" {says}")),
        blocks.quote(blocks.said(outside(scene.run.ask, 600))),
        blocks.line(blocks.strong("Next: "), blocks.said("for the new words, press Cancel (or Stop) on the card and ask again.")),
    ]
    where = words.card_link(scene, "run", "its card ↑")
    text = f"{scene.run.id}: the ask was edited after planning. The plan on the card is for the old words."
    return Card(text, [blocks.rich(*lines), blocks.context(joined(scene.run.id, where))])


def not_understood(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """A reply that is none of the forms that work; nothing changed by it."""
    return replies.not_understood(scene, offers=offers)


def late_reply(scene: Scene) -> Card:
    """Said in the thread of a run that has ended."""
    return replies.late(scene, {})


def answered(scene: Scene) -> Card:
    """The planner's question has its answer."""
    says = f"{words.WORKS} Taken as the answer. {scene.run.id} is planned on with it; nothing runs before the plan stands here."
    return Card(f"Taken as the answer: {scene.run.id} is planned on with it.", [blocks.section(says)])


def control_done(scene: Scene, word: str, *, actor: str) -> Card:
    """`pause`, `resume`, `stop` or `never mind`, said as a word, was carried out; the scene's run is as that left it."""
    if word == "withdraw":
        return replies.withdrawn(scene, {"actor": actor})
    let_go = "Resumed." if scene.run.redirect is None else "Nobody pauses it any more; it goes on once the change of the rest is decided."
    did = {"pause": "Paused: no further step starts.", "resume": let_go, "stop": "Stopping: no further step starts."}.get(word, "Done.")
    where = words.card_link(scene, "run", "its card ↑")
    return Card(f"{scene.run.id} · {did}", [blocks.section(f"{did} {joined(scene.run.id, where)}")])


ASKED: Mapping[str, Callable[[Scene, Mapping[str, Any]], Card]] = {"reminder": asking.reminder, "escalation": asking.escalation}
PLAIN: Mapping[str, Callable[[Scene], Card]] = {
    "question": planning_card.question_card,
    "ask_edited": ask_edited,
    "denied": regraded.denied_note,
    "status": status,
    "late": late_reply,
    "answered": answered,
}
