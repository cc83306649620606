"""Schemas: made by alembic, refused when old or new, upgraded after a backup."""

import re
import shutil
import sqlite3
import textwrap
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from askmeans import sessions
from askmeans.exceptions import NoSessionError, StoreVersionError
from askmeans.sessions.store import open_store, upgrade_store, versions

DATABASES = Path(__file__).parent.parent / "databases"


def set_version(path, number):
    """Say that a database has another schema."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE askmeans_version SET version_num = ?", (number,))
    connection.close()


def described(url):
    """All tables, with everything a database tells of them but the order of columns."""
    backend = versions.make_backend(url)
    with backend.engine.connect() as connection:
        told = inspect(connection)
        found = {
            name: (
                sorted((c["name"], str(c["type"]), c["nullable"], c["default"])
                       for c in told.get_columns(name)),
                told.get_pk_constraint(name),
                sorted(map(str, told.get_unique_constraints(name))),
                sorted(map(str, told.get_foreign_keys(name))),
                sorted(map(str, told.get_indexes(name))),
            )
            for name in told.get_table_names()
        }  # fmt: skip
        version = connection.execute(text("SELECT * FROM askmeans_version")).all()
    backend.close()
    return found, version


def test_the_tables_are_those_that_the_migrations_make(database_at):
    new, migrated = database_at("new"), database_at("migrated")
    open_store(new, make=True).close()
    backend = versions.make_backend(migrated, make=True)
    versions.make_schema(backend, to="head")
    backend.close()
    assert described(new) == described(migrated)


def test_the_schemas_number_is_the_last_migrations():
    config = Config()
    config.set_main_option("script_location", str(versions.MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == versions.SCHEMA


def test_every_schema_left_a_database(tmp_path):
    files = {path.name for path in DATABASES.glob("*.db")}
    assert files == {f"schema-{versions.SCHEMA}.db"}
    for name in files:
        shutil.copy(DATABASES / name, tmp_path)
        upgrade_store(tmp_path / name)
        with sessions.open(tmp_path / name) as session:
            assert session.result().memberships.shape == (7, 2)


def test_the_database_of_every_schema_tells_all_that_happened(old_database):
    with sessions.open(old_database) as session:
        assert session.groups.names[0] == "large"
        history = [(r.annotator, r.kind, r.value) for r in session.history.answers()]
        assert history == [
            ("held", "held", 0.0),
            ("ann", "answer", 0.75),
            ("ann", "skip", None),
            ("bob", "answer", 0.5),
        ]
        assert session.item(6).text == "quince"
        assert session.status().answered == 2
        assert session.tell(
            session.history.answers()[1].question, 0.75, annotator="ann", key="key-1"
        ).repeated
        (question,) = session.ask(annotator="cy")
        assert not session.tell(question.id, 0.5, annotator="cy", key="key-1").repeated
        invited = [(invite.name, invite.role) for invite in session.people.invites()]
        assert invited == [("bob", "owner")]


def test_a_newer_database_is_refused_and_left_alone(old_database):
    set_version(old_database, "99")
    before = old_database.read_bytes()
    for attempt in (
        lambda: sessions.open(old_database),
        lambda: upgrade_store(old_database),
        lambda: sessions.create(old_database, [[0.0], [1.0]], n_clusters=2, name="new"),
    ):
        with pytest.raises(StoreVersionError, match=r"schema 99, of a newer one; run: pip install"):
            attempt()
    assert old_database.read_bytes() == before
    set_version(old_database, versions.SCHEMA)
    sessions.open(old_database).close()  # the next try works


def test_an_event_that_only_a_newer_version_knows_is_told_in_a_sentence(old_database):
    with sqlite3.connect(old_database) as connection:
        change = "UPDATE askmeans_events SET kind = 'prophecy' WHERE kind = 'skip'"
        assert connection.execute(change).rowcount > 0
    connection.close()
    with pytest.raises(
        StoreVersionError, match=r"events .* 'prophecy', .*newer version; run: pip install"
    ):
        sessions.open(old_database)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE askmeans_sessions SET config = json_set(config, '$.panel', 3)",
        "UPDATE askmeans_parts SET display = json_set(display, '$.sound', 3)",
        "UPDATE askmeans_sessions SET config = json_remove(config, '$.feature_names')",
    ],
)
def test_fields_of_newer_and_older_versions_are_tolerated(old_database, change):
    with sqlite3.connect(old_database) as connection:
        assert connection.execute(change).rowcount > 0
    connection.close()
    with sessions.open(old_database) as session:
        assert len(session.history.answers()) == 4
        assert session.ask(annotator="cy")


def test_an_old_database_is_refused_with_the_command_that_upgrades_it(tmp_path, old_database):
    spaced = tmp_path / "my data.db"
    shutil.move(old_database, spaced)
    set_version(spaced, "0")
    command = re.escape(f"askmeans upgrade '{spaced}'")
    with pytest.raises(StoreVersionError, match=f"schema 0, of an older one; run: {command}"):
        sessions.open(spaced)


def next_schema(folder, body):
    """Migrations with one more step, as a later version will have."""
    migrations = folder / "migrations"
    shutil.copytree(versions.MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    step = f'''
        """A later schema."""
        import sqlalchemy as sa
        from alembic import op
        revision, down_revision = "5", "4"
        def upgrade():
            op.add_column("askmeans_sessions", sa.Column("motto", sa.String(50)))
            {body}
        '''
    (migrations / "versions" / "schema_5.py").write_text(textwrap.dedent(step))
    return migrations


def test_an_upgrade_backs_the_file_up_first_and_keeps_every_answer(tmp_path, old_database):
    with sessions.open(old_database) as session:
        history = session.history.answers()
    migrations = next_schema(tmp_path, "pass")
    backup = versions.upgrade(old_database, migrations=migrations, to="5")
    assert backup == old_database.with_name("schema-4.db.schema-4.backup")
    with sessions.open(backup) as session:
        assert session.history.answers() == history
    with sqlite3.connect(old_database) as connection:
        assert connection.execute("SELECT version_num FROM askmeans_version").fetchone() == ("5",)
        assert connection.execute("SELECT motto FROM askmeans_sessions").fetchone() == (None,)
        count = connection.execute("SELECT count(*) FROM askmeans_events").fetchone()[0]
    connection.close()
    assert count > len(history)
    assert versions.upgrade(old_database, migrations=migrations, to="5") is None


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(tmp_path, old_database):
    migrations = next_schema(tmp_path, "raise ZeroDivisionError")
    with pytest.raises(ZeroDivisionError):
        versions.upgrade(old_database, migrations=migrations, to="5")
    with sessions.open(old_database) as session:
        assert session.status().answered == 2


def test_a_second_backup_does_not_overwrite_the_first(tmp_path, old_database):
    migrations = next_schema(tmp_path, "pass")
    first = old_database.with_name("schema-4.db.schema-4.backup")
    first.write_text("precious")
    second = versions.upgrade(old_database, migrations=migrations, to="5")
    assert first.read_text() == "precious"
    assert second.name == "schema-4.db.schema-4.backup-2"


def test_there_is_nothing_to_upgrade_where_nothing_is(tmp_path):
    with pytest.raises(NoSessionError):
        upgrade_store(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []
