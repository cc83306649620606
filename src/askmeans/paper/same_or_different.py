"""Membership questions answered through "same or different?", while answers are 0 or 1.

One item represents each cluster, and others are compared with it: an entry of a row is one pair,
and a cluster has the number under which its first item was asked. An answer in between, or an item
unlike all clusters, ends this: another plan starts anew, with the known similarities. If the budget
is too small for that plan, the similarity to the item that represents a cluster counts as the
membership in it.
"""

import copy
import math
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.exceptions import (
    BudgetError,
    LittleInformationWarning,
    MoreClustersWarning,
    StopAsking,
)
from askmeans.fuzzy.arrays import ROUNDING
from askmeans.paper.by_similarity import drive
from askmeans.paper.known import Similarities
from askmeans.paper.plan import Asking, Plan
from askmeans.queries import MembershipQueries, Queries
from askmeans.results import Clustering, warn

Entry = tuple[int, int]  # an item and a cluster
_CHECKS = 3  # items of each cluster that are compared with it although no other cluster is left
_TRIES = 3  # items of a cluster to compare with, if answers are missing


class _InBetweenError(Exception):
    """An answer is neither 0 nor 1, or an item is `unlike` all clusters."""

    def __init__(self, unlike: int | None) -> None:
        super().__init__()
        self.unlike = unlike


def same_or_different(
    make_plan: Callable[[np.random.Generator], Plan],
    otherwise: Callable[[np.random.Generator, Similarities], Plan],
    n_items: int,
    n_clusters: int,
    *,
    rng: np.random.Generator,
) -> Plan:
    """Answer a plan's membership questions by pairs that are the same or different.

    Parameters
    ----------
    make_plan : callable
        Makes a plan that asks about memberships, from a generator of random numbers.
    otherwise : callable
        Makes the plan that continues if answers are in between, from a generator and the known
        similarities (see `by_similarity`). If it raises a BudgetError, a warning reports it, and
        similarities count as memberships.
    n_items : int
        Number of items.
    n_clusters : int
        Number of clusters, at least 2.
    rng : numpy.random.Generator
        The randomness; all plans start with the same state of it.

    Returns
    -------
    generator
        A plan that asks about pairs, then the questions of the other plan.

    Examples
    --------
    >>> from askmeans import Stratified, metrics, oracles, run
    >>> from askmeans.paper import by_similarity
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * y[:, None]
    >>> def make(rng):
    ...     return Stratified().plan(X, 2, fuzzifier=2.0, rng=rng)
    >>> def otherwise(rng, similar):
    ...     return by_similarity(make(rng), 40, 2, rng=rng, similar=similar)
    >>> plan = same_or_different(make, otherwise, 40, 2, rng=np.random.default_rng(0))
    >>> result = run(plan, oracles.TableOracle.from_labels(y), budget=10)
    >>> labels = result.clustering.memberships.argmax(axis=1)
    >>> {answer.kind for answer in result.history}, metrics.matched_accuracy(y, labels)
    ({'pair'}, 1.0)
    """
    similar = Similarities()
    start = copy.deepcopy(rng)

    def translated(*, strict: bool) -> Plan:
        rng = copy.deepcopy(start)
        plan = make_plan(rng)
        order = rng.permutation(n_items).tolist()
        return drive(plan, _Compared(order, n_clusters, similar, strict=strict))

    comparing = translated(strict=True)  # invalid parameters raise an error now
    rng.permutation(n_items)  # advances the caller's generator

    def plan() -> Generator[Queries, Floats, Clustering]:
        try:
            return (yield from comparing)
        except _InBetweenError as ended:
            if ended.unlike is not None:
                warn(
                    f"Item {ended.unlike} is like no item of the {n_clusters} clusters it was "
                    f"compared with, so there may be more. Ask for {n_clusters + 1} clusters.",
                    MoreClustersWarning,
                    similar.notes,
                )
        try:
            other = otherwise(start, similar)
        except BudgetError as error:
            warn(
                f"{error} Similarities to one item of each cluster are taken for memberships.",
                LittleInformationWarning,
                similar.notes,
            )
            other = translated(strict=False)
        return (yield from other)

    return plan()


