"""Gaussian processes: smooth in the features, linear in them, or along a graph of neighbours.

Leave-one-out predictions have a closed form, so hyperparameters are chosen by leave-one-out error
(Rasmussen and Williams, 2006, 5.4.2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu
from scipy.spatial import cKDTree

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.policy.models.training import MANY, Fitted, InCommonScale, Model, Training
from askmeans.policy.pool import Pool, quick_distances

_LARGE = 500  # rows from which on a factorisation takes more than some hundredths of a second
# Largest numbers of answers for fitting and for choosing a kernel: time grows with their cube, and
# is some seconds for so many.
MOST, _COMPARED = 2000, 750
_BLOCK = 2**22  # kernel values in memory at a time: 32 MB
_TWINS = 1e-9  # squared distance in the common scale of items that differ by rounding alone
# Hyperparameters are chosen by leave-one-out error from grids whose steps are about a factor three;
# widths are those of the kernel, by the median squared distance.
_WIDTHS, _NOISES = (0.03, 0.1, 0.3, 1.0, 3.0), (0.01, 0.1)
_RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0)
_RESTRAINTS = (0.003, 0.03)  # added to the Laplacian: similarity decreases with distance
_NEIGHBOURS = 10  # of each item, as usual for such graphs (von Luxburg, 2007)
_KEPT = 500  # items whose columns are cached, 40 KB each


@dataclass(frozen=True, slots=True, kw_only=True)
class RBF:
    """The mean of a Gaussian process with a squared exponential kernel."""

    Z: Floats
    width: float
    coefficients: Floats
    mean: Floats

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        step = max(1, _BLOCK // len(self.Z))
        return np.concatenate(
            [self._of_block(Z[start : start + step]) for start in range(0, max(len(Z), 1), step)]
        )

    def _of_block(self, Z: Floats) -> Floats:
        """The same of few items."""
        K = quick_distances(Z, self.Z)
        K *= -0.5 / self.width
        return onto_simplex(np.exp(K, out=K) @ self.coefficients + self.mean)


@dataclass(frozen=True, slots=True, kw_only=True)
class OntoSimplex:
    """A linear map, and the nearest point of the simplex."""

    slope: Floats
    intercept: Floats

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        return onto_simplex(Z @ self.slope + self.intercept)


def leave_one_out(C: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """Coefficients of a Gaussian process, and what each row would get from the others."""
    inverse = _inverse(C)
    coefficients = inverse @ Y
    return coefficients, Y - coefficients / np.diag(inverse)[:, None]


def _inverse(C: Floats) -> Floats:
    """The inverse of a positive definite matrix.

    numpy releases the interpreter's lock meanwhile, scipy does not: a large inverse takes seconds,
    in which the page could not respond.
    """
    inverse: Floats
    if len(C) > _LARGE:
        inverse = np.asarray(np.linalg.inv(C), dtype=np.float64)
    else:
        inverse = cho_solve(cho_factor(C, lower=True), np.eye(len(C)))
    return inverse


def best_process(
    kernels: list[Callable[[Rows], Floats]],
    noises: tuple[float, ...],
    Y: Floats,
    sample_weight: Floats,
) -> tuple[int, Floats, Floats]:
    """Which kernel does best, its coefficients, and held-out rows.

    Each kernel is a function of the rows that it is wanted between. Of many rows some decide which
    one and how much noise, so that only one large matrix is inverted.
    """
    every = np.arange(len(Y))
    some = every[:: -(-len(Y) // _COMPARED)] if len(Y) else every
    best: tuple[float, int, float, Floats, Floats] | None = None
    for which, kernel in enumerate(kernels):
        K = kernel(some)
        for noise in noises:
            C = K + np.diag(noise / np.maximum(sample_weight[some], 0.05))
            coefficients, held_out = leave_one_out(C, Y[some])
            loss = float((sample_weight[some, None] * (held_out - Y[some]) ** 2).sum())
            if best is None or loss < best[0]:
                best = loss, which, noise, coefficients, held_out
    assert best is not None
    _, which, noise, coefficients, held_out = best
    if len(some) < len(every):
        C = kernels[which](every) + np.diag(noise / np.maximum(sample_weight, 0.05))
        coefficients, held_out = leave_one_out(C, Y)
    return which, coefficients, held_out


def prior_mean(training: Training) -> Floats:
    """The prior mean: the mean answer, shrunk to an even row while answers are few."""
    n, k = training.Y.shape
    mass = (training.sample_weight * training.stratum_size) @ training.Y
    share = n / (n + k) if training.is_hard or n < MANY else 1.0
    mean: Floats = share * mass / max(mass.sum(), 1e-12) + (1 - share) / k
    return mean


def _fitted(
    name: str,
    model: Model,
    U: Floats,
    pool: Pool,
    training: Training,
    inside: NDArray[np.bool_],
    left_out: Floats,
) -> Fitted:
    """The model with its memberships of the pool; `left_out` are those of the rows `inside`."""
    held_out = U[training.rows]
    held_out[inside] = onto_simplex(left_out)
    predict = InCommonScale(scale=pool.scaled, model=model)
    return Fitted(name=name, pool=U, held_out=held_out, predict=predict)


def gp_rbf(pool: Pool, training: Training) -> Fitted:
    """A squared exponential kernel in the common scale, of fitted width and noise."""
    mean, inside = prior_mean(training), training.sample(MOST)
    few = training.part(inside)
    Z = pool.Z[few.rows]
    D = quick_distances(Z, Z)
    distances = D[np.triu_indices(len(D), 1)]
    if 2 * (distances <= _TWINS).sum() > len(distances):  # then without twins
        distances = distances[distances > _TWINS]
    typical = float(np.median(distances)) if len(distances) else 1.0
    widths = [typical * c for c in _WIDTHS]

    def kernel(width: float, rows: Rows) -> Floats:
        return np.asarray(np.exp(-0.5 * D[np.ix_(rows, rows)] / width))

    which, coefficients, left_out = best_process(
        [partial(kernel, width) for width in widths], _NOISES, few.Y - mean, few.sample_weight
    )
    model = RBF(Z=Z, width=widths[which], coefficients=coefficients, mean=mean)
    return _fitted("gp_rbf", model, model(pool.Z), pool, training, inside, left_out + mean)


def ridge(pool: Pool, training: Training) -> Fitted:
    """A linear map onto the simplex, with a fitted ridge."""
    mean, inside = prior_mean(training), training.sample(MOST)
    few = training.part(inside)
    Z = pool.Z[few.rows]
    K = Z @ Z.T / Z.shape[1] + 1.0
    _, coefficients, left_out = best_process(
        [partial(_between, K)], _RIDGES, few.Y - mean, few.sample_weight
    )
    slope = Z.T @ coefficients / Z.shape[1]
    model = OntoSimplex(slope=slope, intercept=coefficients.sum(axis=0) + mean)
    return _fitted("ridge", model, model(pool.Z), pool, training, inside, left_out + mean)


class Graph:
    """The pool's graph of neighbours, with cached columns of its kernels."""

    def __init__(self, pool: Pool) -> None:
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
        self._solvers = [_factor(laplacian + diags_array(np.full(n, r))) for r in _RESTRAINTS]
        self._places: dict[int, int] = {}  # of items with cached columns
        self._columns = [np.empty((n, 0)) for _ in _RESTRAINTS]

    def columns(self, rows: NDArray[np.intp]) -> list[Floats]:
        """The kernels' columns for these items; cached for the next call."""
        new = [place for place, row in enumerate(rows.tolist()) if row not in self._places]
        known = np.setdiff1d(np.arange(len(rows)), new)
        before = [self._places[row] for row in rows[known].tolist()]
        unit = np.zeros(len(self._columns[0]))
        made = []
        for i, solver in enumerate(self._solvers):
            columns = np.empty((len(unit), len(rows)))
            columns[:, known] = self._columns[i][:, before]
            for place in new:  # each alone: solved together, they would round by their number
                unit[rows[place]] = 1.0
                columns[:, place] = solver.solve(unit)
                unit[rows[place]] = 0.0
            made.append(columns)
        if len(rows) <= _KEPT:
            self._columns = made
            self._places = {row: place for place, row in enumerate(rows.tolist())}
        return made

    @staticmethod
    def inner(rows: NDArray[np.intp], made: list[Floats]) -> list[tuple[Floats, float]]:
        """Kernels between these items, scaled to mean 1 on the diagonal; and the scales."""
        out = []
        for columns in made:
            K = columns[rows]
            unit = max(float(np.mean(np.diag(K))), 1e-12)
            out.append(((K + K.T) / (2.0 * unit), unit))
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The mean of the nearest items of the pool, weighted by inverse distance."""

    axes: Floats
    tree: cKDTree
    memberships: Floats

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        count = min(5, len(self.memberships))
        distances, neighbours = nearest(self.tree, Z @ self.axes, count)
        weights = 1.0 / np.maximum(distances, 1e-9)
        weights /= weights.sum(axis=1, keepdims=True)
        mean: Floats = np.einsum("ij,ijk->ik", weights, self.memberships[neighbours])
        return mean


def _factor(A: csr_array) -> SuperLU:
    """Factors of a positive definite matrix, without pivots, which would fill them in."""
    return splu(
        A.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip


def nearest(tree: cKDTree, points: Floats, count: int) -> tuple[Floats, NDArray[np.intp]]:
    """Distances and numbers of the nearest points of a tree."""
    distances, neighbours = tree.query(points, k=range(1, count + 1))
    return np.asarray(distances), np.asarray(neighbours)


def gp_graph(pool: Pool, training: Training, graph: Graph) -> Fitted:
    """A Gaussian process along the graph; other items take the mean of their neighbours."""
    mean, inside = prior_mean(training), training.sample(MOST)
    few = training.part(inside)
    made = graph.columns(few.rows)
    kernels, units = zip(*graph.inner(few.rows, made), strict=True)
    which, coefficients, left_out = best_process(
        [partial(_between, K) for K in kernels], _NOISES, few.Y - mean, few.sample_weight
    )
    U = onto_simplex(made[which] @ (coefficients / units[which]) + mean)
    model = Neighbours(axes=pool.axes, tree=pool.tree, memberships=U)
    return _fitted("gp_graph", model, U, pool, training, inside, left_out + mean)


def _between(K: Floats, rows: NDArray[np.intp]) -> Floats:
    """A kernel between some of its rows."""
    return K[np.ix_(rows, rows)]
