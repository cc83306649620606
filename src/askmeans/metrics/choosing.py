"""The number of clusters: validity indices and stability over a range of numbers.

Each index prefers other clusters: compact, crisp, separated or stable ones. Where the indices
disagree, the data do not determine the number, and it has to be chosen for the purpose.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import as_matrix, check_number, default_float_errors
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy.model import check_enough_items, check_fuzzifier
from askmeans.metrics.agreement import membership_error
from askmeans.metrics.validity import (
    clarity_weighted_mean,
    fuzzy_silhouette,
    partition_coefficient,
    partition_entropy,
    xie_beni,
)

if TYPE_CHECKING:
    import pandas as pd

    from askmeans.fuzzy.lloyd import Fit


# Whether low or high values are better.
INDICES = {
    "xie_beni": "low",
    "partition_coefficient": "high",
    "partition_entropy": "low",
    "fuzzy_silhouette": "high",
    "simplified_silhouette": "high",
    "stability": "high",
}
_FUNCTION = "choose_n_clusters"  # in messages
_MAX_SILHOUETTE_ITEMS = 2000  # for the exact silhouette, whose time is quadratic
_MAX_ITEMS = 20_000  # for the other indices and the stability


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNumbers:
    """Validity indices of several numbers of clusters.

    Parameters
    ----------
    n_clusters : tuple of int
        The numbers of clusters.
    indices : dict of str to ndarray
        The value of each index at each number; NaN where it is undefined.
    merged : tuple of bool
        Whether clusters merged at each number, which leaves fewer.
    """

    n_clusters: tuple[int, ...]
    indices: dict[str, Floats]
    merged: tuple[bool, ...]

    def __repr__(self) -> str:
        return f"ClusterNumbers(n_clusters={self.n_clusters}: {self.summary})"

    @property
    def votes(self) -> dict[str, int | None]:
        """The number each index prefers; None where it is undefined."""
        usable = ~np.asarray(self.merged)
        votes: dict[str, int | None] = {}
        for name, values in self.indices.items():
            signed = np.where(usable, values if INDICES[name] == "high" else -values, np.nan)
            is_defined = np.isfinite(signed).any()
            votes[name] = self.n_clusters[int(np.nanargmax(signed))] if is_defined else None
        return votes

    @property
    def suggested(self) -> int | None:
        """The number that more than half of the indices prefer; None where they disagree."""
        votes = [vote for vote in self.votes.values() if vote is not None]
        for number in self.n_clusters:
            if votes.count(number) > len(votes) / 2:
                return number
        return None

    @property
    def summary(self) -> str:
        """The suggestion in a sentence or two."""
        listed = ", ".join(f"{name} {vote or 'undefined'}" for name, vote in self.votes.items())
        if self.suggested is None:
            return (
                f"The indices disagree ({listed}): the data do not determine the number of "
                "clusters. Compare several, and choose by their purpose."
            )
        agree = all(vote == self.suggested for vote in self.votes.values())
        remark = "All indices agree" if agree else f"Not all agree: {listed}"
        return f"{self.suggested} clusters. {remark}."

    def to_frame(self) -> "pd.DataFrame":
        """The indices as a data frame, one row per number of clusters.

        Returns
        -------
        pandas.DataFrame
            A column per index, and `merged`.
        """
        import pandas as pd

        index = pd.Index(self.n_clusters, name="n_clusters")
        return pd.DataFrame(self.indices | {"merged": self.merged}, index=index)


@default_float_errors()
def choose_n_clusters(
    X: ArrayLike,
    n_clusters: Iterable[int] = range(2, 11),
    *,
    fuzzifier: float = 2.0,
    n_init: int = 5,
    n_resamples: int = 5,
    random_state: int | np.random.Generator | None = None,
) -> ClusterNumbers:
    """Fit fuzzy k-means with several numbers of clusters and compare their validity.

    The partition coefficient and entropy are corrected for the number of clusters: 0 for even
    memberships and 1 for hard ones (Dave, 1996), and 0 for hard ones and 1 for even ones. Stability
    compares fits to two random halves of the items: 1 for equal memberships, 0 for agreement by
    chance. Indices use at most 20,000 random items, the exact silhouette 2,000.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    n_clusters : iterable of int, default=range(2, 11)
        The numbers to try, from 2.
    fuzzifier : float, default=2.0
        Softness of the clusters, above 1.
    n_init : int, default=5
        Starts of each fit.
    n_resamples : int, default=5
        Pairs of halves for the stability; 0 leaves it out.
    random_state : int, numpy Generator or None, default=None
        Source of starts and halves.

    Returns
    -------
    ClusterNumbers
        All indices, the number each prefers, and a suggestion where more than half agree.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(150, 2)) + 9.0 * (np.arange(150) % 3)[:, None]
    >>> numbers = choose_n_clusters(X, range(2, 6), random_state=0)
    >>> numbers.votes["xie_beni"], numbers.summary
    (3, '3 clusters. All indices agree.')
    """
    items = as_matrix(X, "X")
    numbers = _check_numbers(n_clusters, len(items))
    check_fuzzifier(fuzzifier, _FUNCTION)
    check_number(n_init, "n_init", _FUNCTION, integer=True, minimum=1)
    check_number(n_resamples, "n_resamples", _FUNCTION, integer=True)
    rng = np.random.default_rng(random_state)
    measured = items[np.sort(rng.permutation(len(items))[:_MAX_ITEMS])]
    sample = np.sort(rng.permutation(len(measured))[:_MAX_SILHOUETTE_ITEMS])
    rows, merged = [], []
    for k in numbers:
        fit = _fit(items, k, fuzzifier, n_init, rng)
        row = _indices(measured, fit, sample)
        if n_resamples:
            row["stability"] = _stability(measured, k, fuzzifier, n_resamples, rng)
        rows.append(row)
        merged.append(bool(fit.merged))
    return ClusterNumbers(
        n_clusters=numbers,
        indices={name: np.array([row[name] for row in rows]) for name in rows[0]},
        merged=tuple(merged),
    )


def _check_numbers(n_clusters: Iterable[int], n_items: int) -> tuple[int, ...]:
    """Check the numbers to try; return them ascending, without duplicates."""
    numbers = list(n_clusters) if isinstance(n_clusters, Iterable) else []
    if not numbers:
        raise ParameterError(
            f"The 'n_clusters' parameter of {_FUNCTION} must be a range or a list of ints. "
            f"Got {n_clusters!r} instead."
        )
    for number in numbers:
        check_number(number, "n_clusters", _FUNCTION, integer=True, minimum=2)
        check_enough_items(n_items, number, _FUNCTION)
    return tuple(sorted({int(number) for number in numbers}))


def _fit(X: Floats, k: int, fuzzifier: float, n_init: int, rng: np.random.Generator) -> "Fit":
    """Fuzzy k-means with k clusters."""
    from askmeans.fuzzy import lloyd

    return lloyd.fit(X, k, fuzzifier=fuzzifier, n_init=n_init, rng=rng, mixing=True)


def _indices(X: Floats, fit: "Fit", sample: NDArray[np.intp]) -> dict[str, float]:
    """The indices of one fit; NaN for an undefined one."""
    from askmeans.fuzzy import lloyd

    centers, alpha = fit.centers, fit.fuzzifier
    k, U = len(centers), lloyd.memberships(X, centers, alpha)
    try:
        silhouette = fuzzy_silhouette(X[sample], U[sample])
    except DataError:  # fewer than two strongest clusters, or as many as items
        silhouette = float("nan")
    return {
        "xie_beni": xie_beni(X, centers, U, alpha),
        "partition_coefficient": 1.0 - k / (k - 1.0) * (1.0 - partition_coefficient(U)),
        "partition_entropy": partition_entropy(U) / float(np.log(k)),
        "fuzzy_silhouette": silhouette,
        "simplified_silhouette": _simplified_silhouette(X, centers, U),
    }


def _simplified_silhouette(X: Floats, centers: Floats, U: NDArray[np.floating]) -> float:
    """The fuzzy silhouette by distances to centres instead of items."""
    from scipy.spatial.distance import cdist

    D = cdist(X, centers)
    strongest = U.argmax(axis=1)[:, None]
    own = np.take_along_axis(D, strongest, axis=1)[:, 0]
    np.put_along_axis(D, strongest, np.inf, axis=1)
    next_nearest = D.min(axis=1)
    larger = np.maximum(own, next_nearest)
    widths = np.divide(next_nearest - own, larger, out=np.zeros_like(own), where=larger > 0.0)
    return clarity_weighted_mean(widths, U)


def _stability(
    X: Floats, k: int, fuzzifier: float, n_resamples: int, rng: np.random.Generator
) -> float:
    """Agreement of fits to two halves beyond chance; NaN for too few items."""
    from askmeans.fuzzy import lloyd

    half = len(X) // 2
    if half < k:
        return float("nan")
    stabilities: list[Any] = []
    for _ in range(n_resamples):
        order = rng.permutation(len(X))
        U, V = (
            lloyd.memberships(X, _fit(X[rows], k, fuzzifier, 2, rng).centers, fuzzifier)
            for rows in (order[:half], order[half:])
        )
        chance = membership_error(U, V[rng.permutation(len(V))], how="mean")
        distance = membership_error(U, V, how="mean")
        stabilities.append(1.0 - distance / chance if chance > 0.0 else float("nan"))
    return float(np.mean(stabilities))
