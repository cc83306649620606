"""Algorithm 4: one centre after the other, from integer bins, weighed by what is left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from soaking import in_soak

from askmeans import Sequential, TwoPhase, run
from askmeans.datasets import make_cores_and_arms
from askmeans.oracles import TableOracle
from askmeans.paper.algorithms import draw_from, largest
from askmeans.paper.sampling import CenterEstimate


def ask(X, U, seed=0, fuzzifier=2.0, strategy=Sequential, **parameters):
    plan = strategy(**parameters).plan(
        X, U.shape[1], fuzzifier=fuzzifier, rng=np.random.default_rng(seed)
    )
    return run(plan, TableOracle(U))


@pytest.fixture(scope="module")
def listing(membership_listing, evened_listing):
    """Algorithm 4 line by line, with note N15: the clustering, and raw queries by phase."""

    def algorithm_4(X, U, *, m, r, eta_1, eta_2, fuzzifier, seed):
        n, k = U.shape
        rng = np.random.default_rng(seed)
        top = int(1 / eta_1 + 1e-9)
        S = rng.integers(n, size=m)  # lines 1-2
        weights = U[S] ** fuzzifier
        processed = [int(weights.sum(axis=0).argmax())]  # line 3
        centers = np.empty((k, X.shape[1]))
        mine = weights[:, processed[0]]
        centers[processed[0]] = mine @ X[S] / mine.sum()  # line 4
        explained = np.zeros(n, dtype=int)
        raw = {"sampling": m * k, "coarse search": 0, "bins": 0, "search": 0}
        for _ in range(k - 1):  # line 5
            t = processed[-1]
            levels, queries = membership_listing(X, centers[t], U[:, t], eta_1)  # line 6
            raw["coarse search"] += queries
            explained = np.minimum(explained + levels, top)
            left = [j for j in range(k) if j not in processed]
            total, moment = np.zeros(k), np.zeros((k, X.shape[1]))
            for s in range(top + 1):  # lines 7-10
                bin_s = np.flatnonzero(explained == s)
                if len(bin_s) == 0:
                    continue
                Y = bin_s if len(bin_s) <= r else bin_s[rng.integers(len(bin_s), size=r)]
                raw["bins"] += len(Y) * len(left)
                for j in left:
                    w = len(bin_s) / len(Y) * U[Y, j] ** fuzzifier
                    total[j] += w.sum()
                    moment[j] += w @ X[Y]
            t = max(left, key=lambda j: total[j])  # lines 11-12
            centers[t] = moment[t] / total[t]
            processed.append(t)
        grid = np.empty((n, k))
        for j in range(k):  # lines 14-15
            levels, queries = membership_listing(X, centers[j], U[:, j], eta_2)
            grid[:, j] = levels * eta_2
            raw["search"] += queries
        return centers, evened_listing(grid), raw  # line 16

    return algorithm_4


@pytest.mark.parametrize(
    ("k", "eta_1", "eta_2", "fuzzifier"),
    [(2, 0.1, 0.1, 2.0), (3, 0.1, 0.05, 1.5), (4, 0.3, 0.1, 1.0)],
)
def test_faithful_runs_are_the_listing_line_by_line(
    listing, fuzzy_target, k, eta_1, eta_2, fuzzifier
):
    for seed in range(5):
        X, U = fuzzy_target(150, k, seed=seed)
        result = ask(
            X, U, seed, fuzzifier=fuzzifier, sample_size=40, bin_size=7,
            coarse_precision=eta_1, precision=eta_2, faithful=True,
        )  # fmt: skip
        centers, memberships, raw = listing(
            X, U, m=40, r=7, eta_1=eta_1, eta_2=eta_2, fuzzifier=fuzzifier, seed=seed
        )
        assert_allclose(result.clustering.centers, centers, atol=1e-12)
        assert_allclose(result.clustering.memberships, memberships, atol=1e-12)
        assert result.clustering.diagnostics.queries_raw == raw


@pytest.mark.parametrize("seeds", [range(25), in_soak(range(25, 100))])
def test_planted_clusters_are_found_to_eps_and_eta_with_every_seed(seeds):
    # Cores of 600, 400 and 200 items with arms of 100, m = 1,000, r = 300, eta_1 = eta_2 = .1.
    errors, off = [], []
    for seed in seeds:
        planted = make_cores_and_arms([600, 400, 200], rng=np.random.default_rng(seed))
        found = ask(
            planted.X, planted.memberships, seed, sample_size=1000, bin_size=300, faithful=True
        )
        errors.append(np.abs(found.clustering.memberships - planted.memberships).max())
        off.append(np.linalg.norm(found.clustering.centers - planted.centers, axis=1).max())
    assert max(errors) <= 0.1  # measured: .067
    assert max(off) <= 0.1  # eps


def test_a_bin_no_larger_than_r_is_asked_in_full_and_once_note_n15():
    members = np.array([3, 5, 8])
    rng = np.random.default_rng(0)
    assert draw_from(members, 3, rng) is members
    assert draw_from(members, 50, rng) is members
    drawn = draw_from(members, 2, rng)
    assert len(drawn) == 2
    assert set(drawn) <= set(members)


def test_bins_asked_in_full_give_the_centers_themselves_note_n15(fuzzy_target):
    X, U = fuzzy_target(80, 3)
    result = ask(X, U, sample_size=10, bin_size=80).clustering
    weights = U**2.0
    exact = weights.T @ X / weights.sum(axis=0)[:, None]
    off = np.linalg.norm(result.centers - exact, axis=1)
    assert (np.sort(off) < [1e-12, 1e-12, np.inf]).all()  # all but the first, which was sampled
    assert np.sort(result.diagnostics.center_radius)[:2].tolist() == [0.0, 0.0]


def test_bins_are_weighed_by_their_size_not_by_r_note_n15():
    # In the last two bins there are 1 and 2 items, fewer than r = 5: |X_s| / r would discount
    # them. They are all of the second cluster, so its centre would be far off.
    X = np.concatenate([np.zeros(200), [10.0, 20.0, 20.0]])[:, None]
    U = np.column_stack([np.ones(203), np.zeros(203)])
    U[:200, 1], U[200, 1], U[201:, 1] = 0.05, 0.6, 1.0
    U[:, 0] = 1.0 - U[:, 1]
    result = ask(X, U, sample_size=50, bin_size=5, fuzzifier=1.0, order="distance")
    expected = U[:, 1] @ X / U[:, 1].sum()
    assert_allclose(result.clustering.centers[1], expected)


def test_every_cluster_left_is_asked_about_in_each_bin_note_n15(fuzzy_target):
    X, U = fuzzy_target(60, 4)
    raw = ask(X, U, sample_size=20, bin_size=60, faithful=True).clustering.diagnostics.queries_raw
    assert raw["bins"] == 60 * (3 + 2 + 1)


def test_sums_above_one_fall_into_the_top_bin_note_n15(listing, fuzzy_target):
    # Three clusters explained coarsely, by distance, sum to more than one for some items.
    X, U = fuzzy_target(200, 4, seed=2)
    result = ask(X, U, sample_size=50, bin_size=1, coarse_precision=0.25, faithful=True)
    raw = listing(X, U, m=50, r=1, eta_1=0.25, eta_2=0.1, fuzzifier=2.0, seed=0)[2]
    assert result.clustering.diagnostics.queries_raw == raw
    assert raw["bins"] <= 5 * 3 + 5 * 2 + 5  # never more bins than there are levels


def test_a_small_cluster_is_found_more_surely_than_by_one_sample():
    # 20 of 2,030 items: a sample of 100 holds one of them, a bin of its own all.
    errors = {Sequential: [], TwoPhase: []}
    for seed in range(20):
        planted = make_cores_and_arms([1200, 780, 20], rng=np.random.default_rng(seed))
        sizes = {Sequential: {"sample_size": 100}, TwoPhase: {"sample_size": 400}}
        for strategy, size in sizes.items():
            found = ask(planted.X, planted.memberships, seed, strategy=strategy, **size).clustering
            errors[strategy].append(np.linalg.norm(found.centers[2] - planted.centers[2]))
    assert np.mean(errors[Sequential]) < np.mean(errors[TwoPhase]) / 3


def test_a_cluster_that_the_sample_missed_is_left_to_the_bins():
    X = np.concatenate([np.random.default_rng(0).normal(size=(998, 1)), [[20.0], [20.0]]])
    U = np.eye(2)[[0] * 998 + [1] * 2]
    missed = 0
    for seed in range(10):
        result = ask(X, U, seed, sample_size=20)
        missed += not np.isin(np.random.default_rng(seed).integers(1000, size=20), [998, 999]).any()
        assert result.clustering.diagnostics.queries_raw["sampling"] == 20  # not drawn again
        assert_allclose(result.clustering.centers[1], [20.0])
    assert missed >= 9


def test_the_largest_cluster_has_the_largest_weight_and_of_several_the_lowest_number():
    def weighing(weight):
        return CenterEstimate(center=np.zeros(1), weight=weight, effective_size=1.0, radius=0.0)

    assert largest({0: weighing(1.0), 1: weighing(3.0), 2: weighing(2.0)})[0] == 1
    assert largest({2: weighing(3.0), 1: weighing(3.0), 0: None})[0] == 1
    assert largest({0: None, 1: None}) is None
