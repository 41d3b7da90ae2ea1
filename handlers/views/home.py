"""App Home: what waits for this person, what runs, what they asked for; five of each. Open leads to the card, where things are decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.run import FINAL, RunStatus, StepStatus
from bot.core.snapshot import Freeze
from handlers.views import blocks, case, freeze, ids, receipts, step_lines, words
from handlers.views.scene import Block, Scene
from handlers.views.text import count, date, inline, joined, one_line

MOST = 5
WAITING = frozenset({RunStatus.IN_REVIEW, RunStatus.PAUSED})


@dataclass(frozen=True)
class Overview:
    """What one person sees: runs that wait for them, runs that are live, runs of theirs that have ended (newest first)."""

    waiting: Sequence[Scene] = ()
    running: Sequence[Scene] = ()
    mine: Sequence[Scene] = ()
    may_pause: bool = True
    freeze: Freeze | None = None  # an admin holds everything
    held: int = 0  # runs that the freeze holds
    may_freeze: bool = False  # only they see Freeze and Thaw
    figures: str = ""  # one line on the last days


def home_view(overview: Overview, *, commands: Mapping[str, str] | None = None) -> dict[str, object]:
    """The view for `views.publish`."""
    known = commands or {}
    busy = overview.waiting or overview.running or overview.mine
    made = _busy(overview, known) if busy else _empty(known)
    return {"type": "home", "callback_id": "home", "blocks": [*_banner(overview), *made, *_whole_bot(overview)]}


def _banner(overview: Overview) -> list[Block]:
    """Everything is held: it stands above all else."""
    if overview.freeze is None:
        return []
    held = f"{count(overview.held, 'run')} {'is' if overview.held == 1 else 'are'} held and"
    goes_on = "goes on by itself" if overview.held == 1 else "go on by themselves"
    says = f"No run starts and no step starts. {f'{held} {goes_on} after the thaw. ' if overview.held else ''}Stop still works."
    busy = overview.waiting or overview.running or overview.mine  # else New plan is the one that stands out
    style = "primary" if busy else ""
    thaw = blocks.button(ids.HOME_THAW, "all", about="everything", style=style) if overview.may_freeze else None
    return [
        blocks.header(f"{words.STANDS} Frozen: everything is held"),
        blocks.rich(*freeze.said(overview.freeze), blocks.line(blocks.said(says))),
        *blocks.actions("home.freeze", thaw),
        blocks.divider(),
    ]


def _whole_bot(overview: Overview) -> list[Block]:
    """The foot that only those see who may freeze."""
    if overview.freeze is not None or not overview.may_freeze:
        return []
    says = "*The whole bot:* hold every run and every start until an admin thaws it."
    pressed = blocks.button(ids.HOME_FREEZE, "all", about="everything", style="danger")
    return [blocks.divider(), blocks.section(says), *blocks.actions("home.freeze", pressed)]


def _busy(overview: Overview, commands: Mapping[str, str]) -> list[Block]:
    new = blocks.button(ids.HOME_NEW, "new")
    waiting, running = len(overview.waiting), len(overview.running)
    made: list[Block] = [
        blocks.section("Pullcord runs only what was approved. Anyone can pull the cord.", accessory=new, block_id="home.top")
    ]
    made.append(blocks.header(f"{words.WAITS} Waiting for you · {waiting}" if waiting else "Nothing waits for you"))
    made += _group(overview.waiting, 1)
    made += [blocks.divider(), blocks.header(f"{words.RUNS} Live now · {running}")]
    made += _group(overview.running, 1 + MOST) or [blocks.context("No run is live.")]
    if running and overview.may_pause:
        pause = blocks.button(ids.HOME_PAUSE_ALL, "all")
        made += blocks.actions("home.brakes", {**pause, "accessibility_label": "Pause all runs that I may pause"})
    made += [blocks.divider(), blocks.header("My runs")]
    made += _group(overview.mine, 1 + 2 * MOST) or [blocks.context("None has ended yet.")]
    made += [blocks.divider(), blocks.context(overview.figures)] if overview.figures else []
    more = sum(max(0, len(scenes) - MOST) for scenes in (overview.waiting, overview.running, overview.mine))
    listing = inline(f"{commands.get('cord', '/cord')} runs")
    return [*made, blocks.context(f"{more} more: {listing}")] if more else made


def _group(scenes: Sequence[Scene], first: int) -> list[Block]:
    return [block for place, scene in enumerate(scenes[:MOST], start=first) for block in _run(scene, place)]


def _run(scene: Scene, place: int) -> list[Block]:
    opened = blocks.button(f"{ids.HOME_OPEN}.{place}", scene.run.id, label="Open", about=f"{scene.run.id}, {case.STATES[scene.run.status]}")
    address = scene.links.get("run")
    opened = {**opened, "url": address} if address else opened
    until = f"until {date(scene.run.deadline, now=scene.now)}" if scene.run.deadline else ""
    risk = words.risk_count(scene) if scene.run.status in WAITING and scene.plan.steps and scene.run.redirect is None else ""
    done = step_lines.done_of(scene) if scene.plan.steps and scene.run.status is not RunStatus.IN_REVIEW else ""
    ended = date(scene.run.updated_at, now=scene.now) if scene.run.status in FINAL else ""
    return [
        blocks.plain_section(one_line(words.goal_of(scene), 150), accessory=opened, block_id=f"home.run.{place}"),
        blocks.context(joined(_state(scene), risk, done, scene.run.id, words.asked_by(scene), until, ended)),
    ]


def _state(scene: Scene) -> str:
    """`▶️ is running`, `✋ is paused: a step failed`."""
    if scene.run.status is RunStatus.SUCCEEDED and not receipts.with_status(scene, StepStatus.SUCCEEDED):
        return f"{words.CLOSED} has ended"
    held = scene.run.status is RunStatus.PAUSED and scene.run.reason
    return f"{case.symbol(scene)} {case.STATES[scene.run.status]}{f': {case.standing_for(scene.run)}' if held else ''}"


def _empty(commands: Mapping[str, str]) -> list[Block]:
    example = f"{commands.get('plan', '/plan')} read notes/today.md, then summarize it"
    ways = [
        [blocks.literal(example)],
        [blocks.said("or mention Pullcord in a channel or thread")],
        [blocks.said("or use Plan from this message in a message's menu")],
    ]
    ask = blocks.line(blocks.said("Ask for something, and a plan comes back before anything happens:"))
    return [
        blocks.header("Nothing waits for you"),
        blocks.rich(ask, blocks.bullets(ways)),
        *blocks.actions("home.start", blocks.button(ids.HOME_NEW, "new", style="primary")),
        blocks.divider(),
        blocks.header(f"{words.RUNS} Live now · 0"),
        blocks.context("No run is live."),
        blocks.divider(),
        blocks.header("My runs"),
        blocks.context("You have not asked for anything yet."),
    ]
