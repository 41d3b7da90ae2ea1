"""Making out replies that need somebody to read them: a cheap model, or rules where there is none. One by one, in the order of the thread.

A reply is taken off the list in the transaction that acts on it, so that a crash costs a second look and never a second outcome.
"""

from sqlalchemy import Connection

from bot import runs
from bot.activities.briefing import brief_of
from bot.core.drafts import Reply
from bot.core.policy import Member
from bot.core.run import Event
from bot.deps import Deps
from bot.errors import Refused
from bot.outcomes import take
from bot.store import door, replies
from bot.store import runs as rows


async def hear(deps: Deps, run_id: str) -> None:
    """Make out every reply of this run that waits for it."""
    while waiting := await deps.store.read(lambda conn: replies.waiting(conn, run_id)):
        reply = waiting[0]
        snapshot = await runs.snapshot(deps, run_id, entries=True)
        kind = await deps.classifier.classify(brief_of(deps, snapshot, heard=reply))
        await _act(deps, run_id, reply, None if kind == "control" else kind)


async def _act(deps: Deps, run_id: str, reply: Reply, kind: str | None) -> None:
    def work(conn: Connection) -> None:
        now = replies.known(conn, run_id, reply.ts)
        if now is None or now != (reply.text, None):
            return  # edited, deleted or made out meanwhile
        replies.made_out(conn, run_id, reply.ts, kind or "not_understood")
        try:
            heard_at = replies.heard_at(conn, run_id, reply.ts)
            take(conn, deps, rows.get(conn, run_id), reply, kind, who=_as_heard(deps, reply), heard_at=heard_at)
        except Refused as refused:  # it may be too late for it by now
            data = {"did": "change", "kind": refused.kind, "text": reply.text}
            door.note(conn, run_id, Event.CLICK_REFUSED, actor=reply.actor, at=deps.now(), data=data)
            take(conn, deps, rows.get(conn, run_id), reply, None, who=_as_heard(deps, reply))

    await deps.store.write(work)


def _as_heard(deps: Deps, reply: Reply) -> Member:
    """The person of whom it was looked up, when the reply was heard, that they may have this changed. It stands for no other right:
    whatever the change adds is approved like any plan.
    """
    return Member(id=reply.actor, listed=frozenset(deps.policy.names), is_admin=True)
