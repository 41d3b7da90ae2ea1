"""What people want to be different, in words: of a plan under review, or of the rest of a live run. The planner then makes a revision."""

from functools import partial

from bot.commands import redirecting, review
from bot.core.policy import Member
from bot.errors import Refused
from handlers import modals, scenes
from handlers.context import Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.views import reasons


async def on_ask(desk: Desk, press: Press) -> None:
    """Ask for changes, on a review."""
    await modals.open_filled(desk, press, partial(_ask_form, desk, press))


async def _ask_form(desk: Desk, press: Press) -> modals.View:
    target = press.target
    await deciding(desk, press, lambda who: review.may_ask_changes(desk.deps, target.run, target.revision or 0, who=who))
    return reasons.ask_form(await scenes.of_run(desk, target.run), target.revision or 0)


async def on_ask_sent(desk: Desk, sent: Submission) -> None:
    """The planner makes another revision by these words; refused, they are given back."""
    words, target, at = sent.values.get("words", ""), sent.target, sent.received_at

    async def ask(who: Member) -> None:
        await review.ask_changes(desk.deps, target.run, target.revision or 0, words=words, who=who, received_at=at)

    await deciding(desk, sent, ask)


async def on_change_rest(desk: Desk, press: Press) -> None:
    """Change the rest, on the card of a run that stands."""
    await modals.open_filled(desk, press, partial(_rest_form, desk, press))


async def _rest_form(desk: Desk, press: Press) -> modals.View:
    used_up = 0
    try:
        await deciding(desk, press, lambda who: redirecting.may_redirect(desk.deps, press.target.run, who=who))
    except Refused as refused:
        if refused.kind != "no_redirects_left":
            raise
        used_up = int(refused.facts["limit"])
    return reasons.rest_form(await scenes.of_run(desk, press.target.run), used_up=used_up)


async def on_rest_sent(desk: Desk, sent: Submission) -> None:
    """The same as a reply in the thread."""
    run, words, at = sent.target.run, sent.values.get("words", ""), sent.received_at
    await deciding(desk, sent, lambda who: redirecting.redirect(desk.deps, run, text=words, who=who, received_at=at))
