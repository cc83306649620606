"""Results: a clustering, its diagnostics and its cost."""

import dataclasses
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.guards import default_float_errors
from askmeans._util.text import html_table
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.fuzzy.scores import Link, Scorer
from askmeans.queries import Answers

__all__ = ["Clustering", "Diagnostics", "ErrorEstimate", "Result"]

Floats = NDArray[np.float64]

_TRACE = 1e-6  # smaller memberships are rounding of a model; answers have at most six digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """Predicts memberships from the scores of items for the centres, through the fitted links."""

    scorer: Scorer
    links: tuple[Link, ...]

    def __repr__(self) -> str:
        return f"Predictor({len(self.links)} clusters, order={self.scorer.order!r})"

    @default_float_errors()
    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Return the memberships (n x k) of these items; rows sum to one."""
        coordinates = self.scorer.coordinates(self.scorer.scores(X))
        columns = [link(column) for link, column in zip(self.links, coordinates.T, strict=True)]
        return onto_simplex(np.column_stack(columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """Diagnostics of a clustering; None for what does not apply.

    Parameters
    ----------
    beta : float or None
        Size of the smallest cluster times the number of clusters: 1 for equal sizes.
    rho : float or None
        Smallest mean of memberships to the power of the fuzzifier (Theorem 10).
    stopped : str or None
        Reason of the end: "precision", "max_items", "budget", "items" or "interrupted".
    notes : tuple of str
        Messages of warnings.
    estimated_error : float or None
        Default strategy: expected mean error of a membership.
    error_band : (float, float) or None
        Default strategy: 80 % interval of `estimated_error`.
    expected_wrong : float or None
        Default strategy: expected number of items whose strongest cluster is wrong; None before
        there are answers.
    expected_wrong_band : (int, int) or None
        Default strategy: 80 % interval of that number.
    target : float or None
        Default strategy: the share of items in the wrong cluster at which it stops; None for soft
        answers, where the error of memberships decides.
    suggested_clusters : int or None
        Number of groups that the answers indicate: more than `n_clusters` if items belong to none.
    annotators : mapping of str to mapping, or None
        Default strategy: for each annotator the scale of the answers (offset, gain, power, and the
        drift of the offset), their spread about the other annotators', and the share of slips.
    models : mapping of str to float, or None
        Default strategy: weights of the models that complete the memberships.
    sharpness : float or None
        Default strategy: exponent of the weighted mean of the models.
    strata : int or None
        Default strategy: number of queried items.
    unassigned : float or None
        Default strategy: the share of these items that belongs to none of the clusters.
    noise : float or None
        Standard deviation of the errors of noisy answers.
    largest_inversion : float or None
        Strategies of the paper: largest difference by which answers contradict the order.
    score_fuzzifier : float or None
        Strategies of the paper: fuzzifier of the relative order, fitted to the answers.
    effective_sample_size : list of float, or None
        Strategies of the paper: effective sample size of each centre.
    center_radius : list of float, or None
        Strategies of the paper: confidence radius of each centre.
    similarity : mapping, or None
        Similarity questions: their numbers, and diagnostics of the answers.
    repeats : int or None
        Number of times that each question was asked.
    runs : int or None
        Theorem 10: number of averaged runs.
    queries_raw, queries_distinct, rounds : mapping of str to int, or None
        By phase: questions with repetitions, different questions, batches.
    """

    beta: float | None = None
    rho: float | None = None
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    estimated_error: float | None = None
    error_band: tuple[float, float] | None = None
    expected_wrong: float | None = None
    expected_wrong_band: tuple[int, int] | None = None
    target: float | None = None
    suggested_clusters: int | None = None
    annotators: Mapping[str, Any] | None = None
    models: Mapping[str, float] | None = None
    sharpness: float | None = None
    strata: int | None = None
    unassigned: float | None = None
    noise: float | None = None
    largest_inversion: float | None = None
    score_fuzzifier: float | None = None
    effective_sample_size: list[float] | None = None
    center_radius: list[float] | None = None
    similarity: Mapping[str, Any] | None = None
    repeats: int | None = None
    runs: int | None = None
    queries_raw: Mapping[str, int] | None = None
    queries_distinct: Mapping[str, int] | None = None
    rounds: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name.

        Returns
        -------
        dict
            Plain values, without those that are None.

        Examples
        --------
        >>> Diagnostics(beta=1.0).to_dict()
        {'beta': 1.0, 'notes': []}
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["notes"] = list(self.notes)
        return {name: value for name, value in values.items() if value is not None}

    def wrong_items(self, n_items: int) -> str | None:
        """Format the expected number of items in the wrong cluster; None without an estimate."""
        if self.expected_wrong is None:
            return None
        return wrong_of(self.expected_wrong, n_items, self.expected_wrong_band)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEstimate:
    """Expected errors of the result after a number of answers.

    Parameters
    ----------
    answers : int
        The number of answers.
    error : float
        Expected mean error of a membership.
    low, high : float
        80 % interval of `error`.
    wrong : float or None
        Expected number of items whose strongest cluster is wrong; None if the answers do not allow
        an estimate.
    wrong_band : (int, int) or None
        80 % interval of `wrong`.
    """

    answers: int
    error: float
    low: float
    high: float
    wrong: float | None = None
    wrong_band: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """Centres and memberships, the result of a plan or a policy.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        The centres.
    memberships : ndarray of shape (n_items, n_clusters)
        Memberships in [0, 1]; rows sum to one with `unassigned`.
    confidence : ndarray of shape (n_items,), or None
        The probability that an item's strongest cluster is right: 1 where an annotator decided and
        none contradicts; None with a strategy of the paper.
    unassigned : ndarray of shape (n_items,), or None
        The probability that an item belongs to none of the clusters; None with a strategy of the
        paper.
    predictor : callable
        Function from items to memberships.
    complete : bool
        Whether the plan ended by itself.
    diagnostics : Diagnostics
        Estimated errors and further diagnostics.
    """

    centers: Floats
    memberships: Floats
    predictor: Callable[[NDArray[np.floating]], Floats]
    complete: bool
    confidence: Floats | None = None
    unassigned: Floats | None = None
    diagnostics: Diagnostics = Diagnostics()

    def __repr__(self) -> str:
        n_items, n_clusters = self.memberships.shape
        state = "complete" if self.complete else "not complete"
        return f"Clustering({n_items} items, {n_clusters} clusters, {state})"

    def _repr_html_(self) -> str:
        """Show the sizes of the clusters and the expected errors in a notebook."""
        return html_table("Clustering", self._facts, sizes_of(self.memberships))

    @property
    def _facts(self) -> list[tuple[str, object]]:
        """Names and values for a notebook."""
        n_items, n_clusters = self.memberships.shape
        return [
            ("items", n_items),
            ("clusters", n_clusters),
            ("complete", "yes" if self.complete else "no"),
            ("probably in the wrong cluster", self.diagnostics.wrong_items(n_items)),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a run: the clustering and its cost.

    Parameters
    ----------
    clustering : Clustering
        Centres and memberships.
    complete : bool
        Whether the plan ended by itself; False after a stop, a spent budget or Ctrl-C.
    n_queries : int
        Number of different questions.
    n_queries_raw : int
        Number of questions including repetitions.
    n_rounds : int
        Number of batches with new questions.
    history : Answers
        All answers in their order.
    """

    clustering: Clustering
    complete: bool
    n_queries: int
    n_queries_raw: int
    n_rounds: int
    history: Answers

    def __repr__(self) -> str:
        n_items, n_clusters = self.clustering.memberships.shape
        state = "complete" if self.complete else "not complete"
        return (
            f"Result({n_items} items, {n_clusters} clusters, {self.n_queries} questions in "
            f"{self.n_rounds} rounds, {state})"
        )

    def _repr_html_(self) -> str:
        """Show the cost and the sizes of the clusters in a notebook."""
        cost: list[tuple[str, object]] = [("questions", self.n_queries), ("rounds", self.n_rounds)]
        rows = sizes_of(self.clustering.memberships)
        return html_table("Result", cost + self.clustering._facts, rows)


