"""Fuzzy k-means as a model: the unsupervised fit with names, and fits that answers lead to."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, minimize

from askmeans.fuzzy.model import closed_form_memberships, squared_distances
from askmeans.items import ItemSet
from askmeans.policy.models.rows import softmax
from askmeans.policy.models.training import Fitted, Predict, Training, cross_validated
from askmeans.policy.pool import Pool, Standard

__all__ = ["ClosedForm", "InMetric", "in_metric", "local", "name_clusters", "named", "scaled"]

Floats = NDArray[np.float64]
_FOLD_STEPS = 20  # of Lloyd's iterations, for what one fold is compared by
_STEPS, _FURTHER_STEPS = 15, 6  # of a metric's fit; of one fold's that goes on from the first


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """Memberships by the closed form."""

    centers: Floats
    fuzzifier: float

    @classmethod
    def of(cls, found: tuple[Floats, float]) -> "ClosedForm":
        """At these centres, with this fuzzifier."""
        return cls(centers=found[0], fuzzifier=found[1])

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return closed_form_memberships(X, self.centers, self.fuzzifier)


@dataclass(frozen=True, slots=True, kw_only=True)
class InMetric:
    """The closed form in a metric; theta holds log weights and log 1 / (alpha - 1)."""

    scale: Standard
    centers: Floats
    theta: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return _in_metric(self.scale(X), self.centers, self.theta)


def name_clusters(U: Floats, told: Floats) -> NDArray[np.intp]:
    """Which column of U each cluster is, as far as answers tell (NaN where they do not)."""
    k = U.shape[1]
    # An answer counts by how far it is from knowing nothing; ties keep the order.
    known = np.where(np.isnan(told), 0.0, told - 1.0 / k)
    agreement = known.T @ U
    agreement += 1e-9 * np.eye(k)
    found: NDArray[np.intp] = linear_sum_assignment(agreement, maximize=True)[1]
    return found


def named(pool: Pool, training: Training) -> Fitted:
    """The fit without questions: its clusters named, its fuzzifier fitted, by the answers."""
    return _closed_form("unsupervised", pool, training, pool.free, lambda _: pool.free)


def scaled(pool: Pool, training: Training, found: tuple[Floats, float]) -> Fitted:
    """The fit without questions in the common scale."""

    def learn(_: Pool, part: Training) -> InMetric:
        centers, fuzzifier = _named(pool.Z[part.rows], part.Y, *found)
        theta = np.append(np.zeros(pool.Z.shape[1]), -np.log(fuzzifier - 1.0))
        return InMetric(scale=pool.scaled, centers=centers, theta=theta)

    return cross_validated("scaled", learn, pool, training)


def local(pool: Pool, training: Training) -> Fitted:
    """The closed form at the optimum that the answers lead to."""
    found = local_centers(pool, training)

    def find(part: Training) -> tuple[Floats, float]:
        return iterate(pool.X[pool.few], _start(pool, part), found[1], _FOLD_STEPS), found[1]

    return _closed_form("local optimum", pool, training, found, find)


def local_centers(pool: Pool, training: Training) -> tuple[Floats, float]:
    """Lloyd's iterations from centres that the answers tell: the optimum the expert means."""
    Y, X, start = training.Y, pool.X[training.rows], _start(pool, training)
    few = pool.X[pool.few]
    (near, fuzzifier), least = pool.free, np.inf
    for alpha in sorted({pool.free[1], 1.5, 1.2, 1.05}):
        found = iterate(few, start, alpha, 60)
        U = closed_form_memberships(X, found, alpha)
        off = np.where(training.known, np.abs(U - Y), 0.0)
        loss = float((training.sample_weight[:, None] * off).sum())
        if loss < least:
            near, fuzzifier, least = found, alpha, loss
    if len(few) < len(pool):
        near = iterate(pool.X, near, fuzzifier, 20)
    return near, fuzzifier


def _start(pool: Pool, training: Training) -> Floats:
    """Centres that the answers tell; those of the fit without questions where they tell nothing."""
    Y, X = training.Y, pool.X[training.rows]
    centers, fuzzifier = pool.free
    start = centers[name_clusters(closed_form_memberships(X, centers, fuzzifier), Y)].copy()
    weights = training.stratum_size * training.sample_weight
    mass = weights @ Y
    seen = mass > 1e-9
    start[seen] = ((Y * weights[:, None]).T @ X)[seen] / mass[seen, None]
    return start


def iterate(X: Floats, centers: Floats, alpha: float, steps: int) -> Floats:
    """Lloyd's iterations for fuzzy k-means on a few thousand items."""
    norms = (X**2).sum(axis=1)[:, None]
    tiny = 1e-12 * max(float(norms.mean()), 1e-300)
    scale = np.sqrt(X.var(axis=0).sum())
    for _ in range(steps):
        D = np.maximum(norms - 2.0 * (X @ centers.T) + (centers**2).sum(axis=1), tiny)
        U = (D.min(axis=1, keepdims=True) / D) ** (1.0 / (alpha - 1.0))
        U /= U.sum(axis=1, keepdims=True)
        W = U**alpha
        new = (W.T @ X) / np.maximum(W.sum(axis=0), 1e-300)[:, None]
        moved = float(np.abs(new - centers).max())
        centers = new
        if moved < 1e-5 * scale:
            break
    return centers


