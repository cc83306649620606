"""Results: a clustering, its diagnostics and its cost."""

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import default_float_errors
from askmeans._util.message import Message, plural_message
from askmeans._util.text import html_table
from askmeans.exceptions import AskmeansWarning
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.fuzzy.scores import Link, Scorer
from askmeans.queries import Answers

__all__ = ["Clustering", "Diagnostics", "ErrorEstimate", "Result"]


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
    """Diagnostics of a clustering; None for what does not apply."""

    # every strategy
    beta: float | None = None  # size of the smallest cluster times k: 1 for equal sizes
    rho: float | None = None  # smallest mean of memberships to the power alpha (Theorem 10)
    stopped: str | None = None  # "precision", "max_items", "budget", "items" or "interrupted"
    notes: tuple[str, ...] = ()  # messages of warnings
    suggested_clusters: int | None = None  # number of groups that the answers indicate
    noise: float | None = None  # standard deviation of the errors of noisy answers
    similarity: Mapping[str, Any] | None = None  # similarity questions: numbers, fit of the answers
    # the default strategy
    estimated_error: float | None = None  # expected mean error of a membership
    error_band: tuple[float, float] | None = None  # its 80 % interval
    expected_wrong: float | None = None  # expected number of items with a wrong strongest cluster
    expected_wrong_band: tuple[int, int] | None = None  # its 80 % interval
    target: float | None = None  # share of wrong items at which it stops; None for soft answers
    annotators: Mapping[str, Any] | None = None  # by name: scale, spread and share of slips
    models: Mapping[str, float] | None = None  # weights of the models that complete memberships
    sharpness: float | None = None  # exponent of the weighted mean of the models
    n_queried_items: int | None = None
    unassigned: float | None = None  # their share that belongs to none of the clusters
    # the strategies of the paper
    largest_inversion: float | None = None  # by which answers contradict the order of the items
    score_fuzzifier: float | None = None  # of the relative order, fitted to the answers
    effective_sample_size: list[float] | None = None  # of each centre
    center_radius: list[float] | None = None  # confidence radius of each centre
    repeats: int | None = None  # number of times that each question was asked
    queries_raw: Mapping[str, int] | None = None  # by phase: questions with repetitions
    queries_distinct: Mapping[str, int] | None = None  # by phase: different questions
    rounds: Mapping[str, int] | None = None  # by phase: batches

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name as plain values, without those that are None."""
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
    """Expected errors of the result after a number of answers, with 80 % intervals."""

    answers: int
    error: float  # mean error of a membership
    low: float
    high: float
    wrong: float | None = None  # number of items with a wrong strongest cluster, if known
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
        Whether the plan ended by itself; False after a stop, a spent budget or Ctrl-C.
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
    n_queries: int
    n_queries_raw: int
    n_rounds: int
    history: Answers

    @property
    def complete(self) -> bool:
        """Whether the plan ended by itself."""
        return self.clustering.complete

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

    >>> wrong_of(78.3, 252, (51, 128)), wrong_of(0.2, 40)
    ('about 78 of 252 (51 to 130)', 'about 0 of 40')
    """
    return f"about {rounded(wrong)} of {n_items}{_interval(band)}"


def expected_wrong_text(wrong: float, n_items: int, band: tuple[int, int] | None = None) -> str:
    """Write the expected number of items in the wrong group as a sentence.

    >>> expected_wrong_text(78.3, 252, (51, 128))
    'About 78 of 252 are probably in the wrong group (51 to 130).'
    >>> expected_wrong_text(0.2, 40, (0, 2))
    'Probably none of 40 is in the wrong group (0 to 2).'
    """
    if round(wrong) == 0:
        if band is None:
            return Message("Probably none of {n_items} is in the wrong group.", n_items=n_items)
        return Message(
            "Probably none of {n_items} is in the wrong group ({low} to {high}).",
            n_items=n_items, low=rounded(band[0]), high=rounded(band[1]),
        )  # fmt: skip
    if band is None:
        return plural_message(
            "About {n} of {n_items} is probably in the wrong group.",
            "About {n} of {n_items} are probably in the wrong group.",
            rounded(wrong), n_items=n_items,
        )  # fmt: skip
    return plural_message(
        "About {n} of {n_items} is probably in the wrong group ({low} to {high}).",
        "About {n} of {n_items} are probably in the wrong group ({low} to {high}).",
        rounded(wrong), n_items=n_items, low=rounded(band[0]), high=rounded(band[1]),
    )  # fmt: skip


def _interval(band: tuple[int, int] | None) -> str:
    """Format an interval of numbers of items in brackets."""
    return "" if band is None else f" ({rounded(band[0])} to {rounded(band[1])})"


def rounded(count: float) -> int:
    """Round an estimated number of items to two significant digits.

    >>> rounded(7.6), rounded(128.0), rounded(1449)
    (8, 130, 1400)
    """
    return round(float(f"{count:.2g}")) if count >= 1.0 else round(count)


def strongest_clusters(memberships: Floats) -> NDArray[np.intp]:
    """Return the cluster with the largest membership; -1 if the unassigned share is larger.

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


def warn(message: str | AskmeansWarning, kind: type[Warning], notes: list[str]) -> None:
    """Warn and add the message to the notes of the result."""
    if str(message) not in notes:
        notes.append(str(message))
    warnings.warn(message, kind, stacklevel=3)
