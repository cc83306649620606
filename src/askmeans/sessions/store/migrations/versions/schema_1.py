"""Schema 1: sessions, data, events, batches, questions, leases."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

Big = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """From nothing to schema 1."""
    op.create_table(
        "askmeans_sessions",
        sa.Column("id", Big, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("made_by", sa.String(100), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
    )
    op.create_table(
        "askmeans_parts",
        sa.Column("id", Big, primary_key=True),
        _session(),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("dtype", sa.String(10), nullable=False),
        sa.Column("n_rows", Big, nullable=False),
        sa.Column("n_features", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("path", sa.Text, nullable=True),
        sa.Column("display", sa.JSON, nullable=False),
        sa.UniqueConstraint("session_id", "part", name="askmeans_parts_once"),
    )
    op.create_table(
        "askmeans_chunks",
        sa.Column("part_id", Big, sa.ForeignKey("askmeans_parts.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
    )
    _create_log()
    op.create_table(
        "askmeans_leases",
        _session(primary_key=True),
        sa.Column("question", Big, primary_key=True, autoincrement=False),
        sa.Column("annotator", sa.String(200), primary_key=True),
        sa.Column("until", sa.Float(53), nullable=False),
    )


def _create_log() -> None:
    """What is only ever appended to while people answer."""
    op.create_table(
        "askmeans_events",
        sa.Column("id", Big, primary_key=True, autoincrement=True),
        _session(),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("annotator", sa.String(200), nullable=False),
        sa.Column("question", Big, nullable=True),
        sa.Column("value", sa.Float(53), nullable=True),
        sa.Column("target", Big, nullable=True),
        sa.Column("text", sa.Text, nullable=True),
        sa.Column("late", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.UniqueConstraint("session_id", "key", name="askmeans_events_once"),
        sqlite_autoincrement=True,
    )
    op.create_index("askmeans_events_order", "askmeans_events", ["session_id", "id"])
    op.create_table(
        "askmeans_batches",
        sa.Column("id", Big, primary_key=True),
        _session(),
        sa.Column("prefix", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("questions", sa.LargeBinary, nullable=False),
        sa.Column("made_by", sa.String(100), nullable=False),
        sa.UniqueConstraint("session_id", "prefix", "digest", name="askmeans_batches_once"),
    )
    op.create_table(
        "askmeans_questions",
        _session(primary_key=True),
        sa.Column("number", Big, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("item", Big, nullable=False),
        sa.Column("item_2", Big, nullable=False),
        sa.Column("item_3", Big, nullable=False),
        sa.Column("cluster", sa.Integer, nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.UniqueConstraint(
            "session_id", "kind", "item", "item_2", "item_3", "cluster", "repeat",
            name="askmeans_questions_once",
        ),
    )  # fmt: skip


def _session(*, primary_key: bool = False) -> sa.Column[int]:
    """The session that a row belongs to."""
    return sa.Column(
        "session_id",
        Big,
        sa.ForeignKey("askmeans_sessions.id"),
        nullable=False,
        primary_key=primary_key,
    )
