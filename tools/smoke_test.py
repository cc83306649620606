"""Try an installed askmeans: a fit, a session, a plot, the page, the demo. No tests needed.

    python tools/smoke_test.py             # in the environment to try, from any folder

`tools/check_release.sh` runs it in fresh environments.
"""

import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def main() -> None:
    """Do each, and say what was tried."""
    import askmeans

    version = importlib.metadata.version("askmeans")
    assert askmeans.__version__ == version, f"{askmeans.__version__} is installed as {version}"
    package = Path(askmeans.__file__).parent
    assert (package / "py.typed").exists()
    with tempfile.TemporaryDirectory() as folder:
        for each in (fit, plot, session):
            each(Path(folder))
        command = [str(Path(sys.executable).parent / "askmeans"), "demo"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        assert list(Path(folder).rglob("*.png"))
    used = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "sqlalchemy", "fastapi")
    told = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in used)
    print(f"askmeans {version} works on Python {sys.version.split()[0]} with {told}.")


def fit(_: Path) -> None:
    """Both estimators."""
    from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles

    X, y = _items()
    alone = FuzzyKMeans(3, n_init=3, random_state=0).fit(X)
    assert np.allclose(alone.memberships_.sum(axis=1), 1.0)
    expert = oracles.TableOracle.from_labels(y)
    asked = ActiveFuzzyKMeans(3, oracle=expert, ask="group", budget=9, random_state=0).fit(X)
    assert asked.n_queries_ == 9
    assert metrics.matched_accuracy(y, asked.labels_) > 0.9


def plot(folder: Path) -> None:
    """A picture of memberships."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from askmeans import FuzzyKMeans, plotting

    X, _ = _items()
    plotting.SoftScatterDisplay.from_estimator(FuzzyKMeans(3, random_state=0).fit(X), X)
    plt.savefig(folder / "scatter.png")


def session(folder: Path) -> None:
    """Answers that last, and a page over them."""
    import pandas as pd

    from askmeans import sessions, web

    X, y = _items()
    url, frame = folder / "smoke.db", pd.DataFrame(X, columns=["width", "height"])
    with sessions.create(url, X, n_clusters=3, items=frame, budget=6, random_state=0) as made:
        (question,) = made.ask()
        made.tell(question.id, int(y[question.items[0]]))
    with sessions.open(url) as again:
        while questions := again.ask():
            again.tell(questions[0].id, int(y[questions[0].items[0]]))
        assert again.result().n_queries == 6
    app = web.create_app(url)
    assert "/api/answers" in app.openapi()["paths"]
    app.state.context.close()


def _items() -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Three clouds."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 30)
    return rng.normal(size=(90, 2)) + 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


if __name__ == "__main__":
    main()
