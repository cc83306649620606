"""Anchors: compared items that stand for a group, and what was compared with which group."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from askmeans.fuzzy.simplex import keep_answers
from askmeans.policy.comparisons import Comparisons

__all__ = [
    "Compared",
    "described",
    "founders_by_sides",
    "founders_of",
    "groups_outside",
    "outsiders_of",
    "rows_beside",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Bools = NDArray[np.bool_]

_PURE = 0.5  # membership of an anchor at least
_ANCHORS = 3  # for each group
_FIRST = 4  # items per group that the search for founders begins with
_ALIKE = 0.75  # similarity to a member of a group that makes another
_LITTLE = 0.5  # similarity to members of all groups together, below which an item is in none


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Rows of the compared items, and what follows from them."""

    told: Comparisons
    U: Floats
    asked: Bools  # with which groups each item was compared
    anchors: list[list[int]]  # places, for each group, the purest first
    n_checks: Rows  # how often an item was compared with a group that it had been compared with
    misfit: Floats  # the largest part of an answer that rows do not explain, for each item
    unlike: Bools  # which items are like no group, though compared with every one

    @property
    def items(self) -> Rows:
        """The compared items."""
        return self.told.items


def founders_of(told: Comparisons, k: int, named: dict[int, int]) -> dict[int, int]:
    """Items that are like none before them, by place, and the group that each stands for.

    Two items share less than 1 / k where they lean to different groups. Those in `named` stand for
    the groups that somebody named.
    """
    similar = _similarities(told)
    known: dict[int, int] = {}
    for place, group in named.items():
        if group not in known.values():
            known[place] = group
    free = [group for group in range(k) if group not in known.values()]
    best: list[int] = []
    # Whoever is in between is like items of two groups: another first item may find more.
    for first in range(min(len(told.items), _FIRST * k)):
        found: list[int] = []
        for place in [first, *range(len(told.items))]:
            beside = [similar.get((min(place, f), max(place, f)), np.nan) for f in [*known, *found]]
            new = place not in known and place not in found
            if new and len(found) < len(free) and all(s <= min(0.5, 1.0 / k) for s in beside):
                found.append(place)
        if len(found) > len(best):
            best = found
        if len(best) == len(free):
            break
    return known | dict(zip(sorted(best), free, strict=False))


def founders_by_sides(told: Comparisons, k: int) -> dict[int, int]:
    """Items that stand for groups by what they were more like: those whose kind no other is of.

    Whoever is more like one of two is of its kind, and of another kind than the other.
    """
    m, aside = len(told.items), told.relative_value != 0.5
    chosen, value = told.relative[aside], told.relative_value[aside]
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


def rows_beside(told: Comparisons, founders: dict[int, int], k: int) -> Floats:
    """Rows as similarities to the founders have them, the rest shared evenly; NaN without any."""
    values = np.full((len(told.items), k), np.nan)
    for (a, b), value in _similarities(told).items():
        for one, other in ((a, b), (b, a)):
            if other in founders:
                values[one, founders[other]] = value
    for place, group in founders.items():
        values[place] = np.eye(k)[group]
    some = np.flatnonzero((~np.isnan(values)).any(axis=1))
    rows = np.full((len(told.items), k), np.nan)
    rows[some] = 1.0 / k
    keep_answers(rows, some, values[some])
    return rows


def outsiders_of(told: Comparisons, founders: dict[int, int], k: int) -> Bools:
    """Which items are like no group, though compared with members of every one."""
    similar = _similarities(told)
    group_of, outside = dict(founders), np.zeros(len(told.items), dtype=bool)
    if len(set(founders.values())) < k:
        return outside
    best = np.full((len(told.items), k), np.nan)
    waiting = list(founders)
    while waiting:  # members tell of those that were compared with them
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


def groups_outside(told: Comparisons, outside: Bools) -> list[list[int]]:
    """Items that are like no group, by place, together with those that they are like.

    Who was not compared with the first of each is in none of them yet.
    """
    similar = _similarities(told)
    found: list[list[int]] = []
    for place in np.flatnonzero(outside).tolist():
        beside = [similar.get((group[0], place), np.nan) for group in found]
        if all(s <= _LITTLE for s in beside):
            found.append([place])
        elif np.nanmax([*beside, 0.0]) > _LITTLE:
            found[int(np.nanargmax(beside))].append(place)
    return found


def described(told: Comparisons, U: Floats, outside: Bools) -> Compared:
    """Anchors of each group, and what was compared with which."""
    m, k = U.shape
    strongest, pure = U.argmax(axis=1), (U.max(axis=1, initial=0.0) >= _PURE) & ~outside
    beside = np.zeros((m, k), dtype=np.intp)
    for one, other in _subjects(told):
        if pure[other]:
            beside[one, strongest[other]] += 1
    anchors = []
    for group in range(k):
        inside = np.flatnonzero((strongest == group) & pure)
        order = np.lexsort((inside, -beside[inside].sum(axis=1), -np.round(U[inside, group], 3)))
        anchors.append(inside[order][:_ANCHORS].tolist())
    off = np.abs(told.off(U))
    off[outside[told.pairs].any(axis=1)] = 0.0
    misfit = outside.astype(np.float64)
    for column in range(2):
        np.maximum.at(misfit, told.pairs[:, column], off)
    asked = beside > 0
    return Compared(
        told=told, U=U, asked=asked, anchors=anchors, n_checks=(beside - asked).sum(axis=1),
        misfit=misfit, unlike=outside,
    )  # fmt: skip


def _subjects(told: Comparisons) -> list[tuple[int, int]]:
    """Every item with every other that it was compared with."""
    once = np.unique(np.sort(told.pairs, axis=1), axis=0)  # however often they were asked
    pairs = [*once.tolist(), *once[:, ::-1].tolist()]
    return [*map(tuple, pairs), *((a, x) for a, b, c in told.relative.tolist() for x in (b, c))]


def _similarities(told: Comparisons) -> dict[tuple[int, int], float]:
    """The mean answer to each pair."""
    found: dict[tuple[int, int], list[float]] = {}
    for (a, b), value in zip(told.pairs.tolist(), told.pair_value.tolist(), strict=True):
        found.setdefault((min(a, b), max(a, b)), []).append(value)
    return {pair: float(np.mean(values)) for pair, values in found.items()}
