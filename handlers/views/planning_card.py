"""The run card before there is a plan: planning, the second round, a question, and the three ways in which planning ends without one.

Whatever ends here ran nothing, and each card says what to do next. The planner's question is a post of its own, since a redraw notifies
nobody.
"""

from bot.core.drafts import Part, Question
from bot.core.run import Event, Hold, RunStatus
from bot.core.snapshot import Attempt
from handlers.views import blocks, ended_card, ids, record, words
from handlers.views.scene import NO_OFFERS, OFFER_ASK_AGAIN, Block, Card, Element, Scene
from handlers.views.text import count, date, fallback, inline, listed, one_line, outside, ping, plain

LETTERS = "ABCDEFGH"
MOST_FAULTS = 8
ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth"}


def planning_card(scene: Scene) -> Card:
    """The planner works, or one question waits for the requester."""
    attempts = scene.snapshot.attempts
    if scene.run.reason is Hold.QUESTION:
        return _waits_for_answer(scene)
    if attempts and attempts[-1].faults:
        return second_round(scene, attempts[-1])
    return _card(
        scene,
        f"{words.WORKS} Planning",
        fallback(
            f"Planning: {scene.run.id}", words.goal_in_text(scene), "nothing runs until the plan is graded and, if it needs it, approved"
        ),
        blocks.line(blocks.said("Working out the steps. Nothing runs yet: the plan comes here first.")),
    )


def second_round(scene: Scene, first: Attempt) -> Card:
    """The first plan had faults and was given back with them."""
    return _card(
        scene,
        f"{words.WORKS} Planning, second and last round",
        f"Planning, second round: {scene.run.id}. The first plan had {count(len(first.faults), 'fault')} and was given back.",
        blocks.line(blocks.said("The first plan was given back with these faults:")),
        _faults(first.faults),
        blocks.line(blocks.said("If the second plan has faults too, the run ends here and both answers are kept.")),
    )


def _waits_for_answer(scene: Scene) -> Card:
    return _card(
        scene,
        f"{words.WAITS} One question first",
        f"One question first: {scene.run.id}. Nothing runs until it is answered.",
        blocks.line(
            blocks.said("The planner needs to know one thing; the question stands in this thread. Nothing runs before it is answered.")
        ),
    )


def _card(scene: Scene, header: str, text: str, *lines: Element) -> Card:
    made = [
        blocks.header(header),
        words.goal(scene),
        words.id_line(scene, date(scene.run.created_at, now=scene.now), _cut_note(scene)),
        blocks.rich(*lines),
        *blocks.actions(f"run:{scene.run.id}.{scene.run.version}", blocks.button(ids.RUN_CANCEL, scene.run.id, about=scene.run.id)),
    ]
    return Card(text, made)


def _cut_note(scene: Scene) -> str:
    """Said when the ask is longer than the goal line."""
    whole, shown = len(scene.run.ask), len(words.goal_of(scene).removesuffix("…"))
    return f"the ask is cut: {shown:,} of {whole:,} characters" if words.goal_of(scene).endswith("…") and whole > shown else ""


def question_card(scene: Scene) -> Card:
    """The post that asks the requester, or what became of it. Choices are letters, so that no planner's words become a button."""
    asked = [attempt.question for attempt in scene.snapshot.attempts if attempt.question]
    number = len(asked)
    question = asked[-1] if asked else Question(says="What exactly is meant?")
    if scene.run.reason is not Hold.QUESTION:
        return _answered(scene, question)
    choices = question.choices[: len(LETTERS)]
    lines = [
        blocks.line(blocks.strong(f"{LETTERS[place]}  "), blocks.planned(outside(choice, 150))) for place, choice in enumerate(choices)
    ]
    until = f" · planning waits until {date(scene.run.deadline, now=scene.now)}, then it ends" if scene.run.deadline else ""
    made: list[Block] = [
        blocks.header(f"{words.WAITS} One question first"),
        blocks.rich(
            blocks.line(blocks.person(scene.run.requester), blocks.said(" the planner asks:")),
            blocks.quote(blocks.said(outside(question.says, 600))),
            *lines,
        ),
        blocks.context(f"{scene.run.id} · nothing runs before it is answered{until}"),
        *blocks.actions(
            f"question:{scene.run.id}.{scene.run.version}",
            *(_choice(scene, number, place) for place in range(len(choices))),
            blocks.button(ids.RUN_CANCEL, scene.run.id, about=scene.run.id),
        ),
        blocks.context("Or reply in this thread in your own words." if choices else "Reply in this thread in your own words."),
    ]
    press = "Reply here or press a choice." if choices else "Reply here."
    asks = plain(question.says, 120)
    return Card(f"{ping(scene.run.requester)} {scene.run.id} has one question: {asks} {press} Nothing runs until then.", made)


