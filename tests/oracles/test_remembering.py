"""An oracle with a memory: each question reaches the other oracle once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from askmeans import ActiveFuzzyKMeans
from askmeans.exceptions import MoreClustersWarning, StopAsking
from askmeans.oracles import NoisyOracle, RememberingOracle, TableOracle
from askmeans.queries import Ledger, PairQueries
from askmeans.testing import OracleContract


class TestRememberingOracle(OracleContract):
    def make_oracle(self):
        U = np.random.default_rng(0).dirichlet(np.ones(self.n_clusters), size=self.n_items)
        return RememberingOracle(TableOracle(U))


class Counting:
    """Answers 1/2 until it has had enough."""

    def __init__(self, enough):
        self.left, self.asked = enough, []

    def answer(self, queries):
        reached = np.arange(len(queries)) < self.left
        self.left -= int(reached.sum())
        self.asked += queries.item_table[reached].tolist()
        answers = np.where(reached, 0.5, np.nan)
        if reached.all():
            return answers
        raise StopAsking(answers, reached)


def test_what_is_known_is_not_asked_again():
    other = Counting(enough=10)
    oracle = RememberingOracle(other)
    oracle.answer(PairQueries([[0, 1], [1, 2]]))
    assert_array_equal(oracle.answer(PairQueries([[2, 1], [0, 3], [1, 0]])), 0.5)
    assert other.asked == [[0, 1], [1, 2], [0, 3]]


def test_answers_before_a_stop_are_kept_and_told():
    other = Counting(enough=2)
    oracle = RememberingOracle(other)
    oracle.answer(PairQueries([[0, 1]]))
    with pytest.raises(StopAsking) as stop:
        oracle.answer(PairQueries([[0, 2], [0, 3], [0, 1]]))
    assert_array_equal(stop.value.answers, [0.5, np.nan, 0.5])
    assert_array_equal(stop.value.reached, [True, False, True])
    assert oracle.ledger.n_distinct == 2


def test_a_ledger_given_is_used_and_filled():
    ledger = Ledger()
    ledger.record(PairQueries([[0, 1]]), [0.25])
    oracle = RememberingOracle(Counting(enough=1), ledger)
    assert_array_equal(oracle.answer(PairQueries([[0, 1], [0, 2]])), [0.25, 0.5])
    assert ledger.n_distinct == 2


def test_noise_is_that_of_the_other_oracle():
    table = TableOracle([[0.5, 0.5]] * 2)
    assert not RememberingOracle(table).noisy
    assert RememberingOracle(NoisyOracle(table, std=0.1, clip=False)).noisy


@pytest.mark.soak
def test_another_number_of_clusters_asks_only_what_is_new():
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(4), size=100)
    oracle = RememberingOracle(TableOracle(U))
    X = U @ rng.normal(size=(4, 3))

    def fit(k, oracle):
        return ActiveFuzzyKMeans(
            k, oracle=oracle, ask="similarity", budget=120, random_state=0
        ).fit(X)

    with pytest.warns(MoreClustersWarning):
        fit(3, oracle)
    before = oracle.ledger.n_distinct
    again = fit(4, oracle).n_queries_
    assert oracle.ledger.n_distinct - before < again


def test_what_is_no_answer_is_not_remembered():
    said = [[7.0], [0.5]]

    class Slip:
        def answer(self, _):
            return np.array(said.pop(0))

    oracle = RememberingOracle(Slip())
    assert oracle.answer(PairQueries([[0, 1]])).tolist() == [7.0]
    assert oracle.ledger.n_distinct == 0
    assert oracle.answer(PairQueries([[0, 1]])).tolist() == [0.5]
