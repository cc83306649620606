"""A harmonic function on the graph of neighbours: answers spread along dense paths."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu
from scipy.spatial import cKDTree

from askmeans.fuzzy.arrays import onto_simplex
from askmeans.policy.models.kernel import MOST, best_process, prior_mean
from askmeans.policy.models.training import Fitted, Training
from askmeans.policy.pool import Pool, Standard

__all__ = ["Graph", "spread"]

Floats = NDArray[np.float64]
_NEIGHBOURS = 10
_KEPT = 500  # items whose columns are known the next time; of more they would take 40 KB each


class Graph:
    """The pool's graph of neighbours, and columns of its kernels for the last items asked for."""

    def __init__(self, pool: Pool, restraints: tuple[float, ...] = (0.003, 0.03)) -> None:
        n = len(pool)
        count = min(_NEIGHBOURS, n - 1)
        points = pool.principal
        distances, neighbours = nearest(pool.tree, points, count + 1)
        distances, neighbours = distances[:, 1:], neighbours[:, 1:]
        # Each item's own scale: the distance to its last neighbour (self-tuning).
        own = np.maximum(distances[:, -1], 1e-12)
        W = np.exp(-(distances**2) / (own[:, None] * own[neighbours]))
        rows = np.repeat(np.arange(n), count)
        A = csr_array((W.ravel(), (rows, neighbours.ravel())), shape=(n, n))
        A = A.maximum(A.T)
        degree = np.asarray(A.sum(axis=1)).ravel()
        root = diags_array(1.0 / np.sqrt(np.maximum(degree, 1e-12)))
        laplacian = diags_array(np.ones(n)) - root @ A @ root
        self._solvers = [_factor(laplacian + diags_array(np.full(n, r))) for r in restraints]
        self._places: dict[int, int] = {}  # of items whose columns are known
        self._columns = [np.empty((n, 0)) for _ in restraints]

    def columns(self, rows: NDArray[np.intp]) -> list[Floats]:
        """The kernels' columns for these items; those known from the last time are not anew."""
        known = np.array([row in self._places for row in rows.tolist()], dtype=bool)
        n = len(self._columns[0])
        unit = np.zeros((n, int((~known).sum())))
        unit[rows[~known], np.arange(unit.shape[1])] = 1.0
        before = [self._places[row] for row in rows[known].tolist()]
        made = []
        for i, solver in enumerate(self._solvers):
            columns = np.empty((n, len(rows)))
            columns[:, known] = self._columns[i][:, before]
            if unit.shape[1]:
                columns[:, ~known] = solver.solve(unit)
            made.append(columns)
        if len(rows) <= _KEPT:
            self._columns = made
            self._places = {row: place for place, row in enumerate(rows.tolist())}
        return made

    @staticmethod
    def inner(rows: NDArray[np.intp], made: list[Floats]) -> list[tuple[Floats, float]]:
        """Kernels between the items of these columns, with mean 1 on the diagonal; and by what."""
        out = []
        for columns in made:
            K = columns[rows]
            unit = max(float(np.mean(np.diag(K))), 1e-12)
            out.append(((K + K.T) / (2.0 * unit), unit))
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The mean of the nearest items of the pool, the nearer the more."""

    scale: Standard
    axes: Floats
    tree: cKDTree
    memberships: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        count = min(5, len(self.memberships))
        distances, neighbours = nearest(self.tree, self.scale(X) @ self.axes, count)
        weights = 1.0 / np.maximum(distances, 1e-9)
        weights /= weights.sum(axis=1, keepdims=True)
        mean: Floats = np.einsum("ij,ijk->ik", weights, self.memberships[neighbours])
        return mean


def _factor(A: csr_array) -> SuperLU:
    """The factors of a positive definite matrix: no pivots, so that they stay symmetric and few."""
    return splu(
        A.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip


def nearest(tree: cKDTree, points: Floats, count: int) -> tuple[Floats, NDArray[np.intp]]:
    """The nearest points of a tree, and how far each is."""
    distances, neighbours = tree.query(points, k=range(1, count + 1))
    return np.asarray(distances), np.asarray(neighbours)


def spread(pool: Pool, training: Training, graph: Graph) -> Fitted:
    """A Gaussian process along the graph; other items take the mean of their neighbours."""
    mean, inside = prior_mean(training), training.sample(MOST)
    few = training.part(inside)
    made = graph.columns(few.rows)
    kernels, units = zip(*graph.inner(few.rows, made), strict=True)
    which, coefficients, left_out = best_process(
        [partial(_between, K) for K in kernels], (0.01, 0.1), few.Y - mean, few.sample_weight
    )
    U = onto_simplex(made[which] @ (coefficients / units[which]) + mean)
    held_out = U[training.rows]
    held_out[inside] = onto_simplex(left_out + mean)
    predict = Neighbours(scale=pool.scaled, axes=pool.axes, tree=pool.tree, memberships=U)
    return Fitted(name="graph", pool=U, held_out=held_out, predict=predict)


def _between(K: Floats, rows: NDArray[np.intp]) -> Floats:
    """A kernel between some of its rows."""
    return K[np.ix_(rows, rows)]
