"""The fuzzy k-means model of the paper's section 2.1 in plain numpy, and checks of its arguments.

These functions are the reference that the compiled kernels are tested against.
Notation: n items in the rows of X, k centres mu in the rows of `centers`,
memberships U (n x k), fuzzifier alpha.
"""

from contextlib import suppress
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import as_matrix, as_weights, default_float_errors
from askmeans._util.message import plural_message
from askmeans.exceptions import DataError, ParameterError

# Rows per step where an n x k x d intermediate would otherwise appear.
_BLOCK_ELEMENTS = 1 << 20

Matrix = NDArray[np.float64]


@default_float_errors()
def squared_distances(X: ArrayLike, centers: ArrayLike) -> NDArray[np.float64]:
    """Squared Euclidean distance of every item to every centre.

    Differences are taken before squaring, so an offset common to items and
    centres costs no precision.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres.

    Returns
    -------
    ndarray of shape (n_items, n_clusters)
        Squared distances.

    Examples
    --------
    >>> squared_distances([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]])
    array([[ 0.],
           [25.]])
    """
    items, mu = as_items_and_centers(X, centers)
    distances = np.empty((len(items), len(mu)))
    step = max(1, _BLOCK_ELEMENTS // max(1, mu.size))
    for start in range(0, len(items), step):
        rows = slice(start, start + step)
        difference = items[rows, None, :] - mu
        distances[rows] = np.einsum("ijd,ijd->ij", difference, difference)
    return distances


@default_float_errors()
def closed_form_memberships(
    X: ArrayLike, centers: ArrayLike, fuzzifier: float = 2.0
) -> NDArray[np.float64]:
    """Memberships that minimise the objective for given centres.

    An item that coincides with one centre or several is shared evenly among
    those (paper note N6).

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres.
    fuzzifier : float, default=2.0
        Alpha of the paper, above 1: the larger, the softer.

    Returns
    -------
    ndarray of shape (n_items, n_clusters)
        Memberships; every row lies in [0, 1] and sums to one.

    Examples
    --------
    >>> closed_form_memberships([[0.0], [5.0], [-10.0]], [[0.0], [10.0]])
    array([[1. , 0. ],
           [0.5, 0.5],
           [0.8, 0.2]])
    """
    check_fuzzifier(fuzzifier, "closed_form_memberships")
    return memberships_from_distances(squared_distances(X, centers), fuzzifier)


def memberships_from_distances(
    distances: NDArray[np.float64], fuzzifier: float
) -> NDArray[np.float64]:
    """The closed form for given squared distances, unchecked."""
    nearest = distances.min(axis=1, keepdims=True)
    # Ratios to the nearest centre lie in [0, 1]: no power of them overflows, 0 / 0 never arises.
    ratios = np.divide(nearest, distances, out=np.ones_like(distances), where=distances > nearest)
    powers = ratios ** (1.0 / (fuzzifier - 1.0))
    memberships: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return memberships


@default_float_errors()
def weighted_centers(
    X: ArrayLike,
    memberships: ArrayLike,
    fuzzifier: float = 2.0,
    *,
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Centres that minimise the objective for given memberships.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    fuzzifier : float, default=2.0
        Alpha of the paper, at least 1 (1 weighs by the membership itself).
    sample_weight : array-like of shape (n_items,), default=None
        How much each item counts; None counts all alike.

    Returns
    -------
    ndarray of shape (n_clusters, n_features)
        Centres; a row of NaN for a cluster to which no item belongs at all.

    Examples
    --------
    >>> weighted_centers([[0.0], [10.0]], [[1.0, 0.5], [0.0, 0.5]])
    array([[0.],
           [5.]])
    """
    check_fuzzifier(fuzzifier, "weighted_centers", strict=False)
    items, U = as_matrix(X, "X"), as_memberships(memberships)
    check_rows(U, len(items))
    weights = _item_weights(U, fuzzifier, sample_weight)
    shift = items.mean(axis=0)  # sums of small numbers stay exact when the data lies far out
    totals = weights.sum(axis=0)
    with np.errstate(invalid="ignore"):
        centers: NDArray[np.float64] = weights.T @ (items - shift) / totals[:, None] + shift
    return centers


@default_float_errors()
def objective(
    X: ArrayLike,
    centers: ArrayLike,
    memberships: ArrayLike,
    fuzzifier: float = 2.0,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """The fuzzy k-means objective, equation (2) of the paper.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    fuzzifier : float, default=2.0
        Alpha of the paper, at least 1 (1 is the objective of hard k-means).
    sample_weight : array-like of shape (n_items,), default=None
        How much each item counts; None counts all alike.

    Returns
    -------
    float
        Sum over items and clusters of U^alpha times the squared distance.

    Examples
    --------
    >>> objective([[0.0], [4.0]], [[0.0], [2.0]], [[1.0, 0.0], [0.5, 0.5]])
    5.0
    """
    check_fuzzifier(fuzzifier, "objective", strict=False)
    items, mu, U = as_clustering(X, centers, memberships)
    weights = _item_weights(U, fuzzifier, sample_weight)
    return float((weights * squared_distances(items, mu)).sum())


def _item_weights(
    memberships: NDArray[np.float64], fuzzifier: float, sample_weight: ArrayLike | None
) -> NDArray[np.float64]:
    """U^alpha, times how much each item counts."""
    counts = as_weights(sample_weight, len(memberships))
    weights: NDArray[np.float64] = memberships**fuzzifier
    return weights * counts[:, None] if counts.size else weights


def check_fuzzifier(fuzzifier: object, owner: str, *, strict: bool = True) -> None:
    """Refuse a fuzzifier that is not above 1 (not below 1, unless strict)."""
    if isinstance(fuzzifier, Real):  # True counts as 1
        with suppress(OverflowError):
            value = float(fuzzifier)
            if 1.0 < value < np.inf or (value == 1.0 and not strict):
                return
    raise ParameterError(
        f"The 'fuzzifier' parameter of {owner} must be a float in the range "
        f"{'(' if strict else '['}1, inf). Got {fuzzifier!r} instead. "
        "Usual values lie between 1.1 and 2; near 1 clusters are hard."
    )


def check_enough_items(n_items: int, n_clusters: int, owner: str) -> None:
    """Refuse more clusters than items."""
    if n_clusters > n_items:
        raise ParameterError(
            f"The 'n_clusters' parameter of {owner} must be at most n_samples={n_items}. "
            f"Got {n_clusters} instead; ask for fewer clusters or give more rows.",
            user_message=plural_message(
                "There is {n} item, so there cannot be {n_clusters} groups. Rename a group or "
                "merge two of them first.",
                "There are {n} items, so there cannot be {n_clusters} groups. Rename a group or "
                "merge two of them first.",
                n_items,
                n_clusters=n_clusters,
            ),
        )


def as_memberships(memberships: ArrayLike, name: str = "memberships") -> Matrix:
    """Return memberships as a matrix in [0, 1]; what rounding put outside is clipped."""
    matrix = as_matrix(memberships, name)
    single = np.asarray(memberships).dtype in (np.float16, np.float32)
    slack = 1e-6 if single else 1e-9
    low, high = float(matrix.min()), float(matrix.max())
    if low < -slack or high > 1.0 + slack:
        raise DataError(
            f"{name} must lie between 0 and 1. Got {low if low < -slack else high!r} instead; "
            "weights or percentages are divided by the sum of their row first."
        )
    return np.clip(matrix, 0.0, 1.0)  # a power of -1e-10 would be NaN


def as_items_and_centers(X: ArrayLike, centers: ArrayLike) -> tuple[Matrix, Matrix]:
    """Return both as matrices with the same features."""
    items, mu = as_matrix(X, "X"), as_matrix(centers, "centers")
    if items.shape[1] != mu.shape[1]:
        raise DataError(
            f"centers must have the {items.shape[1]} features of X. "
            f"Got {mu.shape[1]} features instead."
        )
    return items, mu


def as_clustering(
    X: ArrayLike, centers: ArrayLike, memberships: ArrayLike
) -> tuple[Matrix, Matrix, Matrix]:
    """Return items, centres and memberships whose shapes fit."""
    items, mu = as_items_and_centers(X, centers)
    U = as_memberships(memberships)
    check_rows(U, len(items))
    check_columns(U, len(mu))
    return items, mu, U


def check_rows(memberships: Matrix, n_items: int) -> None:
    """Refuse memberships of another number of items."""
    if len(memberships) != n_items:
        raise DataError(
            f"memberships must have one row for each of the {n_items} rows of X. "
            f"Got {len(memberships)} rows instead."
        )


def check_columns(memberships: Matrix, n_clusters: int) -> None:
    """Refuse memberships to another number of clusters than there are centres."""
    if memberships.shape[1] != n_clusters:
        raise DataError(
            f"memberships must have one column for each of the {n_clusters} centers. "
            f"Got {memberships.shape[1]} columns instead."
        )
