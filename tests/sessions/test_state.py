"""Events folded: legal moves, what settles a question, what an undo leaves."""

import math

import pytest

from askmeans.sessions.events import (
    AddRows,
    Answer,
    Imported,
    Pause,
    Rename,
    Skip,
    Undo,
    Unsure,
)
from askmeans.sessions.state import MOVES, Standing, State


class Log:
    """Events in a row."""

    def __init__(self, annotations=1):
        self.events = []
        self.annotations = annotations

    def add(self, kind, question=None, annotator="me", **fields):
        number = len(self.events) + 1
        if question is not None:
            fields["question"] = question
        self.events.append(
            kind(id=number, at=float(number), key=str(number), annotator=annotator, **fields)
        )
        return self.events[-1]

    def undo(self, event):
        self.add(Undo, event.question, event.annotator, taken_back=event.id)

    @property
    def state(self):
        state = State(self.annotations)
        state.fold(self.events)
        return state


def test_every_legal_move_leads_where_the_table_says():
    for standing, moves in MOVES.items():
        for kind, after in moves.items():
            log = Log()
            if standing is Standing.SKIPPED:
                log.add(Skip, 1)
            if standing is Standing.ANSWERED:
                log.add(Answer, 1, value=0.5)
            assert log.state.standing(1, "me") is standing
            assert log.state.may(kind, 1, "me")
            if kind is Undo:
                log.undo(log.events[-1])
            else:
                log.add(kind, 1, value=0.5 if kind is Answer else None)
            assert log.state.standing(1, "me") is after


@pytest.mark.parametrize("kind", [Answer, Unsure, Skip])
def test_an_answered_question_may_only_be_undone(kind):
    log = Log()
    log.add(Answer, 1, value=0.5)
    assert not log.state.may(kind, 1, "me")
    assert log.state.may(Undo, 1, "me")
    assert not Log().state.may(Undo, 1, "me")


def test_an_answer_after_a_skip_replaces_it():
    log = Log()
    log.add(Skip, 1)
    log.add(Answer, 1, value=0.5)
    assert [type(event) for event in log.state.replies("me")] == [Answer]
    assert log.state.is_settled(1)


def test_unsure_settles_a_question_with_nan():
    log = Log()
    log.add(Unsure, 1)
    assert log.state.is_settled(1)
    assert math.isnan(log.state.value(1))


def test_an_answer_held_settles_whatever_number_is_wanted_and_costs_nothing():
    log = Log(annotations=3)
    log.add(Imported, 1, annotator="held", value=0.5)
    assert log.state.is_settled(1)
    assert (log.state.n_spent, log.state.answered) == (0, [1])


def test_answers_after_a_question_is_settled_change_nothing():
    log = Log(annotations=2)
    for name, value in (("a", 0.2), ("b", 0.4), ("c", 1.0)):
        log.add(Answer, 1, annotator=name, value=value)
    assert log.state.value(1) == pytest.approx(0.3)
    log.undo(log.events[0])
    assert log.state.value(1) == pytest.approx(0.7)


def test_an_undo_leaves_what_was_before():
    log = Log()
    log.add(Answer, 1, value=0.5)
    before = log.state
    log.undo(log.add(Answer, 2, value=0.5))
    after = log.state
    assert after.answered == before.answered
    assert after.n_spent == before.n_spent
    assert after.last_of("me") == before.last_of("me")
    assert after.counts() == before.counts()


def test_folding_in_parts_is_folding_at_once():
    log = Log()
    log.add(Skip, 1)
    log.add(Rename, group=1, name="large")
    log.undo(log.add(Answer, 2, value=0.5))
    log.add(Pause)
    log.add(AddRows, part=1)
    parts = State()
    for event in log.events:
        parts.fold([event])
    whole = log.state
    assert vars(parts) == vars(whole)
    assert (whole.paused, whole.names, whole.n_parts) == (True, {1: "large"}, 2)
