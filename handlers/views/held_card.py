"""The run card while the run stands: for whom it waits, why, and what each answer would do.

The reason of the hold decides the card, and the card shows exactly the moves that let this hold go. Redraws are silent, so whoever is
needed is pinged by a note of its own (`notes`), never from here.
"""

from collections.abc import Callable

from bot.core import findings
from bot.core.characters import cut
from bot.core.plan import Step
from bot.core.run import Event, Hold, StepStatus
from bot.core.snapshot import Observation, StepState
from handlers.views import arguments, blocks, freeze, held_limits, held_redirect, ids, receipts, record, step_lines, words
from handlers.views.scene import NO_OFFERS, OFFER_REDIRECT, Block, Card, Element, Scene
from handlers.views.standing import card, change_rest, held_step, menu, moves, press, stop
from handlers.views.text import count, date, date_element, escape, fallback, is_person, ping, ranges

LONGEST_FINDING = 500
LONGEST_ERROR = 500
Maker = Callable[[Scene, frozenset[str]], Card]


def held_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """The card of a paused run."""
    if scene.run.reason is Hold.SHUTDOWN:
        return shutdown(scene)
    if scene.run.redirect is not None:
        return held_redirect.held_redirect(scene)
    made: Maker = {
        Hold.BREAKPOINT: at_breakpoint,
        Hold.CONFIRM: for_confirmation,
        Hold.STEP_FAILED: step_failed,
        Hold.IN_DOUBT: in_doubt,
        Hold.FREEZE: frozen,
        Hold.UNATTENDED: held_limits.unattended,
        Hold.BUDGET: held_limits.over_budget,
    }.get(scene.run.reason or Hold.PERSON, by_person)
    return made(scene, offers)


def by_person(scene: Scene, offers: frozenset[str]) -> Card:
    """Somebody pulled the cord; somebody has to let go."""
    entry = record.last(scene.snapshot, Event.PAUSE_ASKED)
    who = f"By {ping(entry.actor)}, {date(entry.at, now=scene.now)}. " if entry else ""
    says = f"{who}Nothing is running. It stays so until somebody presses *Resume* ({words.who_decides(scene)}) or *Stop* (anyone here)."
    hint = [blocks.context("Reply in this thread to change what is still to come.")] if OFFER_REDIRECT in offers else []
    return card(
        scene,
        f"{words.STANDS} Paused · {step_lines.done_of(scene)}",
        f"Paused: {scene.run.id} by a person · {step_lines.done_of(scene)} · Resume or Stop",
        [blocks.section(says), step_lines.step_lines(scene), *hint],
        [press(scene, ids.RUN_RESUME, primary=True), stop(scene), menu(scene, offers)],
    )


def at_breakpoint(scene: Scene, offers: frozenset[str]) -> Card:
    """A mark set in advance: what was found so far, and what comes next with its arguments."""
    step = held_step(scene)
    if step is None:
        return by_person(scene, offers)
    by = _who_marked(scene, step)
    body = [blocks.section(f"{by} Nothing is running."), *_found(scene, step), step_lines.step_lines(scene, fold=True)]
    given = arguments.arguments(scene, step)
    if given.elements:
        body.append(blocks.rich(*given.elements))
    return card(
        scene,
        f"{words.WAITS} Waits before step {step.number} · {step_lines.done_of(scene)}",
        fallback(
            f"Waits at a breakpoint: {scene.run.id} before step {step.number}",
            escape(words.does(scene, step)),
            moves(offers, "Continue", "Change the rest"),
        ),
        body,
        [press(scene, ids.RUN_CONTINUE, step=step, primary=True), change_rest(scene, offers), stop(scene)],
        blocks.context(f"Continue: {words.who_decides(scene)}", "Stop: anyone here"),
    )


def _who_marked(scene: Scene, step: Step) -> str:
    """Who set the breakpoint, and where: with the select, or in the plan itself."""
    marks = [one for one in scene.snapshot.entries if one.event == Event.BREAKPOINT_SET and one.data.get("step") == step.id]
    if marks:
        early = marks[-1].data.get("from") == "in_review"
        return f"Breakpoint set by {ping(marks[-1].actor)}{' on the review card' if early else ''}."
    written = scene.snapshot.revised(scene.run.revision)
    by = f", as {ping(written.author)} edited it" if written is not None and is_person(written.author) else ""
    return f"Breakpoint of the plan{by}."


