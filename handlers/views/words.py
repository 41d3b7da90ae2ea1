"""The words and lines that every card of a run has in common: state, goal, id, risk, people, steps.

A step is named by code (`does`), from its tool and its real target; what the planner says of it is never the name. A person is named by a
link to the profile, which notifies nobody; cards that want somebody's attention use `text.ping`.
"""

from bot.core.characters import cut
from bot.core.completeness import shown
from bot.core.drafts import Fault
from bot.core.judging import as_held
from bot.core.plan import Plan, Step
from bot.core.risk import Grade, Level, Mode, highest
from bot.core.snapshot import StepState
from bot.core.wording import sentence
from handlers.views import blocks
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import FSI, PDI, count, date, escape, is_person, isolate, joined, link, one_line, plain

WORKS, WAITS, RUNS, STANDS, YES, CLOSED, WRONG = "⏳", "✋", "▶️", "⏸️", "✅", "⏹️", "⚠️"
RISK = {Level.HIGH: "🔺 High risk", Level.MEDIUM: "🔶 Medium risk", Level.LOW: "⚪ Low risk"}
LONGEST_SENTENCE = 110
LONGEST_GOAL = 230


def goal_of(scene: Scene) -> str:
    """What the run is for, on one line: the plan's goal, before there is one the words of the requester."""
    return one_line(scene.snapshot.plan.goal if scene.snapshot.plan else scene.run.ask, LONGEST_GOAL) or "no goal is named"


def goal(scene: Scene) -> Block:
    """The second line of every card."""
    return blocks.rich(blocks.line(blocks.aim(goal_of(scene))))


def goal_in_text(scene: Scene) -> str:
    """The goal inside the `text` of a message."""
    return escape(isolate(cut(goal_of(scene), 120)))


def name_of(scene: Scene, user: str) -> str:
    """What a person is called, inside mrkdwn."""
    return plain(scene.names.get(user, ""), 60) or plain(user, 60)


def profile(scene: Scene, user: str) -> str:
    """A person as a link that pings nobody; the clock and the bot itself by name."""
    if not is_person(user):
        return plain(user, 40)
    return link(f"{scene.team_url.rstrip('/')}/team/{user}", name_of(scene, user))


def card_link(scene: Scene, kind: str, label: str) -> str:
    """A link to a card of this run if it is posted, else the label alone."""
    return link(scene.links[kind], label) if scene.links.get(kind) else label


def grade_of(scene: Scene, step: Step) -> Grade:
    """The step's grade. One without a grade is shown as what it would be in the worst case."""
    found = scene.snapshot.grades.get(step.id)
    return found or Grade(step=step.id, level=Level.HIGH, mode=Mode.CONFIRM, reasons=("it has not been graded",), confirms=True)


def grade_with_values(scene: Scene, step: Step) -> Grade:
    """The grade of a step that waits for confirmation: as its real values made it, by its newest card."""
    found = grade_of(scene, step)
    cards = [post.data for post in scene.snapshot.posts if post.card == "confirm" and post.data.get("step") == step.id]
    return as_held(found, cards[-1]) if cards and cards[-1].get("revision") == scene.run.revision else found


def level_of(scene: Scene) -> Level:
    """The plan's risk."""
    return scene.run.risk or highest([grade_of(scene, step).level for step in scene.plan.steps])


def risk_count(scene: Scene) -> str:
    """`🔺 High risk: 1 of 12`."""
    level = level_of(scene)
    return f"{RISK[level]}: {_at(scene, level)} of {len(scene.plan.steps)}"


def risk_in_text(scene: Scene) -> str:
    """`High risk, 1 of 12 steps`."""
    level = level_of(scene)
    return f"{level.value.capitalize()} risk, {_at(scene, level)} of {count(len(scene.plan.steps), 'step')}"


def _at(scene: Scene, level: Level) -> int:
    return sum(grade_of(scene, step).level is level for step in scene.plan.steps)


