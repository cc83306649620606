"""The schema of a database: created, checked, upgraded; and copies of databases, row by row.

Rules of this file:
- A schema has a number, in a table of our own, so that a database may hold other tables, too.
- A database of another schema is refused before anything of it is changed. `upgrade` runs the
  steps between the two (MIGRATIONS) in one transaction, after a backup.
- In a copy every number, event and lease is as it was.
"""

import itertools
import os
import shlex
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    MetaData,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)

from askmeans._util.files import atomic_file
from askmeans.exceptions import DataError, NoSessionError, StoreVersionError
from askmeans.sessions.store.backend import Backend, retry_lost
from askmeans.sessions.store.models import VERSION_TABLE, metadata, version_table
from askmeans.sessions.store.sqlite import SqliteBackend, connect, translate_errors
from askmeans.sessions.store.urls import display_url, file_of, is_postgresql, output_stem

Migration = Callable[[Connection], None]  # from the schema before; leaves the version to `upgrade`
FIRST_SCHEMA = 4  # earlier ones were never released
MIGRATIONS: dict[int, Migration] = {}  # by the number of the schema that they lead to
SCHEMA = str(max(MIGRATIONS, default=FIRST_SCHEMA))  # what `models` describes
_ROWS = 500  # in memory at a time
_CHUNKS = 4  # of megabytes each, in memory at a time
OPENING = 5.0  # seconds to wait for a server that is starting; after that the URL is probably wrong


def make_backend(url: str | Path, *, make: bool = False) -> Backend:
    """The database at a path or URL; `make` creates a missing file."""
    if is_postgresql(url):
        from askmeans.sessions.store.postgresql import PostgresBackend

        return PostgresBackend(str(url))
    path = file_of(url)
    if make:
        if not path.parent.is_dir():
            raise NoSessionError(
                f"{path.parent} must be a folder for the database. Got none; make it first."
            )
        with translate_errors(str(path)):
            sqlite3.connect(path).close()
    return SqliteBackend(path)


def make_schema(backend: Backend) -> None:
    """Create the tables, unless they exist."""
    with backend.migrating() as writing:
        if _version(writing) is None:
            metadata.create_all(writing, checkfirst=False)
            version_table.create(writing, checkfirst=False)
            writing.execute(insert(version_table).values(version_num=SCHEMA))
    backend.engine.dispose()  # a file was opened while it had no write-ahead log


def check_version(url: str | Path, *, make: bool = False) -> None:
    """Refuse a database of another schema, or, without `make`, of none."""
    if make and not is_postgresql(url) and not file_of(url).exists():
        return
    version = find_version(url)
    if version == SCHEMA or (make and version is None):
        return
    place = display_url(url)
    if version is None:
        raise NoSessionError(
            f"{place} must hold sessions of askmeans. Got a database without; 'askmeans init' or "
            "askmeans.sessions.create makes one."
        )
    if version.isdigit() and int(version) < FIRST_SCHEMA:
        raise StoreVersionError(
            f"{place} must have schema {SCHEMA} for this version of askmeans. Got schema "
            f"{version}, of a version before the first release, which alone can read it."
        )
    if version.isdigit() and int(version) < int(SCHEMA):
        raise StoreVersionError(
            f"{place} must have schema {SCHEMA} for this version of askmeans. Got schema "
            f"{version}, of an older one; run: askmeans upgrade {shlex.quote(place)}"
        )
    raise StoreVersionError(
        f"{place} must have schema {SCHEMA} for this version of askmeans. Got schema {version}, of "
        "a newer one; run: pip install --upgrade askmeans"
    )


def find_version(url: str | Path) -> str | None:
    """The number of the schema; None without one. The database is not changed."""
    if not is_postgresql(url):
        return _find_in_file(file_of(url))
    with closing(make_backend(url)) as backend:

        def find() -> str | None:
            with backend.translate_errors(), backend.engine.connect() as connection:
                return _version(connection)

        return retry_lost(find, OPENING)


def _find_in_file(path: Path) -> str | None:
    """The number of the schema in a file, which is not changed."""
    if not path.exists():
        raise NoSessionError(
            f"There must be a database at {path}. Got none; 'askmeans init' or "
            "askmeans.sessions.create makes one."
        )
    with translate_errors(str(path)), closing(connect(path)) as connection:
        connection.execute("PRAGMA query_only = ON")
        table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        if connection.execute(table, (VERSION_TABLE,)).fetchone() is None:
            return None
        row = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    return None if row is None else str(row[0])