def _choice(scene: Scene, question: int, place: int) -> Element:
    value = ids.encode_choice(scene.run.id, question, place + 1)
    return blocks.button(
        f"{ids.QUESTION_CHOOSE}.{place + 1}", value, label=LETTERS[place], about=f"the {ORDINALS[place + 1]} choice, {scene.run.id}"
    )


def _answered(scene: Scene, question: Question) -> Card:
    entry = record.last(scene.snapshot, Event.QUESTION_ANSWERED)
    said = str(entry.data.get("answer", "")) if entry else ""
    lines = [blocks.line(blocks.said("The planner asked:")), blocks.quote(blocks.said(outside(question.says, 600)))]
    lines += [blocks.line(blocks.said("The answer:")), blocks.quote(blocks.said(outside(said, 600)))] if said else []
    state = f"{words.YES} Answered" if entry else f"{words.CLOSED} Not needed any more"
    made = [blocks.header(state), blocks.rich(*lines), blocks.context(f"{scene.run.id} · this card asks nothing any more")]
    return Card(f"{state.split(' ', 1)[1]}: the question of {scene.run.id}.", made)


def planning_ended(scene: Scene, *, offers: frozenset[str] = NO_OFFERS) -> Card:
    """Planning is over without a plan that may run."""
    if scene.run.status is RunStatus.REFUSED:
        return refused(scene)
    if scene.run.status is not RunStatus.FAILED:
        return ended_card.closed_before_running(scene, offers=offers)
    last = scene.snapshot.attempts[-1] if scene.snapshot.attempts else None
    if last and any(_is_missed(part) for part in last.parts):
        return not_understood(scene, last)
    return failed(scene, last, offers)


def failed(scene: Scene, last: Attempt | None, offers: frozenset[str] = NO_OFFERS) -> Card:
    """No valid plan in the rounds there are."""
    rounds = {0: "Planning", 1: "One round", 2: "Two rounds"}.get(len(scene.snapshot.attempts), f"{len(scene.snapshot.attempts)} rounds")
    plan = scene.command("plan")
    if last is not None and last.planner == "offline":
        return _own_faults(scene, last)
    lines = [
        blocks.line(blocks.said(f"{rounds} gave no plan that passes the checks.{' The last faults:' if last and last.faults else ''}"))
    ]
    lines += [_faults(last.faults)] if last and last.faults else []
    lines.append(
        blocks.line(
            blocks.strong("Next: "),
            blocks.said("say it in smaller words, or write the steps yourself with "),
            blocks.literal(plan),
            blocks.said(" in plain notation. Every answer of the planner is kept: "),
            blocks.literal(f"pullcord show {scene.run.id} --attempts"),
        )
    )
    again = blocks.button(ids.RUN_ASK_AGAIN, scene.run.id, about=scene.run.id) if OFFER_ASK_AGAIN in offers else None
    text = f"No plan: {scene.run.id}. {rounds} gave no plan that passes the checks. Nothing ran."
    return _ended(scene, f"{words.WRONG} No plan found", text, lines, "nothing ran", again=again)


