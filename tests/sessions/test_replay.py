"""Replay: batches are stored and compared, a plan is run once per process, answers are kept."""

import dataclasses
import sqlite3
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from askmeans import Stratified
from askmeans.exceptions import ReplayWarning, SessionError
from askmeans.paper.search_state import SearchState
from askmeans.queries import Answer, MembershipQueries, PairQueries
from askmeans.sessions.config import Config
from askmeans.sessions.replay import Replay, digest_of, keys_of
from askmeans.sessions.state import State
from askmeans.sessions.store.sql import SqlStore


def test_the_batches_a_plan_issued_are_stored(make, kit):
    session = make()
    kit.answer(session)
    stored = session._store.batches(1)
    assert [batch.number for batch in stored] == list(range(1, len(stored) + 1))
    rounds = {}
    for answer in session.result().history:
        rounds.setdefault(answer.round, []).append(answer.items)
    for batch, items in zip(stored, rounds.values(), strict=True):
        assert [session.question(number).items for number in batch.questions] == items


def test_resuming_anywhere_asks_what_would_have_been_asked(make, again, kit):
    whole, broken = make("one.db"), make("two.db")
    expected = kit.answer(whole)
    asked = []
    while True:
        session = again(broken)  # a new process for every few questions
        part = kit.answer(session, 4)
        asked += part
        session.close()
        if not part:
            break
    assert asked == expected
    assert_array_equal(again(broken).result().memberships, whole.result().memberships)
    digests = [[batch.digest for batch in s._store.batches(1)] for s in (whole, broken)]
    assert digests[0] == digests[1]


def test_the_plan_runs_once_per_process(make, again, kit, monkeypatch):
    session = make()
    kit.answer(session, 5)
    made = []
    original = Config.make_plan
    monkeypatch.setattr(Config, "make_plan", lambda self, X: made.append(1) or original(self, X))
    other = again(session)
    kit.answer(other)
    other.status()
    assert len(made) == 1


def test_an_undo_in_the_open_round_needs_no_replay(make, kit, monkeypatch):
    session = make()
    kit.answer(session, 5)
    made = []
    original = Config.make_plan
    monkeypatch.setattr(Config, "make_plan", lambda self, X: made.append(1) or original(self, X))
    session.undo()
    session.ask()
    assert made == []


def forge(session, number):
    """Let a stored batch be that of another version, which asked otherwise."""
    with sqlite3.connect(session.url) as connection:
        connection.execute(
            "UPDATE askmeans_batches SET digest = 'other', made_by = 'askmeans 0.0' "
            "WHERE number = ?",
            (number,),
        )
    connection.close()


def test_a_version_that_asks_otherwise_goes_on_from_the_answers_and_says_so(make, again, kit):
    session = make()
    first_round = session.status().open
    asked = kit.answer(session, first_round + 3)
    forge(session, 2)
    other = again(session)
    with pytest.warns(ReplayWarning, match=r"Round 2 was asked otherwise by askmeans 0\.0"):
        rest = kit.answer(other)
    assert not set(rest) & set(asked)  # nothing is asked again
    assert any("Round 2" in note for note in other.status().notes)
    whole = make("b.db")
    assert asked + rest == kit.answer(whole)
    # It is told to whoever opens it later, too.
    assert any("Round 2" in note for note in again(session).status().notes)


def backwards(plan):
    """The plan of a version that asks every round in the opposite order."""
    queries = next(plan)
    while True:
        turned = MembershipQueries(queries.items[::-1], queries.clusters[::-1])
        answers = yield turned
        try:
            queries = plan.send(answers[::-1])
        except StopIteration as end:
            return end.value


def test_a_version_that_asks_in_another_order_asks_the_rest_and_nothing_again(
    make, again, kit, monkeypatch
):
    session, whole = make("one.db"), make("two.db")
    expected = kit.answer(whole)
    first_round = session.status().open
    asked = kit.answer(session, first_round + 3)
    original = Config.make_plan
    monkeypatch.setattr(Config, "make_plan", lambda self, X: backwards(original(self, X)))
    other = again(session)
    with pytest.warns(ReplayWarning, match="Round 1 was asked otherwise"):
        rest = kit.answer(other)
    assert not set(rest) & set(asked)
    assert len(asked + rest) == len(expected)
    assert {(q.items, q.cluster) for q in asked + rest} == {(q.items, q.cluster) for q in expected}
    by_round = [batch for batch in other._store.batches(1) if batch.number == 2]
    assert by_round[0].questions == by_round[1].questions[::-1]  # it did ask backwards
    monkeypatch.undo()
    found = again(session).result()
    assert found.complete
    assert_array_equal(found.memberships, whole.result().memberships)


