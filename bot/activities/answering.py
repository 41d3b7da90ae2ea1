"""The closing message: written from what the steps really returned, stored before it is posted."""

from sqlalchemy import Connection

from bot import runs
from bot.core.audit import audit_post
from bot.core.ids import PULLCORD
from bot.core.run import Event, RunStatus, StepStatus
from bot.core.snapshot import NewPost, Snapshot
from bot.deps import Deps
from bot.store import door
from bot.store import runs as rows


async def answer(deps: Deps, run_id: str) -> None:
    """Write the answer and end the run. Returns at once if the run is not being answered."""
    snapshot = await runs.snapshot(deps, run_id)
    if snapshot.run.status is not RunStatus.ANSWERING:
        return
    written = await deps.synthesizer.answer(snapshot, deps.tools.catalogue)
    event = Event.ANSWERED_FAILED if _failed(snapshot) else Event.ANSWERED

    def work(conn: Connection) -> None:
        rows.set_answer(conn, run_id, written)
        post = NewPost(run=run_id, card="answer", key=f"{run_id}:answer", channel=snapshot.run.channel)
        data = {"cites": list(written.cites), "by": written.by, "unsupported": len(written.unsupported)}
        tell = [post, *audit_post(deps.audit_place, run_id, event)]
        door.change(conn, run_id, event, actor=PULLCORD, at=deps.now(), data=data, tell=tell)

    await deps.store.write(work)


def _failed(snapshot: Snapshot) -> bool:
    """A run failed if a step failed for good and its rule was to stop there."""
    rules = {step.id: step.on_failure for step in snapshot.plan.steps} if snapshot.plan else {}
    failed = [step.id for step in snapshot.steps if step.status is StepStatus.FAILED]
    return any(rules.get(step, "continue") != "continue" for step in failed)  # one that a redirect left out counts no more
