"""What both stores on SQLAlchemy do beside the contract."""

import os

import pytest
from store_contract import StoreContract

from askmeans.exceptions import StoreBusyError
from askmeans.sessions.events import Pause
from askmeans.sessions.store import open_store


def test_a_forked_child_uses_connections_of_its_own(database_at):
    store = open_store(database_at("s"), make=True)
    session = StoreContract().add(store).id

    def pooled():
        lent = store.backend.engine.raw_connection()
        try:
            return lent.dbapi_connection
        finally:
            lent.close()

    def write(key):
        with store.write(session) as transaction:
            transaction.append(Pause(key=key, annotator="me"))

    parents = pooled()
    assert pooled() is parents
    child = os.fork()
    if child == 0:
        status = 1
        try:
            write("child")
            status = int(pooled() is parents)
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    write("parent")
    assert [event.key for event in store.events(session)] == ["child", "parent"]
    store.close()


def test_more_threads_than_connections_are_told_to_try_again(database_at):
    store = open_store(database_at("s"), make=True)
    session = StoreContract().add(store).id
    pool = store.backend.engine.pool
    pool._timeout = 0.01
    lent = [store.backend.engine.raw_connection() for _ in range(pool.size() + pool._max_overflow)]
    with pytest.raises(StoreBusyError, match="in use; try again"):
        store.events(session)
    with pytest.raises(StoreBusyError, match="in use; try again"), store.write(session):
        pass
    for each in lent:
        each.close()
    assert store.events(session) == []
    store.close()
