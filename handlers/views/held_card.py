"""The run card while the run stands: for whom it waits, why, and what each answer would do.

The reason of the hold decides the card, and the card shows exactly the moves that let this hold go. Redraws are silent, so whoever is
needed is pinged by a note of its own (`notes`), never from here.
"""

from collections.abc import Callable

from bot.core import findings
from bot.core.characters import cut
from bot.core.plan import Step
from bot.core.run import Event, Hold
from bot.core.snapshot import Observation
from handlers.views import arguments, blocks, ids, receipts, record, step_lines, words
from handlers.views.scene import NO_OFFERS, OFFER_BREAKPOINT, OFFER_CHANGE_REST, OFFER_REDIRECT, Block, Card, Element, Scene
from handlers.views.text import count, date, date_element, duration, escape, fallback, inline, ping, ranges

LONGEST_FINDING = 500
LONGEST_ERROR = 500
Maker = Callable[[Scene, frozenset[str]], Card]


def held_card(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """The card of a paused run."""
    if scene.run.reason is Hold.SHUTDOWN:
        return shutdown(scene)
    made: Maker = {
        Hold.BREAKPOINT: at_breakpoint,
        Hold.CONFIRM: for_confirmation,
        Hold.STEP_FAILED: step_failed,
        Hold.IN_DOUBT: in_doubt,
        Hold.FREEZE: frozen,
        Hold.UNATTENDED: unattended,
        Hold.BUDGET: over_budget,
    }.get(scene.run.reason or Hold.PERSON, by_person)
    return made(scene, offers)


def by_person(scene: Scene, offers: frozenset[str]) -> Card:
    """Somebody pulled the cord; somebody has to let go."""
    entry = record.last(scene.snapshot, Event.PAUSE_ASKED)
    who = f"By {ping(entry.actor)}, {date(entry.at, now=scene.now)}. " if entry else ""
    says = f"{who}Nothing is running. It stays so until somebody presses *Resume* ({words.who_decides(scene)}) or *Stop* (anyone here)."
    hint = [blocks.context("Reply in this thread to change what is still to come.")] if OFFER_REDIRECT in offers else []
    waiting = [step for step in scene.plan.steps if not words.state_of(scene, step).started_at]
    value = ids.encode(scene.run.id, scene.run.revision)
    menu = blocks.select(ids.RUN_BREAKPOINT, "Pause before…", words.options(scene, value, waiting)) if OFFER_BREAKPOINT in offers else None
    return _card(
        scene,
        f"{words.STANDS} Paused · {step_lines.done_of(scene)}",
        f"Paused: {scene.run.id} by a person · {step_lines.done_of(scene)} · Resume or Stop",
        [blocks.section(says), step_lines.step_lines(scene), *hint],
        [_press(scene, ids.RUN_RESUME, primary=True), _stop(scene), menu],
    )


def at_breakpoint(scene: Scene, offers: frozenset[str]) -> Card:
    """A mark set in advance: what was found so far, and what comes next with its arguments."""
    step = _held(scene)
    if step is None:
        return by_person(scene, offers)
    entry = next(
        (one for one in reversed(scene.snapshot.entries) if one.event == Event.BREAKPOINT_SET and one.data.get("step") == step.id), None
    )
    by = f"Breakpoint set by {ping(entry.actor)}." if entry else "Breakpoint of the plan."
    body = [blocks.section(f"{by} Nothing is running."), *_found(scene, step), step_lines.step_lines(scene, fold=True)]
    given = arguments.arguments(scene, step)
    if given.elements:
        body.append(blocks.rich(*given.elements))
    return _card(
        scene,
        f"{words.WAITS} Waits before step {step.number} · {step_lines.done_of(scene)}",
        fallback(f"Waits at a breakpoint: {scene.run.id} before step {step.number}", escape(words.does(scene, step)), "Continue or Stop"),
        body,
        [_press(scene, ids.RUN_CONTINUE, step=step, primary=True), _change_rest(scene, offers), _stop(scene)],
        blocks.context(f"Continue: {words.who_decides(scene)}", "Stop: anyone here"),
    )


def for_confirmation(scene: Scene, offers: frozenset[str]) -> Card:
    """A step asks once more with its real values; the confirm card does the asking."""
    step = _held(scene)
    if step is None:
        return by_person(scene, offers)
    where = words.card_link(scene, "confirm", "Confirm card ↓")
    until = (
        f", until {date(scene.run.deadline, now=scene.now)}. If nobody answers, the step expires and the run stops here"
        if scene.run.deadline
        else ""
    )
    says = f"Step {step.number} has its real values now. {where} in this thread, for {scene.approvers_plain}{until}."
    return _card(
        scene,
        f"{words.WAITS} Waits for confirmation · step {step.number} of {len(scene.plan.steps)}",
        fallback(f"Waits for confirmation: {scene.run.id} step {step.number}", escape(words.does(scene, step))),
        [blocks.section(says), step_lines.step_lines(scene)],
        [_stop(scene)],
    )


def step_failed(scene: Scene, offers: frozenset[str]) -> Card:
    """A step failed; what a retry repeats and what a skip drops."""
    step = _held(scene)
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
    return _card(
        scene,
        f"{words.WAITS} Step {step.number} failed · {step_lines.done_of(scene)}",
        fallback(f"Step failed: {scene.run.id} step {step.number}", escape(words.does(scene, step)), "Retry, Skip or Stop"),
        [problem, step_lines.step_lines(scene)],
        [
            _press(scene, ids.RUN_RETRY, step=step, primary=True),
            _press(scene, ids.RUN_SKIP, step=step),
            _change_rest(scene, offers),
            _stop(scene),
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
    step = _held(scene)
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
    return _card(
        scene,
        f"{words.WAITS} In doubt · did step {step.number} happen?",
        fallback(f"In doubt: {scene.run.id} step {step.number}", escape(words.does(scene, step)), "Did it happen?"),
        [body, step_lines.step_lines(scene)],
        [_press(scene, ids.RUN_HAPPENED, step=step), _press(scene, ids.RUN_NOT_HAPPENED, step=step), _stop(scene)],
        blocks.context(
            "It happened: the run goes on, your note is kept as the result", f"It did not happen: step {step.number} runs{again}"
        ),
    )


def frozen(scene: Scene, offers: frozenset[str]) -> Card:  # noqa: ARG001 — drawn like its neighbours
    """An admin holds everything."""
    thaw = inline(f"{scene.command('cord')} thaw")
    says = f"No run starts and no step starts. It goes on by itself after {thaw} (admins). Stop still works."
    return _card(
        scene,
        f"{words.STANDS} Frozen · everything is held",
        f"Frozen: {scene.run.id} · everything in Pullcord is held by an admin",
        [blocks.section(says), step_lines.step_lines(scene)],
        [_stop(scene)],
    )


def shutdown(scene: Scene) -> Card:
    """Pullcord itself restarts. Nothing can be pressed, since nobody is there to hear it."""
    says = "Pullcord is being restarted. Finished steps are stored; nothing runs until it is back. The buttons come back with it."
    return _card(
        scene,
        f"{words.STANDS} Restarting · goes on by itself",
        f"Restarting: {scene.run.id} · Pullcord is being restarted and goes on by itself",
        [blocks.section(says), step_lines.step_lines(scene)],
        [],
    )


def unattended(scene: Scene, offers: frozenset[str]) -> Card:
    """Enough steps with an effect ran while nobody acted."""
    done = receipts.effects(scene)
    says = "The policy holds a run when steps that change something have run in a row while nobody acted. Nothing is running."
    last = [[blocks.said(words.numbered(scene, step, done=True))] for step in done[-3:]]
    seen = [blocks.rich(blocks.line(blocks.strong("The last of them")), blocks.bullets(last))] if last else []
    return _card(
        scene,
        f"{words.WAITS} Waits · {count(len(done), 'step')} ran without a person",
        f"Waits: {scene.run.id} · {count(len(done), 'step')} with an effect ran without a person · Continue or Stop",
        [blocks.section(says), *seen, step_lines.step_lines(scene)],
        [_press(scene, ids.RUN_CONTINUE, step=_held(scene), primary=True), _change_rest(scene, offers), _stop(scene)],
        blocks.context(f"Continue: {words.who_decides(scene)}", "Stop: anyone here"),
    )


def over_budget(scene: Scene, offers: frozenset[str]) -> Card:
    """A limit of the policy is reached."""
    began = record.started_at(scene.snapshot)
    spent = duration((scene.now - began).total_seconds()) if began else "none"
    used = record.tokens(scene.snapshot)
    facts = blocks.fields(f"*Time*\n{spent}", f"*Steps*\n{step_lines.done_of(scene)}", f"*Tokens*\n{used:,}")
    return _card(
        scene,
        f"{words.WAITS} Budget used up",
        f"Budget used up: {scene.run.id} · {step_lines.done_of(scene)} · Continue or Stop",
        [facts, blocks.section("Nothing is running. *Continue* grants more, once."), step_lines.step_lines(scene)],
        [_press(scene, ids.RUN_CONTINUE, step=_held(scene), primary=True), _change_rest(scene, offers), _stop(scene)],
        blocks.context(f"Continue: {words.who_decides(scene)}", "Stop: anyone here"),
    )


def _card(scene: Scene, header: str, text: str, body: list[Block], pressed: list[Element | None], foot: Block | None = None) -> Card:
    made = [
        blocks.header(header),
        words.goal(scene),
        words.id_line(scene, words.approved_by(scene)),
        *body,
        *blocks.actions(f"run:{scene.run.id}.{scene.run.version}", *pressed),
        *([foot] if foot else []),
    ]
    return Card(text, made)


def _press(scene: Scene, action: str, *, step: Step | None = None, primary: bool = False) -> Element:
    tries = str(scene.snapshot.state(step.id).attempt) if step and action in ids.OF_ONE_TRY else None
    value = ids.encode(scene.run.id, scene.run.revision, step.id, tries) if step else scene.run.id
    hears = words.about(scene, step.id) if step else scene.run.id
    return blocks.button(action, value, about=hears, style="primary" if primary else "")


def _stop(scene: Scene) -> Element:
    return blocks.button(ids.RUN_STOP, scene.run.id, about=scene.run.id, style="danger")


def _change_rest(scene: Scene, offers: frozenset[str]) -> Element | None:
    if OFFER_CHANGE_REST not in offers:
        return None
    return blocks.button(ids.RUN_CHANGE_REST, ids.encode(scene.run.id, scene.run.revision), about=words.about(scene))


def _held(scene: Scene) -> Step | None:
    """The step that the hold is about."""
    return next((step for step in scene.plan.steps if step.id == scene.run.held_step), None)


def _found(scene: Scene, step: Step) -> list[Block]:
    """What the steps before this one returned, behind the bar."""
    lines: list[Element] = []
    for name in step.needs[:3]:
        state = next((state for state in scene.snapshot.steps if state.id == name and state.observation), None)
        if state and state.observation:
            source = f"{state.number} · {state.id}{', from outside' if state.observation.untrusted else ''}:"
            lines += [blocks.line(blocks.said(source)), blocks.quote(blocks.said(finding(state.observation)))]
    return [blocks.rich(blocks.line(blocks.strong("Found so far")), *lines)] if lines else []


def finding(observation: Observation, limit: int = LONGEST_FINDING) -> str:
    """What a step returned as people read it, cut, and said so."""
    return boxed(findings.finding(observation.value).strip() or "nothing", limit)


def boxed(text: str, limit: int) -> str:
    """Several lines of somebody else's text, cut with the numbers that say so."""
    seen = arguments.readable(text)
    kept = cut(seen, limit)
    return seen if kept == seen else f"{kept}\n(the first {len(kept) - 1:,} of {len(seen):,} characters)"
