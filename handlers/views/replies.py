"""What became of a reply in a run's thread: one note for each, visible to everybody there.

A note is drawn again while its run changes, so it says what the reply has led to by now; what it says of the moment in which it was
written has the time of the reply, not of the redraw. Somebody's own words are not repeated: they stand right above it in the thread.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.core.plan import Plan, Step
from bot.core.run import LIVE, Event, Hold, RunStatus, StepStatus
from bot.core.snapshot import Entry
from handlers.views import blocks, ids, record, words
from handlers.views.scene import NO_OFFERS, OFFER_REDIRECT, Block, Card, Scene
from handlers.views.text import FALLBACK_LIMIT, date, escape, fallback, inline, joined, one_line, outside, ping, plain

LONGEST_ANSWER = 1_500
FOLLOWED = (Event.REDIRECTED, Event.WITHDRAWN, Event.REDIRECT_FAILED, Event.REDIRECT_PLANNED, Event.STOP_ASKED, Event.EXPIRED)
SYMBOLS = {
    Event.REDIRECTED: words.RUNS,
    Event.WITHDRAWN: words.CLOSED,
    Event.REDIRECT_FAILED: words.WAITS,
    Event.REDIRECT_PLANNED: words.WAITS,
    Event.STOP_ASKED: words.CLOSED,
    Event.EXPIRED: words.CLOSED,
}
CONTROLS = (("status", "how it stands"), ("pause", "no further step starts"), ("resume", "goes on"), ("stop", "ends it"))
LIMITS = {
    "no_redirects_left": ("redirects", "for one run", "limits.redirects", "Pause and edit the rest by hand, or Stop and ask anew."),
    "no_revisions_left": ("revisions", "for one review", "limits.revisions", "Edit it by hand on the review card, approve it, or cancel."),
}
Data = Mapping[str, Any]


def change(scene: Scene, data: Data) -> Card:
    """Taken as a change of a live run, and what has come of it since."""
    asked = next((entry for entry in scene.snapshot.entries if entry.event == Event.REDIRECT_ASKED and _is(entry, data)), None)
    after = record.after(scene.snapshot, asked.seq, *FOLLOWED) if asked else None
    says = _so_far(scene) if after is None else _came_of(after, words.card_link(scene, "redirect", "the card below"))
    bare = says.split(" Reply `")[0] if after is None else _came_of(after, "the card below")
    symbol = SYMBOLS[Event(after.event)] if after else words.STANDS
    return Card(f"Taken as a change to {scene.run.id}: {bare}", [blocks.section(f"{symbol} Taken as a change. {scene.run.id}: {says}")])


def _is(entry: Entry, data: Data) -> bool:
    return bool(data.get("ts")) and entry.data.get("ts") == data.get("ts")


def _so_far(scene: Scene) -> str:
    if scene.run.status is RunStatus.PAUSING:
        return "no further step starts, and the rest is planned again as soon as nothing runs. Reply `never mind` to go on as before."
    return "it is paused; finished steps are kept and the rest is planned again. Reply `never mind` to go on as before."


def _came_of(after: Entry, there: str) -> str:
    """What followed, in one sentence; `there` is the card that says more."""
    if after.event == Event.REDIRECTED:
        return f"revision {after.data.get('revision')} has taken the place of the rest as it was."
    if after.event == Event.WITHDRAWN:
        why = plain(str(after.data.get("why") or ""), 120)
        return f"the plan stays as it was{f', since {why}' if why else ': never mind'}."
    if after.event in (Event.STOP_ASKED, Event.EXPIRED):
        return "the run has ended before it came to that."
    if after.event == Event.REDIRECT_FAILED:
        return f"there is no plan for it; {there} says why."
    return f"the new rest waits for approval on {there}."


def changes(scene: Scene, data: Data) -> Card:
    """Taken as words for another revision, while the plan waits for people."""
    asked = next(
        (one for one in scene.snapshot.entries if one.event == Event.CHANGES_ASKED and one.data.get("words") == data.get("text")), None
    )
    after = record.after(scene.snapshot, asked.seq, Event.PLANNED, Event.RELEASED, Event.PLAN_KEPT, Event.CANCELLED) if asked else None
    came = {
        Event.PLANNED: f"revision {after.data.get('revision') if after else ''} is there",
        Event.RELEASED: "the new revision only reads, and runs",
        Event.PLAN_KEPT: "the planner found no other plan; the review says why",
        Event.CANCELLED: "the plan was cancelled meanwhile",
    }
    says = came[Event(after.event)] if after else "another revision is being planned; nothing can be approved until it is there"
    return Card(
        f"Taken as a change to the plan of {scene.run.id}: {says}.",
        [blocks.section(f"{words.WAITS if after else words.WORKS} Taken as a change to the plan of {scene.run.id}: {says}.")],
    )


def too_early(scene: Scene, data: Data) -> Card:  # noqa: ARG001 — all of these are called alike
    """Said while the planner works: there is nothing yet that it could change."""
    says = f"{scene.run.id} was being planned when this came, so it changed nothing. Say it again once the plan stands here."
    return Card(says, [blocks.section(says)])


def question(scene: Scene, data: Data) -> Card:
    """Answered from the run's state; the words are code's, what they name may come from anywhere, so they stand in rich text."""
    says = _lines(_named(scene, str(data.get("says") or "Nothing is known about that.")))
    when = _said_at(data)
    foot = joined(scene.run.id, f"from the run's state{f', {date(when, seconds=True)}' if when else ''}", "the question changed nothing")
    text = fallback(scene.run.id, escape(one_line(" ".join(says), FALLBACK_LIMIT - 40)))
    return Card(text, [blocks.rich(*(blocks.line(blocks.said(line)) for line in says)), blocks.context(foot)])


def _named(scene: Scene, text: str) -> str:
    """People stand in the run's state as their ids; here they are called by their names."""
    for person, name in scene.names.items():
        text = outside(name, 60).join(re.split(rf"\b{re.escape(person)}\b", text))
    return text


