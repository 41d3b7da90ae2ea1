"""Presses on a confirm card: agree to exactly these values of one step, refuse them, read all of them."""

from typing import Any

from bot import outbox
from bot.commands import confirming, reading
from bot.core import policy
from bot.core.snapshot import Post
from bot.errors import Refused
from handlers import modals, review, scenes
from handlers.context import Press, Submission
from handlers.desk import Desk
from handlers.views import filling, ids, reasons
from handlers.views.scene import Scene


async def on_confirm(desk: Desk, press: Press) -> None:
    """Agree."""
    step, filled = _named(press.target)
    await scenes.must_be_its_card(desk, press)
    await _must_be_the_newest(desk, press, step)
    who = await desk.slack.directory.member(press.actor, press.team)
    target, at = press.target, press.received_at
    await confirming.confirm(desk.deps, target.run, step, digest8=filled, revision=target.revision, who=who, received_at=at)


async def _must_be_the_newest(desk: Desk, press: Press, step: str) -> None:
    """What would change may have changed since an older card: only the newest one of the step counts. Raises `Refused("confirm_void")`."""
    cards = [post for post in await outbox.of_run(desk.deps, press.target.run) if post.card == "confirm" and post.data["step"] == step]
    if cards and cards[-1].ts not in (None, press.message_ts):
        raise Refused("confirm_void", run=press.target.run, step=step)


async def on_refuse(desk: Desk, press: Press) -> None:
    """Refuse: why is asked for, in a modal."""
    target = press.target

    async def form() -> modals.View:
        who = await desk.slack.directory.member(press.actor, press.team)
        await confirming.may_refuse(desk.deps, target.run, *_named(target), who=who)
        return reasons.refuse_form(await scenes.of_run(desk, target.run), target)

    await modals.open_filled(desk, press, form)


async def on_refuse_sent(desk: Desk, sent: Submission) -> None:
    """The step is left out, with the reason."""
    step, filled = _named(sent.target)
    who = await desk.slack.directory.member(sent.actor, sent.team)
    await confirming.refuse(desk.deps, sent.target.run, step, digest8=filled, who=who, reason=sent.values.get("words", ""))


async def on_show_all(desk: Desk, press: Press) -> None:
    """All values, from the first page."""
    await modals.open_filled(desk, press, lambda: page_view(desk, press, 1))


async def page_view(desk: Desk, press: Press, page: int) -> modals.View:
    """One page of the values; that it was opened is remembered, as for a review."""
    step, filled = _named(press.target)
    scene = await scenes.of_run(desk, press.target.run)
    who = await desk.slack.directory.member(press.actor, press.team)
    values = _values(scene, step, filled)
    total = filling.page_count(scene, scene.plan.step(step), values["args"], values["preview"])
    seen = reading.page_opened(desk.deps, press.target.run, filled, page, total, who=who)
    level = scene.snapshot.grades[step].level
    may = policy.may_approve(desk.deps.policy, who, requester=scene.run.requester, level=level) is None
    return filling.filling_view(scene, step, page, digest=filled, may_confirm=may and seen, **values)


async def on_turn(desk: Desk, press: Press) -> None:
    """Next or Back, in a review or in the values of a step."""
    show = page_view if press.target.filling else review.page_view
    await modals.refill(desk, press, lambda: show(desk, press, press.target.page or 1))


async def on_pages_sent(desk: Desk, sent: Submission) -> None:
    """Confirm, on the last page, which only counts for one who has opened the others."""
    step, filled = _named(sent.target)
    scene = await scenes.of_run(desk, sent.target.run)
    values = _values(scene, step, filled)
    total = filling.page_count(scene, scene.plan.step(step), values["args"], values["preview"])
    who = await desk.slack.directory.member(sent.actor, sent.team)
    seen = reading.has_opened_all(desk.deps, sent.target.run, filled, total, who=who)
    target, at = sent.target, sent.received_at
    await confirming.confirm(
        desk.deps, target.run, step, digest8=filled, revision=target.revision, who=who, opened_all=seen, received_at=at
    )


def _named(target: ids.Target) -> tuple[str, str]:
    """Step and filling. Raises `Refused("unknown_run")` for a value without them."""
    if target.step is None or target.filling is None:
        raise Refused("unknown_run", run=target.run)
    return target.step, target.filling


def _values(scene: Scene, step: str, filled: str) -> dict[str, Any]:
    """What the confirm card of this filling shows. Raises `Refused("confirm_void")` if there is none."""
    cards = [post for post in scene.snapshot.posts if post.card == "confirm" and post.data["step"] == step]
    card: Post | None = next((post for post in reversed(cards) if post.data["filling"] == filled), None)
    if card is None:
        raise Refused("confirm_void", run=scene.run.id, step=step)
    return {"args": card.data["args"], "preview": card.data.get("preview")}