def _closed_form(
    name: str,
    pool: Pool,
    training: Training,
    found: tuple[Floats, float],
    find: Callable[[Training], tuple[Floats, float]],
) -> Fitted:
    """The closed form at centres found; `find` finds them from a part of the training."""

    def learn(_: Pool, part: Training) -> ClosedForm:
        which = found if part is training else find(part)
        centers, fuzzifier = _named(pool.X[part.rows], part.Y, *which)
        return ClosedForm(centers=centers, fuzzifier=fuzzifier)

    fitted = cross_validated(name, learn, pool, training)
    form = fitted.predict
    assert isinstance(form, ClosedForm)
    centers, fuzzifier = form.centers, form.fuzzifier

    def refine(items: ItemSet) -> Predict:
        moved = items.refine_centers(centers, found[1])
        return ClosedForm(centers=moved, fuzzifier=fuzzifier)

    return replace(fitted, refine=refine)


def _named(X: Floats, Y: Floats, centers: Floats, fuzzifier: float) -> tuple[Floats, float]:
    """These centres, named by the answers, with the fuzzifier that they support."""
    centers = centers[name_clusters(closed_form_memberships(X, centers, fuzzifier), Y)]
    fitted = _fit_fuzzifier(X, centers, Y)
    # A few answers move it only a little from where it was.
    share = len(Y) / (len(Y) + 5.0)
    moved = np.exp((1 - share) * np.log(fuzzifier - 1.0) + share * np.log(fitted - 1.0))
    return centers, 1.0 + float(moved)


def _fit_fuzzifier(X: Floats, centers: Floats, Y: Floats) -> float:
    """The fuzzifier from 1.02 to 20 at which the closed form comes closest to whole rows.

    As `askmeans.scores.fit_fuzzifier`, by grids of values at once: it is called for every fold.
    """
    logs = np.log(np.maximum(squared_distances(X, centers), 1e-300))
    logs -= logs.min(axis=1, keepdims=True)
    low, high = np.log(0.02), np.log(19.0)
    for _ in range(3):
        grid = np.linspace(low, high, 21)
        odds = np.exp(-np.exp(-grid)[:, None, None] * logs)
        losses = np.square(odds / odds.sum(axis=2, keepdims=True) - Y).sum(axis=(1, 2))
        best = int(losses.argmin())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20)]
    return 1.0 + float(np.exp(grid[best]))


def in_metric(pool: Pool, training: Training) -> Fitted:
    """Fuzzy k-means with the weights of features that the answers tell."""

    def learn(_: Pool, part: Training) -> InMetric:
        centers, theta = _metric(pool, part, rounds=3 if part is training else 1)
        return InMetric(scale=pool.scaled, centers=centers, theta=theta)

    return cross_validated("metric", learn, pool, training)


def _metric(pool: Pool, training: Training, *, rounds: int) -> tuple[Floats, Floats]:
    """Centres and weights of features, in turns."""
    Z, Y, rows = pool.Z, training.Y, training.rows
    few = Z[pool.few] if rounds == 1 else Z
    d = Z.shape[1]
    weights = training.sample_weight * np.sqrt(training.stratum_size)
    weights = weights / weights.mean()
    theta = np.zeros(d + 1)
    share = training.stratum_size * training.sample_weight
    mass = share @ Y
    centers = ((Y * share[:, None]).T @ Z[rows]) / np.maximum(mass, 1e-9)[:, None]
    centers[mass <= 1e-9] = Z.mean(axis=0)
    for _ in range(rounds):
        theta = _fit_metric(Z[rows], Y, weights, centers, theta, _STEPS)
        scale, alpha = np.exp(theta[:d] / 2), 1.0 + np.exp(-theta[d])
        centers = iterate(few * scale, centers * scale, float(np.clip(alpha, 1.05, 3.0)), 10)
        centers /= scale
    steps = _STEPS if rounds > 1 else _FURTHER_STEPS
    return centers, _fit_metric(Z[rows], Y, weights, centers, theta, steps)


def _in_metric(Z: Floats, centers: Floats, theta: Floats) -> Floats:
    """The closed form with log weights and log exponent theta."""
    scale = np.exp(theta[:-1] / 2)
    alpha = 1.0 + float(np.exp(-theta[-1]))
    return closed_form_memberships(Z * scale, centers * scale, alpha)


def _fit_metric(
    Z: Floats, Y: Floats, weights: Floats, centers: Floats, start: Floats, steps: int
) -> Floats:
    """Log weights and log exponent with the least squared error, kept near even weights."""
    squares = (Z[:, None, :] - centers[None]) ** 2 + 1e-12  # n x k x d
    d = Z.shape[1]

    def loss(theta: Floats) -> tuple[float, Floats]:
        scale, p = np.exp(theta[:d]), np.exp(theta[d])
        D = squares @ scale
        logs = np.log(D)
        U = softmax(-p * logs)
        left = U - Y
        value = float(weights @ (left**2).sum(axis=1)) + 0.05 * float(theta @ theta)
        g = 2.0 * weights[:, None] * left
        g = U * (g - (g * U).sum(axis=1, keepdims=True))  # by the logits
        by_scale = -p * np.einsum("ij,ijf->f", g / D, squares) * scale
        by_p = -p * float((g * logs).sum())
        return value, np.append(by_scale, by_p) + 0.1 * theta

    bounds = [(-6.0, 6.0)] * d + [(-2.0, 3.5)]
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}
    )
    theta: Floats = found.x
    return theta
