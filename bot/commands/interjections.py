"""A reply in a run's thread. Whatever it is, it has a visible outcome.

What needs nobody to make it out (a control word, one of the exact forms, a question, thanks) is acted on at once. Anything else is stored
and made out in the background (`activities.hearing`), by a cheap model or by rules; a listener never waits for that.
"""

from datetime import datetime

from sqlalchemy import Connection

from bot import guard
from bot.core import policy
from bot.core.drafts import Reply
from bot.core.replies import control_wish, sure
from bot.core.run import Event, Hold, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import by_person
from bot.outcomes import Outcome, take
from bot.store import door, replies, runs


async def reply(deps: Deps, run_id: str, *, text: str, who: policy.Member, ts: str) -> Outcome:
    """Read one reply. Raises `Refused` if it wants what this person may not do, or answers a question that they were not asked.

    `control` and `withdraw` are left to the caller, who has the commands for them. A reply that was heard before is `known`.
    """
    word = control_wish(text)
    if word:
        return Outcome("status") if word == "status" else Outcome("control", {"word": word})
    said = Reply(ts=ts, actor=who.id, text=deps.secrets.typed(text, run_id))
    outcome = await by_person(deps, lambda conn: _hear(conn, deps, runs.get(conn, run_id), said, who))
    if outcome.kind == "heard":
        deps.unheard.add(run_id)
        deps.bell.ring(run_id)
    return outcome


def _hear(conn: Connection, deps: Deps, run: Run, said: Reply, who: policy.Member) -> Outcome:
    if run.status is RunStatus.PLANNING and run.reason is Hold.QUESTION:
        _answer(conn, deps, run, said.text, who, deps.now())
        return Outcome("answered")
    plan = runs.revision(conn, run.id, run.proposed or run.revision)[0] if run.revision else None
    kind = sure(said.text, plan, tools=deps.tools.catalogue)
    if kind == "withdraw":
        return Outcome("withdraw")
    if kind == "control":  # "stop?": a question about the word, and no command
        kind = None
    if kind in (None, "change") and (no := guard.why_no_change(deps, run, who)):
        if kind == "change":
            raise Refused(no, run=run.id, did="change", words=said.text)
        replies.heard(conn, run.id, said, at=deps.now(), kind="not_understood")  # nobody need make out what would not count
        return take(conn, deps, run, said, None, who=who)
    if kind == "change" and replies.waiting(conn, run.id):
        kind = None  # what was said before is still being made out, and replies are taken in their order
    if not replies.heard(conn, run.id, said, at=deps.now(), kind=kind):
        return Outcome("known")
    return take(conn, deps, run, said, kind, who=who) if kind is not None else Outcome("heard")


async def answer_question(deps: Deps, run_id: str, *, text: str, who: policy.Member, received_at: datetime | None = None) -> Run:
    """The requester (or an approver) answers the planner's question; planning goes on with it."""
    words = deps.secrets.typed(text, run_id)
    return await by_person(deps, lambda conn: _answer(conn, deps, runs.get(conn, run_id), words, who, received_at or deps.now()))


def _answer(conn: Connection, deps: Deps, run: Run, text: str, who: policy.Member, received_at: datetime) -> Run:
    guard.must_answer(conn, deps, run, who, received_at)
    data = {"answer": text, "deadline": None}
    return door.change(conn, run.id, Event.QUESTION_ANSWERED, actor=who.id, at=deps.now(), data=data)


async def changed(deps: Deps, run_id: str, *, ts: str, text: str | None, who: policy.Member) -> None:
    """A reply that nobody has made out yet was edited, or (`text` None) deleted by its author: only the new words are read, or none."""

    def work(conn: Connection) -> None:
        waiting = next((reply for reply in replies.waiting(conn, run_id) if reply.ts == ts and reply.actor == who.id), None)
        if waiting is None:
            return
        if text is None or not text.strip():
            replies.made_out(conn, run_id, ts, "gone")
        else:
            replies.edited(conn, run_id, ts, deps.secrets.typed(text, run_id))

    await deps.store.write(work)
