"""PostgreSQL as a store: the contract, and what makes it safe."""

import threading

import psycopg
import pytest
from store_contract import StoreContract

from askmeans import sessions
from askmeans.exceptions import (
    NoSessionError,
    StoreBusyError,
    StoreError,
    StoreLostError,
    StoreReadOnlyError,
)
from askmeans.sessions.events import Pause
from askmeans.sessions.store import open_store


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def place(self, postgres_url):
        self.database = postgres_url

    def make_store(self, folder):  # noqa: ARG002 - it is not in a folder
        return open_store(self.database, make=True)


@pytest.fixture
def store(postgres_url):
    store = open_store(postgres_url, make=True)
    yield store
    store.close()


@pytest.fixture
def main(store):
    """The number of a session in the store."""
    return StoreContract().add(store).id


def event(key):
    return Pause(key=key, annotator="me")


def test_writers_of_one_session_take_turns_and_see_all_before_them(postgres_url, store, main):
    inside, seen = threading.Event(), []
    other = open_store(postgres_url)

    def second():
        inside.wait()
        with other.write(main) as transaction:
            seen.extend(event.key for event in transaction.events(0))

    thread = threading.Thread(target=second)
    thread.start()
    with store.write(main) as transaction:
        inside.set()
        thread.join(0.1)
        assert thread.is_alive()
        assert other.events(main) == []  # a reader is not held up
        transaction.append(event("a"))
    thread.join()
    other.close()
    assert seen == ["a"]


def test_writers_of_different_sessions_do_not_wait_for_each_other(postgres_url, store, main):
    second = StoreContract().add(store, "second").id
    other = open_store(postgres_url)
    with store.write(main) as mine, other.write(second) as theirs:
        mine.append(event("a"))
        theirs.append(event("a"))
    other.close()
    assert len(store.events(main)) == len(store.events(second)) == 1


def test_answers_wait_for_the_disk_and_leases_need_not(postgres_url, store, main):
    with psycopg.connect(postgres_url) as connection:  # whatever the server does by default
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    store = open_store(postgres_url)
    for durable, level in ((False, "off"), (True, "on"), (False, "off"), (True, "on")):
        with store.write(main, durable=durable) as transaction:
            waits = transaction.connection.exec_driver_sql("SHOW synchronous_commit").scalar()
        assert waits == level
    store.close()


def test_a_writer_who_is_stuck_is_told_of_and_the_next_try_works(
    postgres_url, store, main, monkeypatch
):
    monkeypatch.setenv("ASKMEANS_BUSY_SECONDS", "0.01")
    hurried = open_store(postgres_url)
    with (
        store.write(main),
        pytest.raises(StoreBusyError, match="close the program that holds it"),
        hurried.write(main),
    ):
        pass
    with hurried.write(main) as transaction:
        transaction.append(event("a"))
    hurried.close()
    assert len(store.events(main)) == 1


def end_connections(database):
    """Let the server end every connection to a database but this one."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_connection_lost_between_calls_is_not_noticed(postgres_url, store, main):
    with store.write(main) as transaction:
        transaction.append(event("a"))
    end_connections(postgres_url)
    assert [each.key for each in store.events(main)] == ["a"]


def test_a_connection_lost_inside_a_write_leaves_nothing_of_it(postgres_url, store, main):
    def write():
        with store.write(main) as transaction:
            transaction.append(event("a"))
            end_connections(postgres_url)
            transaction.append(event("b"))

    with pytest.raises(StoreLostError, match="try again"):
        write()
    assert store.events(main) == []
    with store.write(main) as transaction:
        transaction.append(event("c"))
    assert len(store.events(main)) == 1


def test_many_make_the_tables_at_once(postgres_url):
    errors = []

    def make():
        try:
            open_store(postgres_url, make=True).close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sessions.names(postgres_url) == []


def test_a_database_that_is_not_there_or_holds_nothing_is_told(postgres, postgres_url):
    with pytest.raises(NoSessionError, match="createdb"):
        sessions.open(postgres.url("nowhere"))
    with pytest.raises(NoSessionError, match="must hold sessions of askmeans"):
        sessions.open(postgres_url)


def test_a_user_who_may_only_read_is_told(postgres_url, main):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    reader = open_store(postgres_url.replace("tests@", "reader@"))
    assert reader.events(main) == []
    with pytest.raises(StoreReadOnlyError, match="GRANT"), reader.write(main):
        pass
    reader.close()


def test_a_server_that_is_out_of_reach_is_told_after_the_patience_ends(tmp_path, monkeypatch):
    from askmeans.sessions.store import versions

    monkeypatch.setattr(versions, "OPENING", 0.0)
    with pytest.raises(StoreLostError, match="see that the server runs"):
        sessions.open(f"postgresql://u:secret@/db?host={tmp_path}")


def test_text_must_be_kept_as_utf8(postgres):
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS plain")
        connection.execute("CREATE DATABASE plain ENCODING 'SQL_ASCII' TEMPLATE template0")
    with pytest.raises(StoreError, match=r"must keep text as UTF8\. Got SQL_ASCII"):
        open_store(postgres.url("plain"), make=True)
    postgres.drop(postgres.url("plain"))


@pytest.fixture
def lazy(postgres):
    """The server, which writes to its disk as late as it may."""
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        for setting in ("wal_writer_delay = '10s'", "wal_writer_flush_after = '1GB'"):
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")
    yield postgres
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM RESET ALL")
        connection.execute("SELECT pg_reload_conf()")


def test_what_somebody_was_asked_is_theirs_to_answer_after_a_crash(lazy, postgres_url):
    X = [[float(row)] for row in range(20)]
    made = sessions.create(
        postgres_url, X, n_clusters=2, ask="group", annotations=2, random_state=0
    )
    with made as session:
        (question,) = session.ask(annotator="Ada")
        session.leave(annotator="Ada")  # somebody waits for the disk once more
        assert session.ask(annotator="Bo") == [question]  # which has a number already
        lazy.stop("immediate")
        lazy.start()
        assert session.history.questions_of("Bo") == {question.id}
        assert not session.tell(question.id, 0, annotator="Bo").late
    with sessions.open(postgres_url) as session:
        assert [receipt.annotator for receipt in session.history.answers()] == ["Bo"]
