"""A reply in a run's thread. Whatever it is, it has a visible outcome.

This version knows the whole-message words `pause`, `resume`, `stop` and `status`, and the answer to the planner's question.
Anything else said while a run is live is answered with what can be done; nothing about the run changes by it.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection

from bot.core import policy
from bot.core.run import Event, Hold, Run, RunStatus
from bot.core.words import control_word
from bot.deps import Deps
from bot.errors import Refused
from bot.store import door, runs

Kind = Literal["status", "control", "answered", "not_understood", "late"]


@dataclass(frozen=True)
class Outcome:
    """What became of a reply; the Slack side says it. For `control`, `facts["word"]` is the command that the reply means."""

    kind: Kind
    facts: dict[str, Any] = field(default_factory=dict)


async def reply(deps: Deps, run_id: str, *, text: str, who: policy.Member, ts: str) -> Outcome:
    """Read one reply. Raises `Refused` if it is an answer by somebody who was not asked."""
    run = await deps.store.read(lambda conn: runs.get(conn, run_id))
    word = control_word(text)
    if word == "status":
        return Outcome("status")
    if word:
        return Outcome("control", {"word": word})
    if run.status is RunStatus.PLANNING and run.reason is Hold.QUESTION:
        await answer_question(deps, run_id, text=text, who=who)
        return Outcome("answered")
    if run.is_final:
        return Outcome("late", {"ts": ts})
    return Outcome("not_understood", {"ts": ts, "text": text})


async def answer_question(deps: Deps, run_id: str, *, text: str, who: policy.Member) -> Run:
    """The requester (or an approver) answers the planner's question; planning goes on with it."""

    def work(conn: Connection) -> Run:
        run = runs.get(conn, run_id)
        if no := policy.may_decide(deps.policy, who, requester=run.requester):
            raise Refused(no, run=run_id, did="answer")
        if run.status is not RunStatus.PLANNING or run.reason is not Hold.QUESTION:
            raise Refused("moved_on", run=run_id, did="answer")
        data = {"answer": text, "deadline": None}
        return door.change(conn, run_id, Event.QUESTION_ANSWERED, actor=who.id, at=deps.now(), data=data)

    return await deps.store.write(work)
