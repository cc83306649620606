"""How alembic runs our steps: on the connection it is given, in the caller's transaction."""

from alembic import context

from askmeans.sessions.store.models import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