class _Compared:
    """Clusters in which items are, and in which they are not."""

    def __init__(
        self, order: list[int], n_clusters: int, similar: Similarities, *, strict: bool
    ) -> None:
        self.strict = strict  # an answer in between ends it
        self.order = {item: place for place, item in enumerate(order)}
        self.k = n_clusters
        self.similar = similar
        self.members: dict[int, list[int]] = {}  # by known cluster
        self.home: dict[int, int] = {}
        self.away: dict[int, set[int]] = {}
        self.partly: dict[Entry, float] = {}
        self.checks: Counter[int] = Counter()  # by cluster
        self.unlike: int | None = None  # an item in none of the clusters

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Numbers of questions."""
        return dict(self.similar.counts)

    def translated(self, queries: MembershipQueries) -> Floats:
        """Return the known ones of these memberships, NaN for others."""
        return np.array([self._known(*entry) for entry in _entries(queries)])

    def answer(self, queries: MembershipQueries) -> Asking[Floats]:
        """Return these memberships, after comparisons with the items that represent clusters."""
        entries = sorted(_entries(queries), key=lambda entry: self.order[entry[0]])
        for item, cluster in entries:
            if cluster not in self.members and self._open(item, cluster):
                yield from self._place(item, cluster)
        if not self.away:  # nothing was asked yet: is the first item the same as any other?
            yield from self._compare([(item, c) for c in self.members for item in self._next()])
        while entries:  # an item's first entry may determine the others
            entries = [entry for entry in entries if self._open(*entry)]
            first = {item: (item, cluster) for item, cluster in reversed(entries)}
            entries = [entry for entry in entries if first[entry[0]] != entry]
            yield from self._compare(list(first.values()))
        yield from self._compare(self._left_over(queries))
        return self.translated(queries)

    def _left_over(self, queries: MembershipQueries) -> list[Entry]:
        """Items for which one cluster is left: the first few of each are compared as a check."""
        left = []
        for item in np.unique(queries.items).tolist():
            others = set(self.members) - self.away.get(item, set())
            if item not in self.home and len(others) == 1 and len(self.members) == self.k:
                cluster = others.pop()
                self.checks[cluster] += 1
                if self.checks[cluster] <= _CHECKS:
                    left.append((item, cluster))
        return left

    def _known(self, item: int, cluster: int) -> float:
        """A known membership; NaN if it is unknown."""
        if item in self.home:
            return float(self.home[item] == cluster)
        if cluster in self.away.get(item, ()):
            return 0.0
        return self.partly.get((item, cluster), math.nan)

    def _open(self, item: int, cluster: int) -> bool:
        """Whether a membership is unknown."""
        return math.isnan(self._known(item, cluster))

    def _next(self) -> list[int]:
        """The first item that is in no cluster yet."""
        return [item for item in self.order if item not in self.home][:1]

    def _place(self, item: int, cluster: int) -> Asking[None]:
        """Compare with known clusters; an item in none of them is the first of this one."""
        for met in list(self.members):
            if self._open(item, met):
                yield from self._compare([(item, met)])
        similar = [self._known(item, met) for met in self.members]
        if item not in self.home and sum(similar) < 0.5:  # False if one is unknown
            self.home[item] = cluster
            self.members[cluster] = [item]

    def _compare(self, entries: list[Entry]) -> Asking[None]:
        """Ask pairs with an item of each cluster; with another item if the answer is missing."""
        for which in range(_TRIES):
            some = [(i, c) for i, c in entries if len(self.members.get(c, ())) > which]
            some = [(i, c) for i, c in some if self._open(i, c)]
            pairs = [(i, self.members[c][which]) for i, c in some]
            try:
                batch = np.array(pairs, dtype=np.intp).reshape(-1, 2)
                yield from self.similar.ask(batch, "row_pairs")
            except StopAsking:
                self._note_all(some, pairs)
                raise
            if not self._note_all(some, pairs) and self.strict:
                raise _InBetweenError(self.unlike)

    def _note_all(self, entries: list[Entry], pairs: list[tuple[int, int]]) -> bool:
        """Store comparisons; False if one is neither 0 nor 1."""
        notes = [
            self._note(item, cluster, self.similar(*pair))
            for (item, cluster), pair in zip(entries, pairs, strict=True)
        ]
        return all(notes)

    def _note(self, item: int, cluster: int, similarity: float) -> bool:
        """Store a comparison; False if it is neither 0 nor 1."""
        away = self.away.setdefault(item, set())
        if abs(similarity - 1.0) <= ROUNDING:
            self.home[item] = cluster
            self.members[cluster].append(item)
        elif abs(similarity) <= ROUNDING:
            if len(away) == self.k - 1:
                self.unlike = item
                return False
            away.add(cluster)
        elif not math.isnan(similarity):
            self.partly[item, cluster] = similarity
            return False
        return True


def _entries(queries: MembershipQueries) -> list[Entry]:
    """Item and cluster of each question."""
    return list(zip(queries.items.tolist(), queries.clusters.tolist(), strict=True))
