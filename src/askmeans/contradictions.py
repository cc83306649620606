"""Answers that cannot all be true: which, and whose."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import as_memberships, check_number
from askmeans._util.floats import default_float_errors
from askmeans.exceptions import DataError
from askmeans.queries import Answer, GroupQueries, MembershipQueries, Queries, RelativeQueries

__all__ = [
    "Contradiction",
    "Suspects",
    "expected_answers",
    "find_contradictions",
    "find_suspects",
    "rounding_noise",
]

Floats = NDArray[np.float64]
Key = tuple[str, tuple[int, ...], int | None]  # of a question: kind, items, cluster

_SLACK = 1e-9
_DEVIATIONS = 4.0  # from which a single answer is suspect
_LEAST_SCALE = 0.02
_SIGNIFICANT = 0.02  # chance that some honest annotator is flagged
_WORSE = 2.0  # times the others' typical error


def rounding_noise(levels: int | None) -> float:
    """Standard deviation of what rounding to a scale of so many points loses; 0 for a fine one.

    Parameters
    ----------
    levels : int or None
        How many points the scale has; None for a fine one.

    Returns
    -------
    float
        That of a uniform error of one step.

    Examples
    --------
    >>> round(rounding_noise(11), 4)
    0.0289
    """
    return 0.0 if levels is None else 1.0 / (levels - 1) / math.sqrt(12.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Answers that cannot all be true.

    Parameters
    ----------
    kind : {"repeats", "row", "triplet"}
        Answers to one question differ, memberships of an item do not sum to one, or three items are
        more similar than two of them. Rows of shares differ by the part that must move.
    answers : tuple of int
        Their places in the history.
    excess : float
        By how much they contradict each other, beyond what noise explains.

    Examples
    --------
    >>> Contradiction(kind="row", answers=(0, 1), excess=0.5).excess
    0.5
    """

    kind: str
    answers: tuple[int, ...]
    excess: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """Answers, and annotators, that the others do not bear out.

    Parameters
    ----------
    answers : ndarray of bool of shape (n_answers,)
        Which answers are suspect.
    annotators : tuple
        Which annotators are; empty where nobody was named.
    deviations : ndarray of shape (n_answers,)
        How far each answer is from what the memberships say, in typical deviations.

    Examples
    --------
    >>> flagged = Suspects(answers=np.array([True]), annotators=(), deviations=np.array([9.0]))
    >>> flagged.answers.sum()
    np.int64(1)
    """

    answers: NDArray[np.bool_]
    annotators: tuple[object, ...]
    deviations: Floats


@default_float_errors()
def expected_answers(queries: Queries, memberships: Floats) -> Floats:
    """What somebody answers who has these memberships in mind (Definitions 2 and 3).

    Parameters
    ----------
    queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
        The questions.
    memberships : ndarray of shape (n_items, n_clusters)
        Memberships.

    Returns
    -------
    ndarray of shape (n_questions,), or (n_questions, n_clusters) for group questions
        The answers.

    Examples
    --------
    >>> from askmeans.queries import PairQueries
    >>> expected_answers(PairQueries([[0, 1]]), np.full((2, 2), 0.5))
    array([0.5])
    """
    if isinstance(queries, MembershipQueries):
        return memberships[queries.items, queries.clusters]
    if isinstance(queries, GroupQueries):
        return memberships[queries.items, : queries.n_clusters]
    rows = memberships[queries.item_table]
    if isinstance(queries, RelativeQueries):
        return _more_like(rows)
    together: Floats = rows.prod(axis=1).sum(axis=1)
    return together


def _more_like(rows: Floats) -> Floats:
    """1 where the first of three is more like the second, 0 the third; half for a tie."""
    more = (rows[..., 0, :] * (rows[..., 1, :] - rows[..., 2, :])).sum(axis=-1)
    return np.where(np.abs(more) <= _SLACK, 0.5, more > 0.0).astype(np.float64)