def for_confirmation(scene: Scene, offers: frozenset[str]) -> Card:
    """A step asks once more with its real values; the confirm card does the asking."""
    step = held_step(scene)
    if step is None:
        return by_person(scene, offers)
    where = words.card_link(scene, "confirm", "Confirm card ↓")
    until = (
        f", until {date(scene.run.deadline, now=scene.now)}. If nobody answers, the step expires and the run stops here"
        if scene.run.deadline
        else ""
    )
    says = f"Step {step.number} has its real values now. {where} in this thread, for {scene.approvers_plain}{until}."
    return card(
        scene,
        f"{words.WAITS} Waits for confirmation · step {step.number} of {len(scene.plan.steps)}",
        fallback(f"Waits for confirmation: {scene.run.id} step {step.number}", escape(words.does(scene, step))),
        [blocks.section(says), step_lines.step_lines(scene)],
        [stop(scene)],
    )


def step_failed(scene: Scene, offers: frozenset[str]) -> Card:
    """A step failed; what a retry repeats and what a skip drops."""
    step = held_step(scene)
    if step is None:
        return by_person(scene, offers)
    state = words.state_of(scene, step)
    tried = {1: "once", 2: "twice"}.get(state.attempt, f"{state.attempt} times") if state.attempt else "never called"
    what = f" — failed, {'tried ' if state.attempt else ''}{tried}"
    problem = blocks.rich(
        blocks.line(blocks.said("! "), blocks.strong(words.numbered(scene, step)), blocks.said(what)),
        blocks.box(boxed(state.error or "The tool gave no reason.", LONGEST_ERROR)),
        blocks.line(blocks.said(f"{_retry_words(scene, step)} {_skip_words(scene, step)}")),
    )
    return card(
        scene,
        f"{words.WAITS} Step {step.number} failed · {step_lines.done_of(scene)}",
        fallback(
            f"Step failed: {scene.run.id} step {step.number}",
            escape(words.does(scene, step)),
            moves(offers, "Retry", "Skip", "Change the rest"),
        ),
        [problem, step_lines.step_lines(scene)],
        [
            press(scene, ids.RUN_RETRY, step=step, primary=True),
            press(scene, ids.RUN_SKIP, step=step),
            change_rest(scene, offers),
            stop(scene),
        ],
        blocks.context(f"Retry, Skip: {words.who_decides(scene)}", "Stop: anyone here"),
    )


def _retry_words(scene: Scene, step: Step) -> str:
    spec = scene.catalogue.get(step.tool)
    if receipts.only_reads(scene, step):
        return "It only reads, so trying again repeats nothing."
    if spec is not None and spec.idempotent:
        return "Doing it again with the same values does no harm."
    if not words.state_of(scene, step).attempt:
        return "The tool was not called, so trying again repeats nothing."
    return "It has an effect: if part of it happened before it failed, Retry may do that part twice. Look at the target first."


def _skip_words(scene: Scene, step: Step) -> str:
    lost = step_lines.dropped_with(scene, step.id)
    if not lost:
        return "Nothing else needs its result."
    numbers = ranges([other.number for other in lost], final=" and ")
    one = len(lost) == 1
    return f"Skip drops {'step' if one else 'steps'} {numbers} too, since {'it needs' if one else 'they need'} this result."


