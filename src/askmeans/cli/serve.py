"""`askmeans serve` and `askmeans demo --web`: the page, started from the command line."""

from pathlib import Path

from askmeans.cli.faces import make_faces
from askmeans.cli.sessions import say_database

__all__ = ["run", "run_demo"]


def run(
    database: str,
    name: str | None,
    host: str,
    port: int,
    *,
    open_browser: bool,
    json_logs: bool = False,
) -> None:
    """Serve the page until it is interrupted."""
    from askmeans.web import serve

    say_database(database)
    serve(database, name, host=host, port=port, open_browser=open_browser, json_logs=json_logs)


def run_demo(out: Path, port: int, *, open_browser: bool) -> None:
    """Serve drawn faces with questions ready; a demo begun before goes on."""
    database = out / "faces.db"
    if not database.exists():
        make_faces(database)
    run(str(database), None, "127.0.0.1", port, open_browser=open_browser)
