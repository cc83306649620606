"""Sessions over files beyond memory: candidates are asked about, and all rows get memberships."""

from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from numpy.testing import assert_allclose

from askmeans import sessions
from askmeans.tables import large

NAMES = ["cat", "dog", "cow"]


@pytest.fixture(name="big")
def big_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "MOST", 200)
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=3000)
    X = rng.normal(size=(3000, 2)) + np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])[labels]
    words = np.array(NAMES)[labels]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": words})
    frame.to_parquet(tmp_path / "big.parquet", row_group_size=700, index=False)
    (tmp_path / "parts").mkdir()
    for part in range(3):
        rows = frame.iloc[1000 * part : 1000 * (part + 1)]
        rows.to_parquet(tmp_path / "parts" / f"{part}.parquet", row_group_size=400, index=False)
    return tmp_path, labels


def answered(askmeans, folder, labels, *words):
    """A session about candidates, with 12 cards answered; how init was commented."""
    done = askmeans("init", "s.db", *words, "-k", 3, "--features", "a,b", "--names", "cat,dog,cow",
                    cwd=folder)  # fmt: skip
    with closing(sessions.open(folder / "s.db")) as session:
        assert len(session.rows) == 200
        for _ in range(12):
            (card,) = session.ask()
            row = int(session.rows.ids()[card.items[0]])
            assert session.item(card.items[0]).fields["word"] == NAMES[labels[row]]
            session.tell(card.id, int(labels[row]))
    return done.stderr


def memberships(path, labels):
    found = pd.read_parquet(path)
    assert found["id"].tolist() == [str(row) for row in range(3000)]
    U = found[NAMES].to_numpy()
    assert_allclose(U.sum(axis=1), 1.0, atol=1e-6)
    assert (U.argmax(axis=1) == labels).mean() > 0.99
    return U


@pytest.mark.parametrize("data", ["big.parquet", "parts"])
def test_candidates_are_asked_about_and_every_row_gets_memberships(askmeans, big, data):
    folder, labels = big
    said = answered(askmeans, folder, labels, data)
    assert "200 of 3,000 rows are candidates" in said
    done = askmeans("predict", "s.db", data, "--out", "all.parquet", cwd=folder)
    assert "3,000 items, 3 groups" in done.stdout
    U = memberships(folder / "all.parquet", labels)
    with closing(sessions.open(folder / "s.db")) as session:  # answers stand as they are
        result = session.result()
        own = [int(name) for name in result.ids]
    assert_allclose(U[own], result.memberships, atol=1e-6)


def test_a_cluster_reads_and_writes_what_only_it_holds(askmeans, big):
    folder, labels = big
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        words = ("--engine", "dask", "--scheduler", cluster.scheduler_address)
        answered(askmeans, folder, labels, "parts", *words)
        askmeans("predict", "s.db", "parts", *words, "--out", "far", cwd=folder)
    askmeans("predict", "s.db", "parts", "--out", "near.parquet", cwd=folder)
    far = memberships(folder / "far", labels)
    assert_allclose(far, memberships(folder / "near.parquet", labels), atol=1e-9)
    assert len(list((folder / "far").iterdir())) == 3  # a file a part, nothing half done


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("all.csv", pd.read_csv),
        ("ALL.CSV", pd.read_csv),
        ("all", pd.read_csv),
        ("all.parquet", pd.read_parquet),
        ("all.pq", pd.read_parquet),
        ("all.xlsx", pd.read_excel),
    ],
)
@pytest.mark.parametrize("data", ["big.parquet", "big.csv"])
def test_the_suffix_decides_the_format(askmeans, big, name, read, data):
    folder, labels = big
    answered(askmeans, folder, labels, "big.parquet")
    pd.read_parquet(folder / "big.parquet").to_csv(folder / "big.csv", index=False)
    askmeans("predict", "s.db", data, "--out", name, cwd=folder)
    found = read(folder / name)
    assert found.columns.tolist() == ["id", *NAMES]
    assert found["id"].astype(int).tolist() == list(range(3000))  # one table of all parts
    assert (found[NAMES].to_numpy().argmax(axis=1) == labels).mean() > 0.99


