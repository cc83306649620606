"""Exports: ids to the letter, harmless in a spreadsheet, and read back as they were."""

import csv

import numpy as np
import pandas as pd
import pytest

from askmeans import TwoPhase, sessions

IDS = ["a", " a", "a ", "a\nb", "a\r\nb", "ab", "a\rb", "=1+1", "'=1+1", "-2", "'-2", 'x,"y"']


@pytest.fixture
def make(tmp_path):
    """Make a session about these items."""

    def create(name, **options):
        given = {"n_clusters": 2, "ids": IDS, "cluster_names": ["=small", "large"]} | options
        X = np.arange(len(IDS), dtype=float)[:, None] ** 2
        return sessions.create(
            tmp_path / name, X, strategy=TwoPhase(sample_size=len(IDS)), random_state=0, **given
        )

    return create


def answered(session):
    """Values by row and cluster."""
    told = [(session.question(receipt.question), receipt.value) for receipt in session.history()]
    return {(question.items, question.cluster): value for question, value in told}


def test_answers_come_back_to_the_items_they_were_about(make, askmeans, tmp_path):
    with make("s.db") as session:
        while questions := session.ask():
            row = questions[0].items[0]
            session.tell(questions[0].id, (row + 1) / 16 if questions[0].cluster else 0.0)
        before = answered(session)
    askmeans("export", "s.db", cwd=tmp_path)
    with make("t.db") as session:
        askmeans("import", "t.db", "s.answers.csv", cwd=tmp_path)
        assert answered(session) == before
    assert {items[0] for items, _ in before} == set(range(len(IDS)))


def test_no_cell_of_an_export_is_a_formula_and_numbers_stay_numbers(make, askmeans, tmp_path):
    make("s.db", feature_names=["@f"]).close()
    askmeans("export", "s.db", cwd=tmp_path)
    for table in ("memberships", "centers"):
        with (tmp_path / f"s.{table}.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert cells
        assert not [cell for cell in cells if cell[:1] in "=+@\t\r" and cell]
    memberships = pd.read_csv(tmp_path / "s.memberships.csv", keep_default_na=False)
    assert list(memberships.columns) == ["id", "'=small", "large"]
    assert {"'=1+1", "''=1+1", "-2", "''-2"} <= set(memberships["id"])
    assert memberships["large"].dtype == float
    assert pd.read_csv(tmp_path / "s.centers.csv").columns[1] == "'@f"


def test_exported_answers_have_the_groups_name_and_are_taken_in_anywhere(make, askmeans, tmp_path):
    with make("s.db", cluster_names=None) as session:
        (question,) = session.ask()
        session.tell(question.id, 1.0)
        name = session.cluster_names[question.cluster]
    askmeans("export", "s.db", cwd=tmp_path)
    with (tmp_path / "s.answers.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["cluster_name"] == name
    make("t.db").close()  # its groups have names that somebody gave
    done = askmeans("import", "t.db", "s.answers.csv", cwd=tmp_path)
    assert "1 answers taken in" in done.stdout


def test_memberships_below_a_millionth_are_written_as_zero(askmeans, tmp_path):
    X = np.array([0.0, 1.0, 2.0, 1e6 - 1, 1e6, 1e6 + 1])[:, None]
    session = sessions.create(
        tmp_path / "s.db", X, n_clusters=2, strategy=TwoPhase(sample_size=3), random_state=0
    )
    with session:
        found = session.result().memberships
    askmeans("export", "s.db", cwd=tmp_path)
    written = pd.read_csv(tmp_path / "s.memberships.csv").iloc[:, 1:].to_numpy()
    assert ((found > 0.0) & (found < 1e-6)).any()
    np.testing.assert_array_equal(written, np.where(found < 1e-6, 0.0, found))
