"""Cards of a run that the policy's limits hold: so many steps and nobody looked, a budget that is used up, a key that another run has.

The first two wait for people and say what Continue would allow, once more or for good; the third waits for nobody here and says for whom.
"""

from collections.abc import Mapping
from typing import Any

from bot.core.plan import Step
from bot.core.run import Event, Hold, StepStatus
from bot.core.snapshot import LockWait
from handlers.views import blocks, ids, receipts, step_lines, words
from handlers.views.scene import OFFER_SHOW_STEPS, Block, Card, Element, Scene
from handlers.views.standing import card, change_rest, held_step, moves, press, stop
from handlers.views.text import count, duration, escape, fallback, in_words, joined, link, outside

MOST_NAMED = 5
KINDS = {"tokens": "Tokens", "time": "Time", "steps": "Starts of steps", "money": "Money"}
UNITS = {"tokens": "token", "steps": "start"}  # of those that are counted
LONGEST_KEY = 40


def unattended(scene: Scene, offers: frozenset[str]) -> Card:
    """Enough steps with an effect ran while nobody acted: which, and what they did."""
    ran = _ran(scene)
    limit = int(_held(scene, Hold.UNATTENDED).get("limit") or len(ran))
    says = (
        f"The policy holds a run after {count(limit, 'step')} in a row that change something while nobody acts "
        f"(`limits.unattended: {limit}`). Nothing is running."
    )
    named = ran[-MOST_NAMED:]
    title = f"The last {in_words(len(named))}" if len(named) > 1 else "The last one"
    seen = [blocks.rich(blocks.line(blocks.strong(title)), blocks.bullets([_done(scene, step) for step in named]))] if named else []
    long = OFFER_SHOW_STEPS in offers and len(scene.plan.steps) > step_lines.MOST_LINES
    show_all = blocks.button(ids.RUN_SHOW_ALL, scene.run.id, about=scene.run.id) if long else None
    return card(
        scene,
        f"{words.WAITS} Waits · {count(len(ran), 'step')} ran without a person",
        f"Waits: {scene.run.id} · {count(len(ran), 'step')} with an effect ran without a person · {moves(offers, 'Continue')}",
        [blocks.section(says), *seen, step_lines.step_lines(scene)],
        [press(scene, ids.RUN_CONTINUE, step=held_step(scene), primary=True), change_rest(scene, offers), stop(scene), show_all],
        blocks.context(f"Continue allows the next {limit}: {words.who_decides(scene)}", "Stop: anyone here"),
    )


def _held(scene: Scene, reason: Hold) -> Mapping[str, Any]:
    """What the record says of the hold at which the run stands."""
    found = [entry.data for entry in scene.snapshot.entries if entry.event == Event.HELD and entry.data.get("reason") == reason]
    return found[-1] if found else {}


def _ran(scene: Scene) -> list[Step]:
    """The steps that ran since somebody acted, those that are not in the plan any more too."""
    known = {step.id: step for step in receipts.accounted(scene)}
    return [known[name] for name in _held(scene, Hold.UNATTENDED).get("ran", ()) if name in known]


def _done(scene: Scene, step: Step) -> list[Element]:
    came = receipts.came_back(words.state_of(scene, step))
    return [blocks.said(f"{words.numbered(scene, step, done=True)}{f': {outside(came, 100)}' if came else ''}")]


def over_budget(scene: Scene, offers: frozenset[str]) -> Card:
    """One of the four is used up: all four, what more would be granted, and what is left to do."""
    data = _held(scene, Hold.BUDGET)
    kind, spent, bounds = str(data.get("kind") or "steps"), data.get("spent") or {}, data.get("bounds") or {}
    more = bool(data.get("more", True))
    step = held_step(scene)
    facts = [f"*{label}*\n{_of(name, spent, bounds)}" for name, label in KINDS.items() if spent.get(name) or bounds.get(name)]
    used = f"{_of(kind, spent, bounds)}{f' {UNITS[kind]}s' if kind in UNITS else ''}"
    lines = step_lines.step_lines(scene, held={} if more or step is None else {step.id: "not within the budget"})
    go_on = press(scene, ids.RUN_CONTINUE, step=step, primary=True) if more else None
    return card(
        scene,
        f"{words.WAITS} Budget used up · {kind}",
        f"Budget used up: {scene.run.id} · {used} · {moves(offers, *(['Continue'] if more else []), 'Change the rest')}",
        [*([blocks.fields(*facts)] if facts else []), blocks.section(_what_then(scene, kind, bounds, offers, more=more)), lines],
        [go_on, change_rest(scene, offers), stop(scene)],
        blocks.context(*([f"Continue: {scene.approvers_plain}"] if more else []), "Stop: anyone here"),
    )


def _what_then(scene: Scene, kind: str, bounds: Mapping[str, Any], offers: frozenset[str], *, more: bool) -> str:
    open_now = sum(words.state_of(scene, step).status is StepStatus.PENDING for step in scene.plan.steps)
    left = f"{count(open_now, 'step')} {'is' if open_now == 1 else 'are'} left"
    if more:
        part = float(bounds.get(kind) or 0) / 4
        quarter = count(int(part), UNITS[kind]) if kind in UNITS else _amount(kind, part)
        return f"Nothing is running. *Continue* grants another {quarter}, once ({scene.approvers_plain}). {left}."
    ways = "*Change the rest* can leave out what is left, *Stop* ends it" if change_rest(scene, offers) else "*Stop* ends it"
    return f"Nothing is running. More was granted before, and it is granted once: {ways}. {left}."


def _of(kind: str, spent: Mapping[str, Any], bounds: Mapping[str, Any]) -> str:
    used = _amount(kind, float(spent.get(kind) or 0))
    return f"{used} of {_amount(kind, float(bounds[kind]))}" if bounds.get(kind) is not None else used


def _amount(kind: str, value: float) -> str:
    """`200,000`, `14 min`, `$1.10`."""
    if kind == "time":
        hours, minutes = divmod(round(value / 60), 60)
        return joined(f"{hours} h", f"{minutes} min" if minutes else "", by=" ") if hours else duration(value)
    if kind == "money":
        return f"${value:,.0f}" if value >= 1 and value == int(value) else f"${value:,.2f}"
    return f"{int(value):,}"


def waiting_for_key(scene: Scene, foot: list[Block]) -> Card:
    """Nothing of it runs, since another run has what its next step must have for itself."""
    wait = scene.snapshot.lock_waits[0]
    step = next((step for step in scene.plan.steps if step.id == wait.step), None)
    number = f"step {step.number}" if step else "a step"
    made = [
        blocks.header(f"{words.WORKS} Waiting · {key_of(wait)} is taken"),
        words.goal(scene),
        words.id_line(scene, words.approved_by(scene)),
        step_lines.step_lines(scene),
        blocks.context(_who_holds(scene, wait)),
        *foot,
    ]
    return Card(fallback(f"Waiting: {scene.run.id}", f"{number} waits for {wait.holder} to release {escape(key_of(wait))}."), made)


def key_of(wait: LockWait) -> str:
    """The key as it stands within a line of ours."""
    return outside(wait.key, LONGEST_KEY)


def _who_holds(scene: Scene, wait: LockWait) -> str:
    since = f" and has run for {duration((scene.now - wait.since).total_seconds())}" if wait.since else ""
    where = f": {link(scene.links['holder'], 'its card')}" if "holder" in scene.links else ""
    who = words.profile(scene, wait.requester)
    return f"{wait.holder} was asked by {who}{since}{where}. The lock is released when it ends, however it ends."
