"""The matrix at rest: exact, fingerprinted, refused when it is another."""

import os
import sqlite3

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from askmeans import sessions
from askmeans.datasets import make_messages
from askmeans.exceptions import DataError, OtherDataError, ParameterError
from askmeans.sessions import rows as data
from askmeans.tables import read_items


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", ">f8"])
def test_numbers_come_back_as_they_were(make, again, dtype):
    X = (1000 * np.random.default_rng(0).normal(size=(30, 4))).astype(dtype)
    session = make(X=X)
    back = again(session).rows.base
    assert_array_equal(back, X)
    assert back.dtype == (np.float32 if dtype == "float32" else np.float64)


def test_large_matrices_come_back_from_several_chunks(make, again, monkeypatch):
    monkeypatch.setattr(data, "CHUNK", 1000)
    X = np.random.default_rng(0).normal(size=(300, 3))
    session = make(X=X)
    assert len(list(session.runtime.store.chunks(1, 0))) > 5
    assert_array_equal(again(session).rows.base, X)


def test_a_fingerprint_tells_numbers_type_and_shape_apart():
    X = np.arange(6.0).reshape(3, 2)
    assert data.fingerprint(X) == data.fingerprint(np.asfortranarray(X))
    others = [X + 1e-15, X.reshape(2, 3), X.astype(np.float32), X[::-1]]
    assert len({data.fingerprint(each) for each in [X, *others]}) == 5


def test_a_session_of_other_data_is_refused(make, again, kit):
    session = make()
    assert again(session, X=kit.X).name == "main"
    for other in (kit.X + 1e-12, kit.X[:-1]):
        with pytest.raises(OtherDataError, match="must be about the data given"):
            again(session, X=other)


def test_damaged_numbers_are_refused(make, again):
    session = make()
    with sqlite3.connect(session.url) as connection:
        connection.execute("UPDATE askmeans_chunks SET bytes = zeroblob(length(bytes))")
    connection.close()
    with pytest.raises(OtherDataError, match="the numbers the session was made with"):
        again(session)


def test_a_large_file_is_referred_to_by_path_and_checksum(make, again, folder, monkeypatch, kit):
    path = folder / "X.npy"
    np.save(path, kit.X)
    small = make("small.db", X=path)  # a small one is copied
    monkeypatch.setattr(data, "LARGE", 100)
    large = make("large.db", X=str(path))
    mapped = make("mapped.db", X=np.load(path, mmap_mode="r"))
    path_kept = [s.runtime.store.parts(1)[0].path for s in (small, large, mapped)]
    assert path_kept == [None, str(path), str(path)]
    assert list(large.runtime.store.chunks(1, 0)) == []
    assert_array_equal(again(large).rows.base, kit.X)
    np.save(path, kit.X + 1.0)
    with pytest.raises(OtherDataError, match=r"X\.npy must hold the numbers"):
        again(large)
    path.unlink()
    with pytest.raises(OtherDataError, match="put the file back"):
        again(large)
    with pytest.raises(DataError, match=r"must be a \.npy file when it is larger"):
        make("memory.db", X=kit.X)


def truncated(path):
    path.open("r+").truncate(0)


def changed_in_place(path):
    np.load(path, mmap_mode="r+")[:] = 7.0


@pytest.mark.parametrize("harm", [truncated, changed_in_place])
def test_a_large_file_harmed_under_a_session_changes_nothing_there_and_is_noticed(
    harm, make, again, folder, monkeypatch, kit
):
    monkeypatch.setattr(data, "LARGE", 100)
    path = folder / "X.npy"
    np.save(path, kit.X)
    session = make(X=path)
    fields = session.item(3).fields
    child = os.fork()  # so that a process killed by a file it maps is not this one
    if child == 0:
        status = 1
        try:
            harm(path)
            same = np.array_equal(session.rows.base, kit.X) and session.item(3).fields == fields
            status = 0 if same and session.result().n_queries == 0 else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(OtherDataError, match=r"X\.npy must .* put"):
        again(session)


def test_a_part_of_a_mapped_file_is_not_taken_for_the_whole(make, again, folder, monkeypatch, kit):
    path = folder / "X.npy"
    np.save(path, kit.X)
    mapped = np.load(path, mmap_mode="r")
    turned = make(X=mapped[::-1])
    assert_array_equal(again(turned).rows.base, kit.X[::-1])
    monkeypatch.setattr(data, "LARGE", 100)
    with pytest.raises(DataError, match=r"must be a \.npy file when it is larger"):
        make("large.db", X=mapped[::-1])