def _lines(text: str) -> list[str]:
    found = [one_line(line, LONGEST_ANSWER) for line in text.splitlines()[:20]]
    return [line for line in found if line] or ["Nothing is known about that."]


def _said_at(data: Data) -> datetime | None:
    """When the reply was said: its timestamp is a time."""
    head = str(data.get("ts") or "").split(".")[0]
    return datetime.fromtimestamp(int(head), UTC) if head.isdigit() and len(head) == 10 else None


def refused(scene: Scene, data: Data) -> Card:
    """A limit of the run or its review is reached; the words changed nothing."""
    known = LIMITS.get(str(data.get("why")))
    limit = data.get("limit")
    if known is None:
        lines = [blocks.line(blocks.strong("Not changed."), blocks.said(" The run stays as it was."))]
        return Card(f"Not changed: {scene.run.id} stays as it was.", [blocks.rich(*lines), _where(scene)])
    what, of, setting, then = known
    are = "is" if limit == 1 else "are"
    used = f"{_of_them(limit, what)} {are} used, and that is the limit {of}" if limit else f"the {what} {of} are used up"
    lines = [
        blocks.line(
            blocks.strong("Not changed: "), blocks.said(f"{used} ("), blocks.literal(setting), blocks.said("). Nothing else changed.")
        ),
        blocks.line(blocks.strong("Next: "), blocks.said(then)),
    ]
    text = f"Not changed: {scene.run.id} has used its {_of_them(limit, what)}. {then}"
    return Card(text, [blocks.rich(*lines), _where(scene), *_brakes(scene, data)])


def _of_them(limit: object, what: str) -> str:
    return f"one {what[:-1]}" if limit == 1 else f"{limit} {what}" if limit else what


def _brakes(scene: Scene, data: Data) -> list[Block]:
    run = scene.run
    if run.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return []
    pause = blocks.button(ids.RUN_PAUSE, run.id, about=run.id)
    stop = blocks.button(ids.RUN_STOP, run.id, about=run.id, style="danger")
    return blocks.actions(f"note:{run.id}.{run.version}.{one_line(str(data.get('ts') or ''), 20)}", pause, stop)


def not_understood(scene: Scene, data: Data | None = None, *, offers: frozenset[str] = NO_OFFERS) -> Card:  # noqa: ARG001
    """A reply that nobody could make out; nothing changed by it. The forms that always work, with this plan's own steps."""
    goes_on = "the run goes on" if scene.run.status in LIVE and scene.run.status is not RunStatus.PAUSED else "the run stays as it is"
    forms = [[blocks.literal(form), blocks.said(f"  {means}")] for form, means in (*_forms(scene, offers), *CONTROLS)]
    made = [
        blocks.rich(
            blocks.line(
                blocks.strong(f"Not understood; nothing changed, {goes_on}. "), blocks.said("These words work here, as a whole message:")
            ),
            blocks.bullets(forms),
        ),
        _where(scene),
    ]
    return Card(f"Not understood, nothing changed: {scene.run.id}, {goes_on}.", made)


