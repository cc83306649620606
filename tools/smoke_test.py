"""Try an installed askmeans: fits, a session, a plot, a card, pictures, a model, the demo.

    python tools/smoke_test.py             # in the environment to try, from any folder

`tools/check_release.sh` runs it in fresh environments.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

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
        for each in (fit, plot, session, card, pictures, model):
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


def card(folder: Path) -> None:
    """A notebook's card, and a key pressed on it."""
    from askmeans import notebook, sessions

    X, _ = _items()
    with sessions.create(folder / "card.db", X, n_clusters=3, random_state=0) as made:
        widget = notebook.ask(made)
        replies: list[dict[str, Any]] = []
        widget.send = replies.append
        widget._handle_custom_msg({"id": 0, "path": "document"}, [])
        (card,) = re.findall(r'<div id="question"[^>]*>', replies[0]["text"])
        form = dict(re.findall(r'data-([\w-]+)="([^"]*)"', card))
        body = urlencode(form | {"value": "group-0"})
        widget._handle_custom_msg({"id": 1, "path": "/answer", "body": body}, [])
        assert widget.answered == 1


def pictures(folder: Path) -> None:
    """Images become features."""
    from askmeans.cli.example_data import write_data
    from askmeans.tables import read_items

    *_, images = write_data(folder)
    assert read_items(images).features.shape[0] == 36


class Endpoint(BaseHTTPRequestHandler):
    """A language model that always says the same."""

    def do_POST(self) -> None:
        """Answer a chat."""
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": '{"group": "B"}'}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        said = {"id": "1", "object": "chat.completion", "created": 0, "model": "b"}
        body = json.dumps(said | {"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def model(_: Path) -> None:
    """A language model answers, over HTTP."""
    from askmeans.llm import ModelOracle, model_client
    from askmeans.queries import GroupQueries

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = model_client(f"http://127.0.0.1:{server.server_port}/v1", "b")
        oracle = ModelOracle(client, guidelines="A or B", show=["apple"], names=["A", "B"])
        assert oracle.answer(GroupQueries([0], 2)).tolist() == [[0.0, 1.0]]
        server.shutdown()


def _items() -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Three clouds."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 30)
    return rng.normal(size=(90, 2)) + 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


if __name__ == "__main__":
    main()
