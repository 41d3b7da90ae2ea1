"""One place where a listener's end is seen: done, refused, or broken.

`Refused` is a normal answer: on record, and told privately with the next move. A store that is busy beyond its bounds asks for another
click. Everything else is our fault: the person gets a short apology with a number, and the log has the trace under the same number. No
listener catches anything itself, and whatever goes wrong while a person is answered ends here as well.
"""

import secrets
from collections.abc import Coroutine
from typing import Any

import structlog

from bot.commands import refusing
from bot.core.ids import ALPHABET
from bot.errors import Refused, Unavailable
from handlers import scenes, whisper
from handlers.context import Place, Submission
from handlers.desk import Desk
from handlers.modals import Answer
from handlers.views import edit_notices, refusals
from handlers.views.edit_steps import Note
from handlers.views.scene import Scene

log = structlog.get_logger()

NOT_RECORDED = frozenset({"plan_empty", "ask_too_long", "form_expired", "no_access"})  # nobody was kept from deciding anything


def start(desk: Desk, work: Coroutine[Any, Any, None], *, place: Place, did: str) -> None:
    """Run a listener's work after its ack, as a task that the bot owns (C049)."""
    desk.deps.tasks.start(guarded(desk, work, place=place, did=did), name=did)


async def guarded(desk: Desk, work: Coroutine[Any, Any, None], *, place: Place, did: str) -> None:
    """Do it; whatever keeps it from being done is told to the person who acted."""
    try:
        try:
            await work
        except Refused as refused:
            await refuse(desk, refused, place=place, did=did)
    except Unavailable as busy:
        log.warning("busy", error=str(busy), actor=place.actor, did=did)
        await whisper.tell(desk.slack, place, refusals.refusal("busy", {"did": did}, commands=desk.slack.commands))
    except Exception:
        await apologise(desk, place=place, did=did)


async def answered(desk: Desk, work: Coroutine[Any, Any, Answer], sent: Submission, *, did: str) -> Answer:
    """What a form is told. Whatever keeps it from being done is said on top of it too, so that nothing typed is lost."""
    try:
        return await work
    except Refused as refused:
        start(desk, _raised(refused), place=sent.place, did=did)
        note = edit_notices.refused(refusals.refusal(refused.kind, {"did": did, **refused.facts}, commands=desk.slack.commands))
    except Unavailable as busy:
        log.warning("busy", error=str(busy), actor=sent.actor, did=did)
        note = Note("*Not taken: Pullcord or Slack is slow just now.* Nothing changed. Try again in a few seconds.", "error")
    except Exception:
        number = _logged(sent.place, did)
        says = f"*Something broke in Pullcord, and nothing changed.* It is in the log as {number}. Try again, or tell an admin the number."
        note = Note(says, "error")
    return Answer.update(edit_notices.with_note(sent.view, note))


async def _raised(refused: Refused) -> None:
    raise refused


async def refuse(desk: Desk, refused: Refused, *, place: Place, did: str) -> None:
    """Record the refusal and say it."""
    run_id = await record(desk, refused, actor=place.actor, did=did)
    scene = await _scene(desk, run_id)
    card = refusals.refusal(refused.kind, {"did": did, **refused.facts}, scene)
    await whisper.tell(desk.slack, _in_thread_of(place, scene), card)


async def record(desk: Desk, refused: Refused, *, actor: str, did: str) -> str | None:
    """Put the refusal on record. What made it come about may have changed at Slack: the directory asks anew next time.

    Returns the run that it is about, if that is known.
    """
    log.info("refused", kind=refused.kind, actor=actor, did=did)
    desk.slack.directory.forget()
    run_id = refused.facts.get("run") if refused.kind != "unknown_run" else None
    if refused.kind not in NOT_RECORDED:
        await refusing.record(desk.deps, refused, run_id=run_id, actor=actor, did=did)
    return run_id


async def apologise(desk: Desk, *, place: Place, did: str) -> None:
    """Our fault: a number for the person, the trace under it for us. Call it while the exception is being handled."""
    number = _logged(place, did)
    await whisper.tell(desk.slack, place, refusals.refusal("fault", {"number": number, "did": did}, None))


def _logged(place: Place, did: str) -> str:
    number = "F-" + "".join(secrets.choice(ALPHABET) for _ in range(4))
    log.exception("fault", number=number, actor=place.actor, did=did)
    return number


async def on_error(error: Exception, body: dict[str, Any]) -> None:
    """What bolt caught: a payload that could not be read, or an ack that failed. There is nobody to be told."""
    log.error("listener_broken", payload=body.get("type"), exc_info=error)


async def _scene(desk: Desk, run_id: str | None) -> Scene | None:
    if run_id is None:
        return None
    try:
        return await scenes.of_run(desk, run_id)
    except Refused:
        return None


def _in_thread_of(place: Place, scene: Scene | None) -> Place:
    """A modal or Home has no channel: the run's own thread is where the person finds the answer."""
    if place.channel is not None or scene is None:
        return place
    return Place(actor=place.actor, channel=scene.run.channel, thread_ts=scene.run.thread_ts)