def upgrade(url: str | Path, migrations: Mapping[int, Migration] | None = None) -> Path | None:
    """Upgrade a database to the newest schema, after a backup; return its path, or None.

    All steps are one transaction: a failure leaves the database as it was.
    """
    steps = MIGRATIONS if migrations is None else migrations
    newest = max(steps, default=FIRST_SCHEMA)
    version = find_version(url)
    if version == str(newest):
        return None
    if version is None or not version.isdigit() or not FIRST_SCHEMA <= int(version) <= newest:
        check_version(url)  # refuses, and says why
    file = output_stem(url) if is_postgresql(url) else file_of(url)
    named = f"{file.name}.schema-{version}.backup"
    names = itertools.chain([named], (f"{named}-{count}" for count in itertools.count(2)))
    kept = next(each for each in map(file.with_name, names) if not each.exists())
    backup(url, kept)
    with closing(make_backend(url)) as backend, backend.migrating() as writing:
        for number in range(int(version or 0) + 1, newest + 1):
            steps[number](writing)
        writing.execute(update(version_table).values(version_num=str(newest)))
    return kept


def backup(url: str | Path, file: Path) -> None:
    """Copy a database of any schema to a new SQLite file."""
    if not file.absolute().parent.is_dir():
        raise DataError(f"{file.parent} must be a folder for the backup. Got none; make it first.")
    if os.path.lexists(file):
        raise DataError(
            f"{file} must not exist yet: a backup overwrites nothing. Got a file there; name "
            "another."
        )
    if is_postgresql(url):
        _copy_into_file(url, file)
        return
    path = file_of(url)
    with (
        translate_errors(str(path)),
        atomic_file(file) as part,
        closing(connect(path)) as source,
        closing(sqlite3.connect(part.name)) as copy,
    ):
        source.backup(copy)


def _version(connection: Connection) -> str | None:
    """The number of the schema; None without one."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return None if version is None else str(version)


def copy_database(source: str | Path, target: str | Path) -> None:
    """Copy all sessions of a database into one that has none; others may keep writing to it.

    The copy is complete and of one moment, or it is not made.
    """
    check_version(source)
    if not is_postgresql(target):
        backup(source, file_of(target))
        return
    check_version(target, make=True)
    with closing(make_backend(target)) as into:
        make_schema(into)
        with into.migrating() as writing:
            _check_empty(writing, display_url(target))
            _copy(source, writing)
            _advance_numbers(writing)


def _copy_into_file(source: str | Path, file: Path) -> None:
    """Copy a database of any schema into a new SQLite file."""
    version = find_version(source)
    if version is None:
        check_version(source)  # refuses, and says why
    with atomic_file(file) as part, closing(SqliteBackend(Path(part.name))) as into:
        if version == SCHEMA:
            make_schema(into)
        else:
            _make_same_tables(source, into)
        with into.migrating() as writing:
            _copy(source, writing)
            writing.execute(update(version_table).values(version_num=version))


def _make_same_tables(source: str | Path, into: Backend) -> None:
    """Create the tables of a database of an older schema in an SQLite file."""
    with closing(make_backend(source)) as backend, backend.engine.connect() as connection:
        tables = _tables(connection)
    for column in (column for table in tables.tables.values() for column in table.columns):
        column.server_default = None  # a sequence of PostgreSQL's
        kind = column.type.as_generic()
        column.type = Integer() if isinstance(kind, BigInteger) else kind
    with into.migrating() as writing:
        tables.create_all(writing)
        version_table.create(writing)
        writing.execute(insert(version_table).values(version_num=SCHEMA))
    into.engine.dispose()


def _copy(source: str | Path, writing: Connection) -> None:
    """Copy all rows of our tables, as of one moment."""
    with closing(make_backend(source)) as backend:
        snapshot = {}  # all reads see one state; SQLite's do by themselves
        if backend.engine.dialect.name == "postgresql":
            snapshot = {"isolation_level": "REPEATABLE READ"}
        with backend.translate_errors(), backend.engine.connect() as connection:
            reading = connection.execution_options(**snapshot)
            theirs, ours = _tables(reading), _tables(writing)
            for table in ours.sorted_tables:
                many = _CHUNKS if table.name == "askmeans_chunks" else _ROWS
                columns = theirs.tables[table.name].primary_key.columns
                rows = reading.execution_options(yield_per=many).execute(
                    select(theirs.tables[table.name]).order_by(*columns)
                )
                for some in rows.mappings().partitions():
                    writing.execute(insert(table), [dict(row) for row in some])


def _tables(connection: Connection) -> MetaData:
    """Our tables in a database of any schema."""
    tables = MetaData()
    tables.reflect(
        connection,
        only=lambda name, _: name.startswith("askmeans_") and name != VERSION_TABLE,
    )
    return tables


def _check_empty(writing: Connection, place: str) -> None:
    """Refuse a target with sessions: numbers of events would collide."""
    count = writing.execute(text("SELECT count(*) FROM askmeans_sessions")).scalar_one()
    if count:
        raise DataError(
            f"{place} must hold no sessions yet: a copy overwrites nothing. Got {count}; name "
            "another database."
        )


def _advance_numbers(writing: Connection) -> None:
    """Set PostgreSQL's sequences to continue after the copied rows."""
    for table in _tables(writing).sorted_tables:
        if "id" in table.columns:
            last = writing.execute(select(func.max(table.c.id))).scalar()
            if last is not None:
                sequence = func.pg_get_serial_sequence(table.name, "id")
                writing.execute(select(func.setval(sequence, last)))
