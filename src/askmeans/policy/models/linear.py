"""Linear models: shrunk discriminant analysis, logistic regression, and the constant median row."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from askmeans._util.arrays import Floats
from askmeans.policy.models.training import Fitted, Training, cross_validated
from askmeans.policy.pool import Pool, quick_distances

_STEPS = 25  # of L-BFGS: what is left is far below the noise of the answers
# The inverse of the ridge, as C of scikit-learn. With 1 the error of three tables is 1.01 times as
# large and that of soft targets 1.46 times, with 100 that of the tables 1.03 times.
_LOOSENESS = 30.0


def softmax(logits: Floats) -> Floats:
    """Rows that sum to one; a logit of minus infinity makes 0."""
    odds: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    return odds


def span(Z: Floats) -> Floats:
    """Axes of the space that these items span: a ridge leaves no slope across it."""
    n, d = Z.shape
    return np.eye(d) if d <= n else np.linalg.qr(Z.T)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinear:
    """Logits that are linear in the features; an intercept of minus infinity leaves one out."""

    slope: Floats
    intercept: Floats

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        return softmax(Z @ self.slope + self.intercept)


def lda(pool: Pool, training: Training) -> Fitted:
    """One covariance for all clusters, shrunk towards the unit."""
    return cross_validated("lda", partial(learn_lda, pool), pool, training)


def learn_lda(pool: Pool, training: Training) -> LogLinear:
    """Means, a pooled covariance after Ledoit and Wolf, and shares."""
    axes = span(pool.Z[training.rows])
    Z, Y = pool.Z[training.rows] @ axes, training.Y * training.sample_weight[:, None]
    k, d = Y.shape[1], len(axes)
    mass = Y.sum(axis=0)
    there = np.flatnonzero(mass > 1e-9)
    Y, mass = Y[:, there], mass[there]
    means = (Y.T @ Z) / mass[:, None]
    S = (Z * Y.sum(axis=1)[:, None]).T @ Z - (means * mass[:, None]).T @ means
    norms = Y * quick_distances(Z, means)  # squared lengths of the residuals
    S = shrunk_covariance(S, float((norms**2).sum()), float(mass.sum()), d)
    solved = np.linalg.solve(S, means.T)
    slope, intercept = np.zeros((d, k)), np.full(k, -np.inf)
    slope[:, there] = axes @ solved
    intercept[there] = np.log(mass + 0.5) - 0.5 * (means.T * solved).sum(axis=0)
    return LogLinear(slope=slope, intercept=intercept)


def shrunk_covariance(squares: Floats, quartic: float, mass: float, d: int) -> Floats:
    """Ledoit and Wolf's estimate from sums of residuals' squares; never singular.

    `quartic` is the sum of the fourth powers of the residuals' lengths; of d dimensions there are
    those that residuals lie in.
    """
    mass = max(mass, 1.0)
    S = squares / mass
    mu = max(float(np.trace(S)) / d, 1e-3)
    target = mu * np.eye(len(S))
    distance = float(((S - target) ** 2).sum()) + mu**2 * (d - len(S))
    noise = max(0.0, quartic / mass - float((S**2).sum())) / mass
    share = 1.0 if distance <= 0.0 else min(1.0, noise / distance)
    share = max(share, 0.01)
    shrunk: Floats = share * target + (1.0 - share) * S
    return shrunk


def logistic(pool: Pool, training: Training) -> Fitted:
    """Logistic regression, loosely regularised: the other models are smoother."""
    axes = span(pool.Z[training.rows])
    learn = partial(learn_logistic, pool, axes=axes, looseness=_LOOSENESS)
    return cross_validated("logistic", learn, pool, training)


def learn_logistic(
    pool: Pool, training: Training, *, looseness: float, axes: Floats | None = None
) -> LogLinear:
    """Coefficients by L-BFGS; `looseness` is the inverse of the ridge.

    The slope is along `axes` that all items to learn from lie in; None for those of the training.
    """
    axes = span(pool.Z[training.rows]) if axes is None else axes
    Y = (training.Y * training.sample_weight[:, None]).T  # sums over few clusters are quicker so
    seen = Y.sum(axis=1) > 1e-9
    Y = Y[seen]
    weight, mass = Y.sum(axis=0), Y.sum(axis=1)
    Z = pool.Z[training.rows] @ axes
    Z = np.vstack([Z.T, np.ones(len(Z))])  # the last is for the intercept
    d = len(Z) - 1
    ridge = np.append(np.full(d, 1.0 / looseness), 0.0)
    start = np.zeros((len(Y), d + 1))
    start[:, d] = np.log(mass / mass.sum())

    def loss(flat: Floats) -> tuple[float, Floats]:
        B = flat.reshape(start.shape)
        logits = B @ Z
        logits -= logits.max(axis=0)
        odds = np.exp(logits)
        total = odds.sum(axis=0)
        value = weight @ np.log(total) - np.vdot(Y, logits) + 0.5 * np.vdot(B * ridge, B)
        odds *= weight / total
        odds -= Y
        return float(value), (odds @ Z.T + B * ridge).ravel()

    result = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": _STEPS, "ftol": 1e-6})  # fmt: skip
    B = result.x.reshape(start.shape)
    slope, intercept = np.zeros((len(axes), len(seen))), np.full(len(seen), -np.inf)
    slope[:, seen] = axes @ B[:, :d].T
    intercept[seen] = B[:, d]
    return LogLinear(slope=slope, intercept=intercept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """The same row for every item."""

    row: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return np.repeat(self.row[None], len(X), axis=0)


def median_row(pool: Pool, training: Training) -> Fitted:
    """Medians of the answered rows: what remains where features explain nothing.

    They have the least absolute error.
    """
    Y, n = training.Y, len(training.Y)
    row = _scaled_to_one(np.median(Y, axis=0, keepdims=True))[0]
    # Without one of n values the median is the middle one of the others: by ranks, for all at once.
    order = np.sort(Y, axis=0)
    rank = np.argsort(np.argsort(Y, axis=0, kind="stable"), axis=0)
    low, high = (n - 2) // 2, (n - 1) // 2  # the middle of n - 1 values
    held_out = np.full_like(Y, 1.0 / Y.shape[1])
    if n > 1:
        columns = np.arange(Y.shape[1])
        middle = [order[place + (rank <= place), columns] for place in (low, high)]
        held_out = _scaled_to_one(np.mean(middle, axis=0))
    model = Constant(row=row)
    return Fitted(name="median_row", pool=model(pool.X), held_out=held_out, predict=model)


def _scaled_to_one(rows: Floats) -> Floats:
    """Rows that sum to one; even ones where there is nothing."""
    rows = rows + 1e-9
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
