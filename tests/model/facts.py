"""What is true in one state of the database, as a value: two states with equal facts behave alike from then on.

Times, hashes, version numbers and posts that no command reads are left out. Of the record only those entries are kept that somebody reads
again later (what was said, what was refused, which rounds were planned).
"""

import json
import sqlite3
from typing import Any, NamedTuple

from bot.core.run import Event, Hold, Redirect, Run, RunStatus

READ_AGAIN = (
    Event.REDIRECT_ASKED,
    Event.REDIRECT_PLANNED,
    Event.REDIRECTED,
    Event.WITHDRAWN,
    Event.CONFIRM_REFUSED,
    Event.CHANGES_ASKED,
    Event.ATTEMPTED,
)
_MARKS = ", ".join("?" for _ in READ_AGAIN)
_RUN = """select status, reason, held_step, redirect, proposed, revision, digest, approved,
deadline is not null, breakpoints, passed, seq, version from runs"""
_STEPS = """select step_id, revision, tool, status, attempt, args, started_at is not null, observation, error from steps order by step_id"""
_REVISIONS = "select revision, digest, author from revisions order by revision"
_APPROVALS = "select actor, revision, digest, kind, step from approvals order by actor, revision, digest, kind, step"
_RECORD = f"select event, actor, data from audit where run_id = ? and event in ({_MARKS}) order by seq"  # noqa: S608
_CARDS = "select json_extract(data, '$.step'), json_extract(data, '$.filling') from posts where card = 'confirm' order by 1, 2"
_FROZEN = "select count(*) from freezes where ended_at is null"
_SAID = "select event, actor, data from audit where run_id = ? and seq > ? order by seq"
_MOVES = ("from", "to", "version", "plan_steps", "step_from", "step_to")


class StepFacts(NamedTuple):
    """One step's row."""

    id: str
    revision: int
    tool: str
    status: str
    attempt: int
    args: str | None
    begun: bool
    observation: str | None
    error: str | None


class Said(NamedTuple):
    """One audit entry."""

    event: str
    actor: str
    data: dict[str, Any]


class Facts(NamedTuple):
    """All that is true of the one run, and of the bot."""

    status: str
    reason: str | None
    held: str | None
    redirect: str | None
    proposed: int | None
    revision: int
    digest: str | None
    approved: str | None
    waits: bool
    breakpoints: frozenset[str]
    passed: frozenset[str]
    steps: tuple[StepFacts, ...]
    revisions: tuple[tuple[int, str, str], ...]
    approvals: tuple[tuple[str, int, str, str, str], ...]
    record: tuple[tuple[str, str, str], ...]
    cards: tuple[tuple[str, str], ...]
    frozen: bool

    def step(self, name: str) -> StepFacts | None:
        return next((step for step in self.steps if step.id == name), None)

    @property
    def running(self) -> frozenset[str]:
        """Steps whose row says that they run."""
        return frozenset(step.id for step in self.steps if step.status == "running")

    @property
    def run(self) -> Run:
        """As much of the run as the table of moves looks at."""
        return Run.model_construct(
            status=RunStatus(self.status),
            reason=Hold(self.reason) if self.reason else None,
            redirect=Redirect(self.redirect) if self.redirect else None,
            proposed=self.proposed,
            revision=self.revision,
        )


def read(driver: sqlite3.Connection, run_id: str) -> tuple[Facts, int, int]:
    """The facts now, the number of the run's last entry, and its version."""
    ask = driver.execute
    *run, waits, breakpoints, passed, seq, version = ask(_RUN).fetchone()
    record = (
        (event, actor, json.dumps({name: value for name, value in json.loads(data).items() if name not in _MOVES}, sort_keys=True))
        for event, actor, data in ask(_RECORD, (run_id, *(event.value for event in READ_AGAIN)))
    )
    facts = Facts(
        *run,
        bool(waits),
        frozenset(json.loads(breakpoints)),
        frozenset(json.loads(passed)),
        tuple(StepFacts(*row) for row in ask(_STEPS)),
        tuple(ask(_REVISIONS)),
        tuple(ask(_APPROVALS)),
        tuple(record),
        tuple(ask(_CARDS)),
        bool(ask(_FROZEN).fetchone()[0]),
    )
    return facts, seq, version


def said_since(driver: sqlite3.Connection, run_id: str, seq: int) -> tuple[Said, ...]:
    """The run's entries after that number."""
    return tuple(Said(event, actor, json.loads(data)) for event, actor, data in driver.execute(_SAID, (run_id, seq)))
