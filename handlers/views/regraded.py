"""Another policy holds: what became of a review that waited, on its older card, on the new one, and for the requester."""

from bot.core.risk import Level
from bot.core.run import Event
from bot.core.snapshot import Entry
from handlers.views import blocks, record, words
from handlers.views.scene import Block, Card, Scene
from handlers.views.text import count, date, joined, ping


def entry_of(scene: Scene, revision: int) -> Entry | None:
    """The entry by which that revision came, if it is an older plan graded by another policy."""
    named = [one for one in scene.snapshot.entries if one.event == Event.REGRADED]
    return next((one for one in named if revision in (one.data.get("revision"), one.data.get("proposed"))), None)


def made_by(scene: Scene, revision: int) -> str:
    """`graded anew 14:15`, for the id line."""
    entry = entry_of(scene, revision)
    return f"graded anew {date(entry.at, now=scene.now)}" if entry is not None else ""


def news(scene: Scene, revision: int) -> list[Block]:
    """What is different on the new card: nothing in the plan."""
    entry = entry_of(scene, revision)
    if entry is None:
        return []
    was = int(entry.data.get("revision_was") or 0)
    says = f" The plan is the same as in revision {was}: {difference(scene, entry)}.{_void(scene, was)}"
    return [blocks.rich(blocks.line(blocks.said("⚠️ "), blocks.strong("The policy has changed."), blocks.said(says)))]


def difference(scene: Scene, entry: Entry) -> str:
    """`it was medium risk and is high risk now; it needs 2 approvals, not 1`."""
    old = scene.snapshot.revised(int(entry.data.get("revision_was") or 0))
    new = scene.snapshot.revised(int(entry.data.get("revision") or entry.data.get("proposed") or 0))
    said = []
    if old is not None and new is not None and old.risk is not new.risk:
        said.append(f"it was {_word(old.risk)} and is {_word(new.risk)} now")
    now, before = entry.data.get("quorum"), entry.data.get("quorum_was")
    if isinstance(now, int) and isinstance(before, int) and now != before:
        said.append(f"it needs {count(now, 'approval')}, not {before}")
    if not said and old is not None and new is not None:
        steps = [new.plan.step(step).number for step, grade in new.grades.items() if _differs(old.grades.get(step), grade)]
        named = ", ".join(map(str, steps))
        said.append(f"{'step' if len(steps) == 1 else 'steps'} {named} {'is' if len(steps) == 1 else 'are'} graded otherwise")
    return "; ".join(said) or "what it needs is another thing now"


def _word(level: Level) -> str:
    return f"{level.value} risk"


def _differs(old: object, new: object) -> bool:
    return [getattr(old, name, None) for name in ("level", "mode")] != [getattr(new, name, None) for name in ("level", "mode")]


def _void(scene: Scene, revision: int) -> str:
    """` 1 approval of it does not count.`"""
    given = sum(one.kind == "plan" and one.revision == revision for one in scene.snapshot.approvals)
    return f" {count(given, 'approval')} of revision {revision} {'does' if given == 1 else 'do'} not count." if given else ""


def replaced(scene: Scene, revision: int, there: str) -> tuple[str, list[Block]] | None:
    """Header and sentence for the older card; None if it was replaced for another reason. `there`: a link to the newer one."""
    entry = next((one for one in scene.snapshot.entries if one.event == Event.REGRADED and one.data.get("revision_was") == revision), None)
    if entry is None:
        return None
    says = f"The policy was changed {date(entry.at, now=scene.now)}: {difference(scene, entry)}.{_void(scene, revision)}"
    return f"{words.CLOSED} Void: the policy has changed", [blocks.section(f"{says} This card decides nothing any more; {there} does.")]


def denied(scene: Scene) -> tuple[str, list[Block]]:
    """Header and sentence for the card of a plan that a later policy does not allow."""
    entry = record.last(scene.snapshot, Event.PLAN_REFUSED)
    when = f" {date(entry.at, now=scene.now)}" if entry is not None else ""
    why = words.card_link(scene, "run", "its card ↑")
    return f"{words.CLOSED} Void: the policy has changed", [
        blocks.section(f"The policy was changed{when} and does not allow this plan any more; {why} says why. Nothing ran.")
    ]


def denied_note(scene: Scene) -> Card:
    """The requester learns that nobody can approve it any more."""
    where = words.card_link(scene, "run", "its card ↑")
    says = f"{ping(scene.run.requester)} {scene.run.id} was refused: the policy has changed and does not allow its plan. Nothing ran."
    return Card(says, [blocks.section(joined(f"{words.WRONG} {says}", f"Why: {where}.", by=" "))])
