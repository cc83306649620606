"""`askmeans serve` and `askmeans demo --web`: the page, started from the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

from askmeans.cli.faces import make_faces_session
from askmeans.cli.sessions import say_database

if TYPE_CHECKING:
    from askmeans.web import Access

__all__ = ["make_access", "run", "run_demo"]

_HERE = ("127.0.0.1", "::1")  # where a proxy is, unless told otherwise


def make_access(
    public_hosts: list[str] | None,
    certificate: Path | None,
    key: Path | None,
    proxies: list[str] | None,
    *,
    behind_proxy: bool,
) -> "Access":
    """How others reach the page, as the options say."""
    from askmeans.exceptions import ParameterError
    from askmeans.web import Access

    if proxies and not behind_proxy:
        raise ParameterError(
            "The 'proxy_address' parameter of askmeans serve must come with --behind-proxy. "
            f"Got {', '.join(proxies)} without."
        )
    trusted = tuple(proxies or _HERE) if behind_proxy else ()
    return Access(
        public_hosts=tuple(public_hosts or ()), certificate=certificate, key=key, proxies=trusted
    )


def run(
    database: str,
    name: str | None,
    where: tuple[str, int],
    *,
    open_browser: bool,
    json_logs: bool = False,
    access: "Access | None" = None,
) -> None:
    """Serve the page until it is interrupted."""
    from askmeans.web import Access, serve

    say_database(database)
    host, port = where
    serve(
        database, name, host=host, port=port, open_browser=open_browser, json_logs=json_logs,
        access=access or Access(),
    )  # fmt: skip


def run_demo(out: Path, port: int, *, open_browser: bool) -> None:
    """Serve drawn faces with questions ready; a demo begun before goes on."""
    database = out / "faces.db"
    if not database.exists():
        make_faces_session(database)
    run(str(database), None, ("127.0.0.1", port), open_browser=open_browser)