def _own_faults(scene: Scene, last: Attempt) -> Card:
    """Without a model the steps are the requester's own: they can be corrected, and asked again as they are they would fail again."""
    lines = [blocks.line(blocks.said("These steps do not pass the checks:")), _faults(last.faults)]
    then = [blocks.said("correct them and ask again with "), blocks.literal(scene.command("plan")), blocks.said(".")]
    lines.append(blocks.line(blocks.strong("Next: "), *then))
    text = f"No plan: {scene.run.id}. The steps do not pass the checks. Nothing ran."
    return _ended(scene, f"{words.WRONG} No plan found", text, lines, "planned without a model", "nothing ran")


def not_understood(scene: Scene, last: Attempt) -> Card:
    """Without a model: which parts of the ask were understood, and what is closest to the others."""
    missed = sum(_is_missed(part) for part in last.parts)
    known = "These parts were understood, this one was not:" if missed == 1 else f"Of these parts {missed} were not understood:"
    lines = [blocks.line(blocks.said(known if missed < len(last.parts) else "This was not understood:"))]
    lines.append(blocks.bullets([_part(part) for part in last.parts[:20]]))
    if last.suggestion:
        lines.append(blocks.line(blocks.strong("Next: "), blocks.said("try "), blocks.literal(one_line(last.suggestion, 300))))
    else:
        lines.append(
            blocks.line(blocks.strong("Next: "), blocks.literal(f"{scene.command('cord')} help"), blocks.said(" shows what can be asked."))
        )
    one = missed == 1
    text = f"Not understood: {scene.run.id}. {count(missed, 'part')} of the ask {'was' if one else 'were'} not understood; nothing ran."
    return _ended(scene, f"{words.WRONG} Not understood", text, lines, "planned without a model", "nothing ran")


def _is_missed(part: Part) -> bool:
    """Not understood, or understood up to something that was not said."""
    return not part.understood or bool(part.note)


def _part(part: Part) -> list[Element]:
    note = [blocks.said(f" ({one_line(part.note, 100)})")] if part.note else []
    if part.understood:
        return [blocks.said("? " if part.note else "✓ "), blocks.literal(one_line(part.notation or part.words, 200)), *note]
    tools: list[Element] = []
    for place, tool in enumerate(part.closest[:3]):
        first = " — the closest tools are " if len(part.closest) > 1 else " — the closest tool is "
        tools += [blocks.said(" and " if place else first), blocks.literal(one_line(tool, 60))]
    return [blocks.said("? "), blocks.literal(one_line(part.words, 200)), *tools, *note]


def refused(scene: Scene) -> Card:
    """Policy does not allow the plan, and nobody can approve it."""
    entry = record.last(scene.snapshot, Event.PLAN_REFUSED)
    said = entry.data.get("faults") if entry else None
    faults = [words.fault_line(str(fault)) for fault in said] if isinstance(said, list | tuple) else []
    faults = faults or [fault for attempt in scene.snapshot.attempts[-1:] for fault in attempt.faults]
    tools = list(dict.fromkeys(step.tool for step in scene.plan.steps if words.grade_of(scene, step).mode == "deny"))
    named = listed(inline(tool) for tool in tools[:3])
    lines = [blocks.line(blocks.said("The plan needs what this workspace's policy does not allow. Nobody can approve it."))]
    lines += [_faults(tuple(faults))] if faults else []
    lines.append(blocks.line(blocks.strong("Next: "), blocks.said("ask for it in another way, or ask an admin to change the policy.")))
    text = f"Refused by policy: {scene.run.id}.{f' {named} is not allowed here.' if tools else ''} Nothing ran."
    return _ended(scene, f"{words.WRONG} Refused by policy", text, lines, "nothing ran")


def _ended(scene: Scene, header: str, text: str, lines: list[Element], *more: str, again: Element | None = None) -> Card:
    made = [
        blocks.header(header),
        words.goal(scene),
        words.id_line(scene, *more, _cut_note(scene)),
        blocks.rich(*lines),
        *blocks.actions(f"run:{scene.run.id}.{scene.run.version}", again),
    ]
    return Card(text, made)


def _faults(faults: tuple[str, ...]) -> Element:
    shown = [[blocks.said(words.fault_line(fault))] for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        shown.append([blocks.said(f"and {count(len(faults) - MOST_FAULTS, 'more fault')}")])
    return blocks.bullets(shown)
