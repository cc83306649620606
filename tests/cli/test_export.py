"""Exports: ids to the letter, harmless in a spreadsheet, and read back as they were."""

import csv
import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from askmeans import sessions
from askmeans._util.text import is_clean
from askmeans.cli.answer_files import session_answers
from askmeans.exceptions import AnswerError
from askmeans.sessions.tables import answers_table

IDS = ["a", " a", "a ", "a\nb", "a\r\nb", "ab", "a\rb", "=1+1", "'=1+1", "-2", "'-2", 'x,"y"']


@pytest.fixture
def make(tmp_path):
    """Make a session about these items."""

    def create(name, feature="x", **options):
        given = {"n_clusters": 2, "ids": IDS, "cluster_names": ["=small", "large"]} | options
        X = pd.DataFrame({feature: np.arange(len(IDS), dtype=float) ** 2})
        return sessions.create(tmp_path / name, X, ask="membership", random_state=0, **given)

    return create


def answered(session):
    """Values by row and cluster."""
    told = [
        (session.question(receipt.question), receipt.value) for receipt in session.history.answers()
    ]
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
    make("s.db", feature="@f").close()
    askmeans("export", "s.db", cwd=tmp_path)
    for table in ("memberships", "centers"):
        with (tmp_path / f"s.{table}.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert cells
        assert not [cell for cell in cells if cell[:1] in "=+@\t\r" and cell]
    memberships = pd.read_csv(tmp_path / "s.memberships.csv", keep_default_na=False)
    assert list(memberships.columns) == [
        "'@f", "id", "group", "share", "confidence", "decided_by", "'=small", "large",
    ]  # fmt: skip
    assert {"'=1+1", "''=1+1", "-2", "''-2"} <= set(memberships["id"])
    assert memberships["large"].dtype == float
    assert pd.read_csv(tmp_path / "s.centers.csv").columns[1] == "'@f"


def test_exported_answers_have_the_groups_name_and_are_taken_in_anywhere(make, askmeans, tmp_path):
    with make("s.db", cluster_names=None) as session:
        (question,) = session.ask()
        session.tell(question.id, 1.0)
        name = session.groups.names[question.cluster]
    askmeans("export", "s.db", cwd=tmp_path)
    with (tmp_path / "s.answers.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["cluster_name"] == name
    make("t.db").close()  # its groups have names that somebody gave
    done = askmeans("import", "t.db", "s.answers.csv", cwd=tmp_path)
    assert "1 answers imported" in done.stdout


def test_memberships_below_a_millionth_are_written_as_zero(askmeans, tmp_path):
    X = np.array([0.0, 1.0, 2.0, 1e6 - 1, 1e6, 1e6 + 1])[:, None]
    session = sessions.create(tmp_path / "s.db", X, n_clusters=2, ask="membership", random_state=0)
    with session:
        found = session.result().memberships
    askmeans("export", "s.db", cwd=tmp_path)
    written = pd.read_csv(tmp_path / "s.memberships.csv").iloc[:, -2:].to_numpy()
    assert ((found > 0.0) & (found < 1e-6)).any()
    np.testing.assert_array_equal(written, np.where(found < 1e-6, 0.0, found))


WORDS = ["none", "None", "?", "1", "2", "3", "0:1", "a:1,b", '"none"', "Group B", "skip",
         "cluster_1", "=1+1", "'a", "a;b", "33%"]  # fmt: skip
NAME = st.one_of(st.sampled_from(WORDS), st.text(min_size=1, max_size=5)).map(
    lambda text: unicodedata.normalize("NFC", text).strip()
)
NAMES = st.lists(NAME.filter(lambda name: name and is_clean(name) and name != "id"),
                 min_size=2, max_size=4, unique=True)  # fmt: skip
ID = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SHARES = st.lists(st.integers(0, 7) | st.floats(0.0, 1.0), min_size=4, max_size=4)


@settings(max_examples=40, deadline=None)
@given(ask=st.sampled_from(["group", "membership"]), names=NAMES,
       ids=st.lists(ID, min_size=5, max_size=5, unique=True),
       told=st.lists(SHARES | st.none() | st.just(()), min_size=5, max_size=5))  # fmt: skip
@example(ask="group", names=["none", "some"], ids=list("abcde"),
         told=[[1, 0, 0, 0], (), [3, 1, 0, 0], None, [0, 1, 0, 0]])  # fmt: skip
@example(ask="group", names=["1", "2", "3"], ids=["1", "2", "3", " 1", "none"],
         told=[[1, 0, 0, 0], (), [3, 1, 1, 0], [0, 0, 1, 0], [0, 1, 0, 0]])  # fmt: skip
def test_an_export_taken_into_a_fresh_session_is_the_same_answers(
    tmp_path_factory, ask, names, ids, told
):
    folder = tmp_path_factory.mktemp("round")
    X = np.arange(5.0)[:, None]
    options = {"n_clusters": len(names), "cluster_names": names, "ids": ids, "ask": ask}
    with sessions.create(folder / "s.db", X, random_state=0, **options) as session:
        for row, shares in enumerate(told):
            cluster = None if ask == "group" else row % len(names)
            question = session.add_question(ask, (row,), cluster)
            if shares is None:
                session.unsure(question.id)
            elif ask == "membership":
                session.tell(question.id, min(1.0, shares[0] / 7) if shares else 0.0)
            else:
                some = list(shares[: len(names)])
                total = sum(some)
                session.tell(question.id, [share / total for share in some] if total > 1 else some)
        before = answered(session)
        (folder / "a.csv").write_bytes(answers_table(session).to_csv().encode())
    with sessions.create(folder / "t.db", X, random_state=0, **options) as session:
        session.import_answers(session_answers(session, folder / "a.csv"))
        assert answered(session) == before
        assert session.import_answers(session_answers(session, folder / "a.csv")).new == 0


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ("none", (0.0, 0.0, 0.0)),
        ('"none"', (1.0, 0.0, 0.0)),
        ("1", (0.0, 0.0, 1.0)),  # the name
        ('"1":0.75,"2":0.25', (0.0, 0.25, 0.75)),
        ("1:0.75,2:0.25", None),  # names, or numbers?
        ("0:0.75,1:0.25", None),
        ("0:1", (1.0, 0.0, 0.0)),  # no name
    ],
)
def test_a_file_of_ones_own_names_groups_without_doubt(tmp_path, value, row):
    (tmp_path / "a.csv").write_text(f'item,value\na,"{value.replace(chr(34), chr(34) * 2)}"\n')
    names = ["none", "2", "1"]
    with sessions.create(tmp_path / "s.db", [[0.0], [1.0], [2.0]], n_clusters=3, ids=list("abc"),
                         cluster_names=names, random_state=0) as session:  # fmt: skip
        if row is None:
            with pytest.raises(AnswerError, match=r"line 2: .* Write names in quotes"):
                session_answers(session, tmp_path / "a.csv")
        else:
            session.import_answers(session_answers(session, tmp_path / "a.csv"))
            assert [receipt.value for receipt in session.history.answers()] == [row]


