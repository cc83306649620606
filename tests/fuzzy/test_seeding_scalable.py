"""Starts on many rows: samples, and k-means|| that no cut into blocks changes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.fuzzy import lloyd
from askmeans.fuzzy.engines.disk import DiskEngine, MappedRows
from askmeans.fuzzy.passes import ArrayEngine, Problem, RowThreads
from askmeans.fuzzy.seeding import draw_far_rows, scalable_seeds, seeding_rows


def in_blocks(X, size):
    sources = [MappedRows(X[i : i + size], len(X[i : i + size])) for i in range(0, len(X), size)]
    return DiskEngine(sources, X.shape, X.dtype, memory=2**30)


def test_few_rows_are_all_looked_at_and_many_are_sampled():
    rng = np.random.default_rng(0)
    assert seeding_rows(50_000, 10, 8, rng) is None
    assert len(seeding_rows(20_000, 200, 5, rng)) == 2_500
    rows = seeding_rows(1_000_000, 10, 8, rng)
    assert len(np.unique(rows)) == len(rows) == 65536
    assert (np.diff(rows) > 0).all()
    assert rows.max() < 1_000_000


def test_a_sample_of_wide_rows_stays_small():
    rows = seeding_rows(50_000, 10_000, 3, np.random.default_rng(0))
    assert len(rows) * 10_000 * 8 <= 2**30


@pytest.mark.parametrize("size", [7, 64, 500])
def test_k_means_parallel_draws_the_same_seeds_however_rows_are_cut(size):
    X = np.random.default_rng(0).normal(size=(500, 3))
    with RowThreads(len(X), 1) as threads:
        whole = Problem.of(ArrayEngine(X, np.empty(0), threads))
        expected = scalable_seeds(whole, 4, np.random.default_rng(5))
        cut = Problem.of(in_blocks(X, size))
        assert_allclose(scalable_seeds(cut, 4, np.random.default_rng(5)), expected, atol=1e-9)


def test_k_means_parallel_finds_a_small_far_cluster_that_a_sample_may_miss():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20_000, 2)), rng.normal(size=(5, 2)) + 1000.0])
    problem = Problem.of(in_blocks(X, 4096))
    for seed in range(10):
        seeds = problem.frame.outer(scalable_seeds(problem, 2, np.random.default_rng(seed)))
        assert (seeds[:, 0] > 500).sum() == 1


def test_far_rows_are_drawn_in_proportion_to_weight_times_squared_distance():
    # The first of a draw: 2,000 draws, margin 4 sigma.
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    engine = in_blocks(X, 2)
    engine.weights = np.array([1.0, 4.0, 1.0, 0.0])
    frame = Problem.of(engine).frame
    rng = np.random.default_rng(0)
    drawn = [draw_far_rows(engine, frame, np.zeros((1, 1)), 1, rng)[0, 0] for _ in range(2000)]
    counts = np.array([np.sum(np.isclose(drawn, value)) for value in (0.0, 1.0, 2.0, 3.0)])
    assert counts[0] == counts[3] == 0
    assert abs(counts[1] / 2000 - 0.5) < 4 * np.sqrt(0.25 / 2000)


def test_fewer_rows_than_wanted_are_drawn_where_all_others_are_drawn_already():
    X = np.array([[0.0], [0.0], [5.0]])
    engine = in_blocks(X, 2)
    frame = Problem.of(engine).frame
    found = draw_far_rows(engine, frame, np.zeros((1, 1)), 10, np.random.default_rng(0))
    assert found.tolist() == [[5.0]]


def test_a_start_on_a_sample_leads_to_the_optimum_in_few_passes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 3)) + 5.0 * rng.integers(0, 4, size=(150_000, 1))
    options = {"fuzzifier": 2.0, "n_init": 1, "max_iter": 300, "weights": np.empty(0)}
    found = lloyd.fit(X, 4, init="k-means++", tol=1e-4, rng=np.random.default_rng(0), **options)
    best = lloyd.fit(X, 4, init=found.centers, tol=1e-8, rng=np.random.default_rng(0), **options)
    assert found.converged
    assert found.n_iter <= 6
    assert found.objective == pytest.approx(best.objective, rel=1e-6)
