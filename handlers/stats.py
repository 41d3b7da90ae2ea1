"""What the last days say: `/cord stats`, and one line of it on Home."""

from bot import runs
from handlers import whisper
from handlers.context import Command
from handlers.desk import Desk
from handlers.views import stats
from handlers.views.slash import typed as shown

DAYS = 7
MOST_DAYS = 366


async def on_stats_typed(desk: Desk, typed: Command) -> None:
    """`/cord stats`, or `/cord stats 30` for other days than the last seven."""
    word = typed.words[1] if len(typed.words) > 1 else str(DAYS)
    days = _days(word)
    if days is None:
        await whisper.tell(desk.slack, typed.place, stats.no_days(word, most=MOST_DAYS, commands=desk.slack.commands))
        return
    found = await runs.figures(desk.deps, days=days)
    names = {one.actor: await desk.slack.directory.name(one.actor) for one in found.fatigue}
    await whisper.tell(desk.slack, typed.place, stats.stats(found, days=days, today=desk.deps.now().date(), names=names))


async def line(desk: Desk) -> str:
    """One line for Home; empty where nothing was asked."""
    found = await runs.figures(desk.deps, days=DAYS)
    return stats.summary(found, days=DAYS, command=shown(desk.slack.commands, "cord", "stats"))


def _days(word: str) -> int | None:
    """`30` and `30d`; None for what is no number of days."""
    plain = word.removesuffix("d")
    sensible = plain.isascii() and plain.isdigit() and len(plain) <= 3 and 1 <= int(plain) <= MOST_DAYS
    return int(plain) if sensible else None
