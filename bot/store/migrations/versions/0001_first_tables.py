"""The first tables, and the triggers that let `audit` and `heads` only grow."""

import sqlalchemy as sa
from alembic import op

from bot.store.columns import UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATUSES = (
    "'planning', 'in_review', 'queued', 'running', 'pausing', 'paused', 'stopping', 'answering', "
    "'succeeded', 'failed', 'stopped', 'cancelled', 'expired', 'refused'"
)
HOLDS = "'person', 'breakpoint', 'confirm', 'redirect', 'unattended', 'step_failed', 'in_doubt', 'budget', 'freeze', 'shutdown', 'question'"
LEVELS = "'low', 'medium', 'high'"
STEP_STATUSES = "'pending', 'running', 'succeeded', 'failed', 'skipped', 'cancelled', 'in_doubt'"


def upgrade() -> None:
    """Make everything."""
    _runs()
    _plans()
    _steps()
    _people()
    _record()
    _outbox()
    for statement in TRIGGERS[op.get_bind().dialect.name]:
        op.execute(statement)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime(), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=nullable)


def _runs() -> None:
    op.create_table(
        "runs",
        *(_text("id"), _int("version"), _text("status"), _text("reason", nullable=True), _text("held_step", nullable=True)),
        *(_text("ask"), _text("requester"), _text("team"), _text("channel")),
        *(_text("thread_ts", nullable=True), _text("source_ts", nullable=True)),
        *(_int("revision"), _text("digest", nullable=True), _text("approved", nullable=True), _text("risk", nullable=True)),
        *(_time("deadline", nullable=True), _json("breakpoints"), _json("passed"), _time("created_at"), _time("updated_at")),
        *(_int("seq"), _text("head"), _json("answer", nullable=True)),
        sa.CheckConstraint(f"status IN ({STATUSES})", name="runs_status_known"),
        sa.CheckConstraint(f"reason IN ({HOLDS})", name="runs_reason_known"),
        sa.CheckConstraint(f"risk IN ({LEVELS})", name="runs_risk_known"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("runs_by_status", "runs", ["status", "created_at"])
    op.create_index("runs_by_thread", "runs", ["channel", "thread_ts"])
    op.create_index("runs_by_source", "runs", ["channel", "source_ts"])
    op.create_index("runs_by_time", "runs", ["created_at"])


def _plans() -> None:
    op.create_table(
        "revisions",
        *(_text("run_id"), _int("revision"), _json("plan"), _text("digest"), _text("risk"), _json("grades"), _json("tool_digests")),
        *(_text("author"), _time("at")),
        sa.CheckConstraint(f"risk IN ({LEVELS})", name="revisions_risk_known"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="revisions_of_run"),
        sa.PrimaryKeyConstraint("run_id", "revision"),
    )
    op.create_table(
        "attempts",
        *(_text("run_id"), _int("round"), _time("at"), _json("reply")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="attempts_of_run"),
        sa.PrimaryKeyConstraint("run_id", "round"),
    )


def _steps() -> None:
    op.create_table(
        "steps",
        *(_text("run_id"), _text("step_id"), _int("revision"), _int("number"), _text("tool"), _text("status"), _int("attempt")),
        *(_json("args", nullable=True), _time("started_at", nullable=True), _time("finished_at", nullable=True)),
        *(_json("observation", nullable=True), _text("error", nullable=True)),
        sa.CheckConstraint(f"status IN ({STEP_STATUSES})", name="steps_status_known"),
        sa.ForeignKeyConstraint(["run_id", "revision"], ["revisions.run_id", "revisions.revision"], name="steps_of_revision"),
        sa.PrimaryKeyConstraint("run_id", "step_id"),
    )


def _people() -> None:
    op.create_table(
        "approvals",
        *(_int("id"), _text("run_id"), _int("revision"), _text("digest"), _text("kind"), _text("step"), _text("actor"), _time("at")),
        sa.CheckConstraint("kind IN ('plan', 'confirm')", name="approvals_kind_known"),
        sa.ForeignKeyConstraint(["run_id", "revision"], ["revisions.run_id", "revisions.revision"], name="approvals_of_revision"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "digest", "kind", "step", "actor", name="approvals_once"),
    )


def _record() -> None:
    op.create_table(
        "audit",
        *(_int("id"), _text("run_id"), _int("seq"), _time("at"), _text("actor"), _text("event"), _json("data")),
        *(_text("prev"), _text("hash")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "seq", name="audit_once"),
    )
    op.create_table(
        "heads",
        *(_int("n"), _text("run_id"), _int("seq"), _text("head"), _time("at"), _text("prev"), _text("hash")),
        sa.PrimaryKeyConstraint("n"),
    )


def _outbox() -> None:
    op.create_table(
        "posts",
        *(_int("id"), _text("run_id"), _text("card"), _text("key"), _text("channel"), sa.Column("in_thread", sa.Boolean(), nullable=False)),
        *(_text("ts", nullable=True), _int("shown"), _text("state"), _json("data"), _text("error", nullable=True), _int("tries")),
        _time("not_before", nullable=True),
        sa.CheckConstraint("state IN ('wanted', 'sending', 'posted', 'failed')", name="posts_state_known"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key", name="posts_once"),
    )
    op.create_index("posts_by_run", "posts", ["run_id"])
    op.create_index("posts_by_state", "posts", ["state", "card"])
    op.create_table("seen", _text("event_key"), _time("at"), sa.PrimaryKeyConstraint("event_key"))


def _sqlite_trigger(table: str, verb: str, says: str) -> str:
    return f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{says}'); END"


def _postgres_trigger(table: str, verb: str, says: str) -> str:
    return f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} FOR EACH ROW EXECUTE FUNCTION pullcord_refuse('{says}')"


REFUSED = (
    ("audit", "UPDATE", "audit entries are never changed"),
    ("audit", "DELETE", "audit entries are never deleted"),
    ("heads", "UPDATE", "heads are never changed"),
    ("heads", "DELETE", "heads are never deleted"),
    ("runs", "DELETE", "runs are never deleted: audit entries speak of them"),
)
POSTGRES_FUNCTION = "CREATE FUNCTION pullcord_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$"
TRIGGERS = {
    "sqlite": [_sqlite_trigger(*refused) for refused in REFUSED],
    "postgresql": [POSTGRES_FUNCTION, *(_postgres_trigger(*refused) for refused in REFUSED)],
}
