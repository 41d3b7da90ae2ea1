"""Which runs a person may know of: those of public channels, of the channel they are in now, and their own."""

from bot import runs
from bot.core.run import Run
from bot.errors import Refused
from handlers.context import Command
from handlers.desk import Desk
from handlers.trouble import FAILURES


async def named(desk: Desk, name: str, typed: Command) -> Run:
    """The run of that id. Raises `Refused("unknown_run")` if there is none, or none that this person may know of."""
    run = await runs.get(desk.deps, name.upper())
    if not await may_see(desk, run, actor=typed.actor, here=typed.channel):
        raise Refused("unknown_run", run=name[:20])
    return run


async def may_see(desk: Desk, run: Run, *, actor: str, here: str | None) -> bool:
    """Runs of a private channel are only theirs who ask in it. Where Slack does not say what a channel is: yes, since a brake must work."""
    if run.channel == here or run.requester == actor:
        return True
    try:
        channel = await desk.slack.directory.channel(run.channel)
    except FAILURES:
        return True
    return channel is not None and not channel.is_private
