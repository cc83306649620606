"""Merged clusters and the bound on the fuzzifier."""

import numpy as np
import pytest

from askmeans.fuzzy.lloyd import fuzzifier_bound, merged_clusters
from askmeans.fuzzy.passes import ArrayEngine, Problem, RowThreads


def bound(X, weights=()):
    X = np.asarray(X, dtype=float)
    with RowThreads(len(X), 1) as threads:
        engine = ArrayEngine(X, np.asarray(weights, dtype=float), threads)
        return fuzzifier_bound(Problem.of(engine))


@pytest.mark.parametrize("d", [3, 4, 10, 50])
def test_items_alike_in_all_directions_bound_the_fuzzifier_by_d_over_d_minus_two(d):
    X = np.vstack([np.eye(d), -np.eye(d)])
    assert bound(X) == pytest.approx(d / (d - 2))


def test_items_along_a_line_set_no_bound():
    assert bound([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]]) == np.inf
    assert bound([[1.0, 1.0], [1.0, 1.0]]) == np.inf


def test_weights_count_in_the_bound():
    X = np.vstack([np.eye(4), -np.eye(4)])
    assert bound(np.repeat(X, 2, axis=0)) == pytest.approx(bound(X, np.full(8, 2.0)))
    assert bound(X, [9, 1, 1, 1] * 2) == np.inf


def test_merged_clusters_are_named_in_pairs():
    U = np.array([[0.2, 0.2, 0.4, 0.2], [0.1, 0.1, 0.7, 0.1], [0.3, 0.3, 0.1, 0.3]])
    assert merged_clusters(U, np.empty(0)) == [(0, 1), (0, 3), (1, 3)]
    assert merged_clusters(U[:, :1], np.empty(0)) == []


def test_clusters_that_differ_on_one_item_in_ten_are_not_merged():
    U = np.full((10, 2), 0.5)
    U[0] = [0.8, 0.2]
    assert merged_clusters(U, np.empty(0)) == []
    assert merged_clusters(U, np.r_[0.0, np.ones(9)]) == [(0, 1)]
