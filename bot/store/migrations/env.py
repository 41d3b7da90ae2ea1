"""Alembic's entry point: migrates on the connection that `upgrade` opened, inside its transaction."""

from alembic import context

from bot.store import tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
