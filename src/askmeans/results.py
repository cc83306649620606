"""What comes out: a clustering, and the account of how it was found."""

import dataclasses
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.floats import default_float_errors
from askmeans._util.html import html_table
from askmeans.fuzzy.links import Link
from askmeans.fuzzy.scores import Scorer
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.queries import Answers

__all__ = [
    "Clustering",
    "Diagnostics",
    "ErrorEstimate",
    "Predictor",
    "Result",
    "expected_wrong_text",
    "rounded",
    "sizes_of",
    "strongest_clusters",
    "warn",
    "with_names",
    "without_traces",
    "wrong_of",
]

Floats = NDArray[np.float64]

_TRACE = 1e-6  # less is the rounding of a model, not what anybody said


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """Memberships of any items: their scores for the centres, through the learnt links."""

    scorer: Scorer
    links: tuple[Link, ...]

    def __repr__(self) -> str:
        return f"Predictor({len(self.links)} clusters, order={self.scorer.order!r})"

    @default_float_errors()
    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships (n x k) of these items; rows sum to one."""
        coordinates = self.scorer.coordinates(self.scorer.scores(X))
        columns = [link(column) for link, column in zip(self.links, coordinates.T, strict=True)]
        return onto_simplex(np.column_stack(columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """How sure a clustering is, and how it was found; None for what does not apply.

    Parameters
    ----------
    beta : float or None
        Size of the smallest cluster found, 1 when all are equal.
    rho : float or None
        Smallest mean of memberships to the power of the fuzzifier (Theorem 10).
    stopped : str or None
        What ended it: "precision", "max_items", "budget", "items" or "interrupted".
    notes : tuple of str
        What was warned of on the way.
    estimated_error : float or None
        The default strategy: the mean error of a membership to expect.
    error_band : (float, float) or None
        The same: its 80 % interval.
    expected_wrong : float or None
        The same: how many items are probably not in their strongest cluster; None before there are
        answers.
    expected_wrong_band : (int, int) or None
        The same: the 80 % interval of their number.
    target : float or None
        The same: the share of items in the wrong cluster below which the result is good enough;
        None where that is decided by the error of memberships, as with soft answers.
    suggested_clusters : int or None
        How many groups the answers speak of; more than asked for where items belong to none.
    annotators : mapping of str to mapping, or None
        The same: for each annotator the scale of their answers (offset, gain, power, and the
        drift that is in the offset), their spread about what others said, and the share of slips.
    models : mapping of str to float, or None
        The same: the models that complete the memberships, and the weight of each.
    sharpness : float or None
        The same: the power that their mean is raised to.
    strata : int or None
        The same: how many items were asked about.
    unassigned : float or None
        The same: which share of these items belongs to none of the clusters.
    noise : float or None
        Standard deviation of an answer's error, where answers are noisy.
    largest_inversion : float or None
        The paper's strategies: the most by which answers contradict the order.
    score_fuzzifier : float or None
        The same: fuzzifier of the relative order, fitted to the answers.
    effective_sample_size : list of float, or None
        The same: for each centre, how many equally weighing items its sample is worth.
    center_radius : list of float, or None
        The same: for each centre, a distance within which the true one lies.
    similarity : mapping, or None
        With similarity questions: what was asked, and what the answers show.
    repeats : int or None
        How often each question was asked.
    runs : int or None
        Theorem 10: how many runs were averaged.
    queries_raw, queries_distinct, rounds : mapping of str to int, or None
        By phase: what was asked, what was new in it, and in how many batches.
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
        """What applies, by name.

        Returns
        -------
        dict
            Plain values; what is None is left out.

        Examples
        --------
        >>> Diagnostics(beta=1.0).to_dict()
        {'beta': 1.0, 'notes': []}
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["notes"] = list(self.notes)
        return {name: value for name, value in values.items() if value is not None}

    def wrong_items(self, n_items: int) -> str | None:
        """How many items are probably in the wrong cluster, in words; None without an estimate."""
        if self.expected_wrong is None:
            return None
        return wrong_of(self.expected_wrong, n_items, self.expected_wrong_band)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEstimate:
    """The errors to expect of the result that the first answers lead to.

    Parameters
    ----------
    answers : int
        How many.
    error : float
        The mean error of a membership to expect.
    low, high : float
        Its 80 % interval.
    wrong : float or None
        How many items are probably not in their strongest cluster; None where the answers allow no
        estimate.
    wrong_band : (int, int) or None
        The 80 % interval of their number.
    """

    answers: int
    error: float
    low: float
    high: float
    wrong: float | None = None
    wrong_band: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """What a plan returns.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        The centres.
    memberships : ndarray of shape (n_items, n_clusters)
        Memberships; rows lie in [0, 1], and sum to one with `unassigned`.
    confidence : ndarray of shape (n_items,), or None
        The probability that an item's strongest cluster is right: 1 where an annotator decided and
        none contradicts; None with a strategy of the paper.
    unassigned : ndarray of shape (n_items,), or None
        The probability that an item belongs to none of the clusters; None as before.
    predictor : callable
        Memberships of other items.
    complete : bool
        Whether the plan asked all it wanted.
    diagnostics : Diagnostics
        An account of how sure the result is.
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
        whole = "complete" if self.complete else "not complete"
        return f"Clustering({n_items} items, {n_clusters} clusters, {whole})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the size of every cluster, and how sure it is."""
        return html_table("Clustering", self._facts, sizes_of(self.memberships))

    @property
    def _facts(self) -> list[tuple[str, object]]:
        """Numbers by their names, for people."""
        n_items, n_clusters = self.memberships.shape
        return [
            ("items", n_items),
            ("clusters", n_clusters),
            ("complete", "yes" if self.complete else "no"),
            ("probably in the wrong cluster", self.diagnostics.wrong_items(n_items)),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a driver returns: the clustering and what it cost.

    Parameters
    ----------
    clustering : Clustering
        Centres and memberships.
    complete : bool
        Whether the plan asked all it wanted; False after a stop, a spent budget or Ctrl-C.
    n_queries : int
        Different questions that were answered.
    n_queries_raw : int
        Questions the plan asked, repeated ones included.
    n_rounds : int
        Batches in which something new was asked.
    history : Answers
        Every answer in the order given.
    """

    clustering: Clustering
    complete: bool
    n_queries: int
    n_queries_raw: int
    n_rounds: int
    history: Answers

    def __repr__(self) -> str:
        n_items, n_clusters = self.clustering.memberships.shape
        whole = "complete" if self.complete else "not complete"
        return (
            f"Result({n_items} items, {n_clusters} clusters, {self.n_queries} questions in "
            f"{self.n_rounds} rounds, {whole})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: what it cost, and the size of every cluster."""
        cost: list[tuple[str, object]] = [("questions", self.n_queries), ("rounds", self.n_rounds)]
        rows = sizes_of(self.clustering.memberships)
        return html_table("Result", cost + self.clustering._facts, rows)


def wrong_of(wrong: float, n_items: int, band: tuple[int, int] | None = None) -> str:
    """A number of wrong items in words, to two digits.

    Examples
    --------
    >>> wrong_of(78.3, 252, (51, 128)), wrong_of(0.2, 40)
    ('about 78 of 252 (51 to 130)', 'about 0 of 40')
    """
    return f"about {rounded(wrong)} of {n_items}{_interval(band)}"


def expected_wrong_text(wrong: float, n_items: int, band: tuple[int, int] | None = None) -> str:
    """How many items are probably in the wrong group, in a sentence.

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
    """An interval of numbers of items, in brackets."""
    return "" if band is None else f" ({rounded(band[0])} to {rounded(band[1])})"


def rounded(count: float) -> int:
    """A number of items that is not known exactly: a whole number of at most two digits and zeros.

    Examples
    --------
    >>> rounded(7.6), rounded(128.0), rounded(1449)
    (8, 130, 1400)
    """
    return round(float(f"{count:.2g}")) if count >= 1.0 else round(count)


def strongest_clusters(memberships: Floats) -> NDArray[np.intp]:
    """The cluster of each item with the largest membership; -1 where more is unassigned.

    Examples
    --------
    >>> strongest_clusters(np.array([[0.2, 0.8], [0.3, 0.1], [0.0, 0.0]]))
    array([ 1, -1, -1])
    """
    unassigned = 1.0 - memberships.sum(axis=1)
    return np.where(unassigned > memberships.max(axis=1) + _TRACE, -1, memberships.argmax(axis=1))


def sizes_of(memberships: Floats, names: Sequence[str] | None = None) -> list[list[object]]:
    """A table of the clusters: the share that each has, and how many items are mostly in it."""
    most = np.bincount(strongest_clusters(memberships) + 1, minlength=memberships.shape[1] + 1)[1:]
    called = names or [str(number) for number in range(memberships.shape[1])]
    shares = memberships.mean(axis=0).tolist()
    rows = [list(row) for row in zip(called, shares, most.tolist(), strict=True)]
    return [["cluster", "share", "items mostly in it"], *rows]


def without_traces(memberships: Floats) -> Floats:
    """Memberships as they are written to files: 0 for what is below 1e-6."""
    return np.where(memberships < _TRACE, 0.0, memberships)


def with_names(text: str, names: Sequence[str]) -> str:
    """A message that tells clusters by number ("cluster 0, 2"), with their names instead.

    Parameters
    ----------
    text : str
        A warning of a plan.
    names : sequence of str
        What the clusters are called.

    Returns
    -------
    str
        The same in people's words.

    Examples
    --------
    >>> with_names("Nothing belongs to cluster 0, 2.", ["small", "medium", "large"])
    'Nothing belongs to small, large.'
    """

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in found[1].split(", ")]
        return ", ".join(names[j] if j < len(names) else f"cluster {j}" for j in numbers)

    return re.sub(r"\bcluster (\d{1,6}(?:, \d{1,6})*)\b", named, text)


def warn(message: str, kind: type[Warning], notes: list[str]) -> None:
    """Warn, and keep the message as a note of the result."""
    if message not in notes:
        notes.append(message)
    warnings.warn(message, kind, stacklevel=3)
