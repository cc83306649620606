"""Contradictory answers, and annotators whose answers deviate from the result."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_number, default_float_errors
from askmeans.fuzzy.model import as_memberships
from askmeans.queries import Answer
from askmeans.queries.questions import relative_answers

__all__ = ["find_contradictions", "find_suspects"]

Key = tuple[str, tuple[int, ...], int | None]  # of a question: kind, items, cluster

_SLACK = 1e-9  # rounding
_DEVIATIONS = 4.0  # robust standard deviations: 1 of 16,000 normal errors is larger
_ONE_SIGMA = 0.6827  # share of normal errors within one standard deviation
_MIN_SCALE = 0.02  # lower limit of that deviation: rounding of exact answers is no suspicion
_SIGNIFICANCE = 0.02  # probability that an honest annotator is flagged, over all of them
_MIN_RATIO = 2.0  # to the others' mean error; less may be significant, but does little harm


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Contradictory answers.

    Parameters
    ----------
    kind : {"repeats", "row", "triplet"}
        Answers to one question differ, memberships of an item do not sum to one, or three items are
        more similar than two of them. The difference of rows of shares is the share that must move
        to another group.
    answers : tuple of int
        Their positions in the history.
    excess : float
        The size of the contradiction beyond three standard deviations of the noise.
    """

    kind: str
    answers: tuple[int, ...]
    excess: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """Suspect answers and annotators.

    Parameters
    ----------
    answers : ndarray of bool of shape (n_answers,)
        Which answers are suspect.
    annotators : tuple of str
        Suspect annotators; empty if one annotator gave all answers.
    """

    answers: NDArray[np.bool_]
    annotators: tuple[str, ...]


@default_float_errors()
def find_contradictions(
    history: Sequence[Answer], n_clusters: int, *, noise: float = 0.0
) -> list[Contradiction]:
    """Find answers that no memberships explain, the largest contradictions first.

    Parameters
    ----------
    history : Answers
        Every answer.
    n_clusters : int
        Number of clusters.
    noise : float, default=0.0
        Standard deviation of the answers' errors; differences below three standard deviations are
        ignored.

    Returns
    -------
    list of Contradiction
        Empty if the answers are consistent.

    Examples
    --------
    >>> from askmeans.queries import Answers, MembershipQueries
    >>> answers = Answers([(1, MembershipQueries([4, 4], [0, 1]), np.array([0.9, 0.8]))])
    >>> [(each.kind, round(each.excess, 2)) for each in find_contradictions(answers, 3)]
    [('row', 0.7)]
    """
    check_number(n_clusters, "n_clusters", "find_contradictions", integer=True, minimum=1)
    check_number(noise, "noise", "find_contradictions")
    places_of: dict[Key, list[int]] = defaultdict(list)
    values = np.array([answer.number for answer in history])
    for place, answer in enumerate(history):
        if not np.isnan(answer.number):
            places_of[answer.kind, answer.question.items, answer.cluster].append(place)
    means = {key: float(values[places].mean()) for key, places in places_of.items()}
    candidates = [
        Contradiction(
            kind="repeats",
            answers=tuple(places),
            excess=float(np.ptp(values[places])) - 3.0 * np.sqrt(2.0) * noise,
        )
        for places in places_of.values()
        if len(places) > 1
    ]
    candidates += _rows(places_of, means, n_clusters, noise)
    candidates += _group_rows(history, noise)
    candidates += _triplets(places_of, means, noise)
    real = [contradiction for contradiction in candidates if contradiction.excess > _SLACK]
    return sorted(real, key=lambda contradiction: -contradiction.excess)


@default_float_errors()
def find_suspects(history: Sequence[Answer], memberships: ArrayLike) -> Suspects:
    """Find answers that deviate from a result fitted to all of them, and their annotators.

    If an annotator's errors are significantly larger than those of the others (Mann-Whitney test),
    and at least twice as large, all answers of this annotator are suspect. The memberships should
    be from a fit that allows for noise (a strategy with ``noise="auto"``, or repeats): a fit that
    keeps answers exactly has no deviations.

    Parameters
    ----------
    history : Answers
        Every answer.
    memberships : array-like of shape (n_items, n_clusters)
        The result.

    Returns
    -------
    Suspects
        Suspect answers and annotators. With several annotators, answers are flagged by annotator.

    Examples
    --------
    >>> names = ["ann", "bob", "cyd", "dan"]
    >>> answers = [
    ...     Answer(round=1, kind="membership", items=(item,), cluster=0, repeat=0,
    ...            value=float(item % 4 != 3), annotator=names[item % 4])
    ...     for item in range(40)
    ... ]
    >>> find_suspects(answers, np.tile([1.0, 0.0], (40, 1))).annotators
    ('dan',)
    """
    U = as_memberships(memberships)
    off = np.array([_deviation(answer, U) for answer in history])
    known = ~np.isnan(off)
    deviations = np.zeros(len(off))
    if known.any():
        typical = max(float(np.quantile(off[known], _ONE_SIGMA)), _MIN_SCALE)
        deviations[known] = off[known] / typical
    annotators = [answer.annotator for answer in history]
    names = list(dict.fromkeys(annotators))
    if len(names) < 2:
        return Suspects(answers=deviations > _DEVIATIONS, annotators=())
    flagged, suspects = np.zeros(len(off), dtype=bool), []
    for name in names:
        theirs = np.array([one == name for one in annotators], dtype=bool)
        if _is_worse(off[theirs & known], off[~theirs & known], len(names)):
            suspects.append(name)
            flagged |= theirs
    return Suspects(answers=flagged, annotators=tuple(suspects))


