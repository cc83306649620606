"""The policy over the log: the same answers lead to the same questions, whatever happened."""

import dataclasses
import sqlite3
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from last_bits import same_but_for_rounding

from askmeans import Stratified
from askmeans.policy.ensemble import Ensemble
from askmeans.policy.nested import NestedPolicy
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answer, Question
from askmeans.sessions import SessionState
from askmeans.sessions.store.sql import Store


@pytest.mark.parametrize("ask", ["group", "membership"])
def test_resuming_anywhere_asks_what_would_have_been_asked(make, again, kit, ask):
    whole, broken = (make(name, ask=ask) for name in ("one.db", "two.db"))
    expected = kit.answer(whole, 30)
    asked = []
    while True:
        session = again(broken)  # a new process for every few questions
        part = kit.answer(session, min(7, 30 - len(asked)))
        asked += part
        session.close()
        if not part:
            break
    assert asked == expected
    same_but_for_rounding(again(broken).result().memberships, whole.result().memberships)


def test_nothing_of_an_answered_session_is_pickled(make, kit):
    session = make(items=[f"item {row}" for row in range(40)])
    asked = kit.answer(session, 20)
    session.undo(asked[0].id)
    session.skip(asked[0].id)
    session.groups.rename(0, "first")
    session.add_rows(kit.X[:2], items=["a", "b"])
    session.result()
    session.close()
    kinds, blobs = set(), []
    with sqlite3.connect(session.url) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f"SELECT * FROM {table}"):
                for value in row:
                    kinds.add(type(value))
                    if isinstance(value, bytes):
                        blobs.append(value)
    connection.close()
    assert kinds <= {int, float, str, bytes, type(None)}
    assert {kit.X.tobytes(), kit.X[:2].tobytes()} <= set(blobs)  # raw
    assert not any(value.startswith(b"\x80") for value in blobs)


def test_a_session_of_another_default_keeps_its_strategy(make, again):
    session = make(ask="group")
    default = Stratified()
    stored = session.runtime.record.config["strategy"]
    sizes = {name: value for name, value in stored.items() if name != "kind"}
    assert stored["kind"] == type(default).__name__
    assert sizes == dataclasses.asdict(default)
    assert again(session).config.strategy == session.config.strategy == default


def test_the_seed_is_kept_when_none_is_given(make, again):
    session = make(random_state=None)
    assert [q.items for q in again(session).ask(9)] == [q.items for q in session.ask(9)]
    by_generator = make("b.db", random_state=np.random.default_rng(0))
    assert isinstance(by_generator.config.seed, int)


@pytest.fixture
def inside(monkeypatch):
    """Whether a write transaction is open."""
    found = []
    write = Store.write

    @contextmanager
    def watched(self, *arguments, **options):
        with write(self, *arguments, **options) as transaction:
            found.append(True)
            try:
                yield transaction
            finally:
                found.pop()

    monkeypatch.setattr(Store, "write", watched)
    return found


def test_models_are_learnt_outside_of_every_transaction_and_of_the_lock(
    make, kit, inside, monkeypatch
):
    session = make(ask="group")
    learn, seen = Ensemble.learn, []

    def checked(self, training, *weights):
        assert not inside
        assert not session.runtime.lock._is_owned()
        seen.append(len(training.rows))
        return learn(self, training, *weights)

    monkeypatch.setattr(Ensemble, "learn", checked)
    kit.answer(session, 6)
    session.status(annotator="ann")
    session.undo()
    session.status()
    session.result()
    assert len(set(seen)) > 2


def test_whoever_asks_while_models_are_learnt_gets_a_question_at_once(make, kit, monkeypatch):
    session = make(ask="membership")
    (waiting,) = session.ask(annotator="ann")  # makes the first ranking
    learn, begun, go_on = Ensemble.learn, threading.Event(), threading.Event()

    def slow(self, training, *weights):
        begun.set()
        assert go_on.wait(60)
        return learn(self, training, *weights)

    monkeypatch.setattr(Ensemble, "learn", slow)
    kit.answer(session, 1, annotator="bob")
    session.tell(waiting.id, kit.knows(waiting), annotator="ann")  # the first milestone
    first = threading.Thread(target=session.ask, kwargs={"annotator": "ann"})
    first.start()
    assert begun.wait(60)
    try:
        questions = [session.ask(annotator=name)[0] for name in ("bob", "cy", "dan")]
        assert session.tell(questions[0].id, 0.5, annotator="bob").counts
        assert session.status(annotator="eve").state is SessionState.ASKING
    finally:
        go_on.set()
        first.join()
    assert len({question.items for question in questions}) == 3


