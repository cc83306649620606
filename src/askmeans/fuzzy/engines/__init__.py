"""Engines for data that is no numpy array in memory: on disk, Dask, other array libraries, a GPU.

Engines that compute distances as matrix products, |x|^2 - 2 <x, c> + |c|^2, lose about 1e-7 |x|^2
in single precision: too much for clusters that are small, or near to each other, beside their
distance from the origin. The functions below detect that.
"""

import numpy as np

from askmeans._util.arrays import Floats

# In few dimensions many centres are close to each other: up to this number of features, distances
# are computed from differences.
FEW_FEATURES = 32
# Products lose about 1e-7 |c|^2 of a squared distance. Where the mean squared distance is below
# 1e-2 |c|^2, sums over all items lose more than 1e-5. Two centres nearer than 1e-3 |c|^2 lose ten
# times as much, for a part of the items only.
_SMALL, _CLOSE = 1e-2, 1e-3
_EQUAL = 1e-12  # centres that coincide: memberships in them are even, whatever is lost


def clusters_are_small(centers: Floats, totals: Floats, objective: float) -> bool:
    """Whether items are nearer to their centres than products resolve, by the sums of a pass."""
    return objective < _SMALL * float(totals @ np.square(centers).sum(axis=1))


def centers_are_close(centers: Floats) -> bool:
    """Whether two different centres are nearer to each other than products resolve."""
    products = centers @ centers.T
    norms = np.diag(products)
    distances = norms + norms[:, None] - 2.0 * products
    close = (distances < _CLOSE * norms[:, None]) & (distances > _EQUAL * norms[:, None])
    return bool(close.any())
