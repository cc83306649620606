"""Schema 2: from which client each event came."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """From schema 1; what happened before has no client."""
    op.add_column("askmeans_events", sa.Column("client", sa.String(200), nullable=True))
