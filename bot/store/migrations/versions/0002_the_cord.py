"""Redirects, replies that wait to be made out, freezes, and where people stepped in."""

import sqlalchemy as sa
from alembic import op

from bot.store.columns import UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

REDIRECTS = "'planning', 'review', 'no_plan'"
KINDS = "'change', 'question', 'control', 'chatter', 'not_understood', 'late', 'gone'"


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcDateTime(), nullable=nullable)


def upgrade() -> None:
    """Add to what there is; nothing is rewritten."""
    # In words of SQL: on SQLite a table would be built anew for one check, and its triggers lost.
    op.execute(f"ALTER TABLE runs ADD COLUMN redirect VARCHAR CONSTRAINT runs_redirect_known CHECK (redirect IN ({REDIRECTS}))")
    op.add_column("runs", sa.Column("proposed", sa.Integer(), nullable=True))
    op.create_table(
        "replies",
        *(_text("run_id"), _text("ts"), _text("actor"), _text("text"), _time("at"), _text("kind", nullable=True)),
        sa.CheckConstraint(f"kind IN ({KINDS})", name="replies_kind_known"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="replies_of_run"),
        sa.PrimaryKeyConstraint("run_id", "ts"),
    )
    op.create_table(
        "freezes",
        sa.Column("id", sa.Integer(), nullable=False),
        *(_time("at"), _text("actor"), _text("why"), _time("ended_at", nullable=True), _text("ended_by", nullable=True)),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "stepping_in",
        sa.Column("id", sa.Integer(), nullable=False),
        *(_text("run_id"), _text("step_id"), _text("tool"), _text("how"), _time("at")),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("stepping_in_by_tool", "stepping_in", ["tool", "at"])