def wrong_of(wrong: float, n_items: int, band: tuple[int, int] | None = None) -> str:
    """Format a number of wrong items with two digits.

    Examples
    --------
    >>> wrong_of(78.3, 252, (51, 128)), wrong_of(0.2, 40)
    ('about 78 of 252 (51 to 130)', 'about 0 of 40')
    """
    return f"about {rounded(wrong)} of {n_items}{_interval(band)}"


def expected_wrong_text(wrong: float, n_items: int, band: tuple[int, int] | None = None) -> str:
    """Write the expected number of items in the wrong group as a sentence.

    Examples
    --------
    >>> expected_wrong_text(78.3, 252, (51, 128))
    'About 78 of 252 are probably in the wrong group (51 to 130).'
    >>> expected_wrong_text(0.2, 40, (0, 2))
    'Probably none of 40 is in the wrong group (0 to 2).'
    """
    if round(wrong) == 0:
        return f"Probably none of {n_items} is in the wrong group{_interval(band)}."
    verb = "is" if round(wrong) == 1 else "are"
    count = f"{rounded(wrong)} of {n_items}"
    return f"About {count} {verb} probably in the wrong group{_interval(band)}."


def _interval(band: tuple[int, int] | None) -> str:
    """Format an interval of numbers of items in brackets."""
    return "" if band is None else f" ({rounded(band[0])} to {rounded(band[1])})"


