"""The run card: one message from the ask to the end, redrawn as the run goes. The eye finds the state first, always in the header.

This module picks the card for the state and draws those of a run that moves. Planning, holds and endings have modules of their own. Every
card of a run that can still be stopped has Stop, and Stop never asks back; no other button is red.
"""

from bot.core.run import LIVE, Event, Hold, RunStatus
from handlers.views import (
    blocks,
    ended_card,
    freeze,
    held_card,
    held_limits,
    held_redirect,
    ids,
    plan_body,
    planning_card,
    record,
    step_lines,
    words,
)
from handlers.views.scene import NO_OFFERS, OFFER_REDIRECT, OFFER_SHOW_STEPS, Block, Card, Element, Scene
from handlers.views.standing import menu as pause_before
from handlers.views.text import count, date, duration, escape, fallback, joined, ping

REDIRECT_HINT = "Reply in this thread to change what is still to come."


def run_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS, plain: bool = False) -> Card:
    """The run as it stands. `offers` names the moves beyond the cord that exist here; `plain` avoids Slack's plan block."""
    status = scene.run.status
    if status is RunStatus.PLANNING:
        return planning_card.planning_card(scene)
    if status is RunStatus.IN_REVIEW:
        return in_review(scene)
    if status is RunStatus.PAUSED:
        return held_card.held_card(scene, offers=offers)
    if status in LIVE:
        return _moving(scene, offers)
    if scene.run.revision == 0 or status is RunStatus.REFUSED:
        return planning_card.planning_ended(scene, offers=offers)
    return ended_card.ended_card(scene, offers=offers, plain=plain)


def _moving(scene: Scene, offers: frozenset[str]) -> Card:
    status = scene.run.status
    if status in (RunStatus.QUEUED, RunStatus.RUNNING):
        return queued(scene, offers) if status is RunStatus.QUEUED else running(scene, offers)
    return {RunStatus.PAUSING: pausing, RunStatus.STOPPING: stopping}.get(status, answering)(scene)


def in_review(scene: Scene) -> Card:
    """The plan waits for people; the review card asks them, this one only points to it."""
    until = f", until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    where = words.card_link(scene, "review", "Review card ↓")
    made = [
        blocks.header(f"{words.WAITS} Needs approval · {words.risk_count(scene)}"),
        words.goal(scene),
        words.id_line(scene, words.step_counts(scene)),
        blocks.section(f"{where} in this thread, for {scene.approvers_plain}{until}. Nothing runs before that."),
    ]
    return Card(fallback(f"Needs approval: {scene.run.id}", words.risk_in_text(scene), words.goal_in_text(scene)), made)


def all_read(scene: Scene, offers: frozenset[str] = NO_OFFERS) -> Card:
    """A plan that only reads was let go without an approval: what it will read, and that Stop works."""
    body, _ = plan_body.plan_body(scene)
    state = f"{words.WORKS} Queued · reads only" if scene.run.status is RunStatus.QUEUED else f"{words.RUNS} Running · reads only"
    made = [
        blocks.header(state),
        words.goal(scene),
        words.id_line(scene, words.step_counts(scene)),
        *body,
        *plan_body.order(scene),
        blocks.context(_no_approval(scene)),
        *buttons(scene, ids.RUN_PAUSE, ids.RUN_STOP, menu=pause_before(scene, offers)),
    ]
    named = f"{state.split(' ', 1)[1].replace(' · ', ', ')}: {scene.run.id}"
    return Card(fallback(named, words.goal_in_text(scene), "no approval needed"), made)


def queued(scene: Scene, offers: frozenset[str] = NO_OFFERS) -> Card:
    """Approved, and waits for a place; while an admin holds everything, for the thaw."""
    if scene.snapshot.freeze is not None:
        return _queued_while_frozen(scene, offers)
    if _released(scene):
        return all_read(scene, offers)
    ahead = f" · {count(scene.snapshot.ahead, 'run')} ahead" if scene.snapshot.ahead else ""
    made = [
        blocks.header(f"{words.WORKS} Queued{ahead}"),
        *_head(scene),
        step_lines.step_lines(scene),
        blocks.context("It starts by itself when a place is free."),
        *buttons(scene, ids.RUN_PAUSE, ids.RUN_STOP, menu=pause_before(scene, offers)),
    ]
    return Card(f"Queued: {scene.run.id}{ahead}. Nothing has started.", made)


def _queued_while_frozen(scene: Scene, offers: frozenset[str]) -> Card:
    made = [
        blocks.header(f"{words.STANDS} Frozen · nothing starts"),
        *_head(scene),
        blocks.rich(*freeze.lines(scene), freeze.how_it_ends(scene)),
        step_lines.step_lines(scene),
        *buttons(scene, ids.RUN_PAUSE, ids.RUN_STOP, menu=pause_before(scene, offers)),
    ]
    return Card(f"Frozen: {scene.run.id} · queued; everything in Pullcord is held by an admin. Nothing has started.", made)


