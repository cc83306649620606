"""`askmeans serve` and `askmeans demo --web`: the page, started from the command line."""

from pathlib import Path

from askmeans.cli.printing import say
from askmeans.sessions import create
from askmeans.sessions.store import file_of

__all__ = ["run", "run_demo"]


def run(database: str, name: str | None, host: str, port: int, *, open_browser: bool) -> None:
    """Serve the page until it is interrupted."""
    from askmeans.web import serve

    path = file_of(database)
    if path.exists():
        say(f"database: {path}")
    serve(database, name, host=host, port=port, open_browser=open_browser)


def run_demo(out: Path, port: int, *, open_browser: bool) -> None:
    """Serve Iris with questions ready; a demo begun before goes on."""
    database = out / "iris.db"
    if not database.exists():
        _make_iris(database)
    run(str(database), None, "127.0.0.1", port, open_browser=open_browser)


def _make_iris(database: Path) -> None:
    """A session about 150 iris flowers."""
    from sklearn.datasets import load_iris

    from askmeans import TwoPhase

    iris = load_iris(as_frame=True)
    database.parent.mkdir(parents=True, exist_ok=True)
    create(
        database,
        iris.data.to_numpy(),
        n_clusters=3,
        items=iris.data,
        ids=[f"flower {number}" for number in range(1, len(iris.data) + 1)],
        feature_names=list(iris.data.columns),
        strategy=TwoPhase(sample_size=30),
        random_state=0,
    ).close()
