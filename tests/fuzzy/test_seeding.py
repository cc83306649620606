"""Seeds: the canonical order, the laws they are drawn by, and what does not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from askmeans.fuzzy import seeding
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.fuzzy.passes import ArrayEngine, Problem, RowThreads
from askmeans.fuzzy.seeding import canonical_order, draw_seeds

SEEDINGS = ("k-means++", "fuzzy++", "random")  # that look at every item


def draw(X, k, how, seed=0, weights=None, fuzzifier=2.0):
    """Seeds in the data's own coordinates."""
    X = np.asarray(X, dtype=float)
    weights = np.empty(0) if weights is None else np.asarray(weights, dtype=float)
    with RowThreads(len(X), 1) as threads:
        problem = Problem.of(ArrayEngine(X, weights, threads))
        seeds = draw_seeds(
            problem,
            k,
            canonical_order(X),
            np.random.default_rng(seed),
            how=how,
            fuzzifier=fuzzifier,
        )
        return problem.frame.outer(seeds)


@given(hnp.arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 4)),
                  elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0])))  # fmt: skip
def test_canonical_order_sorts_rows_by_value(X):
    assert canonical_order(X).tolist() == np.lexsort(X.T[::-1]).tolist()


@pytest.mark.parametrize("how", SEEDINGS)
def test_seeds_are_items_and_no_item_twice(how):
    X = np.random.default_rng(0).normal(size=(30, 2))
    for seed in range(20):
        seeds = draw(X, 30, how, seed)
        assert np.allclose(np.sort(seeds, axis=0), np.sort(X, axis=0))


@pytest.mark.parametrize("how", SEEDINGS)
def test_permuting_the_items_changes_no_seed(how):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, size=(60, 3)).astype(float)
    for seed in range(10):
        assert np.allclose(draw(X, 4, how, seed), draw(rng.permutation(X), 4, how, seed))


@pytest.mark.parametrize("how", SEEDINGS)
def test_an_item_of_weight_three_is_an_item_written_three_times(how):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    counts = rng.integers(0, 4, size=40)
    for seed in range(10):
        weighted = draw(X, 4, how, seed, weights=counts)
        assert np.allclose(weighted, draw(np.repeat(X, counts, axis=0), 4, how, seed))


@pytest.mark.parametrize("how", SEEDINGS)
def test_an_item_without_weight_is_never_a_seed(how):
    X = [[0.0], [1.0], [2.0], [1000.0]]
    for seed in range(30):
        assert 1000.0 not in draw(X, 3, how, seed, weights=[1, 1, 1, 0])


@pytest.mark.parametrize("how", SEEDINGS)
def test_fewer_distinct_items_than_clusters_still_gives_seeds(how):
    seeds = draw([[1.0], [1.0], [5.0]], 3, how)
    assert set(seeds.ravel()) == {1.0, 5.0}


def test_k_means_plus_plus_reaches_far_clusters_that_random_seeds_miss():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(970, 1)), [[1e3]] * 10, [[2e3]] * 10, [[3e3]] * 10])

    def hits(how):
        return np.mean([(draw(X, 4, how, seed) > 500).sum() == 3 for seed in range(50)])

    assert hits("k-means++") == 1.0
    assert hits("fuzzy++") == 1.0
    assert hits("random") < 0.1


def test_fuzzy_seeds_follow_the_items_part_of_the_objective():
    # Two clusters: the second seed's candidates, two of which the better is kept, are drawn in
    # proportion to the parts. Simulated here with the plain model; 4,000 draws, margin 4 sigma.
    X = np.array([[0.0], [1.0], [2.0], [4.0], [8.0]])
    alpha, n_draws = 1.5, 4000
    counts = np.zeros(5)
    for seed in range(n_draws):
        counts[np.searchsorted(X.ravel(), draw(X, 2, "fuzzy++", seed, fuzzifier=alpha)[1, 0])] += 1
    expected = np.zeros(5)
    for first in range(5):
        parts = (X.ravel() - X[first, 0]) ** 2
        chances = parts / parts.sum()
        totals = []
        for second in range(5):
            centers = X[[first, second]]
            U = closed_form_memberships(X, centers, alpha)
            totals.append((U**alpha * (X - centers.T) ** 2).sum())
        for a in range(5):
            for b in range(5):
                best = a if totals[a] <= totals[b] else b
                expected[best] += chances[a] * chances[b] / 5
    sigma = np.sqrt(expected * (1 - expected) / n_draws)
    assert (np.abs(counts / n_draws - expected) < 4 * sigma + 1e-12).all()


def test_the_last_bits_of_a_sum_do_not_choose_among_seeds(monkeypatch):
    # The corners of a square are as good as each other, once one of them is a seed.
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 5, axis=0)
    totals = seeding.seed_totals
    drawn = set()
    for seed in range(8):
        noise = np.random.default_rng(seed)

        def rounded(*arguments, noise=noise):
            found = totals(*arguments)
            return found * (1.0 + 1e-14 * noise.normal(size=len(found)))

        monkeypatch.setattr(seeding, "seed_totals", rounded)
        drawn.add(tuple(draw(X, 4, "k-means++", seed=3).ravel().tolist()))
    assert len(drawn) == 1
