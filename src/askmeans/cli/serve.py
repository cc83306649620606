"""`askmeans serve` and `askmeans demo --web`: the page, started from the command line."""

from pathlib import Path

from askmeans.cli.faces import make_faces_session
from askmeans.cli.session_commands import ServeOptions
from askmeans.cli.sessions import say_database
from askmeans.exceptions import ParameterError

__all__ = ["run", "run_demo"]

_HERE = ("127.0.0.1", "::1")  # where a proxy is, unless told otherwise


def run(options: ServeOptions) -> None:
    """Serve the page until it is interrupted."""
    from askmeans.web import Access, serve

    if options.proxy_address and not options.behind_proxy:
        raise ParameterError(
            "The 'proxy_address' parameter of askmeans serve must come with --behind-proxy. "
            f"Got {', '.join(options.proxy_address)} without."
        )
    access = Access(
        public_hosts=tuple(options.public_host or ()),
        certificate=options.certificate,
        key=options.key,
        proxies=tuple(options.proxy_address or _HERE) if options.behind_proxy else (),
    )
    say_database(options.database)
    serve(
        options.database, options.name, host=options.host, port=options.port,
        open_browser=not options.no_browser, json_logs=options.log_json, access=access,
    )  # fmt: skip


def run_demo(out: Path, port: int, *, open_browser: bool) -> None:
    """Serve drawn faces with questions ready; a demo begun before goes on."""
    database = out / "faces.db"
    if not database.exists():
        make_faces_session(database)
    run(ServeOptions(database=str(database), port=port, no_browser=not open_browser))
