"""The run card while the rest of the run is being changed: it is planned again, the new rest waits for people, or there is none.

A redirect goes on whatever the run stands for: where somebody has paused it, or everything is frozen, the card says both. The redirect
card itself is a post of its own and asks; this one only points to it, and holds the way back (Never mind).
"""

from collections.abc import Iterable
from dataclasses import replace

from bot.core.comparison import compare
from bot.core.ids import StepId
from bot.core.run import Event, Hold, Redirect, StepStatus
from bot.core.snapshot import Entry, Revision
from handlers.views import blocks, freeze, ids, record, step_lines, words
from handlers.views.scene import Block, Card, Element, Scene
from handlers.views.standing import card, press, stop
from handlers.views.text import count, date, date_element, is_person, outside, ping

MOST_REPLIES = 5
LONGEST_REPLY = 1_000


def held_redirect(scene: Scene) -> Card:
    """The card of a paused run with an open redirect."""
    proposal = scene.snapshot.proposal
    if scene.run.redirect is Redirect.REVIEW and proposal is not None:
        return waits_for_people(scene, proposal)
    return no_plan(scene) if scene.run.redirect is Redirect.NO_PLAN else planning_again(scene)


def planning_again(scene: Scene) -> Card:
    """What was said is being turned into a new revision of the rest."""
    told = said(scene, record.asks(scene.snapshot))
    kept = blocks.line(blocks.said("Finished steps are kept. Nothing is running."))
    more = "More replies are taken in order."
    return card(
        scene,
        f"{words.STANDS} {'Frozen' if _is_frozen(scene) else 'Paused'} · the rest is being planned again",
        f"Paused: {scene.run.id} · a reply is being turned into a new plan for the rest",
        [*_who_else_holds(scene), blocks.rich(*told, kept), step_lines.step_lines(scene, waiting="may change")],
        _moves(scene),
        blocks.context(_never_mind(scene), more),
    )


def waits_for_people(scene: Scene, proposal: Revision) -> Card:
    """The new rest is on a card of its own, and somebody has to say yes to it."""
    new = _as_if_never_tried(scene, scene.under(proposal))
    planned = record.last(scene.snapshot, Event.REDIRECT_PLANNED, Event.REGRADED)
    asked = asked_of(planned, proposal)
    until = f", until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    where = words.card_link(scene, "redirect", "What changes ↓")
    are = f"{count(len(asked), 'step')} {'is' if len(asked) == 1 else 'are'} asked; what is done stays done."
    return card(
        new,
        f"{words.WAITS} Needs approval · the new rest",
        f"Needs approval: {scene.run.id} revision {proposal.revision} · the new rest · {count(len(asked), 'step')} asked",
        [
            *_who_else_holds(scene),
            blocks.section(f"{where} in this thread, for {scene.approvers_plain}{until}. {are}"),
            step_lines.step_lines(new, held=_asked_words(scene, new, asked), waiting="waits for the approval"),
        ],
        _moves(scene),
        blocks.context(_never_mind(scene)),
        about=_changed_by(scene),
    )


def _as_if_never_tried(scene: Scene, new: Scene) -> Scene:
    """Another call in the place of one that failed has not failed."""
    changed = compare(scene.plan, new.plan).changed
    failed = [one for one in new.snapshot.steps if one.id in changed and one.status is StepStatus.FAILED]
    steps = tuple(one.model_copy(update={"status": StepStatus.PENDING}) if one in failed else one for one in new.snapshot.steps)
    return replace(new, snapshot=new.snapshot.model_copy(update={"steps": steps}))


def no_plan(scene: Scene) -> Card:
    """There is no way to do what was said; the plan stands as it was, and the run waits."""
    where = words.card_link(scene, "redirect", "Why ↓")
    says = (
        f"{where} in this thread. The plan stands as it was. Reply with another wish, press *Never mind* to go on as approved, or *Stop*."
    )
    return card(
        scene,
        f"{words.WAITS} No new plan for the rest",
        f"No new plan for the rest: {scene.run.id} · reply with another wish, Never mind or Stop",
        [*_who_else_holds(scene), blocks.section(says), step_lines.step_lines(scene, waiting="held")],
        _moves(scene),
        blocks.context(_never_mind(scene)),
    )


