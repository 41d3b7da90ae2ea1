"""Change the rest of a live run: the brake first, then another plan for what has not started; finished steps stay.

Everything said is in the run's record, in the order in which it was said, so that planning again can be begun anew after a crash, and so
that a later word counts more than an earlier one. Planning itself is slow work (`activities.redrafting`) and begins once nothing runs.
"""

from datetime import datetime

from sqlalchemy import Connection

from bot import guard
from bot.changing import pull
from bot.core import policy, rest
from bot.core.run import Event, Run
from bot.deps import Deps
from bot.moving import by_person, move
from bot.store import audit, replies, runs


async def redirect(deps: Deps, run_id: str, *, text: str, who: policy.Member, ts: str = "", received_at: datetime | None = None) -> Run:
    """What was said is to change the rest: no further step starts, and the rest is planned again.

    `ts`: the message, if it was one. Raises `Refused`: `no_redirects_left`, `not_live`, or why this person may not.
    """
    words = deps.secrets.typed(text, run_id)
    return await by_person(deps, lambda conn: pull(conn, deps, runs.get(conn, run_id), text=words, who=who, ts=ts, received_at=received_at))


async def may_redirect(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """Raise what `redirect` would raise now, so that nobody is asked for words that could only be turned down."""

    def look(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_redirect(conn, deps, run, who, deps.now())
        return run

    return await deps.store.read(look)


async def withdraw(deps: Deps, run_id: str, *, who: policy.Member, revision: int | None = None, received_at: datetime | None = None) -> Run:
    """Never mind: the open redirect is dropped, with every reply that is still being made out; the rest goes on as it was approved.

    `revision`: the one that the button stood on. Raises `Refused` if there is nothing to drop, or that revision waits no more.
    """

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        guard.must_withdraw(conn, deps, run, who, received_at or deps.now(), revision=revision)
        replies.drop_waiting(conn, run_id)
        if run.redirect is None:
            return run
        return _withdraw(conn, deps, run, who, why="")

    return await by_person(deps, work)


def _withdraw(conn: Connection, deps: Deps, run: Run, who: policy.Member, *, why: str) -> Run:
    data = {"why": why, "proposed_was": run.proposed, "deadline": None}
    return move(conn, deps, run, Event.WITHDRAWN, who=who, did="never mind", data=data)


async def reply_changed(deps: Deps, run_id: str, *, ts: str, text: str | None, who: policy.Member) -> Run | None:
    """A reply that an open redirect follows was edited, or (`text` None) deleted by its author: the rest is planned again without it.

    None if it is not such a reply: what was adopted stays adopted, and editing a message changes no plan that runs (C015, C016).
    """

    text = deps.secrets.typed(text, run_id) if text else text

    def work(conn: Connection) -> Run | None:
        run = runs.get(conn, run_id)
        replies = rest.opened(audit.entries(conn, run_id)).replies
        said = next((reply for reply in replies if reply.ts and reply.ts == ts), None)
        if run.redirect is None or said is None or said.actor != who.id or (text or "").strip() == said.text.strip():
            return None
        if text is None and len(replies) == 1:
            return _withdraw(conn, deps, run, who, why="the reply was deleted")
        data = {"how": "edited" if text else "gone", "text": text or "", "ts": ts}
        return move(conn, deps, run, Event.REDIRECT_ASKED, who=who, did="change", data=data)

    return await by_person(deps, work)
