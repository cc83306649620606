"""Which schema a database has: made anew, checked when opened, brought up to date on request.

Ours is numbered, in a version table of our own, so that a database may hold other things, too.
"""

import shlex
import sqlite3
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from askmeans.exceptions import NoSessionError, StoreVersionError
from askmeans.sessions.store.models import VERSION_TABLE
from askmeans.sessions.store.sqlite.engine import DURABLE, make_engine, translated

__all__ = ["SCHEMA", "check_version", "make_schema", "upgrade"]

SCHEMA = "1"
MIGRATIONS = Path(__file__).parent / "migrations"


def make_schema(engine: Engine, path: Path) -> None:
    """Make the tables where there are none; a database that has some is left as it is."""
    if not path.parent.is_dir():
        raise NoSessionError(
            f"{path.parent} must be a folder for the database. Got none; make it first."
        )
    with translated(str(path)):
        with engine.connect() as connection:
            if _version(connection) is not None:
                return
        with engine.connect() as connection:
            writing = connection.execution_options(askmeans_write=DURABLE)
            with writing.begin():
                if _version(writing) is None:  # nobody was quicker
                    _migrate(writing, "head")


def check_version(engine: Engine, path: Path) -> None:
    """Refuse a database of another schema, and say what to do about it."""
    with translated(str(path)), engine.connect() as connection:
        version = _version(connection)
    if version is None:
        raise NoSessionError(
            f"{path} must hold sessions of askmeans. Got a database without; 'askmeans init' or "
            "askmeans.sessions.create makes one."
        )
    if version == SCHEMA:
        return
    if version.isdigit() and int(version) < int(SCHEMA):
        raise StoreVersionError(
            f"{path} must have schema {SCHEMA} for this version of askmeans. Got schema {version}, "
            f"of an older one; run: askmeans upgrade {shlex.quote(str(path))}"
        )
    raise StoreVersionError(
        f"{path} must have schema {SCHEMA} for this version of askmeans. Got schema {version}, of "
        "a newer one; run: pip install --upgrade askmeans"
    )


def upgrade(path: Path, *, migrations: Path = MIGRATIONS, to: str = SCHEMA) -> Path | None:
    """Bring a database to a schema, after a backup; the backup's path, None if nothing was to do.

    All steps are one transaction: a failure leaves the database as it was.
    """
    if not path.exists():
        raise NoSessionError(f"There must be a database at {path}. Got none.")
    engine = make_engine(path)
    try:
        with translated(str(path)), engine.connect() as connection:
            version = _version(connection)
            if version == to:
                return None
        if version is None or not version.isdigit() or int(version) > int(to):
            check_version(engine, path)  # refuses, and says why
        backup = _backup(path, f"schema-{version}")
        with translated(str(path)), engine.connect() as connection:
            writing = connection.execution_options(askmeans_write=DURABLE)
            with writing.begin():
                _migrate(writing, to, migrations)
        return backup
    finally:
        engine.dispose()


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


def _backup(path: Path, note: str) -> Path:
    """A copy beside the database, through SQLite itself so that it is whole."""
    backup = path.with_name(f"{path.name}.{note}.backup")
    count = 2
    while backup.exists():
        backup = path.with_name(f"{path.name}.{note}.backup-{count}")
        count += 1
    with translated(str(path)):
        source, copy = sqlite3.connect(path), sqlite3.connect(backup)
        try:
            source.backup(copy)
        finally:
            copy.close()
            source.close()
    return backup