def test_whatever_is_logged_is_written_durably_and_leases_are_not(make, monkeypatch):
    session = make()
    seen = []
    write = SqlStore.write

    def watched(self, number, *, durable=True):
        seen.append(durable)
        return write(self, number, durable=durable)

    monkeypatch.setattr(SqlStore, "write", watched)
    session.status()  # stores the first round
    first, second, third = session.ask(3)
    held = Answer(round=0, kind="membership", items=(0,), cluster=0, repeat=0, value=0.5)
    for move in (
        lambda: session.tell(first.id, 0.5),
        lambda: session.unsure(second.id),
        lambda: session.skip(third.id),
        lambda: session.undo(first.id),
        lambda: session.hold([held]),
        session.pause,
        session.resume,
        lambda: session.rename(0, "first"),
        lambda: session.add_rows(session.rows.base[:1]),
    ):
        seen.clear()
        move()
        assert seen == [True]
    seen.clear()
    session.ask()
    assert seen == [False]


def test_nothing_of_an_answered_session_is_pickled(make, kit):
    session = make(items=[f"item {row}" for row in range(40)])
    asked = kit.answer(session, 20)
    session.undo(asked[0].id)
    session.skip(asked[0].id)
    session.rename(0, "first")
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
    assert len(blobs) > 2  # and the batches
    assert not any(value.startswith(b"\x80") for value in blobs)


def test_a_question_of_another_versions_batch_can_still_be_answered(make, again, kit):
    session = make()
    kit.answer(session, session.status().open)
    (open_there,) = session.ask(annotator="ann")
    forge(session, 2)
    with pytest.warns(ReplayWarning):
        again(session).ask(annotator="bob")
    receipt = session.tell(open_there.id, kit.knows(open_there), annotator="ann")
    assert not receipt.late


def test_a_session_of_another_default_keeps_its_strategy(make, again):
    session = make(strategy="auto")
    default = Stratified()
    sizes = {name: value for name, value in session.config.strategy.items() if name != "kind"}
    assert session.config.strategy["kind"] == type(default).__name__
    assert sizes == dataclasses.asdict(default)
    assert again(session).config.make_strategy() == session.config.make_strategy()


def test_the_seed_is_kept_when_none_is_given(make, again):
    session = make(random_state=None)
    assert [q.items for q in again(session).ask(9)] == [q.items for q in session.ask(9)]
    by_generator = make("b.db", random_state=np.random.default_rng(0))
    assert isinstance(by_generator.config.seed, int)


def test_digests_tell_batches_apart():
    one = MembershipQueries([0, 1], [0, 0])
    assert digest_of(one) == digest_of(MembershipQueries([0, 1], [0, 0]))
    others = [
        MembershipQueries([1, 0], [0, 0]),
        MembershipQueries([0, 1], [0, 1]),
        MembershipQueries([0, 1], [0, 0], repeat=1),
        PairQueries([[0, 1]]),
        PairQueries([[1, 0]]),
    ]
    assert len({digest_of(batch) for batch in [one, *others]}) == 6


def test_a_similarity_is_one_question_in_whatever_order():
    assert keys_of(PairQueries([[3, 1]])) == keys_of(PairQueries([[1, 3]]))


def test_a_session_of_a_lost_strategy_says_which_version_to_install(make, again):
    session = make()
    with sqlite3.connect(session.url) as connection:
        connection.execute(
            "UPDATE askmeans_sessions SET config = json_set(config, '$.strategy.kind', 'Gone')"
        )
    connection.close()
    with pytest.raises(SessionError, match="install the version"):
        again(session)


def test_no_plan_steps_inside_a_write_transaction(make, again, kit, monkeypatch):
    session = make()
    inside = []
    write, step = SqlStore.write, Replay._step

    @contextmanager
    def watched(self, *arguments, **options):
        with write(self, *arguments, **options) as transaction:
            inside.append(True)
            try:
                yield transaction
            finally:
                inside.pop()

    def checked(self, work):
        assert not inside
        step(self, work)

    monkeypatch.setattr(SqlStore, "write", watched)
    monkeypatch.setattr(Replay, "_step", checked)
    other = again(session)
    asked = kit.answer(session)
    other.undo(asked[0].id)  # learns of all those answers at once
    session.tell(session.ask()[0].id, 0.9)
    kit.answer(other)
    assert other.status().state == "all done"


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_within_a_step_of_the_plan_does_not_end_the_session(
    make, kit, monkeypatch, signal
):
    session, whole = make("one.db"), make("two.db")
    expected = kit.answer(whole)
    first_round = session.status().open
    asked = kit.answer(session, first_round)
    rank = SearchState.rank

    def interrupted(_):
        monkeypatch.setattr(SearchState, "rank", rank)
        raise signal

    monkeypatch.setattr(SearchState, "rank", interrupted)
    with pytest.raises(signal):
        session.ask()
    assert session.status().state == "asking"
    assert asked + kit.answer(session) == expected


def test_an_interrupt_while_events_are_taken_in_loses_none(make, monkeypatch):
    session = make()
    (question,) = session.ask()
    give = State._give

    def interrupted(*_):
        monkeypatch.setattr(State, "_give", give)
        raise KeyboardInterrupt

    monkeypatch.setattr(State, "_give", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.tell(question.id, 0.5)
    assert [receipt.value for receipt in session.history()] == [0.5]
    assert session.ask() != [question]
