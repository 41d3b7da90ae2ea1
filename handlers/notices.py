"""Short posts that answer a person in a run's thread, with a key in their metadata like every post of ours."""

from collections.abc import Callable, Mapping

from handlers import scenes
from handlers.context import Message
from handlers.desk import Desk
from handlers.views import notes
from handlers.views.scene import Card, Scene, message

KINDS: Mapping[str, Callable[[Scene], Card]] = {
    "status": notes.status,
    "answered": notes.answered,
    "late": notes.late_reply,
    "not_understood": notes.not_understood,
}


async def say(desk: Desk, said: Message, run_id: str, kind: str) -> None:
    """Say in the thread what became of somebody's reply; `kind` is one of the outcomes, or a control word that was carried out."""
    scene = await scenes.of_run(desk, run_id)
    card = KINDS[kind](scene) if kind in KINDS else notes.control_done(scene, kind)
    told = message(card, scene, kind="note", version=scene.run.version, key=f"{run_id}:reply.{said.ts}")
    await desk.slack.client.chat_postMessage(channel=said.channel, thread_ts=said.root, **told)
