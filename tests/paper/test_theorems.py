"""The theorems' sizes: values worked by hand, how they grow, and what they refuse."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askmeans import Sequential, TwoClusters, TwoPhase, budgets, run
from askmeans.exceptions import ParameterError
from askmeans.oracles import TableOracle

GOAL = {"R": 1.0, "eps": 0.5, "delta": 0.1}


def test_theorem_1_by_hand():
    # (1 * 3^2 / (.5 * .5^2))^4 * 2 * ln(30) = 72^4 * 2 * 3.4012
    sizes = budgets.two_phase_sizes(1024, 3, beta=0.5, eta=0.1, c=2.0, **GOAL)
    assert sizes.sample_size == math.ceil(72**4 * 2 * math.log(30))
    # six samples at worst; three clusters, ten thresholds, one of 1,025 ranks
    assert sizes.n_queries_raw == 6 * 3 * sizes.sample_size + 3 * 10 * 11
    assert sizes.n_queries == 3 * 1024  # there is no more to ask
    assert sizes.bin_size == 0


def test_theorem_1_counts_features_in_the_time_only():
    one, many = (budgets.two_phase_sizes(100, 2, d=d, beta=1.0, eta=0.1, **GOAL) for d in (1, 50))
    assert one.n_queries_raw == many.n_queries_raw
    assert many.operations > one.operations


def test_theorem_2_by_hand():
    sizes = budgets.sequential_sizes(1024, 2, beta=0.5, eta_1=0.25, eta_2=0.1, **GOAL)
    assert sizes.sample_size == math.ceil(8**4 * math.log(40))
    assert sizes.bin_size == math.ceil(2**8 * 2**4 * 2**4 * math.log(8 / 0.025))
    # one round about one cluster: all 1,024 items, for five bins of r would be more; a search for
    # four thresholds of one cluster, then for ten of two
    assert sizes.n_queries_raw == 2 * sizes.sample_size + 1024 + 4 * 11 + 2 * 10 * 11
    small = budgets.sequential_sizes(1024, 2, beta=0.5, eta_1=0.25, eta_2=0.1, c=1e-4, **GOAL)
    assert small.n_queries_raw == 2 * small.sample_size + 5 * small.bin_size + 4 * 11 + 2 * 10 * 11


def test_theorem_2_printed_and_corrected_differ_as_note_n5_says():
    corrected = budgets.sequential_sizes(1000, 4, beta=0.5, eta_2=0.01, eta_1=0.04, **GOAL)
    printed = budgets.sequential_sizes(
        1000, 4, beta=0.5, eta_2=0.01, eta_1=0.04, form="printed", **GOAL
    )
    assert corrected.bin_size == printed.bin_size
    many = dict(n=10**9, k=4, beta=0.5, eta_2=0.01, eta_1=0.04, c=1e-4, **GOAL)
    theirs, ours = (
        budgets.sequential_sizes(**many, form=form) for form in ("printed", "corrected")
    )
    # k - 1 rounds about 3, 2 and 1 clusters, 26 bins; the printed count has 25 bins of k
    assert ours.n_queries_raw / theirs.n_queries_raw == pytest.approx(6 * 26 / (4 * 25), rel=0.05)
    with pytest.raises(ParameterError, match=r"'eta_1' .* \(0, 0.04167\] .* \(corrected form\)"):
        budgets.sequential_sizes(1000, 4, beta=0.5, eta_2=0.01, eta_1=0.2, **GOAL)
    budgets.sequential_sizes(1000, 4, beta=0.5, eta_2=0.01, eta_1=0.2, form="printed", **GOAL)


def test_theorem_3_by_hand_and_without_beta():
    sizes = budgets.two_clusters_sizes(1024, eta=0.1, **GOAL)
    assert sizes.sample_size == math.ceil(16 * math.log(40))
    assert sizes.bin_size == math.ceil(16 * math.log(200))
    # both memberships of the sample; 29 steps of a search and at most 11 special items; these and
    # r of each bin or rest; a search for ten thresholds of either cluster
    geometric = 1 + 29 * 10 + 29 * 11
    in_bins = 1024  # fewer than 30 r
    assert sizes.n_queries_raw == 2 * sizes.sample_size + geometric + in_bins + 2 * 10 * 11
    assert sizes.n_queries == sizes.n_queries_raw < 2 * 1024


def sized(theorem, n, k, eta, c):
    """A theorem's sizes, and the algorithm to the letter with them."""
    goal = {"R": 1.0, "eps": 1.0, "delta": 0.1, "c": c}
    if theorem == 1:
        sizes = budgets.two_phase_sizes(n, k, beta=1.0, eta=eta, **goal)
        return sizes, TwoPhase(sample_size=sizes.sample_size, precision=eta, faithful=True)
    if theorem == 2:
        width = 1.0 / (k * (k - 1))
        sizes = budgets.sequential_sizes(n, k, beta=1.0, eta_1=width, eta_2=eta, **goal)
        strategy = Sequential(
            sample_size=sizes.sample_size, bin_size=sizes.bin_size, coarse_precision=width,
            precision=min(eta, width), faithful=True,
        )  # fmt: skip
        return sizes, strategy
    sizes = budgets.two_clusters_sizes(n, eta=eta, **goal)
    strategy = TwoClusters(
        sample_size=sizes.sample_size, bin_size=sizes.bin_size, precision=eta, faithful=True
    )
    return sizes, strategy


