"""The log of a session in one process: what is written is durable, and read again after a fault."""

import pytest

from askmeans.queries import Answer
from askmeans.sessions.state import State
from askmeans.sessions.store.sql import Store


def test_whatever_is_logged_is_written_durably_and_leases_are_not(make, monkeypatch):
    session = make()
    seen = []
    write = Store.write

    def watched(self, number, *, durable=True):
        seen.append(durable)
        return write(self, number, durable=durable)

    monkeypatch.setattr(Store, "write", watched)
    first, second, third = session.ask(3)
    held = Answer(round=0, kind="membership", items=(0,), cluster=0, repeat=0, value=0.5)
    for move in (
        lambda: session.tell(first.id, 0.5),
        lambda: session.unsure(second.id),
        lambda: session.skip(third.id),
        lambda: session.undo(first.id),
        lambda: session.import_answers([held]),
        session.settings.pause,
        session.settings.resume,
        lambda: session.groups.rename(0, "first"),
        lambda: session.add_rows(session.rows.base[:1]),
    ):
        seen.clear()
        move()
        assert seen == [True]
    seen.clear()
    session.ask()
    assert seen == [False]


def test_an_interrupt_while_events_are_taken_in_loses_none(make, monkeypatch):
    session = make()
    (question,) = session.ask()
    fold = State.fold

    def interrupted(state, events):
        if events:
            monkeypatch.setattr(State, "fold", fold)
            raise KeyboardInterrupt
        fold(state, events)

    monkeypatch.setattr(State, "fold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.tell(question.id, 0.5)
    assert [receipt.value for receipt in session.history.answers()] == [0.5]
    assert session.ask() != [question]
