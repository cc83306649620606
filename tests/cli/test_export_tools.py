"""`askmeans export` and `import` with other tools' formats: a round by another session."""

import json

import numpy as np
import pytest

from askmeans import sessions
from askmeans.queries import Answer

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
@pytest.mark.parametrize("ask", ["membership", "group"])
def test_what_one_session_exports_another_imports(make, askmeans, tmp_path, kind, file, ask):
    with make("s.db", ask) as session:
        for _ in range(4):
            (question,) = session.ask()
            large = question.items[0] >= 5
            value = NAMES[large] if ask == "group" else float(large == (question.cluster == 1))
            session.tell(question.id, value)
        told = {
            session.question(receipt.question).items[0] for receipt in session.history.answers()
        }
    done = askmeans("export", "s.db", "--format", kind, cwd=tmp_path)
    assert file in done.stdout
    make("t.db", ask).close()
    done = askmeans("import", "t.db", file, "--json", cwd=tmp_path)
    labelled = range(10) if kind == "huggingface" else told
    each = 1 if ask == "group" else len(NAMES)
    assert json.loads(done.stdout)["new"] == each * len(labelled)
    with sessions.open(tmp_path / "t.db") as session:
        found = session.result().memberships.argmax(axis=1)
        assert all(found[row] == (row >= 5) for row in told)
    refused = askmeans("export", "s.db", "--format", kind, cwd=tmp_path, ok=False)
    assert "must not exist yet" in refused.stderr


def test_labels_of_items_that_are_not_here_are_refused(make, askmeans, tmp_path):
    make("s.db").close()
    (tmp_path / "f.json").write_text('[{"item_id": "zz", "group": "large"}]')
    done = askmeans("import", "s.db", "f.json", cwd=tmp_path, ok=False)
    assert "must be about items of the session. Got 'zz'" in done.stderr


@pytest.mark.parametrize("kind", ["label-studio", "argilla"])
def test_answers_of_several_people_go_out_and_come_back_with_their_names(
    make, askmeans, tmp_path, kind
):
    with make("s.db", "group") as session:
        opinions = {"Ada": (1.0, 0.0), "Bo": (0.0, 1.0)}
        session.import_answers(
            Answer(round=0, kind="group", items=(3,), cluster=None, repeat=0, value=value,
                   annotator=who)
            for who, value in opinions.items()
        )  # fmt: skip
    askmeans("export", "s.db", "--format", kind, cwd=tmp_path)
    done = askmeans("import", "s.db", f"s.{kind}.json", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["new"] == 0
    if kind == "label-studio":  # Argilla has ids of its own for people
        make("t.db", "group").close()
        askmeans("import", "t.db", f"s.{kind}.json", cwd=tmp_path)
        with sessions.open(tmp_path / "t.db") as session:
            assert {a.annotator: a.value for a in session.history.answers()} == opinions
