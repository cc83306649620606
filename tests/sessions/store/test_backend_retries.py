"""Connections that are lost: moves are made again, and exactly once."""

import threading
import time
from contextlib import contextmanager

import pytest

from askmeans import sessions
from askmeans.exceptions import ParameterError, StoreLostError
from askmeans.queries import Answer
from askmeans.sessions.store.backend import busy_seconds, retry_lost


def lose_acknowledgement(session):
    """Let the next commit be done, and its confirmation be lost with the connection."""
    backend = session.runtime.store.backend
    whole = backend.writing

    @contextmanager
    def writing(number=None, *, durable=True):
        with whole(number, durable=durable) as begun:
            yield begun
        backend.writing = whole
        raise StoreLostError("the connection broke after the commit")

    backend.writing = writing


@pytest.fixture
def session(make):
    return make(ask="membership", cluster_names=["a", "b", "c"])


def events(session):
    return session.runtime.store.events(1)


def test_an_answer_whose_confirmation_was_lost_is_kept_once(session):
    (question,) = session.ask()
    lose_acknowledgement(session)
    assert session.tell(question.id, 0.5).value == 0.5
    assert [e.value for e in events(session)] == [0.5]
    lose_acknowledgement(session)
    assert session.change(question.id, 0.75, key="mine").value == 0.75
    assert [str(e.kind) for e in events(session)] == ["answer", "undo", "answer"]
    assert [receipt.value for receipt in session.history.answers()] == [0.75]


def test_an_undo_whose_confirmation_was_lost_undoes_one_answer(session):
    first, second = session.ask(2)
    session.tell(first.id, 0.25)
    session.tell(second.id, 0.5)
    lose_acknowledgement(session)
    assert session.undo().value == 0.5
    assert [receipt.value for receipt in session.history.answers()] == [0.25]


def test_what_an_owner_does_is_done_once_when_its_confirmation_was_lost(make):
    session = make(ask="group", cluster_names=["a", "b", "c"])
    lose_acknowledgement(session)
    session.settings.pause()
    lose_acknowledgement(session)
    assert session.groups.add("d") == 3
    lose_acknowledgement(session)
    session.undo()
    assert [str(e.kind) for e in events(session)] == ["pause", "group", "regroup"]
    assert len(session.groups) == 3


def test_rows_and_imported_answers_come_once_when_their_confirmation_was_lost(session):
    lose_acknowledgement(session)
    session.add_rows([[1.5, 0.5]])
    lose_acknowledgement(session)
    session.import_answers(
        [Answer(round=0, kind="membership", items=(3,), cluster=0, repeat=0, value=0.0)]
    )
    assert [str(e.kind) for e in events(session)] == ["rows", "held"]
    assert session.result().memberships.shape == (41, 3)


def test_a_lease_whose_confirmation_was_lost_is_given_again(session):
    lose_acknowledgement(session)
    (question,) = session.ask()
    assert [lease.question for lease in session.runtime.store.leases(1)[1]] == [question.id]


def test_after_the_patience_the_loss_is_told(session):
    (question,) = session.ask()
    session.retry_timeout = 0.001
    lose_acknowledgement(session)
    with pytest.raises(StoreLostError):
        session.tell(question.id, 0.5, key="k")
    assert session.tell(question.id, 0.5, key="k").repeated
    with pytest.raises(ParameterError, match="'retry_timeout'"):
        session.retry_timeout = 0


def test_other_errors_are_not_tried_again():
    tries = []

    def work():
        tries.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        retry_lost(work, 60.0)
    assert len(tries) == 1


def test_the_time_to_wait_can_be_set(monkeypatch):
    monkeypatch.setenv("ASKMEANS_BUSY_SECONDS", "1.5")
    assert busy_seconds() == 1.5
    monkeypatch.setenv("ASKMEANS_BUSY_SECONDS", "soon")
    with pytest.raises(ParameterError, match=r"ASKMEANS_BUSY_SECONDS must be .* 'soon'"):
        busy_seconds()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_started_anew_in_the_middle_costs_no_answer_and_doubles_none(
    postgres, postgres_url, kit, mode
):
    told = []

    def work(name):
        with sessions.open(postgres_url) as session:
            for number in range(12):
                (question,) = session.ask(annotator=name)
                value = kit.knows(question)
                receipt = session.tell(question.id, value, annotator=name, key=f"{name}{number}")
                told.append((receipt.event, question.id, value))

    sessions.create(postgres_url, kit.X, n_clusters=3, ask="membership", random_state=0,
                    cluster_names=["a", "b", "c"]).close()  # fmt: skip
    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    while len(told) < 6 and any(thread.is_alive() for thread in threads):
        time.sleep(0.005)
    postgres.stop(mode)
    before = len(told)
    postgres.start()
    for thread in threads:
        thread.join()
    assert before < 24  # it was in the middle
    with sessions.open(postgres_url) as session:
        kept = [(e.id, e.question, e.value) for e in session.runtime.store.events(1)]
        assert sorted(kept) == sorted(told)
        assert len({question for _, question, _ in kept}) == len(kept) == 24
