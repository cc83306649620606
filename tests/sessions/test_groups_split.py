"""A part of a group becomes a group of its own, and goes back."""

import pytest

from askmeans import sessions
from askmeans.exceptions import ParameterError, SessionError
from askmeans.sessions.store.sql import Store

X = [[1.0], [2.0], [8.0], [9.0], [1.5], [8.5]]


@pytest.fixture
def session(tmp_path):
    with sessions.create(
        tmp_path / "pets.db", X, n_clusters=2, cluster_names=["cats", "dogs"], random_state=0
    ) as made:
        yield made


def answer(session, rows, value, annotator="ann"):
    for row in rows:
        question = session.add_question("group", (row,), annotator=annotator)
        session.tell(question.id, value, annotator=annotator)


def said(session):
    """What stands, by who said it about which item."""
    return {
        (receipt.annotator, *session.question(receipt.question).items): receipt.value
        for receipt in session.history.answers()
    }


def test_taking_back_a_split_puts_every_answer_back_as_it_was(session):
    answer(session, (0, 1), "cats")
    answer(session, (4,), {"cats": 0.7, "dogs": 0.3})
    answer(session, (2,), "dogs")
    answer(session, (0,), "cats", "bob")
    before = said(session)
    number = session.groups.split("cats", [0, 4], "kittens", annotator="ann")
    moved = said(session)
    assert moved["ann", 0] == moved["ann", 4] == (0.0, 0.0, 1.0)
    assert {key: moved[key] for key in moved if key not in (("ann", 0), ("ann", 4))} == {
        key: before[key] for key in before if key not in (("ann", 0), ("ann", 4))
    }
    (event,) = (
        change.event
        for change in session.history.changes()
        if session.history.describe(change) == "added kittens"
    )
    session.history.take_back(event, annotator="olga")
    with sessions.open(session.url) as again:
        assert said(again) == said(session) == before
        assert again.groups.names == ["cats", "dogs"]
        assert again.groups.find(number) is None
    assert session.result().memberships.shape == (6, 2)


def test_what_somebody_changed_since_a_split_is_left_alone(session):
    answer(session, (0, 1), "cats")
    session.groups.split("cats", [0, 1], "kittens", annotator="ann")
    question = session.add_question("group", (1,), annotator="ann")
    session.change(question.id, "dogs", annotator="ann")
    session.history.take_back(session.history.changes()[-1].event)
    assert said(session) == {("ann", 0): (1.0, 0.0), ("ann", 1): (0.0, 1.0, 0.0)}


def test_a_split_and_its_reversal_are_one_write_each(session, monkeypatch):
    answer(session, (0, 1), "cats")
    writes, write = [], Store.write

    def watched(self, *arguments, **options):
        writes.append(arguments)
        return write(self, *arguments, **options)

    monkeypatch.setattr(Store, "write", watched)
    session.groups.split("cats", [0, 1, 0], "kittens", annotator="ann")
    assert len(writes) == 1
    session.history.take_back(session.history.changes()[-1].event)
    assert len(writes) == 2
    assert said(session) == {("ann", 0): (1.0, 0.0), ("ann", 1): (1.0, 0.0)}


@pytest.mark.parametrize("rows", [[], [0, 3], [0, 99], [-1]])
def test_only_what_one_answered_is_split_off_and_a_refusal_changes_nothing(session, rows):
    answer(session, (0,), "cats")
    answer(session, (3,), "dogs", "bob")
    before = session.history.last_event
    with pytest.raises(ParameterError, match="split"):
        session.groups.split("cats", rows, "kittens", annotator="ann")
    with pytest.raises(ParameterError, match="no other group's"):
        session.groups.split("cats", [0], "dogs", annotator="ann")
    assert session.history.last_event == before


def test_a_session_that_asks_for_memberships_has_nothing_to_split(tmp_path):
    with (
        sessions.create(tmp_path / "m.db", X, n_clusters=2, ask="membership") as session,
        pytest.raises(SessionError, match="asks for groups"),
    ):
        session.groups.split(0, [0], "kittens")


def test_items_that_were_moved_together_can_be_split_off_at_once(session):
    session.groups.move([0, 1, 4], "cats", annotator="ann")
    number = session.groups.split("cats", [0, 4], "kittens", annotator="ann")
    assert said(session)["ann", 4] == (0.0, 0.0, 1.0)
    assert session.groups[number].name == "kittens"


def test_undo_after_a_split_takes_all_of_it_back(session):
    answer(session, (0, 1, 4), "cats")
    before = said(session)
    session.groups.split("cats", [0, 4], "kittens", annotator="ann")
    assert session.undo(annotator="ann").question is None
    assert said(session) == before
    assert session.groups.names == ["cats", "dogs"]
    session.groups.split("cats", [0, 4], "kittens", annotator="ann")
    answer(session, (2,), "dogs")
    assert session.undo(annotator="ann").value == (0.0, 1.0, 0.0, 0.0)
    assert "kittens" in session.groups.names


def test_a_group_does_not_come_back_where_no_item_is_left_for_it(tmp_path):
    with sessions.create(tmp_path / "few.db", X, n_clusters=6, ask="group") as few:
        event = few.groups.remove(0).event
        few.groups.add("more")
        with pytest.raises(ParameterError, match="at most n_samples=6") as caught:
            few.history.take_back(event)
        assert "There are 6 items" in caught.value.user_message
        assert few.result().memberships.shape == (6, 6)
