"""Which schema a database has: made anew, checked when opened, brought up to date on request.

Ours is numbered, in a version table of our own, so that a database may hold other things, too.
"""

import os
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from askmeans.exceptions import DataError, NoSessionError, StoreVersionError
from askmeans.files import whole_file
from askmeans.sessions.store.models import VERSION_TABLE
from askmeans.sessions.store.sqlite.engine import DURABLE, connect, make_engine, translated

__all__ = ["SCHEMA", "backup", "check_version", "make_file", "make_schema", "upgrade"]

SCHEMA = "1"
MIGRATIONS = Path(__file__).parent / "migrations"


def make_file(path: Path) -> None:
    """Make an empty database where there is none."""
    if not path.parent.is_dir():
        raise NoSessionError(
            f"{path.parent} must be a folder for the database. Got none; make it first."
        )
    with translated(str(path)):
        sqlite3.connect(path).close()


def make_schema(engine: Engine, path: Path) -> None:
    """Make the tables where there are none; a database that has some is left as it is."""
    with translated(str(path)), engine.connect() as connection:
        writing = connection.execution_options(askmeans_write=DURABLE)
        with writing.begin():
            if _version(writing) is None:
                _migrate(writing, "head")
    engine.dispose()  # it was opened while it had no write-ahead log to be recognised by


def check_version(path: Path, *, make: bool = False) -> None:
    """Refuse a database of another schema, and say what to do; one without, unless to `make` it."""
    version = find_version(path)
    if version == SCHEMA or (make and version is None):
        return
    if version is None:
        raise NoSessionError(
            f"{path} must hold sessions of askmeans. Got a database without; 'askmeans init' or "
            "askmeans.sessions.create makes one."
        )
    if version.isdigit() and int(version) < int(SCHEMA):
        raise StoreVersionError(
            f"{path} must have schema {SCHEMA} for this version of askmeans. Got schema {version}, "
            f"of an older one; run: askmeans upgrade {shlex.quote(str(path))}"
        )
    raise StoreVersionError(
        f"{path} must have schema {SCHEMA} for this version of askmeans. Got schema {version}, of "
        "a newer one; run: pip install --upgrade askmeans"
    )


def find_version(path: Path) -> str | None:
    """The schema's number, None where there is none of ours; the file is left as it is."""
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


def upgrade(path: Path, *, migrations: Path = MIGRATIONS, to: str = SCHEMA) -> Path | None:
    """Bring a database to a schema, after a backup; the backup's path, None if nothing was to do.

    All steps are one transaction: a failure leaves the database as it was.
    """
    version = find_version(path)
    if version == to:
        return None
    if version is None or not version.isdigit() or int(version) > int(to):
        check_version(path)  # refuses, and says why
    kept = _unused(path, f"schema-{version}")
    backup(path, kept)
    engine = make_engine(path)
    try:
        with translated(str(path)), engine.connect() as connection:
            writing = connection.execution_options(askmeans_write=DURABLE)
            with writing.begin():
                _migrate(writing, to, migrations)
        return kept
    finally:
        engine.dispose()


def backup(path: Path, file: Path) -> None:
    """A copy of a database, through SQLite itself so that it is whole; nothing is overwritten."""
    if not file.absolute().parent.is_dir():
        raise DataError(f"{file.parent} must be a folder for the backup. Got none; make it first.")
    if os.path.lexists(file):
        raise DataError(
            f"{file} must not exist yet: a backup overwrites nothing. Got a file there; name "
            "another."
        )
    with (
        translated(str(path)),
        whole_file(file) as part,
        closing(connect(path)) as source,
        closing(sqlite3.connect(part.name)) as copy,
    ):
        source.backup(copy)


def _unused(path: Path, note: str) -> Path:
    """A name for a backup beside the database."""
    found = path.with_name(f"{path.name}.{note}.backup")
    count = 2
    while found.exists():
        found = path.with_name(f"{path.name}.{note}.backup-{count}")
        count += 1
    return found


def _version(connection: Connection) -> str | None:
    """The schema's number; None where there is no schema of ours."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return None if found is None else str(found)


def _migrate(connection: Connection, to: str, migrations: Path = MIGRATIONS) -> None:
    """Run alembic's steps on this connection, within its transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)
