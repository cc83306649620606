"""A session of fruits whose groups are asked for."""

import pytest

from askmeans import notebook, sessions

FRUIT = ["plum", "cherry", "grape", "melon", "pumpkin", "papaya"]


@pytest.fixture
def session(tmp_path):
    X = [[1.0], [1.5], [2.0], [8.0], [8.5], [9.0]]
    with sessions.create(
        tmp_path / "fruit.db", X, n_clusters=2, items=FRUIT, random_state=0,
        cluster_names=["small", "large"],
    ) as made:  # fmt: skip
        yield made


@pytest.fixture
def widget(session):
    return notebook.ask(session)