def running(scene: Scene, offers: frozenset[str] = NO_OFFERS) -> Card:
    """Steps start and end."""
    now = step_lines.running_steps(scene)
    if scene.snapshot.lock_waits and not now:
        return held_limits.waiting_for_key(scene, buttons(scene, ids.RUN_PAUSE, ids.RUN_STOP, menu=pause_before(scene, offers)))
    doing = f"now: {words.lowered(words.does(scene, now[0]))}" if len(now) == 1 else f"{count(len(now), 'step')} are running" if now else ""
    long = OFFER_SHOW_STEPS in offers and len(scene.plan.steps) > step_lines.MOST_LINES
    made = [
        blocks.header(f"{words.RUNS} Running · {step_lines.done_of(scene)}"),
        *_head(scene),
        step_lines.step_lines(scene),
        blocks.context(so_far(scene), REDIRECT_HINT if OFFER_REDIRECT in offers else ""),
        *([blocks.context(_no_approval(scene))] if _released(scene) else []),
        *buttons(scene, ids.RUN_PAUSE, ids.RUN_STOP, *([ids.RUN_SHOW_ALL] if long else []), menu=pause_before(scene, offers)),
    ]
    return Card(fallback(f"Running: {scene.run.id}", step_lines.done_of(scene), escape(doing)), made)


def pausing(scene: Scene) -> Card:
    """No step starts; what runs finishes. Why it stands decides what can be taken back."""
    if scene.run.reason is Hold.SHUTDOWN:
        return held_card.shutdown(scene)
    left = len(step_lines.running_steps(scene))
    state = f"{count(left, 'step')} still {'runs' if left == 1 else 'run'}" if left else "nothing runs any more"
    by_person = scene.run.reason is Hold.PERSON
    lets = "What is running now finishes: Pause lets it, Stop cancels it." if by_person else "What is running now finishes."
    never_mind = [ids.RUN_NEVER_MIND] if scene.run.redirect is not None else []
    made = [
        blocks.header(f"{words.STANDS} Pausing · {state}"),
        *_head(scene),
        blocks.rich(*_pausing_for(scene), blocks.line(blocks.strong("No further step starts. "), blocks.said(lets))),
        step_lines.step_lines(scene),
        *([blocks.context(who)] if (who := _who_paused(scene)) else []),
        *buttons(scene, *([ids.RUN_RESUME] if by_person else []), *never_mind, ids.RUN_STOP),
    ]
    return Card(f"Pausing: {scene.run.id} · no further step starts; {state}", made)


def _pausing_for(scene: Scene) -> list[Element]:
    """What the run will stand for: a freeze, and what somebody wants of the rest."""
    frozen = freeze.lines(scene) if scene.run.reason is Hold.FREEZE else []
    if scene.run.redirect is None:
        return frozen
    then = blocks.line(blocks.said("The rest is planned again as soon as nothing runs any more."))
    return [*frozen, *held_redirect.said(scene, record.asks(scene.snapshot)), then]


def _who_paused(scene: Scene) -> str:
    entry = record.last(scene.snapshot, Event.PAUSE_ASKED) if scene.run.reason is Hold.PERSON else None
    return f"Pause by {ping(entry.actor)}, {date(entry.at, seconds=True)}" if entry else ""


def stopping(scene: Scene) -> Card:
    """No step starts; what runs is being cancelled. Nothing to press: it cannot be taken back."""
    left = len(step_lines.running_steps(scene))
    state = f"{count(left, 'step')} {'is' if left == 1 else 'are'} being cancelled" if left else "nothing runs any more"
    entry = record.last(scene.snapshot, Event.STOP_ASKED)
    who = f"By {ping(entry.actor)}, {date(entry.at, seconds=True)}. " if entry else ""
    then = "Each has a few seconds to end; what has not ended then is recorded as *could not be confirmed*." if left else ""
    made = [
        blocks.header(f"{words.CLOSED} Stopping · {state}"),
        *_head(scene),
        blocks.section(f"{who}Nothing further starts. {then}".strip()),
        step_lines.step_lines(scene),
    ]
    return Card(f"Stopping: {scene.run.id} · {state}", made)


def answering(scene: Scene) -> Card:
    """All steps are settled; the answer is being written."""
    made = [
        blocks.header(f"{words.WORKS} Writing the answer · {step_lines.done_of(scene)}"),
        *_head(scene),
        blocks.section("Every step is settled. Nothing further happens; the answer comes into this thread."),
        step_lines.step_lines(scene),
    ]
    return Card(f"Writing the answer: {scene.run.id} · {step_lines.done_of(scene)}", made)


def so_far(scene: Scene) -> str:
    """`8 s so far · 1,400 tokens · as of 14:05:14`."""
    began = record.started_at(scene.snapshot)
    spent = f"{duration((scene.now - began).total_seconds())} so far" if began else ""
    used = record.tokens(scene.snapshot)
    return joined(spent, f"{used:,} tokens" if used else "no tokens", f"as of {date(scene.now, seconds=True)}")


def buttons(scene: Scene, *actions: str, menu: Element | None = None) -> list[Block]:
    """The row below a run card: what the state allows, in this order. Stop is the red one."""
    styles = {ids.RUN_STOP: "danger"}
    made = [blocks.button(action, scene.run.id, about=scene.run.id, style=styles.get(action, "")) for action in actions]
    return blocks.actions(f"run:{scene.run.id}.{scene.run.version}", *made, menu)


def _head(scene: Scene) -> list[Block]:
    return [words.goal(scene), words.id_line(scene, words.approved_by(scene))]


def _released(scene: Scene) -> bool:
    """Did it start without anybody's yes?"""
    return not record.given(scene.snapshot, scene.run.revision, scene.run.digest)


def _no_approval(scene: Scene) -> str:
    policy = f"(policy *{scene.policy_name}*)"
    return f"No approval needed: in this workspace, plans that only read may run without one {policy}. Stop works at any time."