@default_float_errors()
def find_contradictions(
    history: Sequence[Answer], n_clusters: int, *, noise: float = 0.0
) -> list[Contradiction]:
    """Answers that no memberships explain, the worst first.

    Parameters
    ----------
    history : Answers
        Every answer.
    n_clusters : int
        Number of clusters.
    noise : float, default=0.0
        Standard deviation of the answers' errors; three of them are not counted.

    Returns
    -------
    list of Contradiction
        Empty when all may be true.

    Examples
    --------
    >>> from askmeans.queries import Answers, MembershipQueries
    >>> told = Answers([(1, MembershipQueries([4, 4], [0, 1]), np.array([0.9, 0.8]))])
    >>> [(found.kind, round(found.excess, 2)) for found in find_contradictions(told, 3)]
    [('row', 0.7)]
    """
    check_number(n_clusters, "n_clusters", "find_contradictions", integer=True, minimum=1)
    check_number(noise, "noise", "find_contradictions")
    asked: dict[Key, list[int]] = defaultdict(list)
    values = np.array([answer.number for answer in history])
    for place, answer in enumerate(history):
        if not np.isnan(answer.number):
            asked[answer.kind, answer.question.items, answer.cluster].append(place)
    means = {key: float(values[places].mean()) for key, places in asked.items()}
    found = [
        Contradiction(
            kind="repeats",
            answers=tuple(places),
            excess=float(np.ptp(values[places])) - 3.0 * np.sqrt(2.0) * noise,
        )
        for places in asked.values()
        if len(places) > 1
    ]
    found += _rows(asked, means, n_clusters, noise)
    found += _group_rows(history, noise)
    found += _triplets(asked, means, noise)
    real = [contradiction for contradiction in found if contradiction.excess > _SLACK]
    return sorted(real, key=lambda contradiction: -contradiction.excess)


@default_float_errors()
def find_suspects(
    history: Sequence[Answer], memberships: ArrayLike, *, annotators: Sequence[object] | None = None
) -> Suspects:
    """Answers that are too far from a result fitted to all of them, and who gave such answers.

    An annotator whose answers are significantly and much farther off than the others' is suspect as
    a whole, with all answers: wrong ones that happen to look right, too. The memberships should be
    of a fit that doubts answers (a strategy with ``noise="auto"``, or repeats): where every answer
    stands as given, none can be off.

    Parameters
    ----------
    history : Answers
        Every answer.
    memberships : array-like of shape (n_items, n_clusters)
        The result.
    annotators : sequence or None, default=None
        Who gave each answer, one name or number for each; None when that is not known.

    Returns
    -------
    Suspects
        Which answers and annotators. Where annotators are known, answers are flagged by annotator.

    Raises
    ------
    DataError
        If there is not one annotator for each answer.

    Examples
    --------
    >>> from askmeans.queries import Answers, MembershipQueries
    >>> queries = MembershipQueries(range(40), [0] * 40)
    >>> told = np.where(np.arange(40) % 4 == 3, 0.0, 1.0)
    >>> names = ["ann", "bob", "cyd", "dan"] * 10
    >>> everybody = np.tile([1.0, 0.0], (40, 1))
    >>> find_suspects(Answers([(1, queries, told)]), everybody, annotators=names).annotators
    ('dan',)
    """
    U = as_memberships(memberships)
    off = np.array([_off(answer, U) for answer in history])
    known = ~np.isnan(off)
    deviations = np.zeros(len(off))
    if known.any():
        typical = max(float(np.quantile(off[known], 0.6827)), _LEAST_SCALE)
        deviations[known] = off[known] / typical
    if annotators is None:
        return Suspects(answers=deviations > _DEVIATIONS, annotators=(), deviations=deviations)
    if len(annotators) != len(off):
        raise DataError(
            f"annotators must name somebody for each of the {len(off)} answers. "
            f"Got {len(annotators)} instead."
        )
    names = list(dict.fromkeys(annotators))
    flagged, suspects = np.zeros(len(off), dtype=bool), []
    for name in names:
        theirs = np.array([one == name for one in annotators], dtype=bool)
        if _is_worse(off[theirs & known], off[~theirs & known], len(names)):
            suspects.append(name)
            flagged |= theirs
    return Suspects(answers=flagged, annotators=tuple(suspects), deviations=deviations)