def said(scene: Scene, asks: Iterable[Entry], *, mentions: bool = True) -> list[Element]:
    """What was said or edited, by whom, when, in order; somebody's words behind the bar. Without `mentions` people are links."""
    told = list(asks)
    hidden = [blocks.line(blocks.said(f"{count(len(told) - MOST_REPLIES, 'earlier reply', 'earlier replies')}"))]
    lines: list[Element] = hidden if len(told) > MOST_REPLIES else []
    for entry in told[-MOST_REPLIES:]:
        lines += _one(scene, entry, mentions=mentions)
    return lines


def _one(scene: Scene, entry: Entry, *, mentions: bool) -> list[Element]:
    words_of = str(entry.data.get("text") or "").strip()
    how = {"edit": " edited the rest by hand, ", "arguments": f" changed the arguments{_of_step(scene, entry)}, "}
    verb = how.get(str(entry.data.get("how")), " replied, ")
    end = blocks.said(":" if words_of else ".")
    opening = blocks.line(someone(scene, entry.actor, mentions=mentions), blocks.said(verb), date_element(entry.at), end)
    return [opening, *([blocks.quote(blocks.said(outside(words_of, LONGEST_REPLY)))] if words_of else [])]


def _of_step(scene: Scene, entry: Entry) -> str:
    step = next((step for step in scene.plan.steps if step.id == entry.data.get("step")), None)
    return f" of step {step.number}" if step else ""


def someone(scene: Scene, user: str, *, mentions: bool) -> Element:
    """A person in rich text: a mention, or a link that pings nobody."""
    if not is_person(user):
        return blocks.said(outside(user, 40))
    if mentions:
        return blocks.person(user)
    return blocks.linked(f"{scene.team_url.rstrip('/')}/team/{user}", outside(scene.names.get(user, ""), 60) or user)


def asked_of(planned: Entry | None, proposal: Revision) -> tuple[StepId, ...]:
    """The steps that a yes to the proposal is about; all of its steps, if the record does not say."""
    found = planned.data.get("asked") if planned is not None else None
    known = {step.id for step in proposal.plan.steps}
    named = tuple(StepId(str(name)) for name in found) if isinstance(found, list | tuple) else ()
    return tuple(name for name in named if name in known) or tuple(step.id for step in proposal.plan.steps)


def _asked_words(scene: Scene, new: Scene, asked: Iterable[StepId]) -> dict[str, str]:
    differs = compare(scene.plan, new.plan)
    kinds = {**dict.fromkeys(differs.added, "new"), **dict.fromkeys(differs.changed, "changed")}
    return {name: f"{kinds.get(name, 'riskier than before')}, needs approval" for name in asked}


def _changed_by(scene: Scene) -> str:
    said_last = record.asks(scene.snapshot)
    if not said_last:
        return ""
    how = {"edit": "edited", "arguments": "edited"}.get(str(said_last[-1].data.get("how")), "changed by a reply")
    by = f" by {words.profile(scene, said_last[-1].actor)}" if how == "edited" else ""
    return f"{how}{by} {date(said_last[-1].at, now=scene.now)}"


def _is_frozen(scene: Scene) -> bool:
    return scene.run.reason is Hold.FREEZE


def _who_else_holds(scene: Scene) -> list[Block]:
    """Somebody's own hold under the redirect: it stays, whatever becomes of the rest."""
    if _is_frozen(scene):
        return [blocks.rich(*freeze.lines(scene), freeze.how_it_ends(scene))]
    if scene.run.reason is not Hold.PERSON:
        return []
    entry = record.last(scene.snapshot, Event.PAUSE_ASKED)
    who = f"Paused by {ping(entry.actor)}, {date(entry.at, now=scene.now)}" if entry else "Paused by a person"
    return [
        blocks.section(f"{who}. It stays so until somebody presses *Resume* ({words.who_decides(scene)}), whatever becomes of the rest.")
    ]


def _moves(scene: Scene) -> list[Element | None]:
    resume = press(scene, ids.RUN_RESUME) if scene.run.reason is Hold.PERSON else None
    return [resume, press(scene, ids.RUN_NEVER_MIND), stop(scene)]


def _never_mind(scene: Scene) -> str:
    if scene.run.reason in (Hold.PERSON, Hold.FREEZE):
        return "Never mind keeps the plan as it was; the run stays as it stands."
    return "Never mind goes on with the plan as it was."
