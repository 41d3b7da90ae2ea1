"""What becomes of a reply in a run's thread, once it is known what it is: always something that everybody there can see.

Part of the caller's transaction: the change and the note that tells of it are written together, so that nothing is said twice and nothing
is done in silence. Who may change the rest was looked up when the reply was heard.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from bot.changing import pull, take_changes
from bot.core import policy
from bot.core.asking import answer_from_state
from bot.core.drafts import Reply
from bot.core.run import Event, Run, RunStatus
from bot.core.snapshot import NewPost
from bot.deps import Deps
from bot.errors import Refused
from bot.opening import open_run
from bot.store import door, runs

REFUSED_IN_PUBLIC = frozenset({"no_redirects_left", "no_revisions_left"})  # limits of the run, not of the person


@dataclass(frozen=True)
class Outcome:
    """What became of a reply. `control`: `facts["word"]` is the command that it means; `heard`: it is still being made out."""

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)


def take(
    conn: Connection, deps: Deps, run: Run, reply: Reply, kind: str | None, *, who: policy.Member, heard_at: datetime | None = None
) -> Outcome:
    """Do what the reply means, and tell the thread. Raises `Refused` where this person may not; what a limit forbids is told there too."""
    if kind == "change" and run.is_final and heard_at is not None and heard_at < run.updated_at:
        kind = None  # it was said to a run that has been ended since: whoever ended it did not mean to begin another
    if kind == "change":
        return _change(conn, deps, run, reply, who, heard_at)
    if kind == "question":
        snapshot = runs.snapshot(conn, run.id, entries=True)
        says = answer_from_state(reply.text, snapshot, deps.tools.catalogue, deps.now())
        return _told(conn, run, reply, "question", says=says)
    if kind == "chatter":
        return _told(conn, run, reply, "chatter")
    return _told(conn, run, reply, "late" if run.is_final else "not_understood")


def _change(conn: Connection, deps: Deps, run: Run, reply: Reply, who: policy.Member, heard_at: datetime | None) -> Outcome:
    """The brake first, then another rest; before anything ran, another revision; after the end, a run that follows."""
    if run.is_final or run.status is RunStatus.ANSWERING:
        follower = _follow(conn, deps, run, reply, who)
        return _told(conn, run, reply, "follow_up", follower=follower.id if follower else "")
    if run.status is RunStatus.PLANNING:
        return _told(conn, run, reply, "too_early")
    try:
        if run.status is RunStatus.IN_REVIEW:
            take_changes(conn, deps, run, run.revision, words=reply.text, who=who, received_at=heard_at)
            return _told(conn, run, reply, "changes")
        pull(conn, deps, run, text=reply.text, who=who, ts=reply.ts, received_at=heard_at)
    except Refused as refused:
        if refused.kind not in REFUSED_IN_PUBLIC:
            raise
        data = {"did": "change", "kind": refused.kind, "text": reply.text}
        door.note(conn, run.id, Event.CLICK_REFUSED, actor=who.id, at=deps.now(), data=data)
        return _told(conn, run, reply, "refused", why=refused.kind, limit=refused.facts.get("limit"))
    return _told(conn, run, reply, "change")


def _follow(conn: Connection, deps: Deps, run: Run, reply: Reply, who: policy.Member) -> Run | None:
    """Open a run for the reply, in the same thread; None if it was opened before."""
    return open_run(
        conn,
        deps,
        ask=reply.text,
        who=who,
        team=run.team,
        channel=run.channel,
        thread_ts=run.thread_ts,
        source_ts=reply.ts,
        event_key=f"reply:{run.channel}:{reply.ts}",
        follows=run.id,
    )


def _told(conn: Connection, run: Run, reply: Reply, kind: str, **facts: Any) -> Outcome:
    """The note (for chatter: a reaction) that answers this reply, and no second one."""
    data = {"kind": f"reply_{kind}", "ts": reply.ts, "text": reply.text, "actor": reply.actor, **facts}
    card = "reaction" if kind == "chatter" else "note"
    post = NewPost(run=run.id, card=card, key=f"{run.id}:reply.{reply.ts}", channel=run.channel, data=data)
    door.tell(conn, post)
    return Outcome(kind, data)
