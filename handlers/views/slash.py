"""Private answers to slash commands: what was done, which run is meant, what there is, and how to ask."""

from collections.abc import Mapping, Sequence

from bot.core.characters import cut
from bot.core.run import Run, RunStatus
from bot.core.snapshot import Freeze
from handlers.views import blocks, case, ids, step_lines, words
from handlers.views.scene import Block, Card, Element, Scene
from handlers.views.text import count, date, escape, inline, joined, one_line, outside, plain

Commands = Mapping[str, str]
ACTIONS = {"pause": ids.RUN_PAUSE, "resume": ids.RUN_RESUME, "stop": ids.RUN_STOP}
DONE = {
    "pause": (words.STANDS, "Paused", "Nothing further starts; what runs now finishes."),
    "resume": (words.RUNS, "Resumed", "It goes on."),
    "stop": (words.CLOSED, "Stopped", "Nothing further starts; what runs is being cancelled."),
}
MOST_LISTED = 15


def typed(commands: Commands, name: str, *more: str) -> str:
    """A command as people type it here, as code."""
    return inline(" ".join([commands.get(name, f"/{name}"), *more]), 120)


def plan_taken(run: Run, *, commands: Commands | None = None) -> Card:  # noqa: ARG001 — the same for every workspace
    """`/plan` opened a run."""
    threads = "To start inside a thread, mention Pullcord there; Slack has no slash commands in threads."
    says = f"Taken as *{run.id}*: its card is in this channel. {threads}"
    return Card(f"Taken: {run.id}. Its card is in this channel.", [blocks.section(says)])


def plan_empty(*, commands: Commands) -> Card:
    """`/plan` without an ask explains itself by an example."""
    example = typed(commands, "plan", "read notes/today.md, then summarize it, then post the summary to #ops")
    says = f"*Say what you want after* {typed(commands, 'plan')}, in your own words or one step a line:\n{example}"
    new = blocks.button(ids.HOME_NEW, "new", style="primary")
    text = f"Say what you want: {commands.get('plan', '/plan')} read notes/today.md, then summarize it"
    return Card(escape(text), [blocks.section(says), *blocks.actions("slash.new", new)])


def which(scenes: Sequence[Scene], *, word: str, commands: Commands) -> Card:
    """Several runs could be meant: one line and one button each."""
    made: list[Block] = [blocks.section(f"*{len(scenes)} runs could be meant.* Which one?")]
    for place, scene in enumerate(scenes[:MOST_LISTED], start=1):
        style = "danger" if word == "stop" else ""
        button = blocks.button(ACTIONS.get(word, ids.RUN_PAUSE), scene.run.id, about=scene.run.id, style=style)
        says = joined(scene.run.id, _progress(scene), words.goal_of(scene))
        made.append(blocks.plain_section(cut(says, 200), accessory=button, block_id=f"which:{place}"))
    hidden = len(scenes) - MOST_LISTED
    made.append(blocks.context(f"Or {typed(commands, word, 'all')}.", f"{count(hidden, 'more run')}" if hidden > 0 else ""))
    return Card(f"{len(scenes)} runs could be meant. Which one?", made)


def none(word: str, *, commands: Commands) -> Card:
    """No run that the word could mean."""
    says = f"Nothing to {plain(word, 10)}: no run is live in this channel."
    every = f"{typed(commands, word, 'all')} means every run that you may {plain(word, 10)}"
    then = f"{typed(commands, 'cord', 'runs')} lists those elsewhere; {every}."
    return Card(says, [blocks.section(f"*{says}*\n*Next:* {then}")])


def done(scene: Scene, *, word: str) -> Card:
    """One run was paused, resumed or stopped."""
    symbol, state, says = DONE.get(word, (words.YES, "Done", ""))
    where = words.card_link(scene, "run", "its card")
    return Card(f"{state}: {scene.run.id}.", [blocks.section(f"{symbol} *{state}: {scene.run.id}* ({where}). {says}".strip())])


def all_done(scenes: Sequence[Scene], *, word: str, refused: Sequence[str] = (), commands: Commands) -> Card:
    """Every run that this person may touch was."""
    symbol, state, says = DONE.get(word, (words.YES, "Done", ""))
    names = ", ".join(scene.run.id for scene in scenes[:MOST_LISTED])
    more = f" and {len(scenes) - MOST_LISTED} more" if len(scenes) > MOST_LISTED else ""
    back = f"Let go with {typed(commands, 'resume', 'all')}" if word == "pause" else ""
    others = ", ".join(plain(run, 20) for run in refused[:MOST_LISTED])
    not_yours = f"not yours to {plain(word, 10)}: {others}" if refused else ""
    made: list[Block] = [blocks.section(f"{symbol} *{state}: {count(len(scenes), 'run')}* ({names}{more}). {says}")]
    made += [blocks.context(joined(back, not_yours))] if back or not_yours else []
    return Card(f"{state}: {count(len(scenes), 'run')}.", made)


