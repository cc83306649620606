"""Anchors: compared items that represent a group; and which items were compared with which."""

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from askmeans._util.arrays import Bools, Floats, Rows
from askmeans.fuzzy.arrays import keep_answers
from askmeans.policy.similarity.comparisons import Comparisons
from askmeans.policy.similarity.crowd import Crowd

# Limits of .5 are where an item leans to a group. On Iris, Wine, glass and sonar (30 and 80 pairs,
# one seed) the mean adjusted Rand index is .709, and .675 with 5 % of the items mislabelled; with 1
# anchor .721 and .706, with 6 .702 and .683; with _FIRST = 1 .705 and .681; with _ALIKE = .5 the
# same.
_PURE = 0.5  # smallest membership of an anchor
_ANCHORS = 3  # for each group
_FIRST = 4  # first items per group at which the search for founders starts
_ALIKE = 0.75  # similarity to a member from which on an item is one, too
_SPREAD = 6  # iterations that spread groups from founders to similar items
_SETS, _A_FEW = 3, 3  # sets of founders, and answers that one may explain less than the best
_WRONG = 0.5  # difference of an answer from the rows above which one is wrong
_BY_CHANCE = 0.05  # probability of ties by chance below which they are no chance
_LITTLE = 0.5  # summed similarity to the groups below which an item is in none


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Rows of the compared items, and the anchors that follow from them."""

    comparisons: Comparisons
    U: Floats
    queried: Bools  # with which groups each item was compared
    anchors: list[list[int]]  # places for each group, the purest first
    n_checks: Rows  # number of repeated comparisons of an item with a group
    misfit: Floats  # for each item the largest difference of an answer from the rows
    unlike: Bools  # items that were compared with every group and are like none
    sure: Rows = field(
        default_factory=lambda: np.empty(0, dtype=np.intp)
    )  # items with direct answers
    crowd: Crowd | None = None  # if answers contradict each other more often than by slips

    @property
    def items(self) -> Rows:
        """The compared items."""
        return self.comparisons.items

    @property
    def all_or_nothing(self) -> Bools:
        """Which items have comparisons of all or nothing only."""
        comparisons = self.comparisons
        clear = (comparisons.pair_value == 0.0) | (comparisons.pair_value == 1.0)
        chosen = np.zeros(len(comparisons.items), dtype=bool)
        chosen[comparisons.pairs[clear]] = True
        for others in (
            comparisons.pairs[~clear],
            comparisons.triplets,
            comparisons.relative,
            self.sure,
        ):
            chosen[others] = False
        return chosen & ~self.unlike


def founders_of(comparisons: Comparisons, k: int, named: dict[int, int]) -> list[dict[int, int]]:
    """Sets of founders: items unlike all before them, by place, with the group of each.

    Items in `named` found groups with a name. An item in between is like items of two groups, and a
    slip makes two of a group look unlike, so several first items are tried. If the founders do not
    explain all answers, other sets follow.
    """
    similar = _similarities(comparisons)
    known: dict[int, int] = {}
    for place, group in named.items():
        if group not in known.values():
            known[place] = group
    free = [group for group in range(k) if group not in known.values()]
    best: list[list[int]] = [[]]
    wrong = [np.inf]
    for first in range(min(len(comparisons.items), _FIRST * k)):
        candidates: list[int] = []
        for place in [first, *range(len(comparisons.items))]:
            beside = [similar.get(in_order(place, f), np.nan) for f in [*known, *candidates]]
            new = place not in known and place not in candidates
            if new and len(candidates) < len(free) and all(s <= _unlike(k) for s in beside):
                candidates.append(place)
        if len(candidates) > len(best[0]):
            best, wrong = [], []
        if sorted(candidates) not in best and len(candidates) >= len(
            best[0] if best else candidates
        ):
            best.append(sorted(candidates))
            founders = known | dict(zip(best[-1], free, strict=False))
            wrong.append(0.0 if comparisons.is_soft else _n_wrong_from(founders, similar, k))
        if len(best[0]) == len(free) and wrong[0] < 1.0:
            break
    order = np.argsort(wrong[1:], kind="stable") + 1
    few = [best[at] for at in order if wrong[at] <= min(wrong) + _A_FEW]
    most = 1 if comparisons.is_soft else _SETS
    return [
        known | dict(zip(candidates, free, strict=False)) for candidates in [best[0], *few][:most]
    ]


def _unlike(k: int) -> float:
    """The largest similarity of two items that lean to different groups."""
    return min(0.5, 1.0 / k)


def _n_wrong_from(founders: dict[int, int], similar: dict[tuple[int, int], float], k: int) -> float:
    """The number of wrong answers if every item is in the group of most of its answers."""
    if not similar:
        return 0.0
    a, b = np.array(list(similar)).T
    value, m = np.array(list(similar.values())), int(max(*founders, *b)) + 1
    both = (np.concatenate([a, b]), np.concatenate([b, a]))
    like = csr_array((np.tile(value - 0.5, 2), both), shape=(m, m))
    places = list(founders)
    V = np.zeros((m, k))
    V[places, list(founders.values())] = 1.0
    fixed = V[places]
    for _ in range(_SPREAD):
        votes = np.asarray(like @ V)
        top = votes.max(axis=1)
        outside = top < 0.0  # unlike every group
        outside[places] = False
        heard = np.asarray(votes.any(axis=1)) & ~outside
        V = (votes == top[:, None]) * heard[:, None]
        V = V / np.maximum(V.sum(axis=1, keepdims=True), 1.0)
        V[places] = fixed
    known = np.asarray(V.any(axis=1))
    counted = (known[a] & (known[b] | outside[b])) | (outside[a] & known[b])
    return n_wrong((V[a] * V[b]).sum(axis=1)[counted] - value[counted])


def n_wrong(off: Floats) -> float:
    """The number of answers that differ from the rows; smaller differences count less."""
    return float(np.minimum(np.square(off / _WRONG), 1.0).sum())


def founders_by_sides(comparisons: Comparisons, k: int) -> dict[int, int]:
    """Founders by relative questions, by place, with the group of each.

    An item that is more like one of two is of its kind, and of another kind than the other.
    """
    m, aside = len(comparisons.items), comparisons.relative_value != 0.5
    chosen, value = comparisons.relative[aside], comparisons.relative_value[aside]
    near = np.where(value > 0.5, chosen[:, 1], chosen[:, 2])
    far = np.where(value > 0.5, chosen[:, 2], chosen[:, 1])
    links = coo_array((np.ones(len(near)), (chosen[:, 0], near)), shape=(m, m))
    kind = connected_components(links, directed=False)[1]
    unlike = np.zeros((kind.max(initial=0) + 1,) * 2, dtype=bool)
    for one in (chosen[:, 0], near):
        unlike[kind[one], kind[far]] = unlike[kind[far], kind[one]] = True
    founders: list[int] = []
    for candidate in np.argsort(-np.bincount(kind), kind="stable").tolist():
        if len(founders) < k and all(unlike[candidate, kind[founder]] for founder in founders):
            founders.append(int(np.flatnonzero(kind == candidate)[0]))
    return {place: group for group, place in enumerate(founders)}


def of_one_kind(comparisons: Comparisons, k: int) -> set[tuple[int, int]]:
    """Pairs of items, by place, between which all comparisons were ties.

    If they were of two groups, an item of either would be more like one of them.
    """
    ties, separated = Counter[tuple[int, int]](), set()
    for (_, b, c), value in zip(
        comparisons.relative.tolist(), comparisons.relative_value.tolist(), strict=True
    ):
        ties[in_order(b, c)] += 1
        if value != 0.5:
            separated.add(in_order(b, c))
    enough = 2.0 if k == 2 else math.log(_BY_CHANCE) / math.log(1.0 - 2.0 / k)
    return {pair for pair, count in ties.items() if count >= enough and pair not in separated}


def rows_beside(comparisons: Comparisons, founders: dict[int, int], k: int) -> Floats:
    """Rows by similarities to the founders, the rest shared evenly; NaN without any."""
    values = np.full((len(comparisons.items), k), np.nan)
    for (a, b), value in _similarities(comparisons).items():
        for one, other in ((a, b), (b, a)):
            if other in founders:
                values[one, founders[other]] = value
    for place, group in founders.items():
        values[place] = np.eye(k)[group]
    some = np.flatnonzero((~np.isnan(values)).any(axis=1))
    rows = np.full((len(comparisons.items), k), np.nan)
    rows[some] = 1.0 / k
    keep_answers(rows, some, values[some])
    return rows


def outsiders_of(comparisons: Comparisons, founders: dict[int, int], k: int) -> Bools:
    """Which items were compared with members of every group and are like none."""
    similar = _similarities(comparisons)
    group_of, outside = dict(founders), np.zeros(len(comparisons.items), dtype=bool)
    if len(set(founders.values())) < k:
        return outside
    best = np.full((len(comparisons.items), k), np.nan)
    waiting = list(founders)
    while waiting:  # members pass their group on to similar items
        member = waiting.pop(0)
        for pair, value in similar.items():
            if member in pair:
                other = pair[0] + pair[1] - member
                best[other, group_of[member]] = np.fmax(best[other, group_of[member]], value)
                if value >= _ALIKE and other not in group_of:
                    group_of[other] = group_of[member]
                    waiting.append(other)
    met = ~np.isnan(best).any(axis=1)
    outside[met] = best[met].sum(axis=1) < _LITTLE
    outside[list(founders)] = False
    return outside


def groups_outside(comparisons: Comparisons, outside: Bools) -> list[list[int]]:
    """Items that are like no group, by place, grouped by their similarity.

    An item that was not compared with the first of each group is in none of them.
    """
    similar = _similarities(comparisons)
    groups: list[list[int]] = []
    for place in np.flatnonzero(outside).tolist():
        beside = [similar.get((group[0], place), np.nan) for group in groups]
        if all(s <= _LITTLE for s in beside):
            groups.append([place])
        elif np.nanmax([*beside, 0.0]) > _LITTLE:
            groups[int(np.nanargmax(beside))].append(place)
    return groups


def described(comparisons: Comparisons, U: Floats, outside: Bools) -> Compared:
    """The anchors of each group, and the groups each item was compared with."""
    m, k = U.shape
    strongest, pure = U.argmax(axis=1), (U.max(axis=1, initial=0.0) >= _PURE) & ~outside
    beside = np.zeros((m, k), dtype=np.intp)
    for one, other in _subjects(comparisons):
        if pure[other]:
            beside[one, strongest[other]] += 1
    off = np.abs(comparisons.pair_residuals(U))
    off[outside[comparisons.pairs].any(axis=1)] = 0.0
    anchors, doubtful = (
        [],
        (_borne_out(comparisons, strongest, off, k) <= 0) & (not comparisons.is_soft),
    )
    for group in range(k):
        inside = np.flatnonzero((strongest == group) & pure)
        keys = (inside, -beside[inside].sum(axis=1), -np.round(U[inside, group], 3))
        order = np.lexsort((*keys, doubtful[inside]))
        anchors.append(inside[order][:_ANCHORS].tolist())
    misfit = outside.astype(np.float64)
    for column in range(2):
        np.maximum.at(misfit, comparisons.pairs[:, column], off)
    queried = beside > 0
    return Compared(
        comparisons=comparisons, U=U, queried=queried, anchors=anchors,
        n_checks=(beside - queried).sum(axis=1), misfit=misfit, unlike=outside,
    )  # fmt: skip


def _borne_out(comparisons: Comparisons, group: Rows, off: Floats, k: int) -> Rows:
    """The number of answers that confirm an item's group, minus those against its row.

    An item that is unlike all others may be in any group.
    """
    votes = np.zeros(len(group), dtype=np.intp)
    counts = _alike(comparisons, group, k).astype(np.intp) - (off > _WRONG)
    for column in range(2):
        np.add.at(votes, comparisons.pairs[:, column], counts)
    return votes


def parts_of(compared: Compared) -> list[list[list[int]]]:
    """Members of each group, by place, in parts that answers link; the largest part first.

    A group of several parts may be two that a slip joined. Items without a link are left out.
    """
    comparisons, U = compared.comparisons, compared.U
    m, k = U.shape
    group = U.argmax(axis=1)
    alike = comparisons.pairs[_alike(comparisons, group, k)]
    links = coo_array((np.ones(len(alike)), (alike[:, 0], alike[:, 1])), shape=(m, m))
    part = connected_components(links, directed=False)[1]
    parts_of_group: list[list[list[int]]] = [[] for _ in range(k)]
    for number in np.flatnonzero(np.bincount(part, minlength=1) > 1):
        places = np.flatnonzero(part == number)
        parts_of_group[group[places[0]]].append(places[np.argsort(-U[places].max(axis=1))].tolist())
    return [sorted(parts, key=len, reverse=True) for parts in parts_of_group]


def _alike(comparisons: Comparisons, group: Rows, k: int) -> Bools:
    """Which pairs are of one group and alike."""
    same = group[comparisons.pairs[:, 0]] == group[comparisons.pairs[:, 1]]
    return np.asarray(same & (comparisons.pair_value > _unlike(k)))


def _subjects(comparisons: Comparisons) -> list[tuple[int, int]]:
    """Every item with every other that it was compared with."""
    once = np.unique(np.sort(comparisons.pairs, axis=1), axis=0)  # without repeats
    pairs = [*once.tolist(), *once[:, ::-1].tolist()]
    return [
        *map(tuple, pairs),
        *((a, x) for a, b, c in comparisons.relative.tolist() for x in (b, c)),
    ]


def _similarities(comparisons: Comparisons) -> dict[tuple[int, int], float]:
    """The mean answer to each pair."""
    answers: dict[tuple[int, int], list[float]] = {}
    for (a, b), value in zip(
        comparisons.pairs.tolist(), comparisons.pair_value.tolist(), strict=True
    ):
        answers.setdefault(in_order(a, b), []).append(value)
    return {pair: float(np.mean(values)) for pair, values in answers.items()}


def in_order(a: int, b: int) -> tuple[int, int]:
    """Two numbers, the smaller first."""
    return min(a, b), max(a, b)
