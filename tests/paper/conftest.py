"""Parts of plans driven by hand, and the paper's listings written down once more, plainly."""

import numpy as np
import pytest
from similarity_runs import fuzzy
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from askmeans.queries import Ledger


@pytest.fixture(scope="session")
def drive():
    """Answer a part of a plan from a table of memberships; returns its result and the ledger."""

    def answer(asking, memberships):
        ledger = Ledger()
        try:
            queries = next(asking)
            while True:
                ledger.n_raw += len(queries)
                new = ledger.unanswered(queries)
                if len(new):
                    ledger.n_rounds += 1
                    ledger.record(new, memberships[new.items, new.clusters])
                queries = asking.send(ledger.answers(queries))
        except StopIteration as end:
            return end.value, ledger

    return answer


@pytest.fixture(scope="session")
def binary_search_listing():
    """Algorithm 3, from low = 0 (note N14): the last rank at or above x, and its queries."""

    def search(values, x):
        low, high, n_queries = 0, len(values), 0
        while low != high:
            mid = -(-(low + high) // 2)
            n_queries += 1
            if values[mid - 1] >= x - 1e-12:
                low = mid
            else:
                high = mid - 1
        return low, n_queries

    return search


@pytest.fixture(scope="session")
def membership_listing(binary_search_listing):
    """Algorithm 2: memberships to one cluster in units of eta, and the queries it took."""

    def membership(X, center, column, eta):
        order = np.argsort(np.linalg.norm(X - center, axis=1), kind="stable")
        levels, n_queries = np.zeros(len(X), dtype=int), 0
        for s in range(1, int(1 / eta + 1e-9) + 1):
            last, queries = binary_search_listing(column[order], s * eta)
            levels[order[:last]] = s
            n_queries += queries
        return levels, n_queries

    return membership


@pytest.fixture(scope="session")
def evened_listing():
    """Alg 1, line 6, after the loop over the clusters (note N11); nearest point of the simplex."""

    def evened(grid):
        rows = grid + (1.0 - grid.sum(axis=1, keepdims=True)) / grid.shape[1]
        for row in rows:
            # Bisection for what is taken from every entry, the rest cut at 0.
            low, high = row.min() - 1.0, row.max()
            for _ in range(100):
                middle = (low + high) / 2
                if np.maximum(row - middle, 0.0).sum() > 1.0:
                    low = middle
                else:
                    high = middle
            if row.min() < 0.0:
                row[:] = np.maximum(row - low, 0.0)
        return rows

    return evened


@pytest.fixture(scope="session")
def targets():
    """What fuzzy k-means finds in data that everybody knows."""
    scale = StandardScaler().fit_transform
    blobs = {k: make_blobs(150, centers=k, random_state=1)[0] for k in (3, 5, 8, 10)}
    return {
        "iris": fuzzy(load_iris().data, 3),
        "wine": fuzzy(scale(load_wine().data), 3),
        "breast cancer": fuzzy(scale(load_breast_cancer().data), 2)[::4],
    } | {f"blobs {k}": fuzzy(X, k) for k, X in blobs.items()}
