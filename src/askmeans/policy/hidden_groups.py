"""The number of groups among the items that belong to no cluster."""

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.policy.evidence import SEVERAL

# Largest number of groups, the gain in silhouette over a single group from which on they are
# separate, and the loss up to which fewer groups are preferred: on sixteen real tables the number
# is off by .4 instead of .8 (60 questions).
_MOST, _SEPARATE, _NEARLY = 6, 0.12, 0.05
_DRAWN, _COMPARED = 2, 500  # single groups to compare with; items that are compared


def n_hidden_groups(Z: Floats, n_answered: int) -> int:
    """Estimate the number of groups among these items, of which `n_answered` have an answer.

    The smallest number whose silhouette, beyond that of a single group with the same covariance, is
    nearly the best; there are at least two answers for each.
    """
    rng = np.random.default_rng(0)
    Z = Z if len(Z) <= _COMPARED else Z[rng.choice(len(Z), _COMPARED, replace=False)]
    if min(n_answered, len(Z)) < 2 * SEVERAL:
        return 1
    middle, covariance = Z.mean(axis=0), np.cov(Z.T).reshape(2 * Z.shape[1:])
    single = [rng.multivariate_normal(middle, covariance, len(Z)) for _ in range(_DRAWN)]
    counts = range(2, min(_MOST, n_answered // 2, len(Z) - 1) + 1)
    gains = {
        count: _silhouette(Z, count) - np.mean([_silhouette(one, count) for one in single])
        for count in counts
    }
    best = max(gains.values())
    return 1 if best < _SEPARATE else min(c for c, gain in gains.items() if gain > best - _NEARLY)


def _silhouette(Z: Floats, count: int) -> float:
    """The silhouette of a number of groups."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(Z, KMeans(count, n_init=3, random_state=0).fit_predict(Z)))
