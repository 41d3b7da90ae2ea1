"""Replies in the threads of live runs, from the moment they were heard until somebody has made out what they are.

Slack delivers a message that was acknowledged only once, so what is heard is stored first. The message's timestamp makes a reply that is
told twice (by redelivery, or as a broadcast) count once, restarts included (C016).
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from bot.core.drafts import Reply
from bot.store import tables
from bot.store.db import noted

_replies = tables.replies


def heard(conn: Connection, run_id: str, reply: Reply, *, at: datetime, kind: str | None) -> bool:
    """Keep a reply; False, and nothing happens, if it was heard before. `kind` None: it must still be made out."""
    of = (_replies.c.run_id == run_id, _replies.c.ts == reply.ts)
    if conn.execute(select(_replies.c.ts).where(*of)).one_or_none():
        return False
    conn.execute(insert(_replies), {"run_id": run_id, "ts": reply.ts, "actor": reply.actor, "text": reply.text, "at": at, "kind": kind})
    noted(conn).add(run_id)
    return True


def waiting(conn: Connection, run_id: str) -> Sequence[Reply]:
    """The replies that nobody has made out yet, in the order in which they were heard."""
    query = select(_replies).where(_replies.c.run_id == run_id, _replies.c.kind.is_(None)).order_by(_replies.c.at, _replies.c.ts)
    return [Reply(ts=row["ts"], actor=row["actor"], text=row["text"]) for row in conn.execute(query).mappings()]


def waiting_runs(conn: Connection) -> Sequence[str]:
    """The runs with replies that nobody has made out yet."""
    return conn.execute(select(_replies.c.run_id).where(_replies.c.kind.is_(None)).distinct()).scalars().all()


def made_out(conn: Connection, run_id: str, ts: str, kind: str) -> bool:
    """It is known what the reply is. False if it was known before: somebody else was faster."""
    of = (_replies.c.run_id == run_id, _replies.c.ts == ts, _replies.c.kind.is_(None))
    return conn.execute(update(_replies).where(*of).values(kind=kind)).rowcount == 1


def drop_waiting(conn: Connection, run_id: str) -> int:
    """Nobody makes these out any more: what they might have asked for was taken back. Returns how many."""
    return conn.execute(update(_replies).where(_replies.c.run_id == run_id, _replies.c.kind.is_(None)).values(kind="gone")).rowcount


def heard_at(conn: Connection, run_id: str, ts: str) -> datetime | None:
    """When that reply was heard."""
    return conn.execute(select(_replies.c.at).where(_replies.c.run_id == run_id, _replies.c.ts == ts)).scalar_one_or_none()


def edited(conn: Connection, run_id: str, ts: str, text: str) -> bool:
    """The words were changed before anybody made them out. False if that was done already (or the reply is not known)."""
    of = (_replies.c.run_id == run_id, _replies.c.ts == ts, _replies.c.kind.is_(None))
    return conn.execute(update(_replies).where(*of).values(text=text)).rowcount == 1


def known(conn: Connection, run_id: str, ts: str) -> tuple[str, str | None] | None:
    """Words and kind of a reply that was heard; None if it was not."""
    row = conn.execute(select(_replies.c.text, _replies.c.kind).where(_replies.c.run_id == run_id, _replies.c.ts == ts)).one_or_none()
    return (row.text, row.kind) if row else None