def _forms(scene: Scene, offers: frozenset[str]) -> list[tuple[str, str]]:
    """The forms that change the rest without a model, about a step that has not started."""
    waiting = [step for step in scene.plan.steps if words.state_of(scene, step).status is StepStatus.PENDING]
    if OFFER_REDIRECT not in offers or not waiting or scene.run.status not in LIVE:
        return []
    last = waiting[-1]
    first = next(step for step in scene.plan.steps if words.state_of(scene, step).status in (StepStatus.PENDING, StepStatus.RUNNING))
    found = [
        (f"skip {last.id}", "leave a step out"),
        (f"instead {last.id}: {_notation(last)}", "replace a step"),
        (f'add {_free(scene.plan)}: files.write path=out.md text="…"', "add a step"),
        (f"stop after {first.id}", "end there"),
    ]
    return [*found, ("never mind", "go on as before")] if scene.run.redirect is not None else found


def _notation(step: Step) -> str:
    """The step as an example: its tool, and the names of its first arguments."""
    return " ".join([step.tool, *(f'{one_line(name, 30)}="…"' for name in list(step.args)[:3])])


def _free(plan: Plan) -> str:
    taken = {step.id for step in plan.steps}
    return next(name for name in ("note", *(f"note{number}" for number in range(2, len(taken) + 3))) if name not in taken)


def late(scene: Scene, data: Data) -> Card:  # noqa: ARG001
    """Said in the thread of a run that has ended, and nothing to be done about it."""
    anew = f"Ask for something new with {inline(scene.command('plan'))} or a mention."
    says = f"{scene.run.id} had ended when this came; nothing was started. {anew}"
    return Card(f"{scene.run.id} had ended when this came; nothing was started.", [blocks.section(says)])


def follow_up(scene: Scene, data: Data) -> Card:
    """A wish after the end begins a run of its own, in the same thread."""
    follower = plain(str(data.get("follower") or ""), 20)
    if not follower:
        says = f"{scene.run.id} had finished when this came. It is taken up in this thread already."
        return Card(says, [blocks.section(says)])
    there = words.card_link(scene, f"run:{follower}", "its card")
    where = there if scene.links.get(f"run:{follower}") else "its card is in this thread"
    says = f"{scene.run.id} had finished when this came. It starts a follow-up, *{follower}*, which may use its results: {where}."
    text = f"{scene.run.id} has already finished. The reply starts a follow-up run, {follower}, which may use its results."
    return Card(text, [blocks.section(says)])


def withdrawn(scene: Scene, data: Data) -> Card:
    """Never mind, said by `data["actor"]`: the old rest stands."""
    who = f" by {words.profile(scene, str(data['actor']))}" if data.get("actor") else ""
    stands = scene.run.status in (RunStatus.PAUSED, RunStatus.PAUSING)
    waits = f"What it waits for is on {words.card_link(scene, 'run', 'its card ↑')}"
    then = ("It stays paused" if scene.run.reason in (Hold.PERSON, Hold.FREEZE) else waits) if stands else "The run goes on"
    then = " The run has ended" if scene.run.is_final else f" {then}"
    says = f"Withdrawn{who}. {scene.run.id} keeps revision {scene.run.revision}, as it was approved.{then}."
    return Card(f"Withdrawn: {scene.run.id} keeps revision {scene.run.revision}, as it was approved.", [blocks.section(says)])


def no_plan(scene: Scene, data: Data) -> Card:  # noqa: ARG001
    """The rest could not be planned as somebody wants it: the redirect card says why, this pings who asked."""
    asks = record.asks(scene.snapshot)
    who = f"{ping(asks[-1].actor)} " if asks and scene.run.redirect is not None else ""
    there = words.card_link(scene, "redirect", "Why ↓")
    says = f"{words.WAITS} {who}{scene.run.id}: no new plan for the rest. {there}. Reply with another wish, or `never mind`, or `stop`."
    return Card(f"{who}{scene.run.id}: no new plan for the rest. It waits with the plan as it was.", [blocks.section(says)])


def _where(scene: Scene) -> Block:
    return blocks.context(joined(scene.run.id, words.card_link(scene, "run", "its card ↑")))


KINDS: Mapping[str, Callable[[Scene, Data], Card]] = {
    "reply_change": change,
    "reply_changes": changes,
    "reply_too_early": too_early,
    "reply_question": question,
    "reply_refused": refused,
    "reply_late": late,
    "reply_follow_up": follow_up,
    "reply_withdrawn": withdrawn,
    "withdrawn": withdrawn,
    "redirect_failed": no_plan,
}
