"""The edit form: one row for each step with a menu of what can be done with it; nothing counts before *Save*.

A row says what its step would do and how risky it would be, graded by code as soon as it changes, and what is wrong with it. Steps of a
live run that have started stand there too, without a menu. The unsaved plan is kept on the server; this module draws what it is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.core.characters import utf16
from bot.core.drafts import Fault
from bot.core.plan import Step
from bot.core.references import sources
from bot.core.run import RunStatus, StepStatus
from bot.core.snapshot import Revision
from handlers.views import blocks, edit_fields, ids, pages, words
from handlers.views.arguments import quoted
from handlers.views.pages import View
from handlers.views.scene import Block, Element, Scene
from handlers.views.text import FSI, PDI, count, inline, joined, one_line, plain, ranges

MOST_ROWS = 85  # Slack takes 100 blocks
ALERT = 200
FATES = {
    StepStatus.SUCCEEDED: ("✓", "done"),
    StepStatus.RUNNING: ("▸", "running"),
    StepStatus.SKIPPED: ("–", "skipped"),
    StepStatus.CANCELLED: ("×", "cancelled"),
    StepStatus.IN_DOUBT: ("?", "in doubt"),
}
LABELS = {"change": "Change arguments", "up": "Move up", "down": "Move down", "remove": "Remove"}


@dataclass(frozen=True)
class Note:
    """A word on top of the form."""

    says: str  # mrkdwn
    level: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True)
class Unsaved:
    """What is known of the unsaved plan beside the scene that shows it."""

    base: Revision  # what it began from
    differs: Sequence[tuple[int, str]] = ()  # (number of the step, what became of it)
    faults: Sequence[Fault] = ()
    fixed: frozenset[str] = frozenset()  # steps that have started


def edit_steps(scene: Scene, unsaved: Unsaved, *, note: Note | None = None) -> View:
    """The list. `scene` shows the unsaved plan with its new grades; `note` stands on top, else how much is not saved yet."""
    made = [*_top(unsaved, note), blocks.context(terms(scene, unsaved.base))]
    rows = [_row(scene, unsaved, step) for step in scene.plan.steps if step.id not in unsaved.fixed]
    done = [step for step in scene.plan.steps if step.id in unsaved.fixed]
    if len(done) + len(rows) > MOST_ROWS and done:
        made.append(blocks.context(have_run([step.number for step in done])))
    else:
        made += [_done_row(scene, step) for step in done]
    made += rows[: MOST_ROWS - min(len(done), MOST_ROWS // 2)]
    hidden = len(rows) - (MOST_ROWS - min(len(done), MOST_ROWS // 2))
    if hidden > 0:
        made.append(blocks.context(f"and {count(hidden, 'more step')}: *As text* has all of them."))
    value = ids.encode(scene.run.id, unsaved.base.revision)
    about = words.about(scene, revision=unsaved.base.revision)
    made += [
        blocks.divider(),
        *blocks.actions(
            "edit:more",
            blocks.button(ids.EDIT_ADD, value, about=about),
            blocks.button(ids.EDIT_AS_TEXT, value, about=about),
        ),
        blocks.context("Steps run as soon as what they need is there; Move only orders steps that do not need each other."),
    ]
    view = pages.modal(callback_id=ids.VIEW_EDIT, title=f"Edit {scene.run.id}", made=made, metadata=value, submit="Save", close="Discard")
    return {**view, "notify_on_close": True}


def terms(scene: Scene, base: Revision) -> str:
    """What saving would do."""
    following = max((one.revision for one in scene.snapshot.revisions), default=base.revision) + 1
    means = (
        f"Approvals of revision {base.revision} do not count for it."
        if scene.run.status is RunStatus.IN_REVIEW
        else "What has run stays; only what is new, changed or riskier is asked."
    )
    return f"Revision {base.revision} · Save makes revision {following} and grades it anew. {means}"


def have_run(numbers: Sequence[int]) -> str:
    """`Steps 1 and 2 have run and stay as they are.`"""
    one = len(numbers) == 1
    named = ranges(numbers, final=" and ")
    return f"{'Step' if one else 'Steps'} {named} {'has run and stays as it is' if one else 'have run and stay as they are'}."


def noted(title: str, words: str, level: Literal["info", "warning", "error"] = "info") -> Note:
    """A note of our own words and somebody else's, as much of these as there is room for."""
    for limit in range(ALERT, 0, -10):
        said = f"{title} {plain(words[:1].upper() + words[1:], limit)}"
        if utf16(said) <= ALERT:
            return Note(said, level)
    return Note(title, level)


