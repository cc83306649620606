"""Answers in a file: about the items they were about, to the letter of their ids."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from askmeans._util.text import as_csv
from askmeans.cli.answer_files import one_per_question, read_answers
from askmeans.exceptions import DataError

IDS = st.lists(
    st.text(st.one_of(st.sampled_from("a '=-\r\n\t,\""), st.characters(exclude_categories=["Cs"]))),
    min_size=2, max_size=4, unique=True,
)  # fmt: skip


def answers_in(path, ids, names):
    """The answers in a file."""
    return [
        (answer.kind, answer.items, answer.value)
        for answer in one_per_question(read_answers(path, ids, names), len(names))
    ]


@given(IDS)
@example(["a", " a"])
@example(["a\nb", "ab"])
@example(["a\rb", "a\nb", "a\r\nb"])
@example(["=a", "'=a", "''=a"])
@example(["-1", "'-1"])
@example(["", " "])
@example(["a\u2028b", "a\x85b"])
def test_every_id_is_read_to_the_letter(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("answers") / "a.csv"
    rows = [["membership", item, "", "1", row / 8] for row, item in enumerate(ids)]
    rows.append(["pair", ids[0], ids[1], "", 0.5])
    path.write_bytes(as_csv(["kind", "item", "item_2", "cluster", "value"], rows).encode())
    expected = [("membership", (row,), row / 8) for row in range(len(ids))]
    assert answers_in(path, ids, ["one", "two"]) == [*expected, ("pair", (0, 1), 0.5)]


def test_an_id_that_differs_by_a_space_is_another_item(tmp_path):
    (tmp_path / "a.csv").write_text('item,cluster,value\n" a",0,0.5\n')
    with pytest.raises(DataError, match=r"an item ' a' in the data.*Spaces and line breaks count"):
        answers_in(tmp_path / "a.csv", ["a", "b"], ["one", "two"])


def test_a_cluster_goes_by_its_name_too_and_an_unknown_one_lists_the_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("item,cluster,value\na,1,0.5\nb,Two,0.25\n")
    assert answers_in(path, ["a", "b"], ["one", "two"]) == [
        ("membership", (0,), 0.5), ("membership", (1,), 0.25),
    ]  # fmt: skip
    assert ",Two," in path.read_text()  # kept as it was
    path.write_text("item,cluster,value\na,three,0.5\n")
    with pytest.raises(DataError, match=r"Got 'three' instead, and no name \(one, two\)"):
        answers_in(path, ["a", "b"], ["one", "two"])


def test_a_row_that_was_cut_off_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("item,cluster,value\na,1,0.5\nb,1")
    with pytest.raises(DataError, match=r"line 3: a row must have a cell for each column"):
        answers_in(tmp_path / "a.csv", ["a", "b"], ["one", "two"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,²,0.5,0", "cluster must be a number from 0 to 1. Got '²'"),
        (f"a,{10**400},0.5,0", "cluster must be a number from 0 to 1"),
        ("a,0,0.5,²", "repeat must be a number from 0. Got '²'"),
        (f"a,0,0.5,{10**400}", "repeat must be a number from 0"),
        (f"a,0,{10**400},0", "an answer must lie in"),
        (f"{'a' * 131_073},0,0.5,0", "must be a CSV file of answers. Got 'field larger than"),
    ],
)
def test_what_no_number_or_field_can_be_is_refused_in_a_sentence(tmp_path, row, message):
    (tmp_path / "a.csv").write_text(f"item,cluster,value,repeat\n{row}\n")
    with pytest.raises(ValueError, match=message):
        answers_in(tmp_path / "a.csv", ["a", "b"], ["one", "two"])


@pytest.mark.parametrize(
    ("name", "taken"),
    [("", True), ("small", True), ("Group A", True), ("cluster_1", True), ("Group B", False),
     ("tiny", False)],
)  # fmt: skip
def test_a_clusters_name_must_agree_where_somebody_gave_it(tmp_path, name, taken):
    (tmp_path / "a.csv").write_text(f"item,cluster,cluster_name,value\na,0,{name},0.5\n")
    arguments = (tmp_path / "a.csv", ["a", "b"], ["small", "Group B"])
    if taken:
        assert len(answers_in(*arguments)) == 1
    else:
        with pytest.raises(DataError, match="cluster 0 must be called"):
            answers_in(*arguments)


def test_of_several_peoples_rows_the_mean_counts(tmp_path):
    (tmp_path / "a.csv").write_text(
        "item,value,annotator\nx,a,ann\nx,b,bob\nx,b,ann\nx,c,cyd\nx,?,dan\ny,none,ann\n"
    )
    with pytest.warns(UserWarning, match="b replaces a"):
        found = answers_in(tmp_path / "a.csv", ["x", "y"], ["a", "b", "c"])
    assert found == [("group", (0,), (0.0, 2 / 3, 1 / 3)), ("group", (1,), (0.0, 0.0, 0.0))]


def test_a_row_from_before_a_group_was_there_says_nothing_of_it(tmp_path):
    (tmp_path / "a.csv").write_text("item,clusters,value\nx,2,none\n")
    ((_, _, row),) = answers_in(tmp_path / "a.csv", ["x", "y"], ["a", "b", "c"])
    assert row[:2] == (0.0, 0.0)
    assert row[2] != row[2]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,,,kale", "one of the groups .*Got 'kale'"),
        ("x,,,0.5", "one of the groups .*Got '0.5'"),
        ("x,,4,a", "must be about 2 clusters. Got 4"),
        ("x,b,,0:1", "the groups must be called 'b', as in the question. Got 'a'"),
        ("x,kale,,0:1", "the groups must be called 'kale'"),
    ],
)
def test_groups_that_cannot_be_meant_are_refused_with_their_line(tmp_path, row, message):
    (tmp_path / "a.csv").write_text(f"item,cluster_name,clusters,value\n{row}\n")
    with pytest.raises(ValueError, match=f"line 2: .*{message}"):
        answers_in(tmp_path / "a.csv", ["x", "y"], ["a", "b"])