def test_one_computation_serves_the_next_question_and_the_result(make, kit, monkeypatch):
    session = make(ask="group")
    kit.answer(session, 4)
    learn, seen = Ensemble.learn, []
    monkeypatch.setattr(Ensemble, "learn", lambda *args: seen.append(1) or learn(*args))
    session.result()
    count = len(seen)
    session.status(estimate=True)
    session.result()
    session.ask()
    session.exemplars(0)
    assert len(seen) - count <= 1  # the ranking of the last milestone, if that is before the result


def told_into(session, receipts, questions):
    """Tell a session what was told to another, in the same order."""
    for receipt in receipts:
        items, cluster = questions[receipt.question]
        kind = "group" if cluster is None else "membership"
        with session.runtime.store.write(1) as transaction:
            (number,) = transaction.add_questions([Question(kind, items, cluster)])
        session.tell(number, receipt.value)
    return session


def test_an_undo_removes_evidence_and_nothing_else(make, kit):
    session, fresh = (make(name, ask="group") for name in ("one.db", "two.db"))
    asked = kit.answer(session, 9)
    for question in (asked[8], asked[3]):
        assert session.undo(question.id).reopened
    session.change(asked[0].id, 1)
    session.leave()
    questions = {q.id: (q.items, q.cluster) for q in asked}
    told_into(fresh, session.history.answers(), questions)
    same_but_for_rounding(session.result().memberships, fresh.result().memberships)
    assert [a.question for a in session.result().history] == [
        a.question for a in fresh.result().history
    ]
    # At rest both propose the same to somebody who held nothing yet.
    assert [(q.items, q.cluster) for q in session.ask(6, annotator="ann")] == [
        (q.items, q.cluster) for q in fresh.ask(6, annotator="ann")
    ]


def test_every_answer_is_evidence_with_its_annotator(make, end_leases):
    session = make(ask="membership")
    (question,) = session.ask(annotator="ann")
    end_leases(session)
    assert session.ask(annotator="bob") == [question]
    session.tell(question.id, 1.0, annotator="bob")
    late = session.tell(question.id, 0.5, annotator="ann")
    assert (late.late, late.counts) == (True, True)
    session.import_answers(
        [Answer(round=0, kind="membership", items=(7,), cluster=1, repeat=0, value=0.25)]
    )
    told = [(a.annotator, a.items, a.value) for a in session.result().history]
    assert told == [
        ("bob", question.items, 1.0),
        ("ann", question.items, 0.5),
        ("me", (7,), 0.25),
    ]
    assert (session.status().answered, session.status().held) == (1, 1)
    session.undo(annotator="bob")
    assert len(session.result().history) == 2


def test_rows_added_are_proposed_like_others(make, again, kit):
    session = make(X=kit.X[:8], ask="group")
    other = again(session)
    before = kit.answer(session, 3)
    session.add_rows(kit.X[8:16])
    for seen in (session, other, again(session)):
        assert seen.result().memberships.shape == (16, 3)
    asked = kit.answer(other, 12)
    rows = {row for question in asked for row in question.items}
    assert rows & set(range(8, 16))
    assert [r.question for r in session.history.answers()][:3] == [
        question.id for question in before
    ]
    session.import_answers(
        [Answer(round=0, kind="membership", items=(15,), cluster=2, repeat=0, value=0.5)]
    )


