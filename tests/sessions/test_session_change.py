"""Changing an answer: the new one in the place of the old, both or neither."""

import pytest

from askmeans.exceptions import AnswerError, KeyConflictError, QueryError
from askmeans.sessions.store.sql import Transaction


def values(session):
    return [receipt.value for receipt in session.history.answers()]


def test_a_change_puts_the_new_answer_in_the_place_of_the_old(make, again, kit):
    session = make()
    asked = kit.answer(session, 6)
    other = 1.0 - kit.knows(asked[0])
    receipt = session.change(asked[0].id, other)
    assert (receipt.value, receipt.late, receipt.counts) == (other, False, True)
    for seen in (session, again(session)):
        told = {(answer.items, answer.cluster): answer.value for answer in seen.result().history}
        assert len(told) == 6
        assert told[asked[0].items, asked[0].cluster] == other


@pytest.mark.parametrize("value", [7, -0.1, float("nan"), "much", 0.6])
def test_a_refused_value_leaves_the_old_answer(make, value):
    session = make(levels=3)
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    with pytest.raises(AnswerError):
        session.change(question.id, value)
    assert values(session) == [0.5]


def test_a_crash_within_a_change_leaves_the_old_answer(make, again, monkeypatch):
    session = make()
    (question,) = session.ask()
    session.tell(question.id, 0.25)
    append = Transaction.append

    def crash(transaction, event):
        if getattr(event, "value", None) == 0.75:
            raise KeyboardInterrupt
        return append(transaction, event)

    monkeypatch.setattr(Transaction, "append", crash)
    with pytest.raises(KeyboardInterrupt):
        session.change(question.id, 0.75)
    monkeypatch.undo()
    assert values(session) == values(again(session)) == [0.25]
    session.change(question.id, 0.75)
    assert values(session) == values(again(session)) == [0.75]


def test_the_same_change_again_is_harmless(make, again):
    session = make()
    (question,) = session.ask()
    session.tell(question.id, 0.25, key="a")
    first = session.change(question.id, 0.75, key="b")
    for seen in (session, again(session)):
        same = seen.change(question.id, 0.75, key="b")
        assert (same.repeated, same.event) == (True, first.event)
    assert session.change(question.id, 0.75).repeated  # the same answer, nothing to change
    assert values(session) == [0.75]
    with pytest.raises(KeyConflictError, match="one answer only"):
        session.change(question.id, 0.5, key="b")
    with pytest.raises(KeyConflictError, match="taken back"):
        session.tell(question.id, 0.25, key="a")  # the old one, from a slow network
    assert values(session) == [0.75]


def test_what_was_not_answered_is_answered_by_a_change(make):
    session = make()
    first, second = session.ask(2)
    session.skip(second.id)
    assert session.change(first.id, 0.25).value == 0.25
    assert session.change(second.id, None).kind == "unsure"
    assert session.change(first.id, None).value is None
    assert values(session) == [None, None]
    with pytest.raises(QueryError):
        session.change(999, 0.5)


def test_a_change_costs_no_budget_and_is_possible_when_it_is_spent(make, kit):
    session = make(budget=5)
    asked = kit.answer(session)
    session.change(asked[0].id, 0.125)
    assert session.status().answered == 5
    assert 0.125 in values(session)


def test_one_changes_only_ones_own(make):
    session = make(annotations=2)
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 0.25, annotator="ann")
    session.change(question.id, 0.75, annotator="bob")
    assert {r.annotator: r.value for r in session.history.answers()} == {"ann": 0.25, "bob": 0.75}