def faithful_run(strategy, n, k, target, seed):
    """Items and a target of a kind, and what the algorithm asks about them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if target == "soft":
        U = rng.dirichlet(np.full(k, 0.5), size=n)
    elif target == "rare":  # one item belongs to the last clusters: samples miss it
        U = np.eye(k)[np.minimum(np.arange(n), k - 1)[::-1]]
    else:  # memberships to the second cluster that halve from item to item, as bins do
        small = 0.5 ** np.linspace(0.0, 40.0, n)
        X = np.column_stack([-np.arange(n), np.zeros(n)])
        U = np.column_stack([1.0 - small, small, *np.zeros((k - 2, n))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clusters that a small sample misses
        return run(strategy.plan(X, k, fuzzifier=2.0, rng=rng), TableOracle(U))


@pytest.mark.parametrize("theorem", [1, 2, 3])
@pytest.mark.parametrize("target", ["soft", "rare", "halving"])
@settings(max_examples=25)
@given(
    n=st.integers(5, 300),
    k=st.integers(2, 4),
    eta=st.sampled_from([0.03, 0.1, 0.35, 1.0]),
    c=st.sampled_from([1e-6, 1e-3, 0.05, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_faithful_runs_never_ask_more_than_the_sizes_say(theorem, target, n, k, eta, c, seed):
    k, c = (2, c) if theorem == 3 else (k, min(c, 1e-3))
    sizes, strategy = sized(theorem, n, k, eta, c)
    result = faithful_run(strategy, n, k, target, seed)
    assert result.n_queries_raw <= sizes.n_queries_raw
    assert result.n_queries <= sizes.n_queries


@pytest.mark.parametrize("theorem", [1, 2, 3])
def test_the_most_raw_questions_are_not_far_from_what_is_asked(theorem):
    """Within a factor of two and a half: no bound is so large that it says nothing."""
    share = 0.0
    for n in (63, 200):
        sizes, strategy = sized(theorem, n, 2, 0.1, 1e-3 if theorem < 3 else 1.0)
        for target in ("soft", "rare", "halving"):
            raw = faithful_run(strategy, n, 2, target, seed=0).n_queries_raw
            share = max(share, raw / sizes.n_queries_raw)
    assert share > 0.4


@pytest.mark.parametrize("eps", [0.5, 0.05])
def test_sharper_size_grows_with_the_square_of_the_precision_only(eps):
    halved = budgets.variance_size(3, R=1.0, beta=0.5, eps=eps / 2, delta=0.1)
    whole = budgets.variance_size(3, R=1.0, beta=0.5, eps=eps, delta=0.1)
    assert halved == pytest.approx(4 * whole, rel=1e-3)
    theirs = budgets.two_phase_sizes(100, 3, R=1.0, beta=0.5, eps=eps, eta=0.1, delta=0.1)
    assert whole < theirs.sample_size


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: budgets.two_phase_sizes(0, 2, beta=1.0, eta=0.1, **GOAL), "'n' parameter"),
        (lambda: budgets.two_phase_sizes(10, 0, beta=1.0, eta=0.1, **GOAL), "'k' parameter"),
        (lambda: budgets.two_phase_sizes(10, 2, beta=0.0, eta=0.1, **GOAL), "'beta' parameter"),
        (lambda: budgets.two_phase_sizes(10, 2, beta=1.1, eta=0.1, **GOAL), "Got 1.1"),
        (lambda: budgets.two_phase_sizes(10, 2, beta=1.0, eta=0.0, **GOAL), "'eta' parameter"),
        (
            lambda: budgets.two_phase_sizes(10, 2, R=0.0, eps=1.0, delta=0.1, beta=1.0, eta=0.1),
            "'R' parameter",
        ),
        (lambda: budgets.sequential_sizes(10, 1, beta=1.0, eta_2=0.1, **GOAL), "'k' parameter"),
    ],
)
def test_numbers_out_of_range_are_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
