"""Everything ends (P10): a run whose activity keeps breaking ends clearly, or stands where a person can see it, for good."""

import structlog
from sqlalchemy import Connection

from bot.changing import is_being_planned
from bot.core.audit import audit_post
from bot.core.ids import PULLCORD
from bot.core.run import Event, NotAllowed, Run, RunStatus, StepStatus
from bot.core.snapshot import Answer, NewPost
from bot.deps import Deps
from bot.store import door
from bot.store import runs as rows

log = structlog.get_logger()

SAYS = "Something in Pullcord broke again and again; its log says what. Nothing further happens by itself."


async def give_up(deps: Deps, run_id: str) -> None:
    """Planning fails, an answer that cannot be written is replaced by one that says so, and a run that cannot go on is paused."""

    def work(conn: Connection) -> None:
        run = rows.get(conn, run_id)
        try:
            _end(conn, deps, run)
        except NotAllowed:  # it has moved on meanwhile: then there is nothing to give up
            log.info("not_given_up", run=run_id, status=run.status)

    await deps.store.write(work)
    log.error("gave_up", run=run_id)


def _end(conn: Connection, deps: Deps, run: Run) -> None:
    at = deps.now()
    if run.status is RunStatus.PLANNING:
        door.change(conn, run.id, Event.PLAN_FAILED, actor=PULLCORD, at=at, data={"faults": [SAYS]})
    elif run.status is RunStatus.ANSWERING:
        rows.set_answer(conn, run.id, Answer(text=SAYS))
        post = NewPost(run=run.id, card="answer", key=f"{run.id}:answer", channel=run.channel)
        tell = [post, *audit_post(deps.audit_place, run.id, Event.ANSWERED_FAILED)]
        door.change(conn, run.id, Event.ANSWERED_FAILED, actor=PULLCORD, at=at, data={"error": SAYS}, tell=tell)
    elif is_being_planned(run):
        door.change(conn, run.id, Event.REDIRECT_FAILED, actor=PULLCORD, at=at, data={"faults": [SAYS], "deadline": None})
    elif run.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        told = audit_post(deps.audit_place, run.id, Event.PAUSE_ASKED)
        paused = door.change(conn, run.id, Event.PAUSE_ASKED, actor=PULLCORD, at=at, data={"error": SAYS}, tell=told)
        if paused.status is RunStatus.PAUSING and not any(step.status is StepStatus.RUNNING for step in rows.steps(conn, run.id)):
            door.change(conn, run.id, Event.SETTLED, actor=PULLCORD, at=at)
