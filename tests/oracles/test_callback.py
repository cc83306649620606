"""An oracle made of functions: what they are asked, and what becomes of what they return."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from askmeans.exceptions import AnswerError, QueryError, StopAsking
from askmeans.oracles import CallbackOracle
from askmeans.queries import GroupQueries, MembershipQueries, PairQueries, TripletQueries
from askmeans.testing import OracleContract


class TestCallbackOracle(OracleContract):
    def make_oracle(self):
        U = np.random.default_rng(0).dirichlet(np.ones(self.n_clusters), size=self.n_items)
        return CallbackOracle(
            membership=lambda item, cluster: U[item, cluster],
            pair=lambda p, q: (U[p] * U[q]).sum(),
            triplet=lambda p, q, r: (U[p] * U[q] * U[r]).sum(),
            group=lambda item: dict(enumerate(U[item])),
        )

    def test_an_item_that_does_not_exist_is_refused(self):
        # It is the function that knows: its error comes as the reason of a stop.
        oracle = self.make_oracle()
        for queries in (MembershipQueries([10**9], [0]), PairQueries([[0, 10**9]])):
            with pytest.raises(StopAsking) as stop:
                oracle.answer(queries)
            assert isinstance(stop.value.__cause__, IndexError)


class TestCallbackForPairsOnly(OracleContract):
    kinds = ("pair",)

    def make_oracle(self):
        return CallbackOracle(pair=lambda p, q: 1.0 / (1 + p + q))

    def test_an_item_that_does_not_exist_is_refused(self):
        assert self.make_oracle().answer(PairQueries([[0, 9]])).tolist() == [0.1]  # none is


def recorder():
    """A function that keeps what it was asked, and that list."""
    calls = []

    def function(*numbers):
        calls.append(numbers)
        return len(calls) / 10

    return function, calls


def test_functions_are_asked_in_order_with_plain_integers():
    for name, queries, expected in [
        ("membership", MembershipQueries([5, 2], [1, 0]), [(5, 1), (2, 0)]),
        ("pair", PairQueries([[5, 2], [1, 7]]), [(5, 2), (1, 7)]),
        ("triplet", TripletQueries([[5, 2, 3], [9, 1, 7]]), [(5, 2, 3), (9, 1, 7)]),
    ]:
        function, calls = recorder()
        answers = CallbackOracle(**{name: function}).answer(queries)
        assert calls == expected
        assert {type(number) for call in calls for number in call} == {int}
        assert answers.tolist() == [0.1, 0.2]


def test_none_means_cannot_say():
    oracle = CallbackOracle(membership=lambda item, _: None if item == 1 else 0.5)
    assert_array_equal(oracle.answer(MembershipQueries([0, 1], [0, 0])), [0.5, np.nan])


def test_a_group_is_a_number_shares_none_of_these_or_cannot_say():
    said = {0: 1, 1: {0: 0.75, 2: 0.25}, 2: (), 3: None, 4: {1: 0.5}}
    answers = CallbackOracle(group=said.get).answer(GroupQueries(range(5), 3))
    nan = np.nan
    rows = [[0, 1, 0], [0.75, 0, 0.25], [0, 0, 0], [nan, nan, nan], [0, 0.5, 0]]
    assert_array_equal(answers, rows)


@pytest.mark.parametrize("bad", [3, -1, {0: 0.8, 1: 0.4}, {0: 2.0}, 0.5, [1.0]])
def test_what_is_no_group_keeps_the_answers_so_far(bad):
    said = {0: 1, 1: bad}
    with pytest.raises(StopAsking) as stopped:
        CallbackOracle(group=said.get).answer(GroupQueries([0, 1], 3))
    assert stopped.value.reached.tolist() == [True, False]
    assert isinstance(stopped.value.__cause__, AnswerError)


@pytest.mark.parametrize("value", [True, 1, np.float32(1.0), np.array(1.0)])
def test_numbers_of_every_type_are_answers(value):
    oracle = CallbackOracle(pair=lambda *_: value)
    assert oracle.answer(PairQueries([[0, 1]])).tolist() == [1.0]


@pytest.mark.parametrize(
    ("queries", "kind"),
    [
        (MembershipQueries([0], [0]), "membership"),
        (PairQueries([[0, 1]]), "pair"),
        (TripletQueries([[0, 1, 2]]), "triplet"),
        (GroupQueries([0], 2), "group"),
    ],
)
def test_a_missing_function_is_named(queries, kind):
    others = {"membership", "pair", "triplet", "group"} - {kind}
    oracle = CallbackOracle(**{name: lambda *_: 0.5 for name in others})
    with pytest.raises(QueryError, match=rf"function for {kind} questions.*pass {kind}="):
        oracle.answer(queries)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, lambda: StopAsking(np.array([]))])
def test_ctrl_c_and_a_stop_keep_the_answers_so_far(stop):
    def tires(item, _cluster):
        if item == 2:
            raise stop()
        return item / 10

    with pytest.raises(StopAsking) as stopped:
        CallbackOracle(membership=tires).answer(MembershipQueries([1, 3, 2, 4], [0] * 4))
    assert_array_equal(stopped.value.answers, [0.1, 0.3, np.nan, np.nan])
    assert stopped.value.__cause__ is None


@pytest.mark.parametrize("bad", ["much", [0.1, 0.2]])
def test_a_function_that_fails_or_returns_no_number_keeps_the_answers_so_far(bad):
    def fails(item, _cluster):
        return {1: 0.1, 2: bad}[item]

    for item, error in ((2, (TypeError, ValueError)), (3, KeyError)):
        with pytest.raises(StopAsking) as stopped:
            CallbackOracle(membership=fails).answer(MembershipQueries([1, item], [0, 0]))
        assert_array_equal(stopped.value.answers, [0.1, np.nan])
        assert isinstance(stopped.value.__cause__, error)
