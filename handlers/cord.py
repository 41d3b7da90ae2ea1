"""`/cord`: look at runs, hold everything."""

from bot import runs
from bot.core.run import Run
from handlers import audit, freezing, reloading, scenes, sight, stats, whisper
from handlers.context import Command, Place
from handlers.desk import Desk
from handlers.views import slash
from handlers.views.scene import Scene

SHOWN = 15
WORDS = ("runs", "stats", "audit", "freeze", "thaw", "reload", "help")


async def on_cord(desk: Desk, typed: Command) -> None:
    """The first word says what is wanted; none is a wish for help."""
    word = typed.words[0].casefold() if typed.words else "help"
    if word == "runs":
        await show_runs(desk, typed.place)
    elif word == "stats":
        await stats.on_stats_typed(desk, typed)
    elif word == "audit":
        await audit.on_audit_typed(desk, typed)
    elif word == "freeze":
        await freezing.on_freeze_typed(desk, typed)
    elif word == "thaw":
        await freezing.on_thaw_typed(desk, typed)
    elif word == "reload":
        await reloading.on_reload_typed(desk, typed)
    elif word == "help":
        await _help(desk, typed.place)
    else:
        near = next((known for known in WORDS if known[:1] == word[:1]), "")
        await whisper.tell(desk.slack, typed.place, slash.unknown(word, commands=desk.slack.commands, closest=near))


async def show_runs(desk: Desk, place: Place) -> None:
    """What is live, and what ended lately, as far as this person may see it."""
    seen = [run for run in await _listed(desk, place.actor) if await sight.may_see(desk, run, actor=place.actor, here=place.channel)]
    live, ended = [run for run in seen if not run.is_final], [run for run in seen if run.is_final]
    card = slash.runs(await _scenes(desk, live), await _scenes(desk, ended), commands=desk.slack.commands)
    await whisper.tell(desk.slack, place, card)


async def _listed(desk: Desk, actor: str) -> list[Run]:
    """All that is live and what ended lately, newest first; before that this person's own, which a busy bot's other runs must not hide."""
    found = [*await runs.listing(desk.deps, requester=actor), *await runs.listing(desk.deps), *await runs.live(desk.deps)]
    newest = sorted({run.id: run for run in found}.values(), key=lambda run: run.created_at, reverse=True)
    return sorted(newest, key=lambda run: run.requester != actor)


async def _help(desk: Desk, place: Place) -> None:
    _, approvers = await desk.slack.directory.approver_words()
    card = slash.help_card(commands=desk.slack.commands, approvers=approvers, policy_name=desk.deps.policy.profile)
    await whisper.tell(desk.slack, place, card)


async def _scenes(desk: Desk, found: list[Run]) -> list[Scene]:
    return [await scenes.of_run(desk, run.id) for run in found[:SHOWN]]
