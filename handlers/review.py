"""Presses on a review: approve, cancel, open it in full, pause before a step."""

from functools import partial

from bot.commands import controls, reading, review
from bot.core.policy import Member
from bot.errors import Refused
from handlers import modals, scenes, step_up
from handlers.context import Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.views import pages, reasons

WHYS = {value: label for label, value in reasons.WHYS}


async def on_approve(desk: Desk, press: Press) -> None:
    """One yes to the revision that the button names; in writing, where the policy wants that."""
    target, revision = press.target, press.target.revision or 0
    await scenes.must_be_its_card(desk, press)
    if await review.is_written(desk.deps, target.run, revision):
        await modals.open_filled(desk, press, partial(step_up.approve_form, desk, press))
        return

    async def approve(who: Member) -> None:
        await review.approve(desk.deps, target.run, revision, who=who, received_at=press.received_at)

    await deciding(desk, press, approve)


async def on_cancel(desk: Desk, press: Press) -> None:
    """Cancel on a review asks why, in a modal."""
    target = press.target

    async def form() -> modals.View:
        await deciding(desk, press, lambda who: review.may_cancel(desk.deps, target.run, target.revision, who=who))
        return reasons.cancel_form(await scenes.of_run(desk, target.run), target.revision or 0)

    await modals.open_filled(desk, press, form)


async def on_cancel_sent(desk: Desk, sent: Submission) -> None:
    """The reason was given, or not: both cancel."""
    reason = ": ".join(said for said in (WHYS.get(sent.values.get("why", "")), sent.values.get("words")) if said)
    target = sent.target
    await deciding(desk, sent, lambda who: review.cancel(desk.deps, target.run, target.revision, who=who, reason=reason))


async def on_cancel_planning(desk: Desk, press: Press) -> None:
    """Cancel while the planner works."""
    await deciding(desk, press, lambda who: review.cancel(desk.deps, press.target.run, None, who=who, reason=""))


async def on_show_all(desk: Desk, press: Press) -> None:
    """The full review, from its first page; in a modal that moved on, in its place."""
    show = modals.refill if press.view_id else modals.open_filled
    await show(desk, press, lambda: page_view(desk, press, 1))


async def page_view(desk: Desk, press: Press, page: int) -> modals.View:
    """One page. That this person has opened it is remembered, since a long plan is approved only by who has seen all of it (P2)."""
    target = press.target
    scene = await scenes.of_run(desk, target.run)
    revision = target.revision or scene.run.proposed or scene.run.revision
    if revision not in (scene.run.revision, scene.run.proposed):
        return pages.moved_on(scene, revision)
    who = await desk.slack.directory.member(press.actor, press.team)
    seen = reading.page_opened(desk.deps, target.run, revision, page, pages.page_count(scene, revision), who=who)
    may = await review.may_approve(desk.deps, target.run, revision, who=who)
    return pages.show_all(scene, page, may_approve=may, opened_all=seen, revision=revision)


async def on_pages_sent(desk: Desk, sent: Submission) -> modals.Answer:
    """Approve, on the last page of the full review. Where a yes is given in writing, that form takes the place of the page."""
    if await review.is_written(desk.deps, sent.target.run, sent.target.revision or 0):
        return modals.Answer.update(await step_up.approve_form(desk, sent))
    return modals.Answer(then=partial(_approve_from_pages, desk, sent))


async def _approve_from_pages(desk: Desk, sent: Submission) -> None:
    target, revision = sent.target, sent.target.revision or 0
    total = pages.page_count(await scenes.of_run(desk, target.run), revision)

    async def approve(who: Member) -> None:
        seen = reading.has_opened_all(desk.deps, target.run, revision, total, who=who)
        await review.approve(desk.deps, target.run, revision, who=who, received_at=sent.received_at, opened_all=seen)

    await deciding(desk, sent, approve)


async def on_breakpoint(desk: Desk, press: Press) -> None:
    """A step chosen in *Pause before…*."""
    target = press.target
    if target.step is None:
        raise Refused("unknown_run", run=target.run)
    who = await desk.slack.directory.at_the_cord(press.actor, press.team)
    await controls.set_breakpoint(desk.deps, target.run, target.step, who=who)