def rounded(count: float) -> int:
    """Round an estimated number of items to two significant digits.

    Examples
    --------
    >>> rounded(7.6), rounded(128.0), rounded(1449)
    (8, 130, 1400)
    """
    return round(float(f"{count:.2g}")) if count >= 1.0 else round(count)


def strongest_clusters(memberships: Floats) -> NDArray[np.intp]:
    """Return the cluster with the largest membership; -1 if the unassigned share is larger.

    Examples
    --------
    >>> strongest_clusters(np.array([[0.2, 0.8], [0.3, 0.1], [0.0, 0.0]]))
    array([ 1, -1, -1])
    """
    unassigned = 1.0 - memberships.sum(axis=1)
    return np.where(unassigned > memberships.max(axis=1) + _TRACE, -1, memberships.argmax(axis=1))


def sizes_of(memberships: Floats, names: Sequence[str] | None = None) -> list[list[object]]:
    """Return a table of the clusters with their shares and numbers of items."""
    most = np.bincount(strongest_clusters(memberships) + 1, minlength=memberships.shape[1] + 1)[1:]
    titles = names or [str(number) for number in range(memberships.shape[1])]
    shares = memberships.mean(axis=0).tolist()
    rows = [list(row) for row in zip(titles, shares, most.tolist(), strict=True)]
    return [["cluster", "share", "items mostly in it"], *rows]


def without_traces(memberships: Floats) -> Floats:
    """Return memberships for files, with 0 for values below 1e-6."""
    return np.where(memberships < _TRACE, 0.0, memberships)


def with_names(text: str, names: Sequence[str]) -> str:
    """Replace numbers of clusters in a message ("cluster 0, 2") by their names.

    Parameters
    ----------
    text : str
        A warning of a plan.
    names : sequence of str
        Names of the clusters.

    Returns
    -------
    str
        The message with names.

    Examples
    --------
    >>> with_names("Nothing belongs to cluster 0, 2.", ["small", "medium", "large"])
    'Nothing belongs to small, large.'
    """

    def named(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(", ")]
        return ", ".join(names[j] if j < len(names) else f"cluster {j}" for j in numbers)

    return re.sub(r"\bcluster (\d{1,6}(?:, \d{1,6})*)\b", named, text)


def warn(message: str, kind: type[Warning], notes: list[str]) -> None:
    """Warn and add the message to the notes of the result."""
    if message not in notes:
        notes.append(message)
    warnings.warn(message, kind, stacklevel=3)
