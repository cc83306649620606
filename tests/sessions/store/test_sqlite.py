"""SQLite as a store: the contract, and what makes it safe."""

import gc
import shutil
import sqlite3
import threading
from contextlib import closing

import pytest
from store_contract import StoreContract

from askmeans import sessions
from askmeans.exceptions import ParameterError
from askmeans.sessions.events import Pause
from askmeans.sessions.store import file_of, open_store


class TestSqlite(StoreContract):
    def make_store(self, folder):
        return open_store(folder / "store.db", make=True)


def test_connections_write_ahead_and_sync_fully(tmp_path):
    store = open_store(tmp_path / "s.db", make=True)
    with store.backend.engine.connect() as connection:
        pragma = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    store.close()
    assert pragma["journal_mode"] == "wal"
    assert pragma["synchronous"] == 2  # FULL
    assert pragma["foreign_keys"] == 1
    assert pragma["busy_timeout"] >= 1000


def test_answers_wait_for_the_disk_and_leases_need_not(tmp_path):
    store = open_store(tmp_path / "s.db", make=True)
    session = StoreContract().add(store).id
    for durable, level in ((False, 1), (True, 2), (False, 1), (True, 2)):
        with store.write(session, durable=durable) as transaction:
            synchronous = transaction.connection.exec_driver_sql("PRAGMA synchronous").scalar()
        assert synchronous == level  # 2 is FULL, 1 is NORMAL
    store.close()


def test_a_writer_waits_for_the_other_from_the_beginning(tmp_path):
    # With a plain BEGIN both would read, and one would fail at its first write.
    store = open_store(tmp_path / "s.db", make=True)
    contract = StoreContract()
    session = contract.add(store).id
    inside, seen = threading.Event(), []

    def second():
        inside.wait()
        with store.write(session) as transaction:
            seen.extend(event.key for event in transaction.events(0))

    thread = threading.Thread(target=second)
    thread.start()
    with store.write(session) as transaction:
        inside.set()
        thread.join(0.1)
        assert thread.is_alive()
        transaction.append(Pause(key="a", annotator="me"))
    thread.join()
    store.close()
    assert seen == ["a"]


def test_nothing_at_rest_is_pickled(tmp_path):
    store = open_store(tmp_path / "s.db", make=True)
    StoreContract().add(store)
    store.close()
    with sqlite3.connect(tmp_path / "s.db") as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f"SELECT * FROM {table}"):
                for value in row:
                    assert not (isinstance(value, bytes) and value.startswith(b"\x80"))
    connection.close()


def answers_in_a_copy(session, folder):
    """How many answers a copy of the database file alone has, as `cp s.db` makes it."""
    copy = shutil.copy(session.url, folder / "copy.db")
    with closing(sqlite3.connect(copy)) as connection:
        return connection.execute("SELECT count(*) FROM askmeans_events").fetchone()[0]


def test_a_copy_of_the_file_alone_lacks_a_handful_of_answers_at_most(make, kit, folder):
    session = make()
    answered = 0
    while asked := kit.answer(session, 1):
        answered += len(asked)
        assert answered - answers_in_a_copy(session, folder) < 10
    assert answered > 30


def test_closing_writes_all_to_the_file_while_others_have_it_open(make, kit, folder, again):
    session = make()
    other = again(session)
    kit.answer(session, 1)
    assert answers_in_a_copy(session, folder) == 0
    session.close()
    assert answers_in_a_copy(session, folder) == 1
    assert other.status().answered == 1


def test_a_session_that_nobody_closed_is_written_to_its_file(make, kit, folder):
    session = make()
    kit.answer(session, 1)
    forgotten = sessions.open(session.url)
    kit.answer(forgotten, 1)
    del forgotten
    gc.collect()
    assert answers_in_a_copy(session, folder) == 2


def test_a_path_and_a_url_name_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert file_of("a.db") == file_of("sqlite:///a.db") == tmp_path / "a.db"
    assert file_of(f"sqlite:///{tmp_path}/a.db") == tmp_path / "a.db"


@pytest.mark.parametrize(
    "url", ["", ".", "postgresql://host/db", "sqlite://", "sqlite:///", "sqlite:///."]
)
def test_what_is_no_place_for_a_database_is_refused(url):
    with pytest.raises(ParameterError, match="'url' parameter must be"):
        file_of(url)