def _is_worse(theirs: Floats, others: Floats, n_annotators: int) -> bool:
    """Whether errors are larger than those of others: significantly, and by much."""
    if len(theirs) < 3 or not len(others):
        return False
    if theirs.mean() < _WORSE * max(others.mean(), _LEAST_SCALE):
        return False
    from scipy.stats import mannwhitneyu  # slow to load, and seldom needed

    chance = float(mannwhitneyu(theirs, others, alternative="greater").pvalue)
    return chance < _SIGNIFICANT / n_annotators


def _off(answer: Answer, U: Floats) -> float:
    """How far an answer is from what the memberships say; of a row, what part must move."""
    if isinstance(answer.value, tuple):
        return _moved(np.array(answer.value), U[answer.items[0]])
    if answer.cluster is not None:
        return float(abs(answer.value - U[answer.items[0], answer.cluster]))
    rows = U[list(answer.items)]
    told = _more_like(rows) if answer.kind == "relative" else rows.prod(axis=0).sum()
    return float(abs(answer.value - told))


def _moved(row: Floats, other: Floats) -> float:
    """What part of a row must move to make it another, by the groups that both know."""
    k = min(len(row), len(other))
    gaps = row[:k] - other[:k]
    return float(max(np.maximum(gaps, 0.0).sum(), np.maximum(-gaps, 0.0).sum()))


def _group_rows(history: Sequence[Answer], noise: float) -> list[Contradiction]:
    """Items that were placed in different groups, and rows that exceed one."""
    placed: dict[tuple[int, ...], list[tuple[int, Floats]]] = defaultdict(list)
    for place, answer in enumerate(history):
        if isinstance(answer.value, tuple) and not np.isnan(answer.value).any():
            placed[answer.items].append((place, np.array(answer.value)))
    found = []
    for told in placed.values():
        places = tuple(place for place, _ in told)
        rows = [row for _, row in told]
        if len(rows) > 1:
            apart = max(_moved(a, b) for a, b in combinations(rows, 2))
            excess = apart - 3.0 * math.sqrt(2.0) * noise
            found.append(Contradiction(kind="repeats", answers=places, excess=excess))
        for place, row in told:
            over = float(row.sum() - 1.0 - 3.0 * noise * math.sqrt(len(row)))
            found.append(Contradiction(kind="row", answers=(place,), excess=over))
    return found


def _rows(
    asked: dict[Key, list[int]], means: dict[Key, float], n_clusters: int, noise: float
) -> list[Contradiction]:
    """Items whose memberships exceed one together, or fall short of it when all are known."""
    rows: dict[tuple[int, ...], list[Key]] = defaultdict(list)
    for key in asked:
        if key[0] == "membership":
            rows[key[1]].append(key)
    found = []
    for keys in rows.values():
        total = sum(means[key] for key in keys)
        variance = sum(noise**2 / len(asked[key]) for key in keys)
        over = total - 1.0 if len(keys) < n_clusters else abs(total - 1.0)
        places = tuple(sorted(place for key in keys for place in asked[key]))
        excess = float(over - 3.0 * np.sqrt(variance))
        found.append(Contradiction(kind="row", answers=places, excess=excess))
    return found


def _triplets(
    asked: dict[Key, list[int]], means: dict[Key, float], noise: float
) -> list[Contradiction]:
    """Triplets more similar than a pair in them: a product of three is at most one of two."""
    found = []
    for key in asked:
        if key[0] != "triplet":
            continue
        for pair in combinations(key[1], 2):
            other: Key = ("pair", pair, None)
            if other in asked:
                spread = noise * np.sqrt(1.0 / len(asked[key]) + 1.0 / len(asked[other]))
                places = (*asked[key], *asked[other])
                excess = float(means[key] - means[other] - 3.0 * spread)
                found.append(Contradiction(kind="triplet", answers=places, excess=excess))
    return found
