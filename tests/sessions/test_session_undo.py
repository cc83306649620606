"""Undo: what is taken back, and how a session goes on."""

import pytest

from askmeans.exceptions import (
    KeyConflictError,
    SessionError,
)


def test_an_answered_question_is_answered_otherwise_only_after_an_undo(make):
    session = make()
    (question,) = session.ask()
    session.tell(question.id, 0.25)
    assert session.tell(question.id, 0.25).repeated  # a double click
    with pytest.raises(KeyConflictError, match="undo that first"):
        session.tell(question.id, 0.5)
    session.undo()
    assert session.tell(question.id, 0.5).value == 0.5


def test_undo_opens_the_question_again_and_gives_it_back(make):
    session = make()
    (question,) = session.ask()
    session.tell(question.id, 0.75)
    undone = session.undo()
    assert (undone.question, undone.kind, undone.value) == (question, "answer", 0.75)
    assert session.status().answered == 0
    assert session.ask() == [question]


def test_undo_takes_back_one_after_the_other_and_then_says_that_there_is_none(make):
    session = make()
    first, second = session.ask(2)
    session.tell(first.id, 0.1)
    session.skip(second.id)
    assert (session.undo().kind, session.undo().kind) == ("skip", "answer")
    with pytest.raises(SessionError, match="must be an answer or a skip of 'me'"):
        session.undo()
    with pytest.raises(SessionError, match=f"to question {first.id}"):
        session.undo(first.id)


def test_the_same_undo_again_undoes_nothing_more(make, again):
    session = make()
    first, second = session.ask(2)
    session.tell(first.id, 0.1)
    session.tell(second.id, 0.2)
    undone = session.undo(key="z")
    repeated = again(session).undo(key="z")
    assert repeated.receipt.repeated
    assert repeated.question == undone.question
    assert [receipt.value for receipt in session.history.answers()] == [0.1]


@pytest.mark.parametrize("move", ["tell", "unsure", "skip"])
def test_a_key_whose_answer_was_undone_is_refused_when_sent_again(make, again, move):
    session = make()
    (question,) = session.ask()

    def give(to, **options):
        value = [0.1] if move == "tell" else []
        return getattr(to, move)(question.id, *value, **options)

    give(session, key="a")
    session.undo()
    for seen in (session, again(session)):
        with pytest.raises(KeyConflictError, match=r"Nothing was saved.*taken back"):
            give(seen, key="a")
    assert session.history.answers() == []
    assert not give(session, key="b").repeated


def test_an_undo_of_what_no_longer_stands_is_refused(make):
    session = make()
    (question,) = session.ask()
    old = session.tell(question.id, 0.1)
    session.change(question.id, 0.9)
    with pytest.raises(SessionError, match="look at the history again"):
        session.undo(question.id, event=old.event)
    assert [receipt.value for receipt in session.history.answers()] == [0.9]
    assert session.undo(question.id, event=session.history.answers()[0].event).value == 0.9
