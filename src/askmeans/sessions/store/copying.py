"""A database copied into another, row by row: every number, event and lease as it was."""

from pathlib import Path

from sqlalchemy import Connection, MetaData, func, insert, select, text

from askmeans.exceptions import DataError
from askmeans.files import whole_file
from askmeans.sessions.store.backend import Backend
from askmeans.sessions.store.models import VERSION_TABLE
from askmeans.sessions.store.sqlite.engine import SqliteBackend
from askmeans.sessions.store.urls import file_of, is_postgresql, shown
from askmeans.sessions.store.versions import (
    backup,
    check_version,
    find_version,
    make_backend,
    make_schema,
)

__all__ = ["copy_database", "copy_into_file"]

_ROWS = 500  # that are in memory at once
_CHUNKS = 4  # these are megabytes


def copy_database(source: str | Path, target: str | Path) -> None:
    """Copy all sessions of a database into one that has none; others may go on writing to it.

    The copy is one state of the source, and all of it is there or nothing.
    """
    check_version(source)
    if not is_postgresql(target):
        backup(source, file_of(target))
        return
    check_version(target, make=True)
    into = make_backend(target)
    try:
        make_schema(into)
        with (
            into.translated(),
            into.engine.connect() as connection,
            into.migrating(connection) as writing,
        ):
            _check_empty(writing, shown(target))
            _copy(source, writing)
            _advance_numbers(writing)
    finally:
        into.let_go()


def copy_into_file(source: str | Path, file: Path) -> None:
    """Copy a database of any schema into a new SQLite file."""
    version = find_version(source)
    if version is None:
        check_version(source)  # refuses, and says why
    with whole_file(file) as part:
        into = SqliteBackend(Path(part.name))
        try:
            make_schema(into, to=str(version))
            with (
                into.translated(),
                into.engine.connect() as connection,
                into.migrating(connection) as writing,
            ):
                _copy(source, writing)
        finally:
            into.let_go()


def _copy(source: str | Path, writing: Connection) -> None:
    """Copy every row of our tables, as they are at one moment."""
    backend = make_backend(source)
    try:
        with backend.translated(), _snapshot(backend) as reading:
            theirs, ours = _tables(reading), _tables(writing)
            for table in ours.sorted_tables:
                many = _CHUNKS if table.name == "askmeans_chunks" else _ROWS
                columns = theirs.tables[table.name].primary_key.columns
                rows = reading.execution_options(yield_per=many).execute(
                    select(theirs.tables[table.name]).order_by(*columns)
                )
                for some in rows.mappings().partitions():
                    writing.execute(insert(table), [dict(row) for row in some])
    finally:
        backend.let_go()


def _snapshot(backend: Backend) -> Connection:
    """A connection whose reads all see one state; SQLite's do by themselves."""
    connection = backend.engine.connect()
    if backend.engine.dialect.name == "postgresql":
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
    return connection


def _tables(connection: Connection) -> MetaData:
    """Our tables as they are there, of whatever schema."""
    found = MetaData()
    found.reflect(
        connection,
        only=lambda name, _: name.startswith("askmeans_") and name != VERSION_TABLE,
    )
    return found


def _check_empty(writing: Connection, place: str) -> None:
    """Refuse to mix sessions: their events' numbers would no longer be their own."""
    count = writing.execute(text("SELECT count(*) FROM askmeans_sessions")).scalar_one()
    if count:
        raise DataError(
            f"{place} must hold no sessions yet: a copy overwrites nothing. Got {count}; name "
            "another database."
        )


def _advance_numbers(writing: Connection) -> None:
    """Let PostgreSQL go on numbering after the rows that came with their numbers."""
    for table in _tables(writing).sorted_tables:
        if "id" in table.columns:
            last = writing.execute(select(func.max(table.c.id))).scalar()
            if last is not None:
                sequence = func.pg_get_serial_sequence(table.name, "id")
                writing.execute(select(func.setval(sequence, last)))
