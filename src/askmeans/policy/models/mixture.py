"""A Gaussian mixture that answers start and hold: soft labels for some items, EM for the rest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from askmeans.policy.models.discriminant import learn_discriminant
from askmeans.policy.models.rows import softmax
from askmeans.policy.models.training import Fitted, Predict, Training, cross_validated
from askmeans.policy.pool import Pool, Standard

__all__ = ["mixture"]

Floats = NDArray[np.float64]
Parameters = tuple[Floats, Floats, Floats]  # shares, means, Cholesky factors
_ITERATIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Posteriors of a Gaussian mixture along the principal axes."""

    scale: Standard
    axes: Floats
    parameters: Parameters

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return _posteriors(self.scale(X) @ self.axes, self.parameters)


def mixture(pool: Pool, training: Training) -> Fitted:
    """EM from a discriminant analysis; answered items keep their memberships."""

    def learn(_: Pool, part: Training) -> Predict:
        among = np.arange(len(pool)) if part is training else pool.few
        return _learn(pool, part, np.union1d(among, part.rows))

    return cross_validated("mixture", learn, pool, training)


def _learn(pool: Pool, training: Training, among: NDArray[np.intp]) -> Predict:
    """Expectation and maximisation, in turns, over some items of the pool."""
    P = pool.Z[among] @ pool.axes
    R = learn_discriminant(pool, training)(pool.X[among])
    told = np.searchsorted(among, training.rows)
    R[told] = training.Y
    for _ in range(_ITERATIONS):
        parameters = _maximise(P, R)
        new = _posteriors(P, parameters)
        new[told] = training.Y
        moved = float(np.abs(new - R).mean())
        R = new
        if moved < 1e-4:
            break
    return Mixture(scale=pool.scaled, axes=pool.axes, parameters=parameters)


def _maximise(P: Floats, R: Floats) -> Parameters:
    """Shares, means and Cholesky factors of covariances, shrunk to their diagonal."""
    d = P.shape[1]
    mass = R.sum(axis=0) + 1e-9
    means = (R.T @ P) / mass[:, None]
    common = P.var(axis=0)
    factors = np.empty((R.shape[1], d, d))
    for j in range(R.shape[1]):
        left = P - means[j]
        S = (R[:, [j]] * left).T @ left
        few = d + 1.0
        diagonal = np.diag(S).copy()
        share = few / (mass[j] + few)
        S = (1.0 - share) * S / mass[j]
        S[np.diag_indices(d)] += share * (diagonal / mass[j]) + 0.02 * common + 1e-9
        factors[j] = np.linalg.cholesky(S)
    return mass / mass.sum(), means, factors


def _posteriors(P: Floats, parameters: Parameters) -> Floats:
    """Memberships of items."""
    shares, means, factors = parameters
    logits = np.empty((len(P), len(shares)))
    for j, (mean, L) in enumerate(zip(means, factors, strict=True)):
        white = solve_triangular(L, (P - mean).T, lower=True)
        logits[:, j] = np.log(shares[j]) - np.log(np.diag(L)).sum() - 0.5 * (white**2).sum(axis=0)
    return softmax(logits)
