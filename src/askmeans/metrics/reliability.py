"""Inter-annotator agreement: Krippendorff's alpha, of all annotators and of each.

K. Krippendorff, Content Analysis, 4th edition (2018), chapter 12.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import default_float_errors
from askmeans.exceptions import DataError


@default_float_errors()
def krippendorff_alpha(ratings: ArrayLike) -> float:
    """Krippendorff's alpha: 1 for full agreement, 0 for agreement by chance.

    Ratings of shape (n_annotators, n_items) or (n_annotators, n_items, n_groups), NaN where there
    is none, differ by their squared distance: the interval alpha. For rows with a single share of 1
    this is the nominal alpha of the groups. NaN where no item has two ratings, or all are the same.
    """
    observed, expected, counts = _disagreement(ratings)
    return _alpha(float(observed.sum()), counts.sum(), expected)


@default_float_errors()
def annotator_alphas(ratings: ArrayLike) -> Floats:
    """Alpha of each annotator, from the pairs of ratings that include one of theirs.

    Weighted by how many items each shares with others, their mean is `krippendorff_alpha`. NaN for
    an annotator without shared items.
    """
    observed, expected, counts = _disagreement(ratings)
    return np.array([_alpha(o, n, expected) for o, n in zip(observed, counts, strict=True)])


def _alpha(observed: float, count: float, expected: float) -> float:
    """1 - D_o / D_e."""
    return float(1.0 - observed / count / expected) if count and expected > 0.0 else float("nan")


def _disagreement(ratings: ArrayLike) -> tuple[Floats, float, NDArray[np.intp]]:
    """Observed disagreement by annotator, that expected by chance, and the ratings that count."""
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim not in (2, 3):
        raise DataError(
            "The ratings must have shape (n_annotators, n_items) or (n_annotators, n_items, "
            f"n_groups). Got shape {table.shape}."
        )
    table = table[:, :, None] if table.ndim == 2 else table
    rated = ~np.isnan(table).any(axis=2)
    rated &= rated.sum(axis=0) >= 2  # a single rating says nothing of agreement
    values, inverse = np.unique(table[rated], axis=0, return_inverse=True)
    codes = np.full(rated.shape, -1, dtype=np.intp)
    codes[rated] = inverse.reshape(-1)
    delta = ((values[:, None, :] - values[None, :, :]) ** 2).sum(axis=2)
    observed = np.zeros(len(codes))
    for item in codes.T:
        (who,) = np.nonzero(item >= 0)
        if len(who):
            observed[who] += delta[np.ix_(item[who], item[who])].sum(axis=1) / (len(who) - 1)
    shares = np.bincount(codes[rated], minlength=len(delta)).astype(np.float64)
    n = shares.sum()
    expected = float(shares @ delta @ shares) / (n * (n - 1.0)) if n > 1 else 0.0
    return observed, expected, rated.sum(axis=1)