def runs(live: Sequence[Scene], ended: Sequence[Scene] = (), *, commands: Commands) -> Card:
    """What is live and what ended lately, a line each."""
    if not live and not ended:
        then = f"{typed(commands, 'plan')} with what you want, or {typed(commands, 'cord', 'help')}."
        says = "No run is live here, and none ended today."
        return Card(says, [blocks.section(f"*{says}*\n*Next:* {then}")])
    made: list[Block] = []
    for title, scenes in (("Live", live), ("Ended", ended)):
        if scenes:
            made += [
                blocks.section(f"*{title} · {len(scenes)}*"),
                blocks.rich(blocks.bullets([_run_line(scene) for scene in scenes[:MOST_LISTED]])),
            ]
    made.append(blocks.context("Only runs of channels that you can see"))
    return Card(f"{count(len(live), 'run')} live, {len(ended)} ended.", made)


def _run_line(scene: Scene) -> list[Element]:
    address = scene.links.get("run")
    named = blocks.linked(address, scene.run.id) if address else blocks.strong(scene.run.id)
    return [named, blocks.said(f"  {words.goal_of(scene)} — {case.STATES[scene.run.status]}{_with(_progress(scene))}{_held(scene)}")]


def _held(scene: Scene) -> str:
    stands = scene.run.status in (RunStatus.PAUSED, RunStatus.PAUSING) and scene.run.reason is not None
    return f"; {case.standing_for(scene.run)}" if stands else ""


def _progress(scene: Scene) -> str:
    if scene.plan.steps:
        return step_lines.done_of(scene)
    return "no plan" if scene.run.is_final else "no plan yet"


def _with(words_of: str) -> str:
    return f", {words_of}" if words_of else ""


def frozen(freeze: Freeze, *, held: int, running: int, commands: Commands) -> Card:
    """`/cord freeze` was carried out: `held` runs, and `running` steps that were out then."""
    are = f"{count(held, 'run')} {'is' if held == 1 else 'are'} held"
    ends = f", {count(running, 'step')} {'was' if running == 1 else 'were'} running and will finish" if running else ""
    then = f"*Next:* {typed(commands, 'cord', 'thaw')} lets everything go on."
    says = f"{words.STANDS} *Frozen*, {date(freeze.at)}. {are}{ends}. It survives a restart.\n{then}"
    reason = [blocks.plain_context(outside(freeze.why, 600))] if freeze.why.strip() else []
    return Card(f"Frozen: everything. {are}.", [blocks.section(says), *reason])


def thawed(freeze: Freeze, *, held: int) -> Card:
    """`/cord thaw` was carried out; `freeze` is the one that has ended."""
    go = f"{count(held, 'run')} {'goes' if held == 1 else 'go'} on"
    paused = "Runs that stand for another reason still do."
    says = f"{words.RUNS} *Thawed.* {go}, by what was approved; frozen since {date(freeze.at)}. {paused}"
    return Card(f"Thawed: {go}.", [blocks.section(says)])


def freeze_why(*, commands: Commands) -> Card:
    """`/cord freeze` asks for a reason by an example, where none was given."""
    example = typed(commands, "cord", "freeze", "database move until 15:00")
    says = f"*Say why after* {typed(commands, 'cord', 'freeze')}: everybody whose run is held reads it.\n{example}"
    return Card("Say why: everybody whose run is held reads it.", [blocks.section(says)])


def help_card(*, commands: Commands, approvers: str, policy_name: str) -> Card:
    """What can be typed, in groups, with this workspace's own policy in the last line."""
    plan = typed(commands, "plan", "read notes/today.md, then summarize it")
    look = "   ".join(typed(commands, "cord", word) for word in ("runs", "stats", "audit", "help"))
    replies = " · ".join(inline(form) for form in ("also post it to #general", "skip post", "stop after brief", "never mind"))
    admins = "   ".join((typed(commands, "cord", "freeze", "why"), typed(commands, "cord", "thaw"), typed(commands, "cord", "reload")))
    brakes = "   ".join(typed(commands, word, "[run|all]") for word in ("pause", "resume", "stop"))
    groups = [
        f"*Ask*\n{plan} · or mention Pullcord · or *Plan from this message*",
        f"*The cord*\n{brakes}\nIn a thread, where Slack has no slash commands, write just: `pause`  `resume`  `stop`  `status`",
        f"*Change what is still to come*: reply in the run's thread\n{replies}",
        f"*Look*\n{look}",
        f"*Admins*\n{admins}",
    ]
    opening = "*Pullcord* makes a plan, shows it, and runs exactly that once it is approved. Anyone here can pull the cord."
    reads = f"plans that only read may run without one (policy *{plain(policy_name, 40)}*)"
    policy = f"Here, plans with an effect are approved by {approvers}; {reads}."
    text = "Pullcord makes a plan, shows it, runs it once it is approved, and stops when you say so."
    return Card(text, [blocks.section(opening), blocks.section("\n\n".join(groups)), blocks.context(policy)])


def unknown(word: str, *, commands: Commands, closest: str = "") -> Card:
    """A word after `/cord` that is none."""
    near = [blocks.said(" The closest is "), blocks.literal(closest), blocks.said(".")] if closest else []
    help_word = " ".join([commands.get("cord", "/cord"), "help"])
    lines = [
        blocks.line(blocks.strong("Unknown: "), blocks.literal(one_line(word, 40) or "nothing"), blocks.said("."), *near),
        blocks.line(blocks.strong("Next: "), blocks.literal(help_word), blocks.said(" lists all.")),
    ]
    return Card(escape(f"Unknown: {one_line(word, 40)}. Try {help_word}."), [blocks.rich(*lines)])
