"""Where sessions are kept: the contract, and SQLite through SQLAlchemy; PostgreSQL joins next."""

from pathlib import Path
from typing import TYPE_CHECKING

from askmeans.exceptions import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from askmeans.sessions.store.contract import Store

__all__ = ["backup_store", "file_of", "open_store", "upgrade_store"]


def open_store(url: str | Path, *, make: bool = False) -> "Store":
    """The store at a path or database URL; without `make`, one that is there already."""
    path = file_of(url)
    _check_installed()
    from askmeans.sessions.store.sql import SqlStore
    from askmeans.sessions.store.sqlite.engine import make_engine
    from askmeans.sessions.store.versions import check_version, make_file, make_schema

    if make:
        make_file(path)
    check_version(path, make=make)  # before anything of it is changed
    engine = make_engine(path)
    try:
        if make:
            make_schema(engine, path)
    except BaseException:
        engine.dispose()
        raise
    return SqlStore(engine, path)


def backup_store(url: str | Path, file: Path) -> list[str]:
    """Write a copy of a database, whole, also while others write to it.

    Returns the files that the sessions refer to, which are not in it.
    """
    path = file_of(url)
    _check_installed()
    from askmeans.sessions.store.versions import backup, check_version

    check_version(path)
    backup(path, file)
    store = open_store(file)
    try:
        parts = (part for name in store.names() for part in store.parts(store.load(name).id))
        return sorted({part.path for part in parts if part.path is not None})
    finally:
        store.close()


def upgrade_store(url: str | Path) -> Path | None:
    """Bring a database to this version, after a backup beside it; None when nothing was to do."""
    path = file_of(url)
    _check_installed()
    from askmeans.sessions.store.versions import upgrade

    return upgrade(path)


def file_of(url: str | Path) -> Path:
    """The absolute path of an SQLite database, from a path or a URL."""
    text = place = str(url)
    scheme, colon, rest = text.partition("://")
    if colon:
        if scheme != "sqlite" or not rest.startswith("/") or rest == "/":
            raise ParameterError(
                "The 'url' parameter must be a path or sqlite:///PATH, for now. "
                f"Got {text!r} instead; PostgreSQL is still to come."
            )
        place = rest[1:]
    path = Path(place).expanduser()
    if not place or path.is_dir():
        raise ParameterError(
            "The 'url' parameter must be the path of a database file or a URL. "
            f"Got {text!r} instead, which is {'a folder' if place else 'empty'}."
        )
    return path.absolute()


def _check_installed() -> None:
    """Refuse to go on without the packages a store needs."""
    try:
        import alembic  # noqa: F401 - whether they are there is the question
        import sqlalchemy  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "Sessions need SQLAlchemy and alembic. Got neither or one; "
            'install them with: pip install "askmeans[sessions]"'
        ) from error
