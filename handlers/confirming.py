"""Presses on a confirm card: agree to exactly these values of one step, refuse them, read all of them."""

from functools import partial
from typing import Any

from bot import outbox
from bot.commands import confirming, reading
from bot.core.policy import Member
from bot.errors import Refused
from handlers import modals, review, scenes, step_up
from handlers.context import Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.views import filling, reasons
from handlers.views.scene import Scene


async def on_confirm(desk: Desk, press: Press) -> None:
    """Agree; in writing, where the policy wants that."""
    step, filled = step_up.named(press.target)
    await scenes.must_be_its_card(desk, press)
    await _must_be_the_newest(desk, press, step)
    target, at = press.target, press.received_at
    if await confirming.is_written(desk.deps, target.run, step):
        await modals.open_filled(desk, press, partial(step_up.confirm_form, desk, press))
        return

    async def confirm(who: Member) -> None:
        await confirming.confirm(desk.deps, target.run, step, digest8=filled, revision=target.revision, who=who, received_at=at)

    await deciding(desk, press, confirm)


async def _must_be_the_newest(desk: Desk, press: Press, step: str) -> None:
    """What would change may have changed since an older card: only the newest one of the step counts. Raises `Refused("confirm_void")`."""
    cards = [post for post in await outbox.of_run(desk.deps, press.target.run) if post.card == "confirm" and post.data["step"] == step]
    if cards and cards[-1].ts not in (None, press.message_ts):
        raise Refused("confirm_void", run=press.target.run, step=step)


async def on_refuse(desk: Desk, press: Press) -> None:
    """Refuse: why is asked for, in a modal."""
    target = press.target
    step, filled = step_up.named(target)

    async def form() -> modals.View:
        await deciding(desk, press, lambda who: confirming.may_refuse(desk.deps, target.run, step, filled, who=who))
        return reasons.refuse_form(await scenes.of_run(desk, target.run), target)

    await modals.open_filled(desk, press, form)


async def on_refuse_sent(desk: Desk, sent: Submission) -> None:
    """The step is left out, with the reason."""
    step, filled = step_up.named(sent.target)
    run, why, at = sent.target.run, sent.values.get("words", ""), sent.received_at

    async def refuse(who: Member) -> None:
        await confirming.refuse(desk.deps, run, step, digest8=filled, who=who, reason=why, received_at=at)

    await deciding(desk, sent, refuse)


async def on_show_all(desk: Desk, press: Press) -> None:
    """All values, from the first page."""
    await modals.open_filled(desk, press, lambda: page_view(desk, press, 1))


async def page_view(desk: Desk, press: Press, page: int) -> modals.View:
    """One page of the values; that it was opened is remembered, as for a review."""
    step, filled = step_up.named(press.target)
    scene = await scenes.of_run(desk, press.target.run)
    who = await desk.slack.directory.member(press.actor, press.team)
    values = _values(scene, step, filled)
    total = filling.page_count(scene, scene.plan.step(step), values["args"], values["preview"])
    seen = reading.page_opened(desk.deps, press.target.run, filled, page, total, who=who)
    may = await confirming.may_confirm(desk.deps, scene.run.id, step, filled, who=who)
    return filling.filling_view(scene, step, page, digest=filled, may_confirm=may and seen, **values)


async def on_turn(desk: Desk, press: Press) -> None:
    """Next or Back, in a review or in the values of a step."""
    show = page_view if press.target.filling else review.page_view
    await modals.refill(desk, press, lambda: show(desk, press, press.target.page or 1))


async def on_pages_sent(desk: Desk, sent: Submission) -> modals.Answer:
    """Confirm, on the last page, which only counts for one who has opened the others."""
    step, _ = step_up.named(sent.target)
    if await confirming.is_written(desk.deps, sent.target.run, step):
        return modals.Answer.update(await step_up.confirm_form(desk, sent))
    return modals.Answer(then=partial(_confirm_from_pages, desk, sent))


async def _confirm_from_pages(desk: Desk, sent: Submission) -> None:
    target, (step, filled) = sent.target, step_up.named(sent.target)
    scene = await scenes.of_run(desk, target.run)
    values = _values(scene, step, filled)
    total = filling.page_count(scene, scene.plan.step(step), values["args"], values["preview"])

    async def confirm(who: Member) -> None:
        seen = reading.has_opened_all(desk.deps, target.run, filled, total, who=who)
        asked: Any = {"digest8": filled, "revision": target.revision, "opened_all": seen}
        await confirming.confirm(desk.deps, target.run, step, who=who, received_at=sent.received_at, **asked)

    await deciding(desk, sent, confirm)


def _values(scene: Scene, step: str, filled: str) -> dict[str, Any]:
    """What the confirm card of this filling shows. Raises `Refused("confirm_void")` if there is none."""
    card = filling.card_of(scene, step, filled)
    if card is None:
        raise Refused("confirm_void", run=scene.run.id, step=step)
    return {"args": card["args"], "preview": card.get("preview")}
