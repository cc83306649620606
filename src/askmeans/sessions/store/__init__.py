"""Where sessions are kept: the contract, and SQLite and PostgreSQL through SQLAlchemy."""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from askmeans.exceptions import MissingExtraError
from askmeans.sessions.store.urls import (
    display_url,
    file_of,
    is_postgresql,
    output_stem,
    thumbnails_of,
)

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store

__all__ = ["backup_store", "copy_store", "display_url", "file_of", "is_postgresql", "open_store",
           "output_stem", "thumbnails_of", "upgrade_store"]  # fmt: skip


def open_store(url: str | Path, *, make: bool = False) -> "Store":
    """Open the store at a path or database URL; with `make`, create it where it is missing."""
    versions = _versions(url)
    from askmeans.sessions.store.sql import Store

    versions.check_version(url, make=make)  # before the database is changed
    backend = versions.make_backend(url, make=make)
    try:
        if make:
            versions.make_schema(backend)
    except BaseException:
        backend.engine.dispose()
        raise
    return Store(backend)


def backup_store(url: str | Path, file: Path) -> list[str]:
    """Write a consistent copy of a database, also while other processes write to it.

    Returns the files that the sessions refer to; they are not copied.
    """
    versions = _versions(url)
    versions.check_version(url)
    versions.backup(url, file)
    return _referenced_files(file)


def copy_store(source: str | Path, target: str | Path) -> list[str]:
    """Copy all sessions into an empty database, from SQLite or PostgreSQL to either.

    Returns the files that the sessions refer to; they are not copied.
    """
    _versions(source, target).copy_database(source, target)
    return _referenced_files(target)


def upgrade_store(url: str | Path) -> Path | None:
    """Upgrade a database to this version; return the path of the backup, None if it is current."""
    backup: Path | None = _versions(url).upgrade(url)
    return backup


def _referenced_files(url: str | Path) -> list[str]:
    """Files that the sessions of a database refer to."""
    store = open_store(url)
    try:
        parts = (part for name in store.names() for part in store.parts(store.load(name).id))
        return sorted({part.path for part in parts if part.path is not None})
    finally:
        store.close()


def _versions(*urls: str | Path) -> ModuleType:
    """Check the URLs, and import the module of schema versions, which needs SQLAlchemy."""
    for url in urls:
        display_url(url)  # raises a ParameterError
    try:
        import sqlalchemy  # noqa: F401 - only whether it is installed
    except ImportError as error:
        raise MissingExtraError(
            "Sessions need SQLAlchemy. Got no such package; "
            'install them with: pip install "askmeans[sessions]"'
        ) from error
    from askmeans.sessions.store import versions

    return versions
