"""A yes is to one revision: the same plan, reached again by another way, is asked anew."""

import sqlalchemy as sa
from alembic import op

from bot.store.columns import UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ONCE = ["run_id", "revision", "digest", "kind", "step", "actor"]
COLUMNS = "id, run_id, revision, digest, kind, step, actor, at"


def upgrade() -> None:
    """Widen the constraint. SQLite cannot change one, so there the table is built anew and every yes copied."""
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint("approvals_once", "approvals", type_="unique")
        op.create_unique_constraint("approvals_once", "approvals", ONCE)
        return
    op.rename_table("approvals", "approvals_before")
    op.create_table(
        "approvals",
        sa.Column("id", sa.Integer(), nullable=False),
        *(_text("run_id"), sa.Column("revision", sa.Integer(), nullable=False)),
        *(_text("digest"), _text("kind"), _text("step"), _text("actor"), sa.Column("at", UtcDateTime(), nullable=False)),
        sa.CheckConstraint("kind IN ('plan', 'confirm')", name="approvals_kind_known"),
        sa.ForeignKeyConstraint(["run_id", "revision"], ["revisions.run_id", "revisions.revision"], name="approvals_of_revision"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(*ONCE, name="approvals_once"),
    )
    op.execute(f"INSERT INTO approvals ({COLUMNS}) SELECT {COLUMNS} FROM approvals_before")
    op.drop_table("approvals_before")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=False)
