"""Which wait of a run is meant: people are asked about one revision, or about one step with the very values that it would run with.

A wait is over when the run has left it, whatever the clock still has in store for it.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.ids import short
from bot.core.run import Hold, Redirect, Run, RunStatus


@dataclass(frozen=True)
class Timer:
    """What the clock is to do for one wait of a run: `remind` or `escalate`."""

    run: str
    wait: str
    kind: str
    at: datetime


def of_review(revision: int) -> str:
    """The wait for people's yes to a revision, before anything ran or as the new rest of a live run."""
    return f"review.{revision}"


def of_confirm(step: str, filling: str) -> str:
    """The wait for people's yes to one step; `filling` is the digest of its filled-in arguments, or its beginning."""
    return f"confirm.{step}.{short(filling)}"


def reviewed(run: Run) -> int | None:
    """The revision that people decide on now, if it is a revision."""
    if run.status is RunStatus.IN_REVIEW:
        return run.revision
    return run.proposed if run.status is RunStatus.PAUSED and run.redirect is Redirect.REVIEW else None


def confirmed(run: Run) -> str | None:
    """The step that people decide on now, if it is one step."""
    return run.held_step if run.status is RunStatus.PAUSED and run.reason is Hold.CONFIRM else None
