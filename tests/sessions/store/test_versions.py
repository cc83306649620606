"""Schemas: refused when old or new, upgraded after a backup."""

import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from askmeans import sessions
from askmeans.exceptions import NoSessionError, StoreVersionError
from askmeans.sessions.store import copy_store, upgrade_store, versions

DATABASES = Path(__file__).parent.parent / "databases"


def set_version(path, number):
    """Say that a database has another schema."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE askmeans_version SET version_num = ?", (number,))
    connection.close()


def test_every_schema_left_a_database(tmp_path):
    files = {path.name for path in DATABASES.glob("schema-*.db")}
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


def test_an_old_database_is_refused_with_the_command_that_upgrades_it(
    tmp_path, old_database, monkeypatch
):
    spaced = tmp_path / "my data.db"
    shutil.move(old_database, spaced)
    monkeypatch.setattr(versions, "SCHEMA", "5")
    command = re.escape(f"askmeans upgrade '{spaced}'")
    with pytest.raises(StoreVersionError, match=f"schema 4, of an older one; run: {command}"):
        sessions.open(spaced)


def test_a_database_from_before_the_first_release_is_refused_and_left_alone(old_database):
    set_version(old_database, "3")
    before = old_database.read_bytes()
    for attempt in (sessions.open, upgrade_store):
        with pytest.raises(StoreVersionError, match="schema 3, of a version before the first rel"):
            attempt(old_database)
    assert old_database.read_bytes() == before


def add_motto(connection):
    """What a later version's step may do."""
    connection.execute(text("ALTER TABLE askmeans_sessions ADD COLUMN motto VARCHAR(50)"))


def add_motto_and_fail(connection):
    add_motto(connection)
    raise ZeroDivisionError


def test_an_upgrade_backs_the_file_up_first_and_keeps_every_answer(old_database):
    with sessions.open(old_database) as session:
        history = session.history.answers()
    backup = versions.upgrade(old_database, {5: add_motto})
    assert backup == old_database.with_name("schema-4.db.schema-4.backup")
    with sessions.open(backup) as session:
        assert session.history.answers() == history
    with sqlite3.connect(old_database) as connection:
        assert connection.execute("SELECT version_num FROM askmeans_version").fetchone() == ("5",)
        assert connection.execute("SELECT motto FROM askmeans_sessions").fetchone() == (None,)
        count = connection.execute("SELECT count(*) FROM askmeans_events").fetchone()[0]
    connection.close()
    assert count > len(history)
    assert versions.upgrade(old_database, {5: add_motto}) is None


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(old_database):
    with pytest.raises(ZeroDivisionError):
        versions.upgrade(old_database, {5: add_motto_and_fail})
    with sessions.open(old_database) as session:
        assert session.status().answered == 2
    with sqlite3.connect(old_database) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(askmeans_sessions)")]
    connection.close()
    assert "motto" not in columns


def test_a_second_backup_does_not_overwrite_the_first(old_database):
    first = old_database.with_name("schema-4.db.schema-4.backup")
    first.write_text("precious")
    second = versions.upgrade(old_database, {5: add_motto})
    assert first.read_text() == "precious"
    assert second.name == "schema-4.db.schema-4.backup-2"


def test_a_postgresql_database_is_upgraded_after_a_backup_into_a_file(
    postgres_url, old_database, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    copy_store(old_database, postgres_url)
    monkeypatch.setattr(versions, "SCHEMA", "5")  # what the new version knows
    kept = versions.upgrade(postgres_url, {5: add_motto})
    monkeypatch.undo()
    assert kept.parent == tmp_path
    assert (versions.find_version(kept), versions.find_version(postgres_url)) == ("4", "5")
    with sessions.open(kept) as backup, sessions.open(old_database) as before:
        assert backup.history.answers() == before.history.answers()
        backup.tell(backup.ask(annotator="cy")[0].id, 0.5, annotator="cy")


def test_there_is_nothing_to_upgrade_where_nothing_is(tmp_path):
    with pytest.raises(NoSessionError):
        upgrade_store(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []
