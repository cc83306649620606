"""Where sessions are kept: the contract, and SQLite and PostgreSQL through SQLAlchemy."""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from askmeans.exceptions import MissingExtraError
from askmeans.sessions.store.urls import file_of, is_postgresql, shown, stem_of, thumbnails_of

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store

__all__ = ["backup_store", "copy_store", "file_of", "is_postgresql", "open_store", "shown",
           "stem_of", "thumbnails_of", "upgrade_store"]  # fmt: skip


def open_store(url: str | Path, *, make: bool = False) -> "Store":
    """The store at a path or database URL; without `make`, one that is there already."""
    versions = _versions(url)
    from askmeans.sessions.store.sql import Store

    versions.check_version(url, make=make)  # before anything of it is changed
    backend = versions.make_backend(url, make=make)
    try:
        if make:
            versions.make_schema(backend)
    except BaseException:
        backend.engine.dispose()
        raise
    return Store(backend)


def backup_store(url: str | Path, file: Path) -> list[str]:
    """Write a copy of a database, whole, also while others write to it.

    Returns the files that the sessions refer to, which are not in it.
    """
    versions = _versions(url)
    versions.check_version(url)
    versions.backup(url, file)
    return _files_elsewhere(file)


def copy_store(source: str | Path, target: str | Path) -> list[str]:
    """Copy all sessions of a database into one that has none, of either kind, without loss.

    Returns the files that the sessions refer to, which are not in it.
    """
    _versions(source, target).copy_database(source, target)
    return _files_elsewhere(target)


def upgrade_store(url: str | Path) -> Path | None:
    """Bring a database to this version, after a backup beside it; None when nothing was to do."""
    kept: Path | None = _versions(url).upgrade(url)
    return kept


def _files_elsewhere(url: str | Path) -> list[str]:
    """Files that the sessions of a database refer to."""
    store = open_store(url)
    try:
        parts = (part for name in store.names() for part in store.parts(store.load(name).id))
        return sorted({part.path for part in parts if part.path is not None})
    finally:
        store.close()


def _versions(*urls: str | Path) -> ModuleType:
    """What knows of schemas, where these are places for databases and its packages are there."""
    for url in urls:
        shown(url)
    try:
        import sqlalchemy  # noqa: F401 - whether it is there is the question
    except ImportError as error:
        raise MissingExtraError(
            "Sessions need SQLAlchemy. Got no such package; "
            'install them with: pip install "askmeans[sessions]"'
        ) from error
    from askmeans.sessions.store import versions

    return versions
