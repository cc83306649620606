"""Where distances from norms and products lose digits in single precision.

|x|^2 - 2 <x, c> + |c|^2 is off by about 1e-7 |x|^2: too much for clusters that are small, or near
to each other, beside their distance from the origin.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_tight", "crowd"]

Floats = NDArray[np.float64]

# Of the squared norms: below, sums lose more than 1e-5 in float32; memberships in two groups that
# are near to each other as much for a part of the items only.
_TIGHT, _NEAR = 1e-2, 1e-3
_SAME = 1e-12  # centres that are one: memberships in them are even, whatever is lost


def are_tight(centers: Floats, totals: Floats, objective: float) -> bool:
    """Whether items are nearer to their centres than can be seen, by the sums of a pass."""
    return objective < _TIGHT * float(totals @ np.square(centers).sum(axis=1))


def crowd(centers: Floats) -> bool:
    """Whether two centres are nearer to each other than can be seen, and not the same."""
    products = centers @ centers.T
    norms = np.diag(products)
    distances = norms + norms[:, None] - 2.0 * products
    near = (distances < _NEAR * norms[:, None]) & (distances > _SAME * norms[:, None])
    return bool(near.any())