def in_doubt(scene: Scene, offers: frozenset[str]) -> Card:
    """A step with an effect had started, and nobody knows how it ended. It is never repeated blindly."""
    step = held_step(scene)
    if step is None:
        return by_person(scene, offers)
    state = words.state_of(scene, step)
    asked = scene.catalogue.get(step.tool)
    told = "The tool was asked and could not tell." if asked is not None and asked.verifies else "The tool cannot tell."
    when = [blocks.said("Started "), date_element(state.started_at), blocks.said(". ")] if state.started_at else []
    body = blocks.rich(
        blocks.line(
            blocks.said("? "),
            blocks.strong(words.numbered(scene, step)),
            blocks.said(" — it had started when Pullcord went down, and there is no record of its end."),
        ),
        *arguments.arguments(scene, step, values=state.args).elements,
        blocks.line(*when, blocks.said(f"{told} It is not repeated by itself.")),
        blocks.line(blocks.strong("Look at the target first: "), blocks.said("did it happen? Then say what you saw.")),
    )
    again = " and asks for confirmation again" if words.grade_of(scene, step).confirms else ""
    return card(
        scene,
        f"{words.WAITS} In doubt · did step {step.number} happen?",
        fallback(f"In doubt: {scene.run.id} step {step.number}", escape(words.does(scene, step)), "Did it happen?"),
        [body, step_lines.step_lines(scene)],
        [press(scene, ids.RUN_HAPPENED, step=step), press(scene, ids.RUN_NOT_HAPPENED, step=step), stop(scene)],
        blocks.context(
            "It happened: the run goes on, your note is kept as the result", f"It did not happen: step {step.number} runs{again}"
        ),
    )


def frozen(scene: Scene, offers: frozenset[str]) -> Card:  # noqa: ARG001 — drawn like its neighbours
    """An admin holds everything: who, why, and how it ends."""
    return card(
        scene,
        f"{words.STANDS} Frozen · everything is held",
        f"Frozen: {scene.run.id} · everything in Pullcord is held by an admin",
        [blocks.rich(*freeze.lines(scene), freeze.how_it_ends(scene)), step_lines.step_lines(scene)],
        [stop(scene)],
    )


def shutdown(scene: Scene) -> Card:
    """Pullcord itself restarts. Nothing can be pressed, since nobody is there to hear it."""
    entry = record.last(scene.snapshot, Event.HELD)
    when = f", {date(entry.at, now=scene.now)}" if entry and entry.data.get("reason") == Hold.SHUTDOWN else ""
    left = len(step_lines.running_steps(scene))
    ends = f" {count(left, 'step')} still {'runs and has' if left == 1 else 'run and have'} a few seconds to end." if left else ""
    stored = "Finished steps are stored; nothing starts until it is back. The buttons come back with it."
    says = f"Pullcord is being restarted{when}.{ends} {stored}"
    return card(
        scene,
        f"{words.STANDS} Restarting · goes on by itself",
        f"Restarting: {scene.run.id} · Pullcord is being restarted and goes on by itself",
        [blocks.section(says), step_lines.step_lines(scene)],
        [],
    )


def _found(scene: Scene, step: Step) -> list[Block]:
    """What the steps before this one returned, behind the bar: those that it needs, else those that finished last."""
    lines: list[Element] = []
    for state in _told(scene, step):
        if state.observation:
            source = f"{state.number} · {state.id}{', from outside' if state.observation.untrusted else ''}:"
            lines += [blocks.line(blocks.said(source)), blocks.quote(blocks.said(finding(state.observation)))]
    return [blocks.rich(blocks.line(blocks.strong("Found so far")), *lines)] if lines else []


def _told(scene: Scene, step: Step) -> list[StepState]:
    """At most three finished steps whose results the next step is decided by."""
    done = [state for state in scene.snapshot.steps if state.status is StepStatus.SUCCEEDED and state.observation]
    needed = [state for state in done if state.id in step.needs]
    lately = sorted((state for state in done if state.finished_at), key=lambda state: (state.finished_at, state.number))
    return (needed or lately)[-3:]


def finding(observation: Observation, limit: int = LONGEST_FINDING) -> str:
    """What a step returned as people read it, cut, and said so."""
    return boxed(findings.finding(observation.value).strip() or "nothing", limit)


def boxed(text: str, limit: int) -> str:
    """Several lines of somebody else's text, cut with the numbers that say so."""
    seen = arguments.readable(text)
    kept = cut(seen, limit)
    return seen if kept == seen else f"{kept}\n(the first {len(kept) - 1:,} of {len(seen):,} characters)"
