"""Schema 3: who may come in."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

Big = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """From schema 2; nobody is invited yet."""
    op.create_table(
        "askmeans_invites",
        sa.Column("id", Big, primary_key=True),
        sa.Column("session_id", Big, sa.ForeignKey("askmeans_sessions.id"), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("made_by", sa.String(200), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("until", sa.Float(53), nullable=False),
        sa.Column("used", sa.Float(53), nullable=True),
        sa.Column("revoked", sa.Float(53), nullable=True),
        sa.UniqueConstraint("session_id", "digest", name="askmeans_invites_once"),
    )
