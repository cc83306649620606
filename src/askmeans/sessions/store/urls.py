"""Where a database is: a path, sqlite:///PATH or postgresql://...; passwords are never shown."""

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import quote

from askmeans.exceptions import MissingExtraError, ParameterError

_POSTGRESQL = re.compile(r"postgres(ql)?(\+psycopg)?://")
_SECRET = ("password", "sslpassword", "passfile", "sslkey")


def is_postgresql(url: str | Path) -> bool:
    """Whether a URL names a PostgreSQL database."""
    return _POSTGRESQL.match(str(url)) is not None


def file_of(url: str | Path) -> Path:
    """The absolute path of an SQLite database, from a path or a URL."""
    text = place = str(url)
    scheme, colon, rest = text.partition("://")
    if colon:
        if scheme != "sqlite" or not rest.startswith("/") or rest == "/":
            raise ParameterError(
                "The 'url' parameter must be a path, sqlite:///PATH or postgresql://HOST/NAME. "
                f"Got {scheme}://... instead."
            )
        place = rest[1:]
    path = Path(place).expanduser()
    if not place or path.is_dir():
        raise ParameterError(
            "The 'url' parameter must be the path of a database file or a URL. "
            f"Got {text!r} instead, which is {'a folder' if place else 'empty'}."
        )
    return path.absolute()


def connection_string(url: str | Path) -> str:
    """A URL of PostgreSQL as its driver takes it, checked."""
    text = _POSTGRESQL.sub("postgresql://", str(url), count=1)
    _parts(text)
    return text


def display_url(url: str | Path) -> str:
    """A database's address for messages and logs: the file's path, or the URL without secrets."""
    if not is_postgresql(url):
        return str(file_of(url))
    parts = _parts(connection_string(url))
    user, hosts, ports, name = (parts.pop(key, "") for key in ("user", "host", "port", "dbname"))
    where = hosts.split(",")
    numbers = (ports.split(",") * len(where))[: len(where)] if ports else [""] * len(where)
    place = ",".join(
        (f"[{host}]" if ":" in host else host) + (port and f":{port}")
        for host, port in zip(where, numbers, strict=True)
    )
    others = {key: value for key, value in parts.items() if key not in _SECRET}
    if hosts.startswith("/"):  # a socket's folder
        place, others = "", {"host": hosts} | ({"port": ports} if ports else {}) | others
    more = "&".join(f"{key}={quote(value, safe='/')}" for key, value in others.items())
    login = f"{quote(user, safe='')}@" if user else ""
    return f"postgresql://{login}{place}/{quote(name, safe='')}" + (more and f"?{more}")


def output_stem(url: str | Path) -> Path:
    """The path without suffix of files exported from a database: beside a file, or here."""
    if not is_postgresql(url):
        return file_of(url).with_suffix("")
    name = _parts(connection_string(url)).get("dbname", "") or "askmeans"
    return Path.cwd() / re.sub(r"[^\w.-]", "_", name)


def thumbnails_of(url: str | Path) -> Path:
    """The folder of a database's thumbnails: beside its file, or in the user's cache folder."""
    if not is_postgresql(url):
        return Path(f"{file_of(url)}.thumbnails")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    digest = hashlib.sha256(display_url(url).encode()).hexdigest()[:16]
    return caches / "askmeans" / f"{digest}.thumbnails"


def _parts(text: str) -> dict[str, str]:
    """The parameters in a URL of PostgreSQL, as its driver reads it."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise MissingExtraError(
            "Sessions in PostgreSQL need psycopg. Got no such package; install it with: "
            'pip install "askmeans[postgres]"'
        ) from error
    try:
        return {key: str(value) for key, value in conninfo_to_dict(text).items()}
    except ProgrammingError:
        raise ParameterError(
            "The 'url' parameter must be postgresql://USER@HOST:PORT/NAME, with special characters "
            "written as %20 and so on. Got a URL that PostgreSQL's driver cannot read, which is "
            "not shown: it may have a password in it."
        ) from None
