"""App Home: what waits for this person, what runs, what they asked for. Made anew each time that somebody looks."""

from bot import guard, runs
from bot.core.policy import Member
from bot.core.run import Hold, Redirect, Run, RunStatus
from handlers import context, controls, scenes, sight, stats, whisper
from handlers.context import Press
from handlers.desk import Desk
from handlers.views import home, notes
from handlers.views.scene import Scene

MOST_SHOWN = 25


async def on_home(desk: Desk, opened: context.Home) -> None:
    """Publish the Home of the person who looks."""
    await publish(desk, opened.actor, opened.team)


async def on_pause_all(desk: Desk, press: Press) -> None:
    """Pause everything that this person may pause."""
    await controls.on_all(desk, press.place, "pause", actor=press.actor, team=press.team)
    await publish(desk, press.actor, press.team)


async def on_open(desk: Desk, press: Press) -> None:
    """Open: where the run stands, with the way to its card. A button without a link has to be answered."""
    await whisper.tell(desk.slack, press.place, notes.status(await scenes.of_run(desk, press.target.run)))


async def publish(desk: Desk, actor: str, team: str) -> None:
    """Bring the person's Home up to date."""
    who = await desk.slack.directory.member(actor, team)
    live = [run for run in await runs.live(desk.deps) if await sight.may_see(desk, run, actor=actor, here=None)]
    live.sort(key=lambda run: run.requester != actor)  # their own first: a busy bot has more runs than Home has room
    waiting = [run for run in live if _waits_for(desk, run, who)]
    running = [run for run in live if run not in waiting]
    mine = [run for run in await runs.listing(desk.deps, requester=actor) if run.is_final]
    overview = home.Overview(
        waiting=await _scenes(desk, waiting),
        running=await _scenes(desk, running),
        mine=await _scenes(desk, mine),
        may_pause=guard.would(desk.deps, "brake", who),
        freeze=await runs.frozen(desk.deps),
        held=sum(run.reason is Hold.FREEZE for run in live),
        may_freeze=guard.would(desk.deps, "freeze", who),
        figures=await stats.line(desk),
    )
    view = home.home_view(overview, commands=desk.slack.commands)
    await desk.slack.client.views_publish(user_id=actor, view=view)


async def _scenes(desk: Desk, found: list[Run]) -> list[Scene]:
    return [await scenes.of_run(desk, run.id) for run in found[:MOST_SHOWN]]


def _waits_for(desk: Desk, run: Run, who: Member) -> bool:
    """Does this run wait for a decision that this person may take?"""
    if (run.status is RunStatus.IN_REVIEW or run.redirect is Redirect.REVIEW) and run.risk is not None:
        return guard.would(desk.deps, "approve", who, run=run, level=run.risk)
    waits = run.status is RunStatus.PAUSED or (run.status is RunStatus.PLANNING and run.reason is not None)
    return waits and guard.would(desk.deps, "decide", who, run=run)
