"""Every table, as SQLModel. Only this package reads them; what leaves it is plain data of `bot.core`.

A run's row holds what is true now, and the number and hash of its last audit entry. Plans are kept per revision, steps and approvals in
rows of their own. `audit` and `heads` only grow: triggers made by the migrations refuse every UPDATE and DELETE on them.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKeyConstraint, Index, Table, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from bot.core.risk import Level
from bot.core.run import Hold, Redirect, RunStatus, StepStatus
from bot.store.columns import UtcDateTime, json_column, one_of

TIMER_KINDS = ("remind", "escalate", "expire")
REPLY_KINDS = ("change", "question", "control", "chatter", "not_understood", "late", "gone")


def _time(*, nullable: bool = False) -> Any:
    return Column(UtcDateTime, nullable=nullable)


def _json(*, nullable: bool = False) -> Any:
    return Column(json_column(), nullable=nullable)


class RunRow(SQLModel, table=True):
    """What is true of a run. `seq` and `head` are those of its last audit entry."""

    __tablename__ = "runs"
    __table_args__ = (
        one_of("status", RunStatus, table="runs"),
        one_of("reason", Hold, table="runs"),
        one_of("risk", Level, table="runs"),
        one_of("redirect", Redirect, table="runs"),
        Index("runs_by_status", "status", "created_at"),
        Index("runs_by_thread", "channel", "thread_ts"),
        Index("runs_by_source", "channel", "source_ts"),
        Index("runs_by_time", "created_at"),
    )

    id: str = Field(primary_key=True)
    version: int
    status: str
    reason: str | None
    held_step: str | None
    ask: str
    requester: str
    team: str
    channel: str
    thread_ts: str | None
    source_ts: str | None
    revision: int
    digest: str | None
    approved: str | None
    risk: str | None
    deadline: datetime | None = Field(sa_column=_time(nullable=True))
    breakpoints: list[str] = Field(sa_column=_json())
    passed: list[str] = Field(sa_column=_json())
    created_at: datetime = Field(sa_column=_time())
    updated_at: datetime = Field(sa_column=_time())
    seq: int
    head: str
    redirect: str | None = None
    proposed: int | None = None
    source_author: str | None = None
    answer: dict[str, Any] | None = Field(sa_column=_json(nullable=True))


class RevisionRow(SQLModel, table=True):
    """One revision of a run's plan, as graded, with the definitions of the tools that it calls."""

    __tablename__ = "revisions"
    __table_args__ = (
        ForeignKeyConstraint(["run_id"], ["runs.id"], name="revisions_of_run"),
        one_of("risk", Level, table="revisions"),
    )

    run_id: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    plan: dict[str, Any] = Field(sa_column=_json())
    digest: str
    risk: str
    grades: list[dict[str, Any]] = Field(sa_column=_json())
    tool_digests: dict[str, str] = Field(sa_column=_json())
    author: str
    at: datetime = Field(sa_column=_time())


class StepRow(SQLModel, table=True):
    """One step of a run, over all revisions; `revision` is the last one that (re)wrote it."""

    __tablename__ = "steps"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "revision"], ["revisions.run_id", "revisions.revision"], name="steps_of_revision"),
        one_of("status", StepStatus, table="steps"),
        Index("steps_by_start", "started_at"),
    )

    run_id: str = Field(primary_key=True)
    step_id: str = Field(primary_key=True)
    revision: int
    number: int
    tool: str
    status: str
    attempt: int
    args: dict[str, Any] | None = Field(sa_column=_json(nullable=True))
    started_at: datetime | None = Field(sa_column=_time(nullable=True))
    finished_at: datetime | None = Field(sa_column=_time(nullable=True))
    observation: dict[str, Any] | None = Field(sa_column=_json(nullable=True))
    error: str | None
    tokens: int = 0  # that its tool has used, over all tries
    money: float = 0.0  # ... and what they cost in US dollars, by the policy's prices then


