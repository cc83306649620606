"""`askmeans export` and `import` with other tools' formats: a round by another session."""

import json

import numpy as np
import pytest

from askmeans import sessions

NAMES = ["small", "large"]


@pytest.fixture
def make(tmp_path):
    """Make a session about ten texts."""

    def create(name, ask="membership"):
        X = np.arange(10.0)[:, None]
        items = [f"t{i}" for i in range(10)]
        return sessions.create(
            tmp_path / name, X, n_clusters=2, cluster_names=NAMES, items=items,
            ids=[f"i{i}" for i in range(10)], ask=ask, random_state=0,
        )  # fmt: skip

    return create


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("label-studio", "s.label-studio.json"),
        ("argilla", "s.argilla.json"),
        ("huggingface", "s.huggingface.parquet"),
    ],
)
def test_what_one_session_exports_another_imports(make, askmeans, tmp_path, kind, file):
    with make("s.db") as session:
        for _ in range(4):
            (question,) = session.ask()
            large = question.items[0] >= 5
            session.tell(question.id, float(large == (question.cluster == 1)))
        told = {session.question(receipt.question).items[0] for receipt in session.history()}
    done = askmeans("export", "s.db", "--format", kind, cwd=tmp_path)
    assert file in done.stdout
    make("t.db").close()
    done = askmeans("import", "t.db", file, "--json", cwd=tmp_path)
    labelled = range(10) if kind == "huggingface" else told
    assert json.loads(done.stdout)["new"] == 2 * len(labelled)
    with sessions.open(tmp_path / "t.db") as session:
        found = session.result().memberships.argmax(axis=1)
        assert all(found[row] == (row >= 5) for row in told)
    refused = askmeans("export", "s.db", "--format", kind, cwd=tmp_path, ok=False)
    assert "must not exist yet" in refused.stderr


def test_labels_of_items_that_are_not_here_are_refused(make, askmeans, tmp_path):
    make("s.db").close()
    (tmp_path / "f.json").write_text('[{"item_id": "zz", "group": "large"}]')
    done = askmeans("import", "s.db", "f.json", cwd=tmp_path, ok=False)
    assert "must be about the session's items. Got 'zz'" in done.stderr
