"""Posts that nothing changes any more are marked, so that looking for work costs as much as there is work."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ENDED = "'succeeded', 'failed', 'stopped', 'cancelled', 'expired', 'refused'"
KEPT_TRUE = "'run', 'review', 'redirect', 'confirm', 'note'"
MOVES = f"SELECT 1 FROM runs WHERE runs.id = posts.run_id AND (runs.version > posts.shown OR runs.status NOT IN ({ENDED}))"


def upgrade() -> None:
    """Mark those that there are, and look for work by the rest alone."""
    op.add_column("posts", sa.Column("done", sa.Boolean(), nullable=False, server_default=sa.false()))
    stays = f"state = 'posted' AND (card NOT IN ({KEPT_TRUE}) OR NOT EXISTS ({MOVES}))"
    op.execute(f"UPDATE posts SET done = true WHERE state = 'failed' OR ({stays})")
    op.drop_index("posts_by_state", "posts")
    op.create_index("posts_open", "posts", ["state"], sqlite_where=sa.text("done IS 0"), postgresql_where=sa.text("done IS false"))
