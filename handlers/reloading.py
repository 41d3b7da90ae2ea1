"""`/cord reload`: an admin has changed the policy file, and it is to hold from now on."""

from bot.commands import reloading
from handlers import whisper
from handlers.context import Command
from handlers.desk import Desk
from handlers.views import reloaded, slash


async def on_reload_typed(desk: Desk, typed: Command) -> None:
    """All or nothing; the admin reads what came of it, or the one line that is wrong in the file."""
    who = await desk.slack.directory.member(typed.actor, typed.team)
    came = await reloading.reload(desk.deps, who=who)
    if came.fault:
        card = reloaded.broken(came.fault, command=slash.typed(desk.slack.commands, "cord", "reload"))
    else:
        numbers = {"waiting": came.waiting, "regraded": len(came.regraded), "denied": len(came.denied)}
        card = reloaded.done(before=came.before, after=came.after, **numbers)
    await whisper.tell(desk.slack, typed.place, card)