def step_counts(scene: Scene) -> str:
    """`12 steps: 1 high, 2 medium, 9 low`, or `3 steps, all low risk`."""
    total = count(len(scene.plan.steps), "step")
    by_level = {level: _at(scene, level) for level in (Level.HIGH, Level.MEDIUM, Level.LOW)}
    if by_level[Level.LOW] == len(scene.plan.steps):
        return f"{total}, all low risk"
    return f"{total}: " + ", ".join(f"{number} {level.value}" for level, number in by_level.items() if number)


def does(scene: Scene, step: Step, *, done: bool = False) -> str:
    """Code's sentence for a step: `Reads app/config.toml`, or `Read app/config.toml` once it is done. For rich text."""
    spec = scene.catalogue.get(step.tool)
    words = sentence(step, spec, done=done) if spec else f"{'Called' if done else 'Calls'} {one_line(step.tool, 60)}"
    kept = cut(words, LONGEST_SENTENCE)
    return kept + PDI if kept.count(FSI) > kept.count(PDI) else kept


def numbered(scene: Scene, step: Step, *, done: bool = False) -> str:
    """`4 · Sends a message to #ops`."""
    return f"{step.number} · {does(scene, step, done=done)}"


def lowered(words: str) -> str:
    """A sentence of code's inside another one."""
    return words[:1].lower() + words[1:]


def labelled(plan: Plan, step_id: str) -> str:
    """`3 · brief`: how people name a step of this plan."""
    return f"{plan.step(step_id).number} · {step_id}"


def asked_by(scene: Scene) -> str:
    """`asked by requester`, linked."""
    return f"asked by {profile(scene, scene.run.requester)}"


def id_line(scene: Scene, *more: str, requester: bool = True) -> Block:
    """The muted line with the id that people can say."""
    revision = f"revision {scene.run.revision}" if scene.run.revision else ""
    return blocks.context(joined(scene.run.id, revision, asked_by(scene) if requester else "", *more))


def approved_by(scene: Scene) -> str:
    """Who said yes to the revision that runs: one with the time, several without."""
    plans = [one for one in scene.snapshot.approvals if one.kind == "plan"]
    given = [one for one in plans if (one.revision, one.digest) == (scene.run.revision, scene.run.digest)]
    if not scene.run.approved:
        return ""
    if not given and plans:  # a later rest that asked nobody stands on what was approved before
        given = [one for one in plans if (one.revision, one.digest) == (plans[-1].revision, plans[-1].digest)]
    if not given:
        return "no approval needed"
    if len(given) == 1:
        return f"approved by {profile(scene, given[0].actor)} {date(given[0].at, now=scene.now)}"
    return "approved by " + " and ".join(profile(scene, one.actor) for one in given)


def about(scene: Scene, step: str | None = None, *, revision: int | None = None) -> str:
    """What a button acts on, for screen readers."""
    number = scene.run.revision if revision is None else revision
    return joined(scene.run.id, f"revision {number}" if number else "", f"step {step}" if step else "", by=", ")


def state_of(scene: Scene, step: Step) -> StepState:
    """The step's row; one that was never touched if there is none."""
    try:
        return scene.snapshot.state(step.id)
    except KeyError:
        return StepState(id=step.id, number=step.number, tool=step.tool)


def options(scene: Scene, action_value: str, steps: list[Step]) -> list[Element]:
    """Lines of the select "Pause before…": one for each step."""
    return [blocks.option(numbered(scene, step), f"{action_value}.{step.id}") for step in steps]


def fault_line(fault: Fault | str) -> str:
    """One fault of a plan, on one line."""
    return one_line(str(fault), 200)


def who_decides(scene: Scene) -> str:
    """Who may let a held run go, without a ping: `@ops-leads or requester`."""
    return f"{scene.approvers_plain} or {profile(scene, scene.run.requester)}"


def reach_words(scene: Scene, value: object) -> str:
    """`41 people` beside a channel whose size is known."""
    number = scene.reach.get(shown(value)) if isinstance(value, str) else None
    return f"  {count(number, 'person', 'people')}" if number is not None else ""
