"""Gaussian processes: smooth in the features, linear in them, or along a graph of neighbours.

What each answered item would get from the others follows in closed form, so hyperparameters are
chosen by leave-one-out error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from askmeans.fuzzy.arrays import onto_simplex
from askmeans.policy.models.training import MANY, Fitted, Training
from askmeans.policy.pool import Pool, Standard, quick_distances

__all__ = ["MOST", "best_process", "prior_mean", "ridge", "smooth"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
_LARGE = 500  # rows from which a factorisation takes more than some hundredths of a second
# Answers that a process learns from at most, and those that choose its kernel: what it takes grows
# with their cube.
MOST = 2000
_COMPARED = 750
_BLOCK = 2**22  # kernel values that are held at once: 32 MB
_TWINS = 1e-9  # squared distance in the common scale of items that differ by rounding alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Smooth:
    """The mean of a Gaussian process with a squared exponential kernel."""

    scale: Standard
    Z: Floats
    width: float
    coefficients: Floats
    mean: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.of(self.scale(X))

    def of(self, Z: Floats) -> Floats:
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

    scale: Standard
    slope: Floats
    intercept: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.of(self.scale(X))

    def of(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        return onto_simplex(Z @ self.slope + self.intercept)


def leave_one_out(C: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """Coefficients of a Gaussian process, and what each row would get from the others."""
    inverse = _inverse(C)
    coefficients = inverse @ Y
    return coefficients, Y - coefficients / np.diag(inverse)[:, None]


def _inverse(C: Floats) -> Floats:
    """The inverse of a positive definite matrix.

    scipy lets no other thread of Python go on meanwhile; a large one takes seconds, in which a page
    that is served could answer nobody.
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
    """What is expected far from all answers: their mean, drawn to evenness if they tell little."""
    n, k = training.Y.shape
    mass = (training.sample_weight * training.stratum_size) @ training.Y
    share = n / (n + k) if training.is_hard or n < MANY else 1.0
    mean: Floats = share * mass / max(mass.sum(), 1e-12) + (1 - share) / k
    return mean


def smooth(pool: Pool, training: Training) -> Fitted:
    """Squared exponential kernel in the common scale; its width and noise by the answers."""
    mean, inside = prior_mean(training), training.sample(MOST)
    few = training.part(inside)
    Z = pool.Z[few.rows]
    D = quick_distances(Z, Z)
    apart = D[np.triu_indices(len(D), 1)]
    if 2 * (apart <= _TWINS).sum() > len(apart):  # then the others tell what is far
        apart = apart[apart > _TWINS]
    typical = float(np.median(apart)) if len(apart) else 1.0
    widths = [typical * c for c in (0.03, 0.1, 0.3, 1.0, 3.0)]

    def kernel(width: float, rows: Rows) -> Floats:
        return np.asarray(np.exp(-0.5 * D[np.ix_(rows, rows)] / width))

    which, coefficients, left_out = best_process(
        [partial(kernel, width) for width in widths], (0.01, 0.1), few.Y - mean, few.sample_weight
    )

    predict = Smooth(
        scale=pool.scaled, Z=Z, width=widths[which], coefficients=coefficients, mean=mean
    )
    U = predict.of(pool.Z)
    held_out = U[training.rows]
    held_out[inside] = onto_simplex(left_out + mean)
    return Fitted(name="smooth", pool=U, held_out=held_out, predict=predict)


def ridge(pool: Pool, training: Training) -> Fitted:
    """A linear map onto the simplex; its ridge by the answers."""
    mean, inside = prior_mean(training), training.sample(MOST)
    few = training.part(inside)
    Z = pool.Z[few.rows]
    K = Z @ Z.T / Z.shape[1] + 1.0
    _, coefficients, left_out = best_process(
        [lambda rows: K[np.ix_(rows, rows)]],
        (0.01, 0.1, 1.0, 10.0, 100.0),
        few.Y - mean,
        few.sample_weight,
    )
    slope = Z.T @ coefficients / Z.shape[1]
    intercept = coefficients.sum(axis=0) + mean

    predict = OntoSimplex(scale=pool.scaled, slope=slope, intercept=intercept)
    U = predict.of(pool.Z)
    held_out = U[training.rows]
    held_out[inside] = onto_simplex(left_out + mean)
    return Fitted(name="ridge", pool=U, held_out=held_out, predict=predict)