def test_being_settled_is_advice_and_all_is_done_when_everything_was_asked(make):
    session = make(X=[[0.0], [0.1], [5.0], [5.1]], n_clusters=2, ask="membership")
    settled = []
    while questions := session.ask():
        assert session.status().state is SessionState.ASKING
        settled.append(session.status().settled)
        session.tell(questions[0].id, float(questions[0].cluster == (questions[0].items[0] > 1)))
    assert session.status().state is SessionState.DONE
    assert session.status().settled
    assert {row for answer in session.result().history for row in answer.items} == {0, 1, 2, 3}
    assert session.result().complete


def test_a_session_of_a_version_with_other_parameters_goes_on(make, again, kit):
    session = make(ask="group")
    asked = kit.answer(session, 4)
    with sqlite3.connect(session.url) as connection:
        connection.execute(
            "UPDATE askmeans_sessions SET config = json_remove(config, '$.units', '$.typical')"
        )
        connection.execute(
            "UPDATE askmeans_sessions SET config = json_set(config, '$.later', 'much')"
        )
    connection.close()
    old = again(session)
    assert [receipt.question for receipt in old.history.answers()] == [q.id for q in asked]
    assert not set(kit.answer(old, 3)) & set(asked)


def test_who_asks_while_a_session_is_being_opened_waits_for_what_was_learnt(
    make, again, kit, monkeypatch
):
    session = make(ask="group")
    kit.answer(session, 12)
    (expected,) = again(session).learning.propose(1, frozenset(), "bob")
    opened, asked = again(session).learning, []
    other = threading.Thread(target=lambda: asked.extend(opened.propose(1, frozenset(), "bob")))
    learn = StratifiedPolicy.learn

    def slowly(policy, answers):
        if other.ident is None:
            other.start()
            other.join(0.3)  # long enough to be asked something, if that were possible by now
        learn(policy, answers)

    monkeypatch.setattr(StratifiedPolicy, "learn", slowly)
    opened.warm_up()
    other.join()
    assert asked == [expected]


# ---- models that are learnt aside ---------------------------------------------------------------


def asked_in_a_row(session, count):
    """The items that one person is asked about, who answers by the expert."""
    found = []
    for place in range(count):
        (question,) = session.ask()
        session.tell(question.id, place % 3)
        found.append(question.items)
    return found


def test_who_answers_alone_is_asked_the_same_where_models_are_learnt_aside(make):
    one, other = make("one.db", ask="group"), make("other.db", ask="group")
    other.learn_aside()
    assert asked_in_a_row(other, 12) == asked_in_a_row(one, 12)


def test_in_a_crowd_nobody_waits_for_models(make, monkeypatch):
    session = make(ask="group")
    session.learn_aside()
    clock = SimpleNamespace(monotonic=lambda: 0.0)  # all happens at once
    monkeypatch.setattr("askmeans.sessions.learning.time", clock)
    people = [f"person {place}" for place in range(8)]
    for who in people:
        assert session.ask(annotator=who)
    assert session.is_busy
    go_on = threading.Event()
    learnt = []

    def slow(policy):
        assert go_on.wait(60.0)
        learnt.append(policy)

    monkeypatch.setattr("askmeans.policy.stratified.StratifiedPolicy.catch_up", slow)
    asked = set()
    for place in range(24):  # more than one milestone
        who = people[place % 8]
        (question,) = session.ask(annotator=who)
        session.tell(question.id, place % 3, annotator=who)
        asked.add(question.items)
    assert len(asked) == 24
    assert not learnt
    go_on.set()
    session.close()
    assert learnt


def test_a_group_refined_while_a_result_is_learnt_is_in_the_result(make, monkeypatch):
    session = make(ask="group", cluster_names=["a", "b", "c"])
    session.groups.refine("b", ["f", "g"])
    session.tell(session.ask()[0].id, "a")
    learn, names = NestedPolicy.learn, [["d", "e"], ["h", "i"]]

    def interrupted(*args):
        learn(*args)
        if names:
            group = "a" if len(names) > 1 else "c"
            refine = threading.Thread(target=session.groups.refine, args=(group, names.pop()))
            refine.start()
            refine.join()

    monkeypatch.setattr(NestedPolicy, "learn", interrupted)
    assert session.result().group_names == ("h", "i", "f", "g", "d", "e")
