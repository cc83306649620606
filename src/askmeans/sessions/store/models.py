"""The tables, schema version 4."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION_TABLE = "askmeans_version"
Big = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by INTEGER only

metadata = MetaData()

version_table = Table(  # not of the same metadata: a copy has a version of its own
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)

sessions = Table(
    "askmeans_sessions",
    metadata,
    Column("id", Big, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("config", JSON, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("made_by", String(100), nullable=False),
    Column("at", Float(53), nullable=False),
)


def _session() -> Column[int]:
    """The session that a row belongs to."""
    return Column("session_id", Big, ForeignKey("askmeans_sessions.id"), nullable=False)


parts = Table(
    "askmeans_parts",
    metadata,
    Column("id", Big, primary_key=True),
    _session(),
    Column("part", Integer, nullable=False),
    Column("dtype", String(10), nullable=False),
    Column("n_rows", Big, nullable=False),
    Column("n_features", Integer, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("path", Text, nullable=True),
    Column("display", JSON, nullable=False),
    UniqueConstraint("session_id", "part", name="askmeans_parts_once"),
)

chunks = Table(
    "askmeans_chunks",
    metadata,
    Column("part_id", Big, ForeignKey("askmeans_parts.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("bytes", LargeBinary, nullable=False),
)

events = Table(
    "askmeans_events",
    metadata,
    Column("id", Big, primary_key=True, autoincrement=True),
    _session(),
    Column("kind", String(20), nullable=False),
    Column("key", String(200), nullable=False),
    Column("annotator", String(200), nullable=False),
    Column("question", Big, nullable=True),
    Column("value", Float(53), nullable=True),
    Column("target", Big, nullable=True),
    Column("text", Text, nullable=True),
    Column("late", Boolean, nullable=False),
    Column("at", Float(53), nullable=False),
    Column("client", String(200), nullable=True),
    UniqueConstraint("session_id", "annotator", "key", name="askmeans_events_once"),
    Index("askmeans_events_order", "session_id", "id"),
    sqlite_autoincrement=True,  # numbers are never used again
)

questions = Table(
    "askmeans_questions",
    metadata,
    Column("session_id", Big, ForeignKey("askmeans_sessions.id"), primary_key=True),
    Column("number", Big, primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),
    Column("item", Big, nullable=False),
    Column("item_2", Big, nullable=False),  # -1 for none: a unique constraint sees no NULL
    Column("item_3", Big, nullable=False),
    Column("cluster", Integer, nullable=False),  # -1 for none
    Column("repeat", Integer, nullable=False),
    UniqueConstraint(
        "session_id",
        "kind",
        "item",
        "item_2",
        "item_3",
        "cluster",
        "repeat",
        name="askmeans_questions_once",
    ),
)

leases = Table(
    "askmeans_leases",
    metadata,
    Column("session_id", Big, ForeignKey("askmeans_sessions.id"), primary_key=True),
    Column("question", Big, primary_key=True, autoincrement=False),
    Column("annotator", String(200), primary_key=True),
    Column("until", Float(53), nullable=False),
)

invites = Table(
    "askmeans_invites",
    metadata,
    Column("id", Big, primary_key=True),
    _session(),
    Column("digest", String(64), nullable=False),  # of the token, which is kept nowhere
    Column("name", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("made_by", String(200), nullable=False),
    Column("at", Float(53), nullable=False),
    Column("until", Float(53), nullable=False),
    Column("used", Float(53), nullable=True),
    Column("revoked", Float(53), nullable=True),
    UniqueConstraint("session_id", "digest", name="askmeans_invites_once"),
)
