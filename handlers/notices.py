"""Short posts that answer a person in a run's thread, with a key in their metadata like every post of ours.

They are not worth a row in the outbox, so each is tried once: a lost answer must not double it. Where nobody knows whether it stands, or
Slack did not take it, the person is told the same in private. Nobody redraws them, so they tell of the run as the command left it, not of
what has become of it since; only `status`, which is asked for that, tells of now, with the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import structlog

from bot.core.run import Run
from handlers import scenes, whisper
from handlers.context import Message
from handlers.desk import Desk
from handlers.trouble import FAILURES, trouble
from handlers.views import notes
from handlers.views.scene import Card, Scene, message

log = structlog.get_logger()

SAID_HERE = frozenset({"status", "answered", "withdraw"})  # every other outcome has its note in the outbox
KINDS: Mapping[str, Callable[[Scene], Card]] = {
    "status": notes.status,
    "answered": notes.answered,
}


async def say(desk: Desk, said: Message, run_id: str, kind: str, *, left: Run | None = None) -> None:
    """Say in the thread what became of somebody's reply; `kind` is one of the outcomes, or a control word that was carried out.

    `left`: the run as the command left it.
    """
    scene = await scenes.of_run(desk, run_id)
    scene = _as_left(scene, left) if left is not None else scene
    card = KINDS[kind](scene) if kind in KINDS else notes.control_done(scene, kind, actor=said.actor)
    told = message(card, scene, kind="note", version=scene.run.version, key=f"{run_id}:reply.{said.ts}")
    try:
        await desk.slack.once.chat_postMessage(channel=said.channel, thread_ts=said.root, **told)
    except FAILURES as failure:
        log.warning("note_unanswered", run=run_id, error=trouble(failure).code)
        await whisper.tell(desk.slack, said.place, card)


def _as_left(scene: Scene, run: Run) -> Scene:
    """The same scene with the run's own row as it was; the words of its requester stay masked."""
    return replace(scene, snapshot=scene.snapshot.model_copy(update={"run": run.model_copy(update={"ask": scene.run.ask})}))
