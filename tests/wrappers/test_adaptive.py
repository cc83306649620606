"""Asking again what matters: contradicted first, within the ceiling, never worse than a budget."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import Sequential, Stratified, TwoClusters, TwoPhase, run
from askmeans.exceptions import AskmeansWarning, ParameterError, RankError, StopAsking
from askmeans.fuzzy import closed_form_memberships
from askmeans.links import Link
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering, Predictor
from askmeans.scores import Scorer
from askmeans.wrappers import by_similarity, repeated_adaptively

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
X = CENTERS[RNG.integers(3, size=90)] + RNG.normal(size=(90, 2))
U = closed_form_memberships(X, CENTERS, 2.0)
STRATEGIES = {
    "stratified": (Stratified(max_items=20, precision=1e-9), 3),
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
    assert found.complete == (name != "stratified")  # which max_items ends


@pytest.mark.parametrize("budget", [0, 1, 30, 77, 100, 150])
def test_a_budget_is_a_ceiling_and_what_was_answered_counts(budget):
    oracle = NoisyOracle(TableOracle(U), std=0.1)
    with pytest.warns() if budget < 2 else _nothing():
        found = run(repeated_adaptively(maker(), 3), oracle, budget=budget)
    assert found.n_queries == budget
    assert not found.complete
    assert_allclose(found.clustering.memberships.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["two-phase", "sequential", "two-clusters"])
@pytest.mark.parametrize("more", [2, 25, 60, None])
def test_every_answer_held_is_used_wherever_it_stops(name, more):
    strategy, k = STRATEGIES[name]
    noisy = replace(strategy, noise="auto")
    oracle = NoisyOracle(TableOracle(target(k)), std=0.1)
    once = run(maker(noisy, k)(), oracle).n_queries
    budget = None if more is None else once + more
    found = run(repeated_adaptively(maker(noisy, k), 3), oracle, budget=budget)
    queries, _ = found.clustering.again
    used = set(zip(queries.items.tolist(), queries.clusters.tolist(), strict=True))
    assert used == {(a.items[0], a.cluster) for a in found.history}


def test_rows_that_follow_from_pairs_of_a_path_left_are_used():
    oracle = NoisyOracle(TableOracle(U), std=0.1)
    found = run(repeated_adaptively(maker(similar=True), 3, how="median"), oracle)
    partners = Counter()
    for items in {a.items for a in found.history if a.kind == "pair"}:
        partners.update(items)
    queries, _ = found.clustering.again
    assert min(partners.values()) >= 6
    assert set(queries.items.tolist()) == set(partners)


def test_a_stop_counts_what_was_reached():
    oracle = NoisyOracle(TableOracle(U), std=0.1)
    once = run(maker()(), oracle).n_queries
    found = run(repeated_adaptively(maker(), 3), oracle, budget=once + 10)
    assert found.clustering.diagnostics["repeats"] == pytest.approx((once + 10) / once)


def plan_of(batches, ending):
    """A plan that asks these batches, keeps the averages, and ends as told."""
    told = []
    try:
        for batch in batches:
            answers = yield batch
            told += [answers]
    except StopAsking:
        pass
    return ending(told)


def even(told):
    link = Link(knots=np.empty(0), values=np.empty(0))
    scorer = Scorer(centers=np.zeros((2, 1)), order="distance")
    return Clustering(
        centers=scorer.centers, memberships=np.full((4, 2), 0.5), complete=True,
        predictor=Predictor(scorer=scorer, links=(link, link)), diagnostics={"told": len(told)},
    )  # fmt: skip


def test_a_plan_that_better_answers_break_leaves_the_result_before():
    plays = []

    def breaks(told):
        plays.append(len(told))
        if np.ptp(told[0].each) > 0.1 or len(plays) > 2:
            raise RankError("one cluster only")
        return even(told)

    def make():
        return plan_of([MembershipQueries([0, 1, 2], [0, 0, 0])], breaks)

    oracle = NoisyOracle(TableOracle(np.full((4, 2), 0.5)), std=0.001)
    with pytest.warns(AskmeansWarning, match="one cluster only"):
        found = run(repeated_adaptively(make, 3), oracle)
    assert not found.complete
    assert found.clustering.diagnostics["told"] == 1


def test_a_play_that_a_stop_cuts_short_does_not_replace_a_longer_one():
    answers = iter([0, 1, 2, 3])

    def make():  # every play but the first wants to know something else first
        play = next(answers)
        first = [] if play < 2 else [MembershipQueries([3], [1])]
        return plan_of([*first, MembershipQueries([0, 1, 2], [0, 0, 0])], even)

    oracle = NoisyOracle(TableOracle(np.full((4, 2), 0.5)), std=0.1)
    found = run(repeated_adaptively(make, 3), oracle, budget=4)
    assert found.clustering.diagnostics["told"] == 1


def test_where_a_plan_does_not_say_what_is_contradicted_is_asked_again_first():
    class Slips:
        def answer(self, queries):
            told = NoisyOracle(TableOracle(np.full((40, 2), 0.5)), std=0.01).answer(queries)
            return np.where((queries.items == 17) & (queries.repeat == 0), 0.9, told)

    def make():
        asked = np.arange(40)
        ending = lambda told: replace(even(told), memberships=np.full((40, 2), 0.5))  # noqa: E731
        return plan_of([MembershipQueries(asked, np.zeros(40, dtype=np.intp))], ending)

    found = run(repeated_adaptively(make, 2), Slips())
    assert next(a for a in found.history if a.repeat > 0).items == (17,)


def test_answers_taken_at_their_word_are_fitted_to_see_which_to_ask_again():
    class Slips:
        def answer(self, queries):
            told = TableOracle(target(2)).answer(queries)
            wrong = (queries.items % 9 == 0) & (queries.repeat == 0)
            return np.where(wrong, (told + 0.5) % 1.0, told)

    two = maker(k=2)
    once = run(two(), Slips())
    wrong = {(a.items[0], a.cluster) for a in once.history if a.items[0] % 9 == 0}
    found = run(repeated_adaptively(two, 2), Slips())
    first = [a for a in found.history if a.repeat > 0][: len(wrong)]
    assert len(wrong) == 4
    assert {(a.items[0], a.cluster) for a in first} == wrong


def test_a_batch_without_questions_is_answered():
    nothing = np.empty(0, dtype=np.intp)

    def make():
        return plan_of([MembershipQueries(nothing, nothing)], even)

    found = run(repeated_adaptively(make, 3), TableOracle(np.full((4, 2), 0.5)))
    assert found.clustering.diagnostics["told"] == 1


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
