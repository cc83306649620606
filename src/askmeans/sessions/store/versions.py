"""Which schema a database has, and copies of it, row by row.

A schema is made anew, checked when opened, brought up to date on request. Ours is numbered, in a
version table of our own, so that a database may hold other things, too. In a copy every number,
event and lease is as it was.
"""

import itertools
import os
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    func,
    insert,
    inspect,
    select,
    text,
)

from askmeans._util.files import atomic_file
from askmeans.exceptions import DataError, NoSessionError, StoreVersionError
from askmeans.sessions.store.backend import Backend
from askmeans.sessions.store.models import VERSION_TABLE, metadata
from askmeans.sessions.store.patience import retried
from askmeans.sessions.store.sqlite import SqliteBackend, connect, translated
from askmeans.sessions.store.urls import file_of, is_postgresql, shown, stem_of

__all__ = ["SCHEMA", "backup", "check_version", "copy_database", "find_version", "make_backend",
           "make_schema", "migrate", "upgrade"]  # fmt: skip

SCHEMA = "4"
_ROWS = 500  # that are in memory at once
_CHUNKS = 4  # these are megabytes
MIGRATIONS = Path(__file__).parent / "migrations"
_OPENING = 5.0  # seconds in which a server may come up; longer, and the URL is likely wrong


def make_backend(url: str | Path, *, make: bool = False) -> Backend:
    """The database at a path or URL; with `make` an empty file where there is none."""
    if is_postgresql(url):
        from askmeans.sessions.store.postgresql import PostgresBackend

        return PostgresBackend(str(url))
    path = file_of(url)
    if make:
        if not path.parent.is_dir():
            raise NoSessionError(
                f"{path.parent} must be a folder for the database. Got none; make it first."
            )
        with translated(str(path)):
            sqlite3.connect(path).close()
    return SqliteBackend(path)


def make_schema(backend: Backend, *, to: str | None = None) -> None:
    """Make the tables where there are none; a database that has some is left as it is.

    Those of today come from the models: the steps since the first schema take four times as long.
    """
    with backend.migrating() as writing:
        is_new = _version(writing) is None
        if is_new and to is not None:
            migrate(writing, to)
        elif is_new:
            metadata.create_all(writing, checkfirst=False)
            number = Column("version_num", String(32), nullable=False)
            key = PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc")
            table = Table(VERSION_TABLE, MetaData(), number, key)  # as alembic makes it
            table.create(writing, checkfirst=False)
            writing.execute(insert(table).values(version_num=SCHEMA))
    backend.engine.dispose()  # a file was opened while it had no write-ahead log


def check_version(url: str | Path, *, make: bool = False) -> None:
    """Refuse a database of another schema, and say what to do; one without, unless to `make` it."""
    if make and not is_postgresql(url) and not file_of(url).exists():
        return
    version = find_version(url)
    if version == SCHEMA or (make and version is None):
        return
    place = shown(url)
    if version is None:
        raise NoSessionError(
            f"{place} must hold sessions of askmeans. Got a database without; 'askmeans init' or "
            "askmeans.sessions.create makes one."
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
    """The schema's number, None where there is none of ours; the database is left as it is."""
    if not is_postgresql(url):
        return _find_in_file(file_of(url))
    with closing(make_backend(url)) as backend:

        def find() -> str | None:
            with backend.translated(), backend.engine.connect() as connection:
                return _version(connection)

        return retried(find, _OPENING)


def _find_in_file(path: Path) -> str | None:
    """The schema's number in a file, which is left as it is."""
    if not path.exists():
        raise NoSessionError(
            f"There must be a database at {path}. Got none; 'askmeans init' or "
            "askmeans.sessions.create makes one."
        )
    with translated(str(path)), closing(connect(path)) as connection:
        connection.execute("PRAGMA query_only = ON")
        table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        if connection.execute(table, (VERSION_TABLE,)).fetchone() is None:
            return None
        found = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    return None if found is None else str(found[0])


def upgrade(url: str | Path, *, migrations: Path = MIGRATIONS, to: str = SCHEMA) -> Path | None:
    """Bring a database to a schema, after a backup; the backup's path, None if nothing was to do.

    All steps are one transaction: a failure leaves the database as it was.
    """
    version = find_version(url)
    if version == to:
        return None
    if version is None or not version.isdigit() or int(version) > int(to):
        check_version(url)  # refuses, and says why
    file = stem_of(url) if is_postgresql(url) else file_of(url)
    named = f"{file.name}.schema-{version}.backup"
    names = itertools.chain([named], (f"{named}-{count}" for count in itertools.count(2)))
    kept = next(each for each in map(file.with_name, names) if not each.exists())
    backup(url, kept)
    with closing(make_backend(url)) as backend, backend.migrating() as writing:
        migrate(writing, to, migrations)
    return kept


def backup(url: str | Path, file: Path) -> None:
    """A whole copy of a database as an SQLite file, of its own schema; nothing is overwritten."""
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
        translated(str(path)),
        atomic_file(file) as part,
        closing(connect(path)) as source,
        closing(sqlite3.connect(part.name)) as copy,
    ):
        source.backup(copy)


def _version(connection: Connection) -> str | None:
    """The schema's number; None where there is no schema of ours."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return None if found is None else str(found)


def migrate(connection: Connection, to: str, migrations: Path = MIGRATIONS) -> None:
    """Run alembic's steps on this connection, within its transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def copy_database(source: str | Path, target: str | Path) -> None:
    """Copy all sessions of a database into one that has none; others may go on writing to it.

    The copy is one state of the source, and all of it is there or nothing.
    """
    check_version(source)
    if not is_postgresql(target):
        backup(source, file_of(target))
        return
    check_version(target, make=True)
    with closing(make_backend(target)) as into:
        make_schema(into)
        with into.migrating() as writing:
            _check_empty(writing, shown(target))
            _copy(source, writing)
            _advance_numbers(writing)


def _copy_into_file(source: str | Path, file: Path) -> None:
    """Copy a database of any schema into a new SQLite file."""
    version = find_version(source)
    if version is None:
        check_version(source)  # refuses, and says why
    with atomic_file(file) as part, closing(SqliteBackend(Path(part.name))) as into:
        make_schema(into, to=str(version))
        with into.migrating() as writing:
            _copy(source, writing)


def _copy(source: str | Path, writing: Connection) -> None:
    """Copy every row of our tables, as they are at one moment."""
    with closing(make_backend(source)) as backend:
        snapshot = {}  # all reads see one state; SQLite's do by themselves
        if backend.engine.dialect.name == "postgresql":
            snapshot = {"isolation_level": "REPEATABLE READ"}
        with backend.translated(), backend.engine.connect() as connection:
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
