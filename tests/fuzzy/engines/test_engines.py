"""Engines: what a pass over blocks returns, whatever holds the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans._util.progress import progress_callback, reporting_progress
from askmeans.fuzzy import lloyd
from askmeans.fuzzy.engines import centers_are_close, clusters_are_small
from askmeans.fuzzy.engines.disk import DiskEngine, MappedRows
from askmeans.fuzzy.passes import (
    ArrayEngine,
    Problem,
    RowThreads,
    pick,
)


def rows_of(X, weights, start):
    return start, len(X), len(weights)


def test_blocks_come_in_row_order_with_their_first_rows_numbers():
    X, weights = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    sources = [MappedRows(X[:4], 4), MappedRows(X[4:], 6)]
    engine = DiskEngine(sources, X.shape, X.dtype, memory=2**30)
    engine.weights = weights
    assert engine.map(rows_of, numbered=True) == [(0, 4, 4), (4, 6, 6)]
    with RowThreads(10, 1) as threads:
        assert ArrayEngine(X, weights, threads).map(rows_of, numbered=True) == [(0, 10, 10)]


def test_rows_are_taken_by_number_from_the_blocks_that_have_them():
    X, weights = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    engine = DiskEngine(
        [MappedRows(X[:4], 4), MappedRows(X[4:], 6)], X.shape, X.dtype, memory=2**30
    )
    engine.weights = weights
    items, heavy = engine.take(np.array([1, 4, 9]))
    assert items.tolist() == X[[1, 4, 9]].tolist()
    assert heavy.tolist() == [1.0, 4.0, 9.0]
    assert engine.take(np.array([], dtype=np.intp))[0].shape == (0, 2)


def test_picking_takes_only_rows_of_the_block():
    items, _ = pick(np.arange(6.0).reshape(3, 2), np.empty(0), 10, np.array([2, 11, 12, 40]))
    assert items.tolist() == [[2.0, 3.0], [4.0, 5.0]]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_one_pass_with_a_sample_finds_the_frame_of_four(offset):
    X = np.random.default_rng(0).normal(size=(1000, 3)) * [1.0, 2.0, 3.0] + offset
    with RowThreads(len(X), 1) as threads:
        engine = ArrayEngine(X, np.empty(0), threads)
        careful, quick = Problem.of(engine), Problem.of(engine, sample=X[:50])
    assert_allclose(quick.frame.shift, careful.frame.shift, rtol=1e-12)
    assert quick.frame.scale == careful.frame.scale
    assert_allclose(quick.spread, careful.spread, rtol=1e-9)


def test_numbers_too_large_to_be_squared_still_have_a_frame():
    X = np.random.default_rng(0).normal(size=(100, 2)) * 1e200
    with RowThreads(len(X), 1) as threads:
        problem = Problem.of(ArrayEngine(X, np.empty(0), threads), sample=X[:10])
    assert 0.1 < problem.spread < 10.0


def test_who_watches_is_told_how_far_a_pass_is_and_nobody_else():
    X = np.arange(40.0).reshape(20, 2)
    engine = DiskEngine(
        [MappedRows(X[:5], 5), MappedRows(X[5:], 15)], X.shape, X.dtype, memory=2**30
    )
    seen = []
    with reporting_progress(seen.append):
        engine.map(rows_of, numbered=True)
    assert max(seen) == 1.0
    assert len(seen) == 2
    assert progress_callback() is None


@pytest.mark.parametrize("fuzzifier", [1.7, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_memberships_labels_and_objective_in_one_pass_are_those_of_three(fuzzifier, weighted):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(300, 3)).astype(np.float32), rng.normal(size=(4, 3))
    weights = rng.random(300) if weighted else np.empty(0)
    assigned = lloyd.Assignment(X, weights)
    objective = assigned(centers, fuzzifier)
    centers = centers.astype(np.float32)
    assert assigned.memberships.dtype == np.float32
    assert (assigned.memberships == lloyd.memberships(X, centers, fuzzifier)).all()
    assert (assigned.labels == lloyd.nearest_centers(X, centers)).all()
    assert objective == pytest.approx(lloyd.objective(X, centers, fuzzifier, weights))


CENTERS = np.array([[10.0, 0.0], [-10.0, 0.0]])


def test_items_much_nearer_to_their_centers_than_these_to_the_origin_are_small():
    totals = np.array([50.0, 50.0])  # items of squared norm 100, so 10,000 in all
    assert clusters_are_small(CENTERS, totals, 10.0)
    assert not clusters_are_small(CENTERS, totals, 1_000.0)


@pytest.mark.parametrize(("away", "expected"), [(0.1, True), (5.0, False), (0.0, False)])
def test_two_centers_near_to_each_other_are_close_unless_they_are_one(away, expected):
    assert centers_are_close(np.vstack([CENTERS, CENTERS[:1] + away])) is expected