def _is_worse(theirs: Floats, others: Floats, n_annotators: int) -> bool:
    """Whether errors are significantly larger than those of others, and at least twice as large."""
    if len(theirs) < 3 or not len(others):
        return False
    if theirs.mean() < _MIN_RATIO * max(others.mean(), _MIN_SCALE):
        return False
    from scipy.stats import mannwhitneyu  # slow to load, and seldom needed

    chance = float(mannwhitneyu(theirs, others, alternative="greater").pvalue)
    return chance < _SIGNIFICANCE / n_annotators


def _deviation(answer: Answer, U: Floats) -> float:
    """The deviation of an answer from the memberships; of a row, the share that must move."""
    if isinstance(answer.value, tuple):
        return _moved(np.array(answer.value), U[answer.items[0]])
    if answer.cluster is not None:
        return float(abs(answer.value - U[answer.items[0], answer.cluster]))
    rows = U[list(answer.items)]
    expected = relative_answers(rows) if answer.kind == "relative" else rows.prod(axis=0).sum()
    return float(abs(answer.value - expected))


def _moved(row: Floats, other: Floats) -> float:
    """The share that must move between groups to make two rows equal in their common groups."""
    k = min(len(row), len(other))
    gaps = row[:k] - other[:k]
    return float(max(np.maximum(gaps, 0.0).sum(), np.maximum(-gaps, 0.0).sum()))


def _group_rows(history: Sequence[Answer], noise: float) -> list[Contradiction]:
    """Find items with different rows, and rows whose sum exceeds one."""
    placed: dict[tuple[int, ...], list[tuple[int, Floats]]] = defaultdict(list)
    for place, answer in enumerate(history):
        if isinstance(answer.value, tuple) and not np.isnan(answer.value).any():
            placed[answer.items].append((place, np.array(answer.value)))
    contradictions = []
    for answers in placed.values():
        places = tuple(place for place, _ in answers)
        rows = [row for _, row in answers]
        if len(rows) > 1:
            moved = max(_moved(a, b) for a, b in combinations(rows, 2))
            excess = moved - 3.0 * math.sqrt(2.0) * noise
            contradictions.append(Contradiction(kind="repeats", answers=places, excess=excess))
        for place, row in answers:
            over = float(row.sum() - 1.0 - 3.0 * noise * math.sqrt(len(row)))
            contradictions.append(Contradiction(kind="row", answers=(place,), excess=over))
    return contradictions


def _rows(
    places_of: dict[Key, list[int]], means: dict[Key, float], n_clusters: int, noise: float
) -> list[Contradiction]:
    """Find items whose memberships sum to more than one, or to less if all are known."""
    rows: dict[tuple[int, ...], list[Key]] = defaultdict(list)
    for key in places_of:
        if key[0] == "membership":
            rows[key[1]].append(key)
    contradictions = []
    for keys in rows.values():
        total = sum(means[key] for key in keys)
        variance = sum(noise**2 / len(places_of[key]) for key in keys)
        over = total - 1.0 if len(keys) < n_clusters else abs(total - 1.0)
        places = tuple(sorted(place for key in keys for place in places_of[key]))
        excess = float(over - 3.0 * np.sqrt(variance))
        contradictions.append(Contradiction(kind="row", answers=places, excess=excess))
    return contradictions


def _triplets(
    places_of: dict[Key, list[int]], means: dict[Key, float], noise: float
) -> list[Contradiction]:
    """Find triplets that are more similar than one of their pairs, which is impossible."""
    contradictions = []
    for key in places_of:
        if key[0] != "triplet":
            continue
        for pair in combinations(key[1], 2):
            other: Key = ("pair", pair, None)
            if other in places_of:
                spread = noise * np.sqrt(1.0 / len(places_of[key]) + 1.0 / len(places_of[other]))
                places = (*places_of[key], *places_of[other])
                excess = float(means[key] - means[other] - 3.0 * spread)
                contradictions.append(Contradiction(kind="triplet", answers=places, excess=excess))
    return contradictions
