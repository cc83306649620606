"""The theorems' sizes: values worked by hand, how they grow, and what they refuse."""

import math

import pytest

from askmeans import budgets
from askmeans.exceptions import ParameterError

GOAL = {"R": 1.0, "eps": 0.5, "delta": 0.1}


def test_theorem_1_by_hand():
    # (1 * 3^2 / (.5 * .5^2))^4 * 2 * ln(30) = 72^4 * 2 * 3.4012
    sizes = budgets.two_phase_sizes(1024, 3, beta=0.5, eta=0.1, c=2.0, **GOAL)
    assert sizes.sample_size == math.ceil(72**4 * 2 * math.log(30))
    assert sizes.n_queries == 3 * sizes.sample_size + 3 * 10 * 10
    assert sizes.bin_size is None


def test_theorem_1_counts_features_in_the_time_only():
    one, many = (budgets.two_phase_sizes(100, 2, d=d, beta=1.0, eta=0.1, **GOAL) for d in (1, 50))
    assert one.n_queries == many.n_queries
    assert many.operations > one.operations


def test_theorem_2_by_hand():
    sizes = budgets.sequential_sizes(1024, 2, beta=0.5, eta_1=0.25, eta_2=0.1, **GOAL)
    assert sizes.sample_size == math.ceil(8**4 * math.log(40))
    assert sizes.bin_size == math.ceil(2**8 * 2**4 * 2**4 * math.log(8 / 0.025))
    # one round, five bins, two entries; searches 2 * 10 / .25 + 2 * 10 / .1
    bins = 5 * 2 * sizes.bin_size
    assert sizes.n_queries == 2 * sizes.sample_size + bins + 80 + 200


def test_theorem_2_printed_and_corrected_differ_as_note_n5_says():
    corrected = budgets.sequential_sizes(1000, 4, beta=0.5, eta_2=0.01, eta_1=0.04, **GOAL)
    printed = budgets.sequential_sizes(
        1000, 4, beta=0.5, eta_2=0.01, eta_1=0.04, form="printed", **GOAL
    )
    assert corrected.bin_size == printed.bin_size
    assert 3 < (corrected.n_queries / printed.n_queries) < 4  # k - 1 rounds of k entries
    with pytest.raises(ParameterError, match=r"'eta_1' .* \(0, 0.04167\] .* \(corrected form\)"):
        budgets.sequential_sizes(1000, 4, beta=0.5, eta_2=0.01, eta_1=0.2, **GOAL)
    budgets.sequential_sizes(1000, 4, beta=0.5, eta_2=0.01, eta_1=0.2, form="printed", **GOAL)


def test_theorem_3_by_hand_and_without_beta():
    sizes = budgets.two_clusters_sizes(1024, eta=0.1, **GOAL)
    assert sizes.sample_size == math.ceil(16 * math.log(40))
    assert sizes.bin_size == math.ceil(16 * math.log(200))
    assert sizes.n_queries == sizes.sample_size + math.ceil(160 * math.log(100) + 100 + 100)


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