def test_a_sheet_of_excel_computes_nothing(askmeans, big):
    folder, labels = big
    answered(askmeans, folder, labels, "big.parquet")
    rows = pd.DataFrame({"row": ["=1+1"], "a": [0.0], "b": [0.0], "word": ["?"]})
    rows.to_csv(folder / "new.csv", index=False)
    askmeans("predict", "s.db", "new.csv", "--out", "p.xlsx", cwd=folder)
    assert pd.read_excel(folder / "p.xlsx")["id"].tolist() == ["=1+1"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("big.csv", "--out", "p.dat"), "--out must end in .csv, .parquet or .xlsx"),
        (("parts", "--engine", "dask", "--out", "p.csv"), "--out must name a folder"),
    ],
)
def test_a_suffix_that_names_no_format_is_refused_before_anything_is_done(
    askmeans, big, words, why
):
    folder, _ = big
    refused = askmeans("predict", "none.db", *words, cwd=folder, ok=False)
    assert refused.returncode == 1
    assert why in refused.stderr
    assert words[-1] in refused.stderr
    assert not (folder / words[-1]).exists()


def test_a_refused_call_leaves_no_folder(askmeans, big):
    folder, _ = big
    words = ("none.db", "big.parquet", "--engine", "dask", "--out", "new/deep/all")
    assert askmeans("predict", *words, cwd=folder, ok=False).returncode == 1
    assert not (folder / "new").exists()


def test_the_strongest_groups_alone_and_rows_of_another_file(askmeans, big):
    folder, labels = big
    answered(askmeans, folder, labels, "big.parquet")
    pd.DataFrame({"a": [0.0, 12.0], "b": [0.0, 0.0], "word": ["?", "?"]}).to_csv(
        folder / "new.csv", index=False
    )
    askmeans("predict", "s.db", "new.csv", "--top", 1, cwd=folder)
    found = pd.read_csv(folder / "new.memberships.csv")
    assert found.columns.tolist() == ["id", "group_1", "membership_1"]
    assert found["group_1"].tolist() == ["cat", "dog"]
    again = askmeans("predict", "s.db", "new.csv", cwd=folder, ok=False)
    assert again.returncode == 1
    assert "must not exist yet" in again.stderr


def test_a_column_that_numbers_would_hide_is_named(askmeans, big):
    folder, _ = big
    frame = pd.read_parquet(folder / "big.parquet")
    frame.assign(row=range(3000, 6000)).to_parquet(folder / "rows.parquet")
    refused = askmeans("init", "r.db", "rows.parquet", "-k", 3, cwd=folder, ok=False)
    assert "--id row" in refused.stderr
    askmeans("init", "r.db", "rows.parquet", "-k", 3, "--id", "row", cwd=folder)
    with closing(sessions.open(folder / "r.db")) as session:
        assert 3000 <= int(session.rows.ids()[0]) < 6000


def test_few_rows_in_a_folder_are_all_candidates(askmeans, big, monkeypatch):
    folder, _ = big
    monkeypatch.setattr(large, "MOST", 5000)
    assert "candidates" not in askmeans("init", "f.db", "parts", "-k", 3, cwd=folder).stderr
    with closing(sessions.open(folder / "f.db")) as session:
        assert session.rows.ids() == [str(row) for row in range(3000)]


def test_another_column_may_name_the_rows_of_candidates_that_were_numbered(askmeans, big):
    folder, labels = big
    answered(askmeans, folder, labels, "big.parquet")
    names = [f"r{row}" for row in range(3000)]
    pd.read_parquet(folder / "big.parquet").assign(name=names).to_parquet(folder / "n.parquet")
    askmeans("predict", "s.db", "n.parquet", "--id", "name", "--out", "n.csv", cwd=folder)
    askmeans("predict", "s.db", "big.parquet", "--out", "all.csv", cwd=folder)
    named, numbered = pd.read_csv(folder / "n.csv"), pd.read_csv(folder / "all.csv")
    assert named["id"].tolist() == names
    assert_allclose(named[NAMES], numbered[NAMES], atol=1e-9)  # answered rows are found, too


def test_rows_of_other_data_do_not_get_the_answers_to_rows_of_the_same_number(askmeans, tmp_path):
    frame = pd.DataFrame({"a": [0.0, 0.1, 9.0, 9.1]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    askmeans("init", "s.db", "d.csv", "-k", 2, "--names", "low,high", cwd=tmp_path)
    with closing(sessions.open(tmp_path / "s.db")) as session:
        for question in session.ask(4):
            session.tell(question.id, int(question.items[0] >= 2))
    frame[::-1].to_csv(tmp_path / "new.csv", index=False)
    askmeans("predict", "s.db", "new.csv", cwd=tmp_path)
    found = pd.read_csv(tmp_path / "new.memberships.csv")
    assert (found["high"] > 0.5).tolist() == [True, True, False, False]
