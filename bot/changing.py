"""Words that are to change a plan: while it waits for people the planner makes another revision; while it runs, the brake first."""

from typing import Any

from sqlalchemy import Connection

from bot.core import policy, rest
from bot.core.run import Event, Redirect, Run, RunStatus
from bot.deps import Deps
from bot.errors import Refused
from bot.moving import move
from bot.proposing import is_live
from bot.store import audit


def take_changes(conn: Connection, deps: Deps, run: Run, revision: int, *, words: str, who: policy.Member) -> Run:
    """The planner is to make another revision of a plan under review. Raises `Refused`."""
    must_take_changes(conn, deps, run, revision, who, words=words)
    data = {"words": words, "revision_was": run.revision, "deadline": None}
    return move(conn, deps, run, Event.CHANGES_ASKED, who=who, did="ask for changes", data=data)


def must_take_changes(conn: Connection, deps: Deps, run: Run, revision: int, who: policy.Member, *, words: str | None = None) -> None:
    """Raise the refusal that fits when this revision takes no (more) changes in words from this person."""
    facts: dict[str, Any] = {"run": run.id, "revision": revision, "current": run.revision, "did": "ask for changes", "words": words or ""}
    if no := policy.may_decide(deps.policy, who, requester=run.requester):
        raise Refused(no, **facts)
    if run.status is not RunStatus.IN_REVIEW:
        raise Refused("stale" if not run.is_final else "already_done", status=run.status, at=run.updated_at, **facts)
    if revision != run.revision:
        raise Refused("stale", **facts)
    if words is not None and not words.strip():
        raise Refused("no_words", **facts)
    limit = deps.policy.limits.revisions
    if rest.plans_wanted(audit.entries(conn, run.id)) >= limit:
        raise Refused("no_revisions_left", limit=limit, **facts)


def pull(conn: Connection, deps: Deps, run: Run, *, text: str, who: policy.Member, ts: str = "") -> Run:
    """The rest of a live run is to be planned again by these words: no further step starts. Raises `Refused`."""
    must_be_redirectable(conn, deps, run, who, text=text)
    if not text.strip():
        raise Refused("no_words", run=run.id, did="change")
    return move(conn, deps, run, Event.REDIRECT_ASKED, who=who, did="change", data={"how": "reply", "text": text, "ts": ts})


def must_be_redirectable(conn: Connection, deps: Deps, run: Run, who: policy.Member, *, text: str = "") -> None:
    """Raise the refusal that fits when this person cannot change the rest of this run by a reply (any more)."""
    facts: dict[str, Any] = {"run": run.id, "did": "change", "words": text, "status": run.status}
    if no := policy.may_redirect(deps.policy, who, requester=run.requester):
        raise Refused(no, **facts)
    if not is_live(run):
        raise Refused("already_done" if run.is_final else "not_live", at=run.updated_at, **facts)
    limit = deps.policy.limits.redirects
    if rest.used(audit.entries(conn, run.id)) >= limit:
        raise Refused("no_redirects_left", limit=limit, **facts)


def is_being_planned(run: Run) -> bool:
    """Does the rest wait for the planner, with nothing running any more?"""
    return run.status is RunStatus.PAUSED and run.redirect is Redirect.PLANNING
