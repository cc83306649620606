"""Asking again what matters: contradicted first, within the ceiling, never worse than a budget."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import Sequential, TwoClusters, TwoPhase, run
from askmeans.exceptions import ParameterError
from askmeans.fuzzy import closed_form_memberships
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.queries import MembershipQueries
from askmeans.wrappers import by_similarity, repeated_adaptively

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
X = CENTERS[RNG.integers(3, size=90)] + RNG.normal(size=(90, 2))
U = closed_form_memberships(X, CENTERS, 2.0)
STRATEGIES = {
    "two-phase": (TwoPhase(sample_size=40), 3),
    "sequential": (Sequential(sample_size=30, bin_size=5), 3),
    "two-clusters": (TwoClusters(sample_size=30, bin_size=8), 2),
}


def maker(strategy=STRATEGIES["two-phase"][0], k=3, similar=False):
    def make():
        rng = np.random.default_rng(0)
        plan = strategy.plan(X, k, fuzzifier=2.0, rng=rng)
        return by_similarity(plan, len(X), k, rng=rng) if similar else plan

    return make


def target(k):
    return U if k == 3 else np.column_stack([U[:, 0], 1.0 - U[:, 0]])


def questions(result):
    return Counter((a.kind, a.items, a.cluster) for a in result.history)


def test_exact_answers_are_asked_again_and_change_nothing():
    once = run(maker()(), TableOracle(U))
    found = run(repeated_adaptively(maker(), 2), TableOracle(U))
    assert (found.clustering.memberships == once.clustering.memberships).all()
    assert found.n_queries == 2 * once.n_queries


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("similar", [False, True])
def test_every_strategy_and_kind_of_question_keeps_to_the_ceiling(name, similar):
    strategy, k = STRATEGIES[name]
    oracle = NoisyOracle(TableOracle(target(k)), std=0.1)
    first = run(maker(strategy, k, similar)(), oracle)
    found = run(repeated_adaptively(maker(strategy, k, similar), 3), oracle)
    assert found.n_queries > 2 * first.n_queries
    # The last pass may ask what the better answers made it ask.
    assert found.n_queries < 3 * first.n_queries + 0.5 * len(questions(found))
    assert_allclose(found.clustering.memberships.sum(axis=1), 1.0)
    assert found.complete


@pytest.mark.parametrize("budget", [0, 1, 30, 77, 100, 150])
def test_a_budget_is_a_ceiling_and_what_was_answered_counts(budget):
    oracle = NoisyOracle(TableOracle(U), std=0.1)
    with pytest.warns() if budget < 2 else _nothing():
        found = run(repeated_adaptively(maker(), 3), oracle, budget=budget)
    assert found.n_queries == budget
    assert not found.complete
    assert_allclose(found.clustering.memberships.sum(axis=1), 1.0)


def test_no_question_is_asked_twice_under_one_number():
    found = run(repeated_adaptively(maker(), 4), NoisyOracle(TableOracle(U), std=0.1))
    keys = [(a.items, a.cluster, a.repeat) for a in found.history]
    assert len(set(keys)) == len(keys)
    for (_, items, cluster), count in questions(found).items():
        repeats = [a.repeat for a in found.history if (a.items, a.cluster) == (items, cluster)]
        assert sorted(repeats) == list(range(count))


def test_answers_that_are_contradicted_are_asked_again_first():
    class Slips:
        """Wrong at the first asking about some items."""

        def __init__(self):
            self.table, self.slips = NoisyOracle(TableOracle(U), std=0.03), set(range(0, 90, 9))

        def answer(self, queries):
            answers = self.table.answer(queries)
            wrong = (queries.repeat == 0) & np.isin(queries.items, list(self.slips))
            return np.where(wrong, (answers + 0.5) % 1.0, answers)

    noisy = maker(TwoPhase(sample_size=40, noise="auto"))
    first = run(noisy(), Slips())
    result = run(repeated_adaptively(noisy, 2), Slips())
    again = [a for a in result.history if a.repeat > 0][: len(first.history) // 4]
    wrong = {(a.items[0], a.cluster) for a in first.history if a.items[0] % 9 == 0}
    asked_again = {(a.items[0], a.cluster) for a in again}
    assert len(wrong) >= 5
    assert len(wrong & asked_again) >= 0.8 * len(wrong)
    off = np.abs(result.clustering.memberships - U).mean()
    assert off < np.abs(first.clustering.memberships - U).mean()


def test_who_cannot_say_is_not_asked_for_ever():
    class Shy:
        def answer(self, queries):
            answers = NoisyOracle(TableOracle(U), std=0.1).answer(queries)
            return np.where(queries.items % 5 == 0, np.nan, answers)

    found = run(repeated_adaptively(maker(), 3), Shy())
    assert max(questions(found).values()) < 20
    assert found.n_queries <= 3 * len(questions(found))


def test_the_same_seed_and_answers_ask_the_same():
    runs = [
        run(repeated_adaptively(maker(), 3), NoisyOracle(TableOracle(U), std=0.1)) for _ in range(2)
    ]
    assert list(runs[0].history) == list(runs[1].history)
    assert (runs[0].clustering.memberships == runs[1].clustering.memberships).all()


def test_a_plan_that_asks_nothing_is_left_alone():
    def make():
        return TwoPhase(sample_size=5).plan(X, 1, fuzzifier=2.0, rng=np.random.default_rng(0))

    assert run(repeated_adaptively(make, 3), TableOracle(np.ones((90, 1)))).n_queries == 0


def test_what_is_no_number_of_times_is_refused():
    with pytest.raises(ParameterError, match="'times' parameter of repeated_adaptively"):
        repeated_adaptively(maker(), 0)


class _nothing:  # noqa: N801 - stands for contextlib.nullcontext
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


def test_memberships_are_asked_as_memberships():
    found = run(repeated_adaptively(maker(), 2), NoisyOracle(TableOracle(U), std=0.1))
    assert {a.kind for a in found.history} == {MembershipQueries.kind}
