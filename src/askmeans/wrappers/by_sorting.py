"""Membership questions turned into "same or different?", as long as answers are all or nothing.

One item stands for each cluster, and others are compared with it: an entry of a row is one pair,
and a cluster has the name under which its first item was asked for. An answer in between, or an
item unlike all clusters, ends this: another plan begins anew, with the similarities told so far.
"""

import copy
import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.plans.answers import ROUNDING, Asking, Plan
from askmeans.queries import MembershipQueries, Queries
from askmeans.results import Clustering
from askmeans.wrappers.by_similarity import drive
from askmeans.wrappers.similarities import Similarities

__all__ = ["by_sorting"]

Floats = NDArray[np.float64]
Entry = tuple[int, int]  # an item and a cluster
_TRIES = 3  # items of a cluster to compare with, where nobody can say


class _InBetweenError(Exception):
    """An answer is neither all nor nothing."""


def by_sorting(
    make_plan: Callable[[np.random.Generator], Plan],
    otherwise: Callable[[np.random.Generator, Similarities], Plan],
    n_items: int,
    n_clusters: int,
    *,
    rng: np.random.Generator,
) -> Plan:
    """Let a plan's membership questions be answered by pairs that are the same or different.

    Parameters
    ----------
    make_plan : callable
        Makes a plan that asks about memberships, from a generator of random numbers.
    otherwise : callable
        Makes the plan to go on with if answers are in between, from a generator and the
        similarities told so far (see `by_similarity`).
    n_items : int
        Number of items.
    n_clusters : int
        Number of clusters, at least 2.
    rng : numpy.random.Generator
        Where randomness comes from; both plans begin with the same state of it.

    Returns
    -------
    generator
        A plan that asks about pairs, and whatever the other plan asks about.

    Examples
    --------
    >>> from askmeans import Stratified, metrics, oracles, run
    >>> from askmeans.wrappers import by_similarity
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * y[:, None]
    >>> def make(rng):
    ...     return Stratified().plan(X, 2, fuzzifier=2.0, rng=rng)
    >>> def otherwise(rng, similar):
    ...     return by_similarity(make(rng), 40, 2, rng=rng, similar=similar)
    >>> plan = by_sorting(make, otherwise, 40, 2, rng=np.random.default_rng(0))
    >>> result = run(plan, oracles.TableOracle.from_labels(y), budget=10)
    >>> labels = result.clustering.memberships.argmax(axis=1)
    >>> {answer.kind for answer in result.history}, metrics.matched_accuracy(y, labels)
    ({'pair'}, 1.0)
    """
    similar = Similarities()
    again = copy.deepcopy(rng)
    plan = make_plan(rng)
    translator = _Sorted(rng.permutation(n_items).tolist(), n_clusters, similar)
    return _sort(plan, translator, lambda: otherwise(again, similar))


def _sort(
    plan: Plan, translator: "_Sorted", otherwise: Callable[[], Plan]
) -> Generator[Queries, Floats, Clustering]:
    """Go on otherwise after an answer in between."""
    try:
        return (yield from drive(plan, translator))
    except _InBetweenError:
        return (yield from otherwise())


class _Sorted:
    """Which cluster items are in, and which they are not in."""

    def __init__(self, order: list[int], n_clusters: int, similar: Similarities) -> None:
        self.order = {item: place for place, item in enumerate(order)}
        self.k = n_clusters
        self.similar = similar
        self.members: dict[int, list[int]] = {}  # by cluster, of those that were met
        self.home: dict[int, int] = {}
        self.away: dict[int, set[int]] = {}

    @property
    def diagnostics(self) -> dict[str, Any]:
        """What was asked."""
        return dict(self.similar.asked)

    def told(self, queries: MembershipQueries) -> Floats:
        """What is known of these memberships; NaN where nothing is."""
        return np.array([self._known(*entry) for entry in _entries(queries)])

    def answer(self, queries: MembershipQueries) -> Asking[Floats]:
        """Memberships, by comparing with items that stand for clusters."""
        entries = sorted(_entries(queries), key=lambda entry: self.order[entry[0]])
        for item, cluster in entries:
            if cluster not in self.members and self._open(item, cluster):
                yield from self._place(item, cluster)
        if not self.away:  # nobody was asked yet: is the first item the same as any other, or not?
            yield from self._compare([(item, c) for c in self.members for item in self._next()])
        while entries:  # an item's first entry may tell the others
            entries = [entry for entry in entries if self._open(*entry)]
            first = {item: (item, cluster) for item, cluster in reversed(entries)}
            entries = [entry for entry in entries if first[entry[0]] != entry]
            yield from self._compare(list(first.values()))
        return self.told(queries)

    def _known(self, item: int, cluster: int) -> float:
        """What is known of a membership; NaN where nothing is."""
        if item in self.home:
            return float(self.home[item] == cluster)
        return 0.0 if cluster in self.away.get(item, ()) else math.nan

    def _open(self, item: int, cluster: int) -> bool:
        """Whether nothing is known of a membership."""
        return math.isnan(self._known(item, cluster))

    def _next(self) -> list[int]:
        """The first item that is in no cluster yet."""
        return [item for item in self.order if item not in self.home][:1]

    def _place(self, item: int, cluster: int) -> Asking[None]:
        """Compare with clusters met so far; who is in none of them is the first of this one."""
        for met in list(self.members):
            if self._open(item, met):
                yield from self._compare([(item, met)])
        if item not in self.home and not any(self._open(item, met) for met in self.members):
            self.home[item] = cluster
            self.members[cluster] = [item]

    def _compare(self, entries: list[Entry]) -> Asking[None]:
        """Pairs with an item of each cluster; with another one where nobody could say."""
        for which in range(_TRIES):
            asked = [(i, c) for i, c in entries if len(self.members.get(c, ())) > which]
            asked = [(i, c) for i, c in asked if self._open(i, c)]
            pairs = [(i, self.members[c][which]) for i, c in asked]
            try:
                batch = np.array(pairs, dtype=np.intp).reshape(-1, 2)
                yield from self.similar.ask(batch, "row_pairs")
            finally:  # a stop, too
                for (item, cluster), pair in zip(asked, pairs, strict=True):
                    self._note(item, cluster, self.similar(*pair))

    def _note(self, item: int, cluster: int, similarity: float) -> None:
        """Write down what a comparison tells."""
        away = self.away.setdefault(item, set())
        if abs(similarity - 1.0) <= ROUNDING:
            self.home[item] = cluster
            self.members[cluster].append(item)
        elif abs(similarity) <= ROUNDING:
            away.add(cluster)
        if len(away) == self.k or ROUNDING < similarity < 1.0 - ROUNDING:
            raise _InBetweenError


def _entries(queries: MembershipQueries) -> list[Entry]:
    """Item and cluster of each question."""
    return list(zip(queries.items.tolist(), queries.clusters.tolist(), strict=True))
