"""Schema 4: the keys of events are each annotator's own."""

from alembic import op

revision = "4"
down_revision = "3"

_ONCE = "askmeans_events_once"


def upgrade() -> None:
    """From schema 3, where a key was used once in a session; so the events stay as they are."""
    with op.batch_alter_table(
        "askmeans_events", table_kwargs={"sqlite_autoincrement": True}
    ) as events:
        events.drop_constraint(_ONCE, type_="unique")
        events.create_unique_constraint(_ONCE, ["session_id", "annotator", "key"])