TWO = ["small", "large"]


@pytest.fixture
def groups(tmp_path):
    """A session of the default strategy that asks for groups."""
    X = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10), np.linspace(40, 41, 6)][:, None]
    ids = [f"item {row}" for row in range(len(X))]
    with sessions.create(
        tmp_path / "s.db", X, n_clusters=2, ids=ids, cluster_names=TWO, random_state=0
    ) as session:
        yield session


def put(session, row, value, annotator="me"):
    question = session.add_question("group", (row,), None)
    session.tell(question.id, value, annotator=annotator)


def written(askmeans, tmp_path):
    done = askmeans("export", "s.db", "--force", cwd=tmp_path)
    return done.stdout, pd.read_csv(tmp_path / "s.memberships.csv").set_index("id")


def test_an_export_says_the_group_how_sure_it_is_and_who_decided(groups, askmeans, tmp_path):
    for row, group, who in ((0, 0, "Ada"), (3, 0, "Bo"), (12, 1, "Ada"), (18, 1, "Bo")):
        put(groups, row, group, who)
    out, table = written(askmeans, tmp_path)
    assert list(table.columns) == ["x0", "group", "share", "confidence", "decided_by", *TWO]
    assert table["decided_by"]["item 0"] == "Ada"
    assert table["decided_by"]["item 1"] == "guess"
    assert table["confidence"]["item 18"] == 1.0
    assert table["confidence"]["item 1"] < 1.0
    assert table["group"]["item 12"] == "large"
    assert (table["share"] == table[TWO].max(axis=1)).all()
    assert " of 26 " in out
    assert "in the wrong group" in out


def test_a_control_character_is_spelt_out_in_a_workbook(make, askmeans, tmp_path):
    make("s.db", ids=["a\x07b", *IDS[1:]]).close()
    askmeans("export", "s.db", "--format", "xlsx", cwd=tmp_path)
    assert pd.read_excel(tmp_path / "s.memberships.xlsx")["id"][0] == r"a\x07b"


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_export_begins_with_the_columns_of_the_data_the_hidden_ones_too(
    kind, askmeans, tmp_path
):
    data = pd.DataFrame({"code": [f"c{row}" for row in range(8)],
                         "message": [f"a red bike number {row}" for row in range(8)],
                         "topic": ["x", "y"] * 4})  # fmt: skip
    data.to_csv(tmp_path / "d.csv", index=False)
    askmeans("init", "s.db", "d.csv", "-k", 2, "--names", "a,b", "--id", "code", cwd=tmp_path)
    askmeans("export", "s.db", "--format", kind, cwd=tmp_path)
    read = pd.read_csv if kind == "csv" else pd.read_excel
    table = read(tmp_path / f"s.memberships.{kind}")
    pd.testing.assert_frame_equal(table[list(data.columns)], data)
    assert list(table.columns[3:]) == ["id", "group", "share", "confidence", "decided_by", "a", "b"]


def test_items_of_no_group_are_exported_as_none_of_these(groups, askmeans, tmp_path):
    for row, value in ((0, 0), (5, 0), (12, 1), (18, 1), (20, ()), (22, ()), (25, ())):
        put(groups, row, value)
    _, table = written(askmeans, tmp_path)
    assert list(table.columns[:6]) == [
        "x0", "group", "share", "confidence", "unassigned", "decided_by",
    ]  # fmt: skip
    assert (table["group"][[f"item {row}" for row in range(20, 26)]] == "none of these").all()
    assert table["unassigned"]["item 20"] == table["share"]["item 20"] == 1.0
    assert (table["group"][:10] == "small").all()
    np.testing.assert_allclose(table[["unassigned", *TWO]].sum(axis=1), 1.0)


def test_a_group_may_be_called_like_a_column(groups, askmeans, tmp_path):
    groups.groups.rename(0, "share")
    put(groups, 0, 0)
    put(groups, 12, 1)
    _, table = written(askmeans, tmp_path)
    assert list(table.columns[1:3]) == ["group", "share_"]
    assert table["share"]["item 0"] == 1.0
