"""Reminders and escalations as rows, keys that runs hold until they end, the tokens that steps used, whose words an ask is."""

import sqlalchemy as sa
from alembic import op

from bot.store.columns import UtcDateTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add them; nothing that is stored changes."""
    op.add_column("runs", sa.Column("source_author", sa.String(), nullable=True))
    op.add_column("steps", sa.Column("tokens", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("steps", sa.Column("money", sa.Float(), nullable=False, server_default="0"))
    op.create_index("steps_by_start", "steps", ["started_at"])
    op.create_index("heads_by_entry", "heads", ["run_id", "seq"])
    op.create_table(
        "timers",
        *(_text("run_id"), _text("wait"), _text("kind"), sa.Column("at", UtcDateTime(), nullable=False)),
        sa.Column("fired_at", UtcDateTime(), nullable=True),
        sa.CheckConstraint("kind IN ('remind', 'escalate', 'expire')", name="timers_kind_known"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="timers_of_run"),
        sa.PrimaryKeyConstraint("run_id", "wait", "kind"),
    )
    op.create_index("timers_due", "timers", ["at"], sqlite_where=sa.text("fired_at IS NULL"), postgresql_where=sa.text("fired_at IS NULL"))
    op.create_table(
        "locks",
        *(_text("key"), _text("run_id"), _text("step_id"), sa.Column("at", UtcDateTime(), nullable=False)),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="locks_of_run"),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("locks_by_run", "locks", ["run_id"])
    op.create_table(
        "lock_waits",
        *(_text("run_id"), _text("step_id"), _text("key"), sa.Column("at", UtcDateTime(), nullable=False)),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="lock_waits_of_run"),
        sa.PrimaryKeyConstraint("run_id", "step_id"),
    )
    op.create_index("lock_waits_by_key", "lock_waits", ["key"])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=False)
