"""Calibration of probabilities: the largest of each item compared with its accuracy.

C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, On Calibration of Modern Neural Networks, ICML 2017.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import as_weights, check_number, default_float_errors
from askmeans.exceptions import DataError
from askmeans.fuzzy.model import as_memberships

_SLACK = 1e-3  # by which rounding may lift the sum of a row above one


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceBins:
    """Items by their largest probability; means of a bin without items are NaN."""

    share: Floats  # of all items
    confidence: Floats  # mean largest probability
    accuracy: Floats  # share of items whose most probable cluster is right

    @property
    def gaps(self) -> Floats:
        """Accuracy minus confidence, times the share of items; 0 without items."""
        return np.where(self.share > 0.0, self.share * (self.accuracy - self.confidence), 0.0)

    @property
    def error(self) -> float:
        """The expected calibration error."""
        return float(np.abs(self.gaps).sum())


@default_float_errors()
def expected_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    n_bins: int = 15,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean difference of the largest probability and its accuracy, in bins of equal width.

    The absolute difference of each bin's mean probability and accuracy, weighted by its items. With
    few items it is above 0 by chance, even for true probabilities.

    Parameters
    ----------
    y_true : array-like of shape (n_items,)
        The true cluster of each item: the number of its column in `proba`; or labels, which are
        the columns in sorted order and occur all.
    proba : array-like of shape (n_items, n_clusters)
        Probabilities, or memberships; rows sum to one, or to less where items may belong to no
        cluster.
    n_bins : int, default=15
        How many bins there are between 0 and 1.
    sample_weight : array-like of shape (n_items,), default=None
        What each item weighs; None counts all alike.

    Returns
    -------
    float
        The error, from 0 to 1.

    Examples
    --------
    >>> from askmeans.metrics import expected_calibration_error
    >>> proba = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]
    >>> round(expected_calibration_error([0, 0, 1, 0], proba), 3)  # (1 - .9) / 2 + (.8 - .5) / 2
    0.2
    """
    return confidence_bins(y_true, proba, n_bins=n_bins, sample_weight=sample_weight).error


def confidence_bins(
    y_true: ArrayLike, proba: ArrayLike, *, n_bins: int, sample_weight: ArrayLike | None = None
) -> ConfidenceBins:
    """Accuracy by confidence, in bins (low, high] of equal width; the first one has 0, too."""
    check_number(n_bins, "n_bins", "expected_calibration_error", integer=True, minimum=1)
    P = as_memberships(proba, "proba")
    if (largest := float(P.sum(axis=1).max())) > 1.0 + _SLACK:
        raise DataError(
            f"Rows of proba must sum to one at most. Got a sum of {largest:g}; "
            "divide each row by its sum."
        )
    columns = _columns(y_true, *P.shape)
    weights = as_weights(sample_weight, len(P))
    weights = weights / weights.sum() if len(weights) else np.full(len(P), 1.0 / len(P))
    confidence, right = P.max(axis=1), P.argmax(axis=1) == columns
    bins = np.digitize(confidence, np.linspace(0.0, 1.0, n_bins + 1)[1:-1], right=True)
    share, total, correct = (
        np.bincount(bins, weights=weights * each, minlength=n_bins).astype(np.float64)
        for each in (np.ones(len(P)), confidence, right)
    )
    empty = np.full(n_bins, np.nan)
    return ConfidenceBins(
        share=share,
        confidence=np.divide(total, share, out=empty.copy(), where=share > 0.0),
        accuracy=np.divide(correct, share, out=empty, where=share > 0.0),
    )


def _columns(y_true: ArrayLike, n_items: int, n_clusters: int) -> NDArray[np.intp]:
    """The column of each item's true cluster."""
    labels = np.asarray(y_true)
    if labels.shape != (n_items,):
        raise DataError(
            f"y_true must have one entry for each of the {n_items} rows of proba. "
            f"Got shape {labels.shape} instead; flatten a column with .ravel()."
        )
    if any(label is None or label != label for label in labels.tolist()):
        raise DataError(
            "y_true must have a label for every item. Got a missing one instead; "
            "leave such items out of both arguments."
        )
    if np.issubdtype(labels.dtype, np.number):
        if not np.isin(labels, np.arange(n_clusters)).all():
            wrong = labels[~np.isin(labels, np.arange(n_clusters))][0]
            raise DataError(
                f"Numbers in y_true must be columns of proba, 0 to {n_clusters - 1}. "
                f"Got {wrong} instead; number the clusters in the order of the columns."
            )
        return labels.astype(np.intp)
    names, columns = np.unique(labels, return_inverse=True)
    if len(names) != n_clusters:
        raise DataError(
            f"y_true must have as many different labels as proba has columns, {n_clusters}. "
            f"Got {len(names)}; where some do not occur, give the numbers of the columns."
        )
    return np.asarray(columns)
