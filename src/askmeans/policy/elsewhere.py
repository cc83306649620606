"""Items that belong to none of the groups: a group more inside, none more outside.

Answers of "none of these" are learnt from like a group of their own, so that items like them are
expected to be elsewhere, too. In the result their share has its own column.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.evidence import Told
from askmeans.policy.models.training import Predict

__all__ = ["WithoutRest", "is_elsewhere", "n_hidden_groups", "with_elsewhere"]

Floats = NDArray[np.float64]

SEVERAL = 2  # items that belong nowhere; a single one may be a slip
_MOST = 6  # groups that are looked for
# Silhouette more than of a single group, from which on groups are told apart, and what fewer groups
# may lack of the best: on sixteen real tables off by .4 groups instead of .8 (60 cards).
_APART, _NEARLY = 0.12, 0.05
_DRAWN = 2  # such single groups
_ENOUGH = 500  # items that are looked at


def is_elsewhere(told: Told) -> bool:
    """Whether enough items belong to none of the groups to learn what these are like."""
    return int(told.unassigned.sum()) >= SEVERAL


def with_elsewhere(told: Told) -> Told:
    """The same table with a column for "none of these": nobody is asked about it."""
    n = len(told.items)
    whole = ~np.isnan(told.values).any(axis=1)
    rest = np.where(told.unassigned, 1.0 - np.nansum(told.values, axis=1), 0.0)
    column = np.where(whole, rest, np.nan)[:, None]
    return replace(
        told,
        values=np.hstack([told.values, column]),
        asked=np.hstack([told.asked, np.ones((n, 1), dtype=bool)]),
        times=np.hstack([told.times, np.zeros((n, 1), dtype=np.intp)]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutRest:
    """Memberships of any items to the groups there are; rows lack what is in none of them."""

    predict: Predict
    n_clusters: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.predict(X)[:, : self.n_clusters]


def n_hidden_groups(Z: Floats, n_told: int) -> int:
    """How many groups the items make up that are elsewhere, two told of each at least.

    By silhouettes above those of a single group with the same covariance: the fewest groups that
    are nearly as good as any number. Z has the items that are expected there, n_told how many of
    them somebody told of.
    """
    rng = np.random.default_rng(0)
    Z = Z if len(Z) <= _ENOUGH else Z[rng.choice(len(Z), _ENOUGH, replace=False)]
    if min(n_told, len(Z)) < 2 * SEVERAL:
        return 1
    middle, covariance = Z.mean(axis=0), np.cov(Z.T).reshape(2 * Z.shape[1:])
    single = [rng.multivariate_normal(middle, covariance, len(Z)) for _ in range(_DRAWN)]
    counts = range(2, min(_MOST, n_told // 2, len(Z) - 1) + 1)
    gains = {
        count: _silhouette(Z, count) - np.mean([_silhouette(one, count) for one in single])
        for count in counts
    }
    best = max(gains.values())
    return 1 if best < _APART else min(c for c, gain in gains.items() if gain > best - _NEARLY)


def _silhouette(Z: Floats, count: int) -> float:
    """How well items fall into so many groups."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(Z, KMeans(count, n_init=3, random_state=0).fit_predict(Z)))
