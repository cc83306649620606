"""Undo: what is taken back, what that makes void, and how a session goes on."""

import pytest
from last_bits import same_but_for_rounding

from askmeans.exceptions import (
    KeyConflictError,
    RankError,
    SessionError,
)
from askmeans.sessions import SessionState


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
    assert (undone.question, undone.kind, undone.value, undone.void) == (
        question, "answer", 0.75, (),
    )  # fmt: skip
    assert session.status().answered == 0
    assert session.ask() == [question]


def test_undo_tells_which_later_questions_it_makes_void(make, kit):
    session = make()
    first_round = session.status().open
    asked = kit.answer(session, first_round + 4)
    undone = session.undo(asked[0].id)
    assert undone.void == tuple(asked[first_round:])
    assert session.ask() == [asked[0]]


def test_answers_made_void_are_used_when_the_same_questions_come_again(make, kit):
    session = make()
    asked = kit.answer(session)
    session.undo(asked[0].id)
    assert session.status().state is SessionState.ASKING
    again = kit.answer(session)  # the same answer leads to the same questions
    assert again == [asked[0]]
    assert session.status().state is SessionState.DONE


def test_another_answer_after_an_undo_gives_what_it_gives_from_the_start(make, kit):
    session, fresh = make("one.db"), make("two.db")
    asked = kit.answer(session)
    session.undo(asked[0].id)
    other = 1.0 - kit.knows(asked[0])
    session.tell(asked[0].id, other)
    (question,) = fresh.ask()
    fresh.tell(question.id, other)
    kit.answer(session)
    kit.answer(fresh)
    same_but_for_rounding(session.result().memberships, fresh.result().memberships)


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
    assert (repeated.question, repeated.void) == (undone.question, undone.void)
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


def test_answers_that_allow_no_end_leave_the_session_stuck_until_an_undo(make):
    session = make(ask="similarity", budget=60)
    while questions := session.ask(100):
        for question in questions:
            session.tell(question.id, 0.5)  # all alike: there are no three clusters
        if session.status().state is SessionState.STUCK:
            break
    with pytest.raises(RankError, match=r"3 clusters apart.*Every answer is kept.*`askmeans undo"):
        session.ask()
    assert (session.status().left.high, session.status().left.basis) == (0, "stuck")
    result = session.result()
    assert result.state is SessionState.STUCK
    assert any("3 clusters apart" in note for note in result.notes)
    assert result.memberships.shape == (40, 3)
    undone = session.undo()
    assert session.ask() == [undone.question]
