"""Databases copied from one kind to the other, and back: every row as it was."""

import shutil
from pathlib import Path

import pytest
from sqlalchemy import select

from askmeans import sessions
from askmeans.exceptions import DataError, NoSessionError
from askmeans.sessions.events import Pause
from askmeans.sessions.store import backup_store, copy_store, models, open_store, upgrade_store


def rows_of(database):
    """All that is in a database."""
    store = open_store(database)
    with store.backend.engine.connect() as connection:
        found = {
            table.name: sorted(map(tuple, connection.execute(select(table))), key=repr)
            for table in models.metadata.sorted_tables
        }
    store.close()
    return found


@pytest.fixture
def full(old_database):
    """A database in which everything has happened once, with a second session."""
    upgrade_store(old_database)
    with sessions.create(old_database, [[0.5], [0.25], [1e-300]], n_clusters=2, name="Zweite ü",
                         items=["a", None, "\u0000ü"]) as session:  # fmt: skip
        session.tell(session.ask()[0].id, {0: 0.1, 1: 0.2})
    return old_database


def test_a_copy_to_postgresql_and_back_has_every_row_as_it_was(full, postgres_url, tmp_path):
    before = rows_of(full)
    assert len(before["askmeans_events"]) > 9
    copy_store(full, postgres_url)
    assert rows_of(postgres_url) == before
    back = tmp_path / "back.db"
    copy_store(postgres_url, back)
    assert rows_of(back) == before
    assert list(tmp_path.glob("*.part*")) == []


def test_a_session_goes_on_in_its_copy_with_the_same_question(full, postgres_url):
    copy_store(full, postgres_url)
    asked = []
    for place in (full, postgres_url):
        with sessions.open(place, "main") as session:
            last = session.history.last_event
            (question,) = session.ask(annotator="cy")
            receipt = session.tell(question.id, 0.5, annotator="cy")
            session.add_rows([[6.0]], items=["plum"], ids=["pl"])
            asked.append((question, last, session.result().memberships.tolist()))
            assert receipt.event > last
    assert asked[0] == asked[1]
    sessions.create(postgres_url, [[0.0], [1.0]], n_clusters=2, name="third").close()


def test_a_backup_of_postgresql_is_a_file_that_opens(full, postgres_url, tmp_path):
    copy_store(full, postgres_url)
    assert backup_store(postgres_url, tmp_path / "kept.db") == []
    assert rows_of(tmp_path / "kept.db") == rows_of(postgres_url)
    with pytest.raises(DataError, match="must not exist yet"):
        backup_store(postgres_url, tmp_path / "kept.db")


def test_a_copy_is_of_one_moment_while_others_write(full, postgres_url, tmp_path):
    copy_store(full, postgres_url)
    with sessions.open(postgres_url, "main") as session:
        receipts = [session.groups.rename(0, f"name {number}") for number in range(3)]
        with session.runtime.store.write(1) as transaction:  # not committed: not in the copy
            transaction.append(Pause(key="later", annotator="me"))
            copy_store(postgres_url, tmp_path / "copy.db")
    store = open_store(tmp_path / "copy.db")
    assert store.events(1)[-1].id == receipts[-1].event
    store.close()


def test_nothing_is_copied_over_sessions(full, postgres_url, tmp_path):
    copy_store(full, postgres_url)
    before = rows_of(postgres_url)
    with pytest.raises(DataError, match=r"must hold no sessions yet.* Got 2"):
        copy_store(full, postgres_url)
    assert rows_of(postgres_url) == before
    other = Path(shutil.copy(full, tmp_path / "other.db"))
    with pytest.raises(DataError, match="must not exist yet"):
        copy_store(postgres_url, other)


def test_where_nothing_is_there_is_nothing_to_copy(postgres_url, tmp_path):
    with pytest.raises(NoSessionError):
        copy_store(tmp_path / "none.db", postgres_url)
    with pytest.raises(NoSessionError):
        copy_store(postgres_url, tmp_path / "new.db")
    assert list(tmp_path.iterdir()) == []
