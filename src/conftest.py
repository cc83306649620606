"""Sessions for the examples in docstrings of sessions, web and notebook: `fruit.db`, `pets.db`.

The first asks for memberships, the second for groups.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def fruit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the databases that the examples open."""
    from askmeans import sessions

    folder = tmp_path_factory.mktemp("fruit")
    X = [[1.0], [2.0], [8.0], [9.0]]
    sessions.create(
        folder / "fruit.db",
        X,
        n_clusters=2,
        items=["apple", "pear", "melon", "pumpkin"],
        cluster_names=["small", "large"],
        ask="membership",
        random_state=0,
    ).close()
    sessions.create(
        folder / "pets.db", X, n_clusters=2, cluster_names=["cats", "dogs"], random_state=0
    ).close()
    return folder


@pytest.fixture(autouse=True)
def _fruit_for_examples(
    request: pytest.FixtureRequest,
    doctest_namespace: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Run examples beside a copy of them; those of tables write files of their own."""
    if "tables" in request.path.parts:
        monkeypatch.chdir(tmp_path)
    if not {"sessions", "web", "notebook", "clients.py"} & set(request.path.parts):
        return
    from askmeans import sessions

    for database in request.getfixturevalue("fruit").glob("*.db"):
        shutil.copy(database, tmp_path)
    monkeypatch.chdir(tmp_path)
    doctest_namespace["open"] = sessions.open
