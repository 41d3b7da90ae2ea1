"""A yes that the policy wants in writing: Approve and Confirm open a modal wherever they stand, and what is typed there counts.

Whatever else stands in the way of this person's yes is said before anybody is asked to type. Something else than what was wanted leaves the
modal open, with the reason at its field, and is on record as a refused attempt.
"""

from typing import Any

from bot.commands import confirming, reading, review
from bot.core.policy import Member
from bot.errors import Refused
from handlers import errors, scenes
from handlers.context import Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.modals import Answer, View
from handlers.views import filling, ids, pages, step_up
from handlers.views.scene import Scene


async def approve_form(desk: Desk, acted: Press | Submission) -> View:
    """What this person is to type for a yes to that revision. Raises whatever keeps their yes from counting."""
    target, revision = acted.target, acted.target.revision or 0
    scene = await scenes.of_run(desk, target.run)

    async def look(who: Member) -> View:
        seen = _has_read(desk, scene, revision, who)
        waiting = await review.to_be_written(desk.deps, target.run, revision, who=who, received_at=acted.received_at, opened_all=seen)
        shown = scene.under(scene.snapshot.proposal) if scene.snapshot.proposal else scene
        steps = [step for step in shown.plan.steps if waiting.asked is None or step.id in waiting.asked]
        return step_up.approve_form(shown, level=waiting.level, steps=steps, wants=waiting.wants or target.run)

    return await deciding(desk, acted, look, in_time=isinstance(acted, Submission))


async def on_approve_typed(desk: Desk, sent: Submission) -> Answer:
    """Approve, in the modal."""
    target, revision, typed = sent.target, sent.target.revision or 0, sent.values.get("typed", "")
    scene = await scenes.of_run(desk, target.run)

    async def approve(who: Member) -> None:
        seen = _has_read(desk, scene, revision, who)
        await review.approve(desk.deps, target.run, revision, who=who, received_at=sent.received_at, opened_all=seen, typed=typed)

    try:
        await deciding(desk, sent, approve, in_time=True)
    except Refused as refused:
        return await _wrong(desk, sent, refused, typed)
    return Answer.clear()


def _has_read(desk: Desk, scene: Scene, revision: int, who: Member) -> bool:
    return reading.has_opened_all(desk.deps, scene.run.id, revision, pages.page_count(scene, revision), who=who)


async def confirm_form(desk: Desk, acted: Press | Submission) -> View:
    """What this person is to type for a yes to these values. Raises whatever keeps their yes from counting."""
    target, (step, filled) = acted.target, named(acted.target)
    scene = await scenes.of_run(desk, target.run)

    async def look(who: Member) -> View:
        asked: Any = {"digest8": filled, "revision": target.revision, "opened_all": _has_read_values(desk, scene, step, filled, who)}
        values = await confirming.to_be_written(desk.deps, target.run, step, who=who, received_at=acted.received_at, **asked)
        found = scene.plan.step(step)
        return step_up.confirm_form(scene, found, level=values.level, filling=filled, wants=values.wants or target.run)

    return await deciding(desk, acted, look, in_time=isinstance(acted, Submission))


async def on_confirm_typed(desk: Desk, sent: Submission) -> Answer:
    """Confirm, in the modal."""
    target, (step, filled), typed = sent.target, named(sent.target), sent.values.get("typed", "")
    scene = await scenes.of_run(desk, target.run)

    async def confirm(who: Member) -> None:
        asked: Any = {"digest8": filled, "revision": target.revision, "opened_all": _has_read_values(desk, scene, step, filled, who)}
        await confirming.confirm(desk.deps, target.run, step, who=who, received_at=sent.received_at, typed=typed, **asked)

    try:
        await deciding(desk, sent, confirm, in_time=True)
    except Refused as refused:
        return await _wrong(desk, sent, refused, typed)
    return Answer.clear()


def _has_read_values(desk: Desk, scene: Scene, step: str, filled: str, who: Member) -> bool:
    card = filling.card_of(scene, step, filled)
    if card is None or all(one.id != step for one in scene.plan.steps):
        return False
    total = filling.page_count(scene, scene.plan.step(step), card["args"], card.get("preview"))
    return reading.has_opened_all(desk.deps, scene.run.id, filled, total, who=who)


async def _wrong(desk: Desk, sent: Submission, refused: Refused, typed: str) -> Answer:
    """What is said at the field. Raises the refusal again if it is about something else."""
    if refused.kind != "step_up":
        raise refused
    await errors.record(desk, refused, actor=sent.actor, did=ids.SENT_AS[sent.callback_id])
    return Answer.errors({"typed": step_up.wrong(str(refused.facts["wants"]), typed, run=sent.target.run)})


def named(target: ids.Target) -> tuple[str, str]:
    """Step and filling. Raises `Refused("unknown_run")` for a value without them."""
    if target.step is None or target.filling is None:
        raise Refused("unknown_run", run=target.run)
    return target.step, target.filling
