"""How far a scale avoids both of its ends, which sums of rows over two clusters do not show.

Answers are a + (1 - 2 a) * membership, of logistic normal memberships. They are, first, independent
of each other, as those of early items, which lie everywhere; second, a Gaussian process over the
features of all items (a warped Gaussian process; Snelson, Rasmussen and Ghahramani, NIPS 2003):
a compressed scale bends that relation near both of its ends.
"""

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.arrays import ROUNDING

__all__ = ["compression"]

Floats = NDArray[np.float64]

_SHARES = np.arange(0.0, 0.36, 0.025)  # of the scale, avoided at each of its ends
_STEPS = np.arange(-0.02, 0.021, 0.005)  # around the best of these
_REACHED = 0.05  # answers nearer to an end reach it, and nearer to the middle show no end
_FEWEST, _MOST = 12, 100  # answers that are looked at; more of them cost time, and show little
# Later items are mostly between the clusters, where answers look as if they avoided the ends.
_EARLY = 40
_NEAREST = 0.01  # people answer in percent: memberships nearer to 0 or 1 are not told apart
# Kernels: linear, with a smooth and an independent part; widths by the mean squared norm.
_WIDTHS, _SMOOTH, _INDEPENDENT = (1.0, 4.0), (0.1, 1.0), (1e-4, 1e-3, 0.03, 0.2)
# Odds of 20. Of 19 tables of two clusters (posteriors of LDA; fuzzy k-means, half of the features
# known) none reaches more than 1.5 with answers as they are, .6 rounded to twentieths, and 2.9 with
# noise of .05; with .25 + .5 u all of the first kind reach 62 or more, the others 0 to 14.
_NATS = 3.0


def compression(first: Floats, features: Floats | None = None) -> float:
    """The share of the scale that answers about the first of two clusters avoid at each end.

    Zero unless another one is clearly more probable. Features have a row for each answer.
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
    """Kernels between items, one behind the other."""
    F = features / np.sqrt(max(float(np.square(features).sum(axis=1).mean()), 1e-300))
    linear, one = F @ F.T, np.eye(len(F))
    distances = np.diag(linear)[:, None] + np.diag(linear) - 2.0 * linear
    return np.stack([
        linear + smooth * np.exp(-0.5 * distances / width) + independent * one
        for width in _WIDTHS for smooth in _SMOOTH for independent in _INDEPENDENT
    ])  # fmt: skip


def _log_likelihood(y: Floats, share: float, kernels: Floats) -> float:
    """That of answers on a scale that avoids this share at each end, by the best kernel."""
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