class ApprovalRow(SQLModel, table=True):
    """One person's yes to one digest; `step` is empty for a plan (a NULL would make every row unique)."""

    __tablename__ = "approvals"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "revision"], ["revisions.run_id", "revisions.revision"], name="approvals_of_revision"),
        UniqueConstraint("run_id", "revision", "digest", "kind", "step", "actor", name="approvals_once"),
        one_of("kind", ("plan", "confirm"), table="approvals"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: str
    revision: int
    digest: str
    kind: str
    step: str
    actor: str
    at: datetime = Field(sa_column=_time())


class AttemptRow(SQLModel, table=True):
    """One planning round, raw reply kept."""

    __tablename__ = "attempts"
    __table_args__ = (ForeignKeyConstraint(["run_id"], ["runs.id"], name="attempts_of_run"),)

    run_id: str = Field(primary_key=True)
    round: int = Field(primary_key=True)
    at: datetime = Field(sa_column=_time())
    reply: dict[str, Any] = Field(sa_column=_json())  # an `Attempt`


class AuditRow(SQLModel, table=True):
    """One entry of a run's chain. `id` is the order in which entries were written, over all runs."""

    __tablename__ = "audit"
    __table_args__ = (UniqueConstraint("run_id", "seq", name="audit_once"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: str  # "-": about a run that there is no record of
    seq: int
    at: datetime = Field(sa_column=_time())
    actor: str
    event: str
    data: dict[str, Any] = Field(sa_column=_json())
    prev: str
    hash: str


class HeadRow(SQLModel, table=True):
    """One entry of the chain that ties the runs' chains together."""

    __tablename__ = "heads"
    __table_args__ = (Index("heads_by_entry", "run_id", "seq"),)

    n: int = Field(primary_key=True)
    run_id: str
    seq: int
    head: str
    at: datetime = Field(sa_column=_time())
    prev: str
    hash: str


class PostRow(SQLModel, table=True):
    """The outbox: what must stand in Slack. `run_id` may name no run: some posts are about the whole bot."""

    __tablename__ = "posts"
    __table_args__ = (
        UniqueConstraint("key", name="posts_once"),
        one_of("state", ("wanted", "sending", "posted", "failed"), table="posts"),
        Index("posts_by_run", "run_id"),
        Index("posts_open", "state", sqlite_where=text("done IS 0"), postgresql_where=text("done IS false")),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: str
    card: str
    key: str
    channel: str
    in_thread: bool
    ts: str | None
    shown: int
    state: str
    data: dict[str, Any] = Field(sa_column=_json())
    error: str | None
    tries: int
    not_before: datetime | None = Field(sa_column=_time(nullable=True))
    done: bool = False  # nothing changes it any more


class ReplyRow(SQLModel, table=True):
    """A reply in a live run's thread that somebody must still make out: kept, so that a restart loses no word."""

    __tablename__ = "replies"
    __table_args__ = (
        ForeignKeyConstraint(["run_id"], ["runs.id"], name="replies_of_run"),
        one_of("kind", REPLY_KINDS, table="replies"),
    )

    run_id: str = Field(primary_key=True)
    ts: str = Field(primary_key=True)
    actor: str
    text: str
    at: datetime = Field(sa_column=_time())
    kind: str | None = None  # not made out yet


class FreezeRow(SQLModel, table=True):
    """One time in which everything was held; the one without an end is now."""

    __tablename__ = "freezes"

    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_column=_time())
    actor: str
    why: str
    ended_at: datetime | None = Field(sa_column=_time(nullable=True))
    ended_by: str | None = None


class SteppingInRow(SQLModel, table=True):
    """A person stepped in at steps of this tool: what breakpoints are suggested from."""

    __tablename__ = "stepping_in"
    __table_args__ = (Index("stepping_in_by_tool", "tool", "at"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: str
    step_id: str
    tool: str
    how: str  # the event
    at: datetime = Field(sa_column=_time())


class TimerRow(SQLModel, table=True):
    """Something that the clock must do for a run while it waits, unless the wait ends before. Done once: by whoever sets `fired_at`."""

    __tablename__ = "timers"
    __table_args__ = (
        ForeignKeyConstraint(["run_id"], ["runs.id"], name="timers_of_run"),
        one_of("kind", TIMER_KINDS, table="timers"),
        Index("timers_due", "at", sqlite_where=text("fired_at IS NULL"), postgresql_where=text("fired_at IS NULL")),
    )

    run_id: str = Field(primary_key=True)
    wait: str = Field(primary_key=True)  # which wait of the run: "review.2", "confirm.deploy.9f2c41d8"
    kind: str = Field(primary_key=True)
    at: datetime = Field(sa_column=_time())
    fired_at: datetime | None = Field(default=None, sa_column=_time(nullable=True))


class LockRow(SQLModel, table=True):
    """A key that one run holds for itself until it ends (`deploy:prod`)."""

    __tablename__ = "locks"
    __table_args__ = (ForeignKeyConstraint(["run_id"], ["runs.id"], name="locks_of_run"), Index("locks_by_run", "run_id"))

    key: str = Field(primary_key=True)
    run_id: str
    step_id: str
    at: datetime = Field(sa_column=_time())


class LockWaitRow(SQLModel, table=True):
    """A step that cannot start yet, since another run holds the key."""

    __tablename__ = "lock_waits"
    __table_args__ = (ForeignKeyConstraint(["run_id"], ["runs.id"], name="lock_waits_of_run"), Index("lock_waits_by_key", "key"))

    run_id: str = Field(primary_key=True)
    step_id: str = Field(primary_key=True)
    key: str
    at: datetime = Field(sa_column=_time())


class SeenRow(SQLModel, table=True):
    """An event that was handled: what is delivered twice acts once."""

    __tablename__ = "seen"

    event_key: str = Field(primary_key=True)
    at: datetime = Field(sa_column=_time())


def _table(row: type[SQLModel]) -> Table:
    table: Table = row.__table__  # type: ignore[attr-defined]  # SQLModel declares it on table models only
    return table


metadata = SQLModel.metadata
runs = _table(RunRow)
revisions = _table(RevisionRow)
steps = _table(StepRow)
approvals = _table(ApprovalRow)
attempts = _table(AttemptRow)
audit = _table(AuditRow)
heads = _table(HeadRow)
posts = _table(PostRow)
seen = _table(SeenRow)
replies = _table(ReplyRow)
freezes = _table(FreezeRow)
stepping_in = _table(SteppingInRow)
timers = _table(TimerRow)
locks = _table(LockRow)
lock_waits = _table(LockWaitRow)
