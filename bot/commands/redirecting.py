"""Change the rest of a live run: the brake first, then another plan for what has not started; finished steps stay.

Everything said is in the run's record, in the order in which it was said, so that planning again can be begun anew after a crash, and so
that a later word counts more than an earlier one. Planning itself is slow work (`activities.redrafting`) and begins once nothing runs.
"""

from sqlalchemy import Connection

from bot.changing import must_be_redirectable, pull
from bot.core import policy, rest
from bot.core.run import Event, Run
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person, move
from bot.store import audit, replies, runs


async def redirect(deps: Deps, run_id: str, *, text: str, who: policy.Member, ts: str = "") -> Run:
    """What was said is to change the rest: no further step starts, and the rest is planned again.

    `ts`: the message, if it was one. Raises `Refused`: `no_redirects_left`, `not_live`, or why this person may not.
    """
    return await by_person(deps, lambda conn: pull(conn, deps, runs.get(conn, run_id), text=text, who=who, ts=ts))


async def may_redirect(deps: Deps, run_id: str, *, who: policy.Member) -> Run:
    """Raise what `redirect` would raise now, so that nobody is asked for words that could only be turned down."""

    def look(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        must_be_redirectable(conn, deps, run, who)
        return run

    return await deps.store.read(look)


async def withdraw(deps: Deps, run_id: str, *, who: policy.Member, revision: int | None = None) -> Run:
    """Never mind: the open redirect is dropped, with every reply that is still being made out; the rest goes on as it was approved.

    `revision`: the one that the button stood on. Raises `Refused` if there is nothing to drop, or that revision waits no more.
    """

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if revision not in (None, run.proposed):
            raise Refused("stale", run=run_id, revision=revision, current=run.proposed or run.revision, status=run.status, did="never mind")
        if run.redirect is None and not replies.waiting(conn, run_id):
            raise Refused("nothing_to_withdraw", run=run_id, status=run.status, did="never mind")
        said_it = who.id in {reply.actor for reply in rest.opened(audit.entries(conn, run_id)).replies}
        no = policy.may_decide(deps.policy, who, requester=run.requester)
        if no is not None and not (no == "not_allowed" and said_it):
            raise Refused(no, run=run_id, did="never mind")
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
