"""`/cord audit`: the record of one run in words, checked at that moment, or the newest decisions."""

from bot import runs, witness
from bot.core.chain import NO_RUN
from bot.core.snapshot import Entry
from bot.errors import Refused
from handlers import scenes, sight, whisper
from handlers.context import Command
from handlers.desk import Desk
from handlers.trouble import FAILURES
from handlers.views import audit_list

SHOWN = 15
LOOKED_AT = 100  # decisions among which those are that this person may know of


async def on_audit_typed(desk: Desk, typed: Command) -> None:
    """`/cord audit R-7K2QX`, or all. Raises `Refused("unknown_run")`."""
    if len(typed.words) > 1:
        run = await sight.named(desk, typed.words[1], typed)
        broken = await witness.check_run(desk.deps, run.id)
        card = audit_list.of_run(await scenes.of_run(desk, run.id), broken, commands=desk.slack.commands)
    else:
        entries = await _visible(desk, typed)
        names = {actor: await _name(desk, actor) for actor in {entry.actor for entry in entries}}
        card = audit_list.newest(entries, names, await witness.newest_head(desk.deps), commands=desk.slack.commands)
    await whisper.tell(desk.slack, typed.place, card)


async def _visible(desk: Desk, typed: Command) -> list[Entry]:
    may: dict[str, bool] = {NO_RUN: True}
    found: list[Entry] = []
    for entry in await witness.decisions(desk.deps, limit=LOOKED_AT):
        if entry.run not in may:
            may[entry.run] = await _may_see(desk, entry.run, typed)
        if may[entry.run]:
            found.append(entry)
    return found[:SHOWN]


async def _may_see(desk: Desk, run_id: str, typed: Command) -> bool:
    try:
        run = await runs.get(desk.deps, run_id)
    except Refused:  # its row is gone: that is for `pullcord audit verify`
        return False
    return await sight.may_see(desk, run, actor=typed.actor, here=typed.channel)


async def _name(desk: Desk, actor: str) -> str:
    try:
        return await desk.slack.directory.name(actor)
    except FAILURES:
        return actor
