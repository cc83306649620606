"""Where iterations start on many rows: a sample of them, or k-means|| over all.

Draws hang on the seed and on row numbers only, never on how rows are cut into blocks: every engine
draws the same rows.
"""

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy import kernels
from askmeans.fuzzy.engines import ArrayEngine, Engine
from askmeans.fuzzy.problem import Frame, Problem
from askmeans.fuzzy.seeding import canonical_order, draw_seeds
from askmeans.fuzzy.threads import RowThreads

__all__ = ["draw_far_rows", "far_rows", "scalable_seeds", "seeding_rows"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]

MANY, WIDE = 50_000, 1 << 20  # rows, or numbers, above which a sample is enough to start from
_PART, _LEAST, _MOST = 8, 1 << 11, 1 << 16  # an eighth of the rows, within these bounds
_NUMBERS = 1 << 24  # in a sample: 128 MiB of float64
_ROUNDS = 4  # of k-means||; five are usual (Bahmani et al., 2012), after a first row alone
_OVERSAMPLING = 2  # rows in a round, by the number of clusters


def seeding_rows(
    n_rows: int, n_features: int, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.intp] | None:
    """Numbers of the rows to start from, ascending; None for all."""
    if n_rows <= MANY and n_rows * n_features <= WIDE:
        return None
    size = int(np.clip(n_rows // _PART, _LEAST, min(_MOST, max(_NUMBERS // n_features, _LEAST))))
    size = max(size, 50 * n_clusters)
    if size >= n_rows:
        return None
    rows: NDArray[np.intp] = np.sort(rng.choice(n_rows, size, replace=False, shuffle=False))
    return rows


def scalable_seeds(problem: Problem, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Seeds by k-means|| (Bahmani et al., 2012: Scalable k-means++), in inner coordinates.

    Rounds of rows far from those drawn so far, as many passes; then k-means++ among them, each as
    heavy as the rows nearest to it.
    """
    engine, frame = problem.engine, problem.frame
    drawn = draw_far_rows(engine, frame, np.empty((0, engine.n_features)), 1, rng)
    for _ in range(_ROUNDS):
        more = _OVERSAMPLING * n_clusters
        drawn = np.concatenate([drawn, draw_far_rows(engine, frame, drawn, more, rng)])
    inner = frame.inner(drawn)
    weights = np.sum(engine.map(kernels.count_nearest, inner, frame.shift, frame.scale), axis=0)
    with RowThreads(len(drawn), 1) as threads:
        few = Problem(
            engine=ArrayEngine(drawn, weights, threads), frame=frame, spread=problem.spread
        )
        order = canonical_order(drawn)
        return draw_seeds(few, n_clusters, order, rng, how="k-means++", fuzzifier=2.0)


def draw_far_rows(
    engine: Engine, frame: Frame, centers: Floats, count: int, rng: np.random.Generator
) -> Floats:
    """Rows drawn without replacement by weight times squared distance to the nearest centre."""
    seed = int(rng.integers(2**62))
    inner = frame.inner(centers)
    parts = engine.map_numbered(far_rows, inner, frame.shift, frame.scale, seed, count)
    keys = np.concatenate([part[0] for part in parts])
    items = np.concatenate([part[1] for part in parts])
    first = np.argsort(keys, kind="stable")[:count]
    found: Floats = items[first[np.isfinite(keys[first])]]
    return found


def far_rows(
    X: Items,
    weights: Floats,
    start: int,
    centers: Floats,
    shift: Floats,
    scale: float,
    seed: int,
    count: int,
) -> tuple[Floats, Floats]:
    """The block's best rows of such a draw: their keys, of which the smallest win, and the rows."""
    keys, rows = kernels.smallest_keys(X, weights, start, centers, shift, scale, seed, count)
    return keys, np.asarray(X[rows], dtype=np.float64)
