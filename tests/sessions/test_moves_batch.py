"""Many items put into a group at once: all or none, and taken back together."""

import numpy as np
import pytest

from askmeans import sessions
from askmeans.exceptions import AskmeansError


@pytest.fixture
def session(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    with sessions.create(
        tmp_path / "s.db", X, n_clusters=2, cluster_names=["a", "b"], random_state=0
    ) as made:
        yield made


def values(session, annotator="ann"):
    return {
        session.question(reply.question).items[0]: reply.value
        for reply in session.history.answers(annotator=annotator)
    }


def test_a_move_replaces_answers_and_its_undo_brings_them_back(session):
    session.groups.move([3], "a", annotator="ann")
    assert session.groups.move([3, 4, 5, 4], "b", annotator="ann", key="k") == 3
    assert values(session) == {3: (0.0, 1.0), 4: (0.0, 1.0), 5: (0.0, 1.0)}
    assert session.groups.move([3, 4, 5], "b", annotator="ann", key="k") == 3  # sent again
    assert session.groups.undo_move("k", annotator="ann") == 3
    assert values(session) == {3: (1.0, 0.0)}
    assert session.groups.undo_move("k", annotator="ann") == 0


def test_an_answer_changed_since_stays_when_the_move_is_taken_back(session):
    session.groups.move([1, 2], "a", annotator="ann", key="k")
    session.groups.move([2], "b", annotator="ann")
    assert session.groups.undo_move("k", annotator="ann") == 1
    assert values(session) == {2: (0.0, 1.0)}


@pytest.mark.parametrize(("rows", "group"), [([1, 30], "a"), ([1], "c"), ([-1], "a")])
def test_a_refused_move_changes_nothing(session, rows, group):
    with pytest.raises(AskmeansError):
        session.groups.move(rows, group, annotator="ann")
    assert session.history.audit() == []


def test_none_of_these_and_other_annotators_are_kept_apart(session):
    session.groups.move([1], None, annotator="ann", key="k")
    session.groups.move([1], "a", annotator="bob", key="k")
    assert session.groups.undo_move("k", annotator="bob") == 1
    assert values(session) == {1: (0.0, 0.0)}
    assert values(session, "bob") == {}