def test_a_file_larger_than_what_is_copied_leaves_no_copy_behind(make, folder, monkeypatch, kit):
    monkeypatch.setattr(data, "LARGE", 100)
    path = folder / "X.npy"
    np.save(path, np.asfortranarray(kit.X))
    session = make(X=path)
    assert_array_equal(session.rows.base, kit.X)
    assert {file.name for file in folder.glob("[!s]*")} == {"X.npy"}


@pytest.mark.parametrize(
    "X", [[["a"]], [[np.nan], [1.0]], np.empty((0, 2)), [1.0, 2.0], "nowhere.npy"]
)
def test_data_that_cannot_be_used_is_refused_and_makes_no_session(folder, X):
    with pytest.raises(DataError):
        sessions.create(folder / "s.db", X, n_clusters=1)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of sessions.create"),
        ({"n_clusters": 5}, "n_clusters' parameter of sessions.create must be at most"),
        ({"ask": "nicely"}, "'ask' parameter"),
        ({"budget": 0}, "'budget' parameter"),
        ({"annotations": 0}, "'annotations' parameter"),
        ({"lease_seconds": 0}, "'lease_seconds' parameter"),
        ({"fuzzifier": 0.5}, "'fuzzifier' parameter"),
        ({"strategy": "guess"}, "'strategy' parameter"),
        ({"strategy": "two-clusters"}, "'strategy' parameter of sessions.create"),
        ({"random_state": "dice"}, "'random_state' parameter"),
        ({"cluster_names": ["a", "a", "b"]}, "'cluster_names' parameter"),
        ({"cluster_names": ["a"]}, "'cluster_names' parameter"),
        ({"name": " "}, "'name' parameter"),
        ({"name": "a/b"}, "'name' parameter .* without slashes"),
        ({"descriptions": ["one"]}, "'descriptions' parameter"),
        ({"descriptions": ["x" * 201, "", ""]}, "at most 200 characters"),
        ({"descriptions": [""] * 3, "ask": "pairwise"}, "'descriptions' parameter"),
    ],
)
def test_a_parameter_that_breaks_its_rule_makes_no_session(folder, options, message):
    X = [[0.0], [1.0], [2.0], [3.0]]
    with pytest.raises(ParameterError, match=message):
        sessions.create(folder / "s.db", X, **({"n_clusters": 3} | options))
    assert list(folder.iterdir()) == []


def test_a_strategy_of_ones_own_is_refused_for_it_cannot_be_made_again(folder):
    class Mine:
        def plan(self, *_args, **_options):
            yield

    with pytest.raises(ParameterError, match="default strategy only"):
        sessions.create(folder / "s.db", [[0.0], [1.0]], n_clusters=2, strategy=Mine())


def test_a_frame_is_both_numbers_and_what_people_see(make):
    frame = pd.DataFrame({"a": [0.0, 1.0, 5.0], "b": [1, 2, 3]}, index=["x", "y", "z"])
    session = make(X=frame, n_clusters=2)
    item = session.item(1)
    assert (item.id, item.label, item.fields) == ("y", "y", {"a": 1.0, "b": 2})


@pytest.mark.parametrize("ask", ["group", "membership", "relative", "pairwise"])
def test_a_text_that_says_nothing_is_never_among_the_first_questions(tmp_path, ask):
    texts = list(make_messages(40).texts)
    texts[3:20:4] = ["", "-", " ", "1111", "???"]
    items = read_items({"message": texts})
    assert items.blank == [3, 7, 11, 15, 19]
    with sessions.create(
        tmp_path / "s.db", items, n_clusters=3, ask=ask, random_state=0
    ) as session:
        assert session.rows.blank == items.blank
        for _ in range(12):
            (question,) = session.ask()
            assert not set(question.items) & set(items.blank)
            session.tell(question.id, question.items[0] % 3 if ask == "group" else 0.5)


def test_a_note_that_is_no_feature_may_be_empty(tmp_path):
    frame = {"size": [1.0, 2.0, 8.0, 9.0, 3.0, 7.0], "note": ["", "", "", "", "", "a b"]}
    items = read_items(frame, text="note", features=["size"])
    with sessions.create(tmp_path / "s.db", items, n_clusters=2, random_state=0) as session:
        assert session.ask(6)
        assert session.rows.blank == []


def test_groups_are_described_from_the_start(folder):
    lines = ["Fits into a hand.", ""]
    with sessions.create(folder / "s.db", [[1.0], [2.0], [9.0]], n_clusters=2, descriptions=lines):
        pass
    with sessions.open(folder / "s.db") as session:
        assert [group.description for group in session.groups] == lines
