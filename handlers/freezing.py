"""Freeze and thaw: the cord of the whole bot, by command or from Home, for admins."""

from bot.commands import freezing
from handlers import home, modals, whisper
from handlers.context import Command, Press, Submission
from handlers.deciding import deciding
from handlers.desk import Desk
from handlers.views import reasons, slash


async def on_freeze_typed(desk: Desk, typed: Command) -> None:
    """`/cord freeze WHY` holds every run and every start; everybody whose run is held reads why."""
    why = " ".join(typed.words[1:])
    if not why:
        await whisper.tell(desk.slack, typed.place, slash.freeze_why(commands=desk.slack.commands))
        return
    held = await deciding(desk, typed, lambda who: freezing.freeze(desk.deps, who=who, why=why))
    card = slash.frozen(held.freeze, held=held.runs, running=held.running, commands=desk.slack.commands)
    await whisper.tell(desk.slack, typed.place, card)


async def on_thaw_typed(desk: Desk, typed: Command) -> None:
    """`/cord thaw` lets everything go on that stood only for the freeze."""
    held = await deciding(desk, typed, lambda who: freezing.thaw(desk.deps, who=who))
    await whisper.tell(desk.slack, typed.place, slash.thawed(held.freeze, held=held.runs))


async def on_freeze(desk: Desk, press: Press) -> None:
    """Freeze on Home asks why, in a modal."""

    async def form() -> modals.View:
        await deciding(desk, press, lambda who: freezing.may_freeze(desk.deps, who=who))
        return reasons.freeze_form()

    await modals.open_filled(desk, press, form)


async def on_freeze_sent(desk: Desk, sent: Submission) -> None:
    """The reason was given."""
    await deciding(desk, sent, lambda who: freezing.freeze(desk.deps, who=who, why=sent.values.get("words", "")))
    await home.publish(desk, sent.actor, sent.team)


async def on_thaw(desk: Desk, press: Press) -> None:
    """Thaw on Home."""
    await deciding(desk, press, lambda who: freezing.thaw(desk.deps, who=who))
    await home.publish(desk, press.actor, press.team)
