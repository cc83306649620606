"""Compressed scales of two clusters, whose sums of rows are correct.

Answers are a + (1 - 2 a) * membership, and memberships are logistic normal. The likelihood of `a`
has two factors. The first takes the answers of early items as independent. The second is a Gaussian
process over the features of all items, as a compressed scale bends their relation to the answers
near both ends (warped Gaussian processes; Snelson, Rasmussen and Ghahramani, NIPS 2003).
"""

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.fuzzy.arrays import ROUNDING

_SHARES = np.arange(0.0, 0.36, 0.025)  # values of a
_STEPS = np.arange(-0.02, 0.021, 0.005)  # refinement around the best of them
_REACHED = 0.05  # distance to an end up to which answers reach it, and to the middle without an end
_FEWEST, _MOST = 12, 100  # number of answers; more than 100 cost time
_EARLY = 40  # first items; later ones are mostly between the clusters
_NEAREST = 0.01  # memberships are clipped there: people answer in percent
# Kernels are sums of a linear, a smooth and an independent part; widths are relative to the mean
# squared norm.
_WIDTHS, _SMOOTH, _INDEPENDENT = (1.0, 4.0), (0.1, 1.0), (1e-4, 1e-3, 0.03, 0.2)
# Odds of 20. On 20 tables of two clusters undistorted answers reach at most 1.5. Answers .25 + .5 u
# reach 19 to 257 where features explain memberships (posteriors of LDA, of mixtures, moons; .4 on
# banana, which ends after 13 answers), 0 to 14 on fuzzy k-means with half of the features known.
_NATS = 3.0


def compression(first: Floats, features: Floats | None = None) -> float:
    """Estimate `a` from answers about the first of two clusters; 0 unless clearly larger.

    `features` has a row for each answer.
    """
    y = first[:_MOST]
    if len(y) < _FEWEST or not _REACHED < np.abs(y - 0.5).max() < 0.5 - _REACHED:
        return 0.0
    alone = np.eye(len(y[:_EARLY]))[None]
    kernels = None if features is None else _kernels(features[:_MOST])

    def fit(share: float) -> float:
        together = 0.0 if kernels is None else _log_likelihood(y, share, kernels)
        return _log_likelihood(y[:_EARLY], share, alone) + together

    best = max(_SHARES, key=fit)
    best = max([best, *(best + _STEPS)], key=fit) if best > 0.0 else best
    return float(best) if fit(best) > fit(0.0) + _NATS else 0.0


def _kernels(features: Floats) -> Floats:
    """The covariance matrices of all kernels."""
    F = features / np.sqrt(max(float(np.square(features).sum(axis=1).mean()), 1e-300))
    linear, one = F @ F.T, np.eye(len(F))
    distances = np.diag(linear)[:, None] + np.diag(linear) - 2.0 * linear
    return np.stack([
        linear + smooth * np.exp(-0.5 * distances / width) + independent * one
        for width in _WIDTHS for smooth in _SMOOTH for independent in _INDEPENDENT
    ])  # fmt: skip


def _log_likelihood(y: Floats, share: float, kernels: Floats) -> float:
    """The log-likelihood of a = share with the best kernel."""
    gain = 1.0 - 2.0 * share
    u = (y - share) / gain
    if min(u.min(), 1.0 - u.max()) < -ROUNDING:
        return -np.inf
    u = np.clip(u, _NEAREST, 1.0 - _NEAREST)
    z = np.log(u / (1.0 - u))
    z -= z.mean()
    factors = np.linalg.cholesky(kernels)
    white = np.linalg.solve(factors, np.tile(z[:, None], (len(kernels), 1, 1)))[..., 0]
    variances = np.maximum(np.square(white).mean(axis=1), 1e-9)  # of largest likelihood
    log_dets = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    jacobian = -np.log(u * (1.0 - u) * gain).sum()
    return float((-0.5 * len(z) * np.log(variances) - log_dets).max() + jacobian)
