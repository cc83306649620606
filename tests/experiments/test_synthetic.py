"""Figure 1 in small: the paper's sizes, both settings, all curves."""

import numpy as np
import pytest

from experiments.synthetic import EQUAL, PAPER, bin_size, cell, make_far_cluster, paper_strategies

ARGUMENTS = {
    "panel": "a, nu = 200", "x": 5, "first": 200, "other": 1000, "nu": 200, "runs": 4, "seed": 0
}  # fmt: skip


@pytest.fixture(scope="module")
def four():
    return {(s.setting, s.curve): s for s in cell(k=4, **ARGUMENTS)}


def test_sizes_are_the_papers():
    found = paper_strategies(2000, 4)
    assert found["two-phase, faithful"].sample_size == 2000
    sequential = found["sequential, faithful"]
    assert (sequential.sample_size, sequential.bin_size) == (800, 80)
    assert (sequential.coarse_precision, sequential.precision) == (0.1, 0.1)
    assert [name for name, s in found.items() if s.faithful] == [
        "two-phase, faithful",
        "sequential, faithful",
    ]


def test_two_clusters_are_among_the_curves_at_two_only():
    assert {"two clusters, faithful", "two clusters, our order"} <= set(paper_strategies(60, 2))
    assert not [name for name in paper_strategies(60, 3) if name.startswith("two clusters")]


@pytest.mark.parametrize(("m", "r"), [(800, 80), (273, 27), (7, 1), (1, 1)])
def test_r_is_a_tenth_of_m_and_at_least_one(m, r):
    assert bin_size(m) == r


def test_every_curve_is_in_both_settings_with_all_runs(four):
    curves = {curve for setting, curve in four if setting == PAPER}
    assert curves == {curve for setting, curve in four if setting == EQUAL}
    assert {"two-phase, faithful", "sequential, our order", "no questions"} <= curves
    assert {len(s.values) for (setting, _), s in four.items() if setting != "beta"} == {4}


def test_equal_questions_are_equal(four):
    wanted = np.mean(four[PAPER, "two-phase, faithful"].queries)
    for (setting, curve), series in four.items():
        if setting == EQUAL and curve != "no questions":
            assert np.mean(series.queries) == pytest.approx(wanted, rel=0.03), curve


def test_the_papers_sizes_do_not_cost_the_same(four):
    ratio = np.mean(four[PAPER, "sequential, faithful"].queries) / np.mean(
        four[PAPER, "two-phase, faithful"].queries
    )
    assert ratio < 0.9


def test_a_fit_without_questions_finds_the_papers_target(four):
    assert max(four[PAPER, "no questions"].values) < 0.1
    assert min(four[PAPER, "two-phase, faithful"].values) > 1.0


def test_beta_is_about_what_the_paper_says(four):
    assert four["beta", "target"].values[0] == pytest.approx(4 / (1 + 3 * 5), rel=0.05)


def test_two_clusters_run_at_k_2():
    curves = {s.curve for s in cell(k=2, **ARGUMENTS) if s.setting == EQUAL}
    assert {"two clusters, faithful", "two clusters, our order"} <= curves


def test_the_far_cluster_is_the_papers_synthetic_data():
    X, means = make_far_cluster(4, first_size=3000, other_size=6000, rng=np.random.default_rng(1))
    assert X.shape == (21_000, 10)
    gaps = np.abs(means[0][:, None] - means[1:].ravel())
    assert gaps.min() >= 1000.0  # every coordinate from every other
    own = np.repeat(np.arange(4), [3000, 6000, 6000, 6000])
    assert np.allclose((X - means[own]).std(axis=0), 20.0, rtol=0.03)
    for j in range(4):
        assert np.allclose(X[own == j].mean(axis=0), means[j], atol=2.0)


def test_the_same_generator_gives_the_same_means_for_all_sizes():
    first, second = (
        make_far_cluster(3, first_size=5, other_size=size, rng=np.random.default_rng(2))[1]
        for size in (5, 50)
    )
    assert (first == second).all()
