"""Words that are to change a plan: while it waits for people the planner makes another revision; while it runs, the brake first."""

from datetime import datetime

from sqlalchemy import Connection

from bot import guard
from bot.core import policy
from bot.core.run import Event, Redirect, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import move


def take_changes(
    conn: Connection, deps: Deps, run: Run, revision: int, *, words: str, who: policy.Member, received_at: datetime | None = None
) -> Run:
    """The planner is to make another revision of a plan under review. `received_at`: when it was said, if not now. Raises `Refused`."""
    guard.must_take_changes(conn, deps, run, revision, who, received_at or deps.now(), words=words)
    data = {"words": words, "revision_was": run.revision, "deadline": None}
    return move(conn, deps, run, Event.CHANGES_ASKED, who=who, did="ask for changes", data=data)


def pull(
    conn: Connection, deps: Deps, run: Run, *, text: str, who: policy.Member, ts: str = "", received_at: datetime | None = None
) -> Run:
    """The rest of a live run is to be planned again by these words: no further step starts. Raises `Refused`."""
    guard.must_redirect(conn, deps, run, who, received_at or deps.now(), words=text)
    if not text.strip():
        raise Refused("no_words", run=run.id, did="change")
    return move(conn, deps, run, Event.REDIRECT_ASKED, who=who, did="change", data={"how": "reply", "text": text, "ts": ts})


def is_being_planned(run: Run) -> bool:
    """Does the rest wait for the planner, with nothing running any more?"""
    return run.status is RunStatus.PAUSED and run.redirect is Redirect.PLANNING
