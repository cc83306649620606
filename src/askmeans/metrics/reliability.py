"""How far annotators agree: Krippendorff's alpha, of all and of each.

K. Krippendorff, Content Analysis, 4th edition (2018), chapter 12.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import check_choice
from askmeans._util.guards import default_float_errors
from askmeans.exceptions import DataError

__all__ = ["annotator_alphas", "krippendorff_alpha"]

Level = Literal["nominal", "ordinal", "interval", "ratio"]
_LEVELS = ("nominal", "ordinal", "interval", "ratio")


@default_float_errors()
def krippendorff_alpha(ratings: ArrayLike, *, level: Level = "interval") -> float:
    """Krippendorff's alpha: 1 for full agreement, 0 for what chance would bring.

    Parameters
    ----------
    ratings : array-like of shape (n_annotators, n_items) or (n_annotators, n_items, n_groups)
        What each said of each item, NaN where nothing: a number, or a row of shares over groups.
        Rows differ by their squared distance, so for rows of one whole share this is the nominal
        alpha of the groups.
    level : {"nominal", "ordinal", "interval", "ratio"}, default="interval"
        How numbers differ: at all, by rank, by distance, or by proportion. Of rows: "interval".

    Returns
    -------
    float
        At most 1; NaN where no item has two ratings, or all ratings are the same.

    Raises
    ------
    DataError
        If the ratings have another shape.
    ParameterError
        If the level is none of these.

    Examples
    --------
    >>> from askmeans.metrics import krippendorff_alpha
    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 4]]), 3)
    0.889
    """
    codes, delta = _coded(ratings, level)
    observed, expected, counts = _disagreement(codes, delta)
    return _alpha(float(observed.sum()), counts.sum(), expected)


@default_float_errors()
def annotator_alphas(ratings: ArrayLike, *, level: Level = "interval") -> NDArray[np.float64]:
    """Alpha of each annotator: of the pairs of ratings that one of them is theirs.

    Parameters
    ----------
    ratings : array-like of shape (n_annotators, n_items) or (n_annotators, n_items, n_groups)
        As in `krippendorff_alpha`.
    level : {"nominal", "ordinal", "interval", "ratio"}, default="interval"
        As in `krippendorff_alpha`.

    Returns
    -------
    ndarray of shape (n_annotators,)
        NaN for who shares no item with others. Weighted by how many items each shares, their mean
        is `krippendorff_alpha`.

    Examples
    --------
    >>> from askmeans.metrics import annotator_alphas
    >>> annotator_alphas([[1, 2, 3, 3], [1, 2, 3, 3], [1, 1, 3, 1]]).round(2).tolist()
    [0.66, 0.66, 0.31]
    """
    codes, delta = _coded(ratings, level)
    observed, expected, counts = _disagreement(codes, delta)
    return np.array([_alpha(o, n, expected) for o, n in zip(observed, counts, strict=True)])


def _alpha(observed: float, count: float, expected: float) -> float:
    """1 - D_o / D_e."""
    return float(1.0 - observed / count / expected) if count and expected > 0.0 else float("nan")


def _coded(ratings: ArrayLike, level: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ratings of items with several as numbers of their values, -1 for none; how values differ."""
    table = np.asarray(ratings, dtype=np.float64)
    check_choice(level, _LEVELS, "level", "krippendorff_alpha")
    if table.ndim not in (2, 3) or (table.ndim == 3 and level != "interval"):
        raise DataError(
            "The ratings must have shape (n_annotators, n_items), or with level='interval' "
            f"(n_annotators, n_items, n_groups). Got shape {table.shape} and level={level!r}."
        )
    table = table[:, :, None] if table.ndim == 2 else table
    answered = ~np.isnan(table).any(axis=2)
    answered &= answered.sum(axis=0) >= 2  # one alone says nothing of agreement
    values, inverse = np.unique(table[answered], axis=0, return_inverse=True)
    codes = np.full(answered.shape, -1, dtype=np.intp)
    codes[answered] = inverse.reshape(-1)
    if table.shape[2] > 1 or level == "interval":
        delta = ((values[:, None, :] - values[None, :, :]) ** 2).sum(axis=2)
    else:
        counts = np.bincount(codes[answered], minlength=len(values))
        delta = _differences(values[:, 0], counts, level)
    return codes, delta


def _differences(
    values: NDArray[np.float64], counts: NDArray[np.intp], level: str
) -> NDArray[np.float64]:
    """How values differ: equations of chapter 12.3.3."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ratio":
        total = values[:, None] + values[None, :]
        safe = np.where(total == 0.0, 1.0, total)
        return np.asarray(((values[:, None] - values[None, :]) / safe) ** 2)
    middle = np.cumsum(counts) - counts / 2.0  # ranks
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def _disagreement(
    codes: NDArray[np.intp], delta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, NDArray[np.intp]]:
    """Of each annotator the observed disagreement, that by chance, and how many ratings count."""
    observed = np.zeros(len(codes))
    for item in codes.T:
        (who,) = np.nonzero(item >= 0)
        if len(who):
            observed[who] += delta[np.ix_(item[who], item[who])].sum(axis=1) / (len(who) - 1)
    shares = np.bincount(codes[codes >= 0], minlength=len(delta)).astype(np.float64)
    n = shares.sum()
    expected = float(shares @ delta @ shares) / (n * (n - 1.0)) if n > 1 else 0.0
    return observed, expected, (codes >= 0).sum(axis=1)