def _top(unsaved: Unsaved, note: Note | None) -> list[Block]:
    if note is not None:
        return [alert(note)]
    if not unsaved.differs:
        return []
    said = [f"{number} · {says}" for number, says in unsaved.differs]
    title = f"*{count(len(said), 'change')}, not saved yet:*"
    while utf16(f"{title} {', '.join(said)}") > ALERT - 20 and len(said) > 1:
        said.pop()
    more = f" and {len(unsaved.differs) - len(said)} more" if len(said) < len(unsaved.differs) else ""
    return [alert(noted(title, f"{', '.join(said)}{more}."))]


def alert(note: Note) -> Block:
    """The note as a block; Slack takes 200 characters there."""
    return pages.alert(note.says, note.level)


def title(scene: Scene, step: Step) -> str:
    """`🔶 *4 · Sends a message to #ops*  Medium risk`, as mrkdwn."""
    symbol, word = words.RISK[words.grade_of(scene, step).level].split(" ", 1)
    return f"{symbol} *{_named(scene, step)}*  {word}"


def _named(scene: Scene, step: Step, *, done: bool = False) -> str:
    return plain(words.numbered(scene, step, done=done).replace(FSI, "").replace(PDI, ""), 120)


def _row(scene: Scene, unsaved: Unsaved, step: Step) -> Block:
    mine = [fault for fault in unsaved.faults if fault.step == step.id]
    lines = [title(scene, step), inline(_notation(step)), _remarks(scene, unsaved, step)]
    lines += [f"{words.WRONG} *Fault:* {plain(says(fault), 200)}" for fault in mine[:2]]
    lines += [f"{words.WRONG} and {count(len(mine) - 2, 'more fault')}"] if len(mine) > 2 else []
    while sum(utf16(line) + 1 for line in lines) > blocks.LONGEST_TEXT:
        lines.pop()
    return blocks.section("\n".join(line for line in lines if line), accessory=_menu(scene, unsaved, step), block_id=f"step:{step.id}")


def says(fault: Fault) -> str:
    """A fault as one sentence, without its place."""
    return f"{fault.says.removesuffix('.')}; {fault.fix}" if fault.fix else fault.says


def _notation(step: Step) -> str:
    parts = [f"{one_line(name, 40)}={'…' if sources(value) else one_line(quoted(value), 40)}" for name, value in step.args.items()]
    return " ".join([step.tool, *parts])


def _remarks(scene: Scene, unsaved: Unsaved, step: Step) -> str:
    """What is new about it, and what comes later."""
    before = unsaved.base.grades.get(step.id)
    now = words.grade_of(scene, step)
    changed = [says for number, says in unsaved.differs if number == step.number]
    regraded = ""
    if before is not None and before.level is not now.level:
        regraded = f"was {before.level.value}: {plain(now.reasons[0], 120) if now.reasons else 'graded anew'}"
    late = [f"{plain(name, 40)} is {later}" for name, value in step.args.items() if (later := edit_fields.later_from(value, scene.plan))]
    after = [str(other.number) for other in scene.plan.steps if other.id in step.depends_on]
    return joined(
        plain(changed[0], 60) if changed else "",
        regraded,
        *late[:2],
        f"only after {' and '.join(after)}" if after else "",
        f"{words.STANDS} breakpoint" if step.breakpoint else "",
    )


def _menu(scene: Scene, unsaved: Unsaved, step: Step) -> Element:
    """Slack takes five lines: the first row cannot move up, the last not down."""
    open_steps = [one.id for one in scene.plan.steps if one.id not in unsaved.fixed]
    fits = {"up": step.id != open_steps[0], "down": step.id != open_steps[-1]}
    pause = "No pause before it" if step.breakpoint else "Pause before it"
    value = ids.encode(scene.run.id, unsaved.base.revision, step.id)
    options = [blocks.option(LABELS.get(move, pause), f"{value}.{move}") for move in ids.MOVES if fits.get(move, True)]
    return {"type": "overflow", "action_id": ids.EDIT_STEP, "options": options}


def _done_row(scene: Scene, step: Step) -> Block:
    mark, word = FATES.get(words.state_of(scene, step).status, ("✓", "settled"))
    return blocks.section(f"{mark} *{_named(scene, step, done=mark == '✓')}* — {word}")
