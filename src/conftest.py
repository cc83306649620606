"""A session for the examples in docstrings of sessions, web and notebook: `fruit.db`."""

import shutil
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = ["askmeans/sessions/store/migrations/*"]  # alembic's, who runs them


@pytest.fixture(scope="session")
def fruit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that the examples open."""
    from askmeans import TwoPhase, sessions

    path = tmp_path_factory.mktemp("fruit") / "fruit.db"
    sessions.create(
        path,
        [[1.0], [2.0], [8.0], [9.0]],
        n_clusters=2,
        items=["apple", "pear", "melon", "pumpkin"],
        cluster_names=["small", "large"],
        strategy=TwoPhase(sample_size=4),
        random_state=0,
    ).close()
    return path


@pytest.fixture(autouse=True)
def _fruit_for_examples(
    request: pytest.FixtureRequest,
    doctest_namespace: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Run examples beside a copy of it; those of tables write files of their own."""
    if "tables" in request.path.parts:
        monkeypatch.chdir(tmp_path)
    if not {"sessions", "web", "notebook", "clients.py"} & set(request.path.parts):
        return
    from askmeans import sessions

    shutil.copy(request.getfixturevalue("fruit"), tmp_path)
    monkeypatch.chdir(tmp_path)
    doctest_namespace["open"] = sessions.open
