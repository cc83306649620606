"""When clusters merge, and how soft the clustering may be before they do.

Fuzzy k-means with a large fuzzifier can prefer all centres in one place, above all in many
dimensions, where distances differ little. That is the model's own optimum, not a failed search.
"""

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.even_rows import even_rows
from askmeans.fuzzy.problem import Problem

__all__ = ["fuzzifier_bound", "merged_clusters", "sample_rows"]

Floats = NDArray[np.float64]

_SOME = 8  # every eighth item


def sample_rows(n_items: int, width: int) -> NDArray[np.intp]:
    """Rows enough for the rules of thumb below: a matrix of them this wide takes at most 8 MiB."""
    return even_rows(n_items, max(100, min(10_000, (1 << 20) // width)))


def merged_clusters(
    memberships: NDArray[np.floating], weights: Floats, *, tolerance: float = 0.02
) -> list[tuple[int, int]]:
    """Pairs of clusters that the items cannot tell apart, the lower number first.

    Two clusters count as merged when the memberships to them differ by less than `tolerance` of
    their sum, over all items.
    """
    columns = np.ascontiguousarray(
        (memberships * weights[:, None] if weights.size else memberships).T
    )
    sizes = columns.sum(axis=1)
    merged = []
    for j in range(len(sizes) - 1):
        others = np.arange(j + 1, len(sizes))
        # Sums over all items, or over some, differ less: they tell most clusters apart.
        for some in (sizes[:, None], columns[:, ::_SOME], columns):
            distances = np.abs(some[others] - some[j]).sum(axis=1)
            others = others[distances < tolerance * (sizes[j] + sizes[others])]
        merged += [(j, int(other)) for other in others]
    return merged


def fuzzifier_bound(problem: Problem) -> float:
    """The fuzzifier from which on all centres in the mean of the data are a stable solution.

    With lambda the largest eigenvalue of the mean of z z' / |z|^2, z = x - mean, the bound is
    1 / (1 - 2 lambda), and infinite for lambda >= 1/2 (Yu, Cheng and Huang, 2004: Analysis of the
    weighting exponent in the FCM). Items in d directions alike have lambda = 1 / d, so the bound
    is d / (d - 2): in many dimensions only nearly hard clusters are safe.
    """
    engine = problem.engine
    items, weights = engine.take(sample_rows(engine.n_rows, engine.n_features))
    z = problem.frame.inner(items)
    weights = weights if weights.size else np.ones(len(items))
    lengths = np.linalg.norm(z, axis=1)
    weights = np.where(lengths > 0.0, weights, 0.0)
    if not weights.any():
        return np.inf
    directions = z / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    mean = (directions * weights[:, None]).T @ directions / weights.sum()
    largest = float(np.linalg.eigvalsh(mean)[-1])
    return np.inf if largest >= 0.5 else 1.0 / (1.0 - 2.0 * largest)
