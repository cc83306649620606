"""Groups within groups: a policy for each group that has sub-groups, and results that multiply.

Rules of this file:
- The share of a sub-group is the share of its group times the share within that. Within a group
  shares sum to one, so those of all sub-groups sum to the share of their group.
- A branch is the default policy over the items that probably belong to a group; each item counts
  by its share of the group.
- A question about the sub-groups of a group may be answered with any group, so it says at least as
  much as one about the groups above. It is asked of items that probably belong to the group.
- Everything follows from the answers, as in `stratified`.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.advisers import Advice
from askmeans.policy.belief import Belief
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answers, GroupQueries, Question
from askmeans.results import Clustering

_LIKELY = 0.5  # of an even share, from which on an item may belong to a group
_LEAST = 4  # items for each sub-group that a branch has at least
_PROBABLY = 0.5  # share of a group from which on its sub-groups are asked for at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A group with sub-groups; its parent is the number of the group it is in, None at the top."""

    number: int
    parent: int | None
    children: tuple[int, ...]
    answers: Answers  # by the columns of the sub-groups
    advice: tuple[Advice, ...] = ()


class Branch:
    """The policy of a group with sub-groups, over the items that probably belong to it."""

    def __init__(
        self, node: Node, items: ItemSet, rows: Rows, weights: Floats,
        make: Callable[[ItemSet, int], StratifiedPolicy],
    ) -> None:  # fmt: skip
        self.node = node
        self.rows = rows
        self.weights = weights  # of all items: the share of the group that each probably has
        self._items = items
        blank = np.flatnonzero(np.isin(rows, list(items.blank)))
        self.policy = make(ItemSet(items.X[rows], blank.tolist()), len(node.children))
        self.policy.weights = weights[rows]
        self.policy.advice = tuple(advice.among(rows) for advice in node.advice)
        self.learn(node)

    def learn(self, node: Node) -> None:
        """Take note of the answers that stand, of items of the branch."""
        self.node = node
        place = np.searchsorted(self.rows, [answer.items[0] for answer in node.answers]).tolist()
        answers = [
            replace(answer, items=(row,)) for answer, row in zip(node.answers, place, strict=True)
        ]
        self.policy.learn(Answers.of(answers, len(node.children)))

    @property
    def n_answers(self) -> int:
        """How many answers name one of the sub-groups, or none of them."""
        return len(self.node.answers)

    @property
    def expected_wrong(self) -> float:
        """How many items of the group are probably in the wrong sub-group."""
        belief, weights = self.policy.ranked, self.weights[self.rows]
        if belief.stack is None:
            return float(weights.sum()) * (1.0 - 1.0 / len(self.node.children))
        return float(weights @ (1.0 - belief.outcome().confidence))

    def shares(self, belief: Belief | None = None) -> Floats:
        """The share of each sub-group within the group, of all items; rows sum to one."""
        outcome = (belief or self.policy.ranked).outcome()
        return self._over_all(outcome.memberships, (belief or self.policy.ranked).predictor)

    def clustering(self) -> Clustering:
        """The result within the group, for all items; even where only the names are known."""
        n, k = self._items.n, len(self.node.children)
        found = self.policy.clustering()
        known = any((batch.values > 0.0).any() for batch in self.node.answers.batches)
        if not known and self.policy.examples is None and not self.policy.advice:
            even = np.full((n, k), 1.0 / k)
            return replace(
                found, memberships=even, confidence=even[:, 0], unassigned=np.zeros(n),
                predictor=Even(k),
            )  # fmt: skip
        U = self._over_all(found.memberships, found.predictor)
        confidence = U.max(axis=1)
        if found.confidence is not None:
            confidence[self.rows] = found.confidence
        if found.unassigned is not None:  # in none of the sub-groups: the strongest is wrong
            nowhere = found.unassigned > 0.5
            confidence[self.rows[nowhere]] = 1.0 / k
        return replace(
            found, memberships=U, confidence=confidence, unassigned=np.zeros(n),
            predictor=Within(found.predictor),
        )  # fmt: skip

    def _over_all(self, U: Floats, predict: Callable[[Floats], Floats]) -> Floats:
        """Rows of all items that sum to one, from those of the branch."""
        others = np.setdiff1d(np.arange(self._items.n), self.rows)
        W = np.empty((self._items.n, U.shape[1]))
        W[self.rows] = U
        if len(others):
            W[others] = predict(self._items.take(others))
        return summing_to_one(W)

    def question(self, row: int, repeat: int = 0) -> Question:
        """The question to which sub-group an item belongs."""
        return Question("group", (row,), self.node.number, repeat)

    def propose(self, n: int, pending: Set[Question], annotator: str) -> list[Question]:
        """The n best questions about the sub-groups."""
        places = {row: place for place, row in enumerate(self.rows.tolist())}
        local = {
            Question("group", (places[q.items[0]],), None, q.repeat)
            for q in pending
            if q.items[0] in places
        }
        proposed = self.policy.propose(n, local, annotator)
        return [self.question(int(self.rows[q.items[0]]), q.repeat) for q in proposed]


class NestedPolicy:
    """The policy for the groups at the top, and branches for those that have sub-groups."""

    def __init__(
        self, root: StratifiedPolicy, make: Callable[[ItemSet, int], StratifiedPolicy]
    ) -> None:
        self.root = root
        self._make = make
        self._top: tuple[int, ...] = ()
        self._answers = Answers()
        self._nodes: tuple[Node, ...] = ()
        self._branches: dict[int, Branch] = {}
        self._grown_from: tuple[object, ...] = ()
        self._parts: dict[int | None, tuple[Belief, Floats]] = {}  # shares at milestones

    def learn(self, top: Sequence[int], answers: Answers, nodes: Sequence[Node]) -> None:
        """Take note of all answers that stand; branches grow when they are needed.

        `answers` are those about the groups at the `top`, which the root has learnt; `nodes` are
        in the order of the tree.
        """
        self._top, self._answers, self._nodes = tuple(top), answers, tuple(nodes)

    @property
    def branches(self) -> Mapping[int, Branch]:
        """The branches by their groups, each before those within it."""
        source = (self.root.ranked, self._answers, *self._nodes)
        same = len(source) == len(self._grown_from)
        if not same or any(a is not b for a, b in zip(source, self._grown_from, strict=True)):
            before, self._branches = self._branches, {}
            for node in self._nodes:
                self._branches[node.number] = self._branch(node, *self._weights(node), before)
            self._grown_from = source
        return self._branches

    def _branch(
        self, node: Node, weights: Floats, likely: Rows, before: Mapping[int, Branch]
    ) -> Branch:
        """The branch of a group: as before, where its items are the same."""
        answered = [batch.queries.item_table[:, 0] for batch in node.answers.batches]
        rows = np.union1d(likely, np.concatenate([np.empty(0, np.intp), *answered])).astype(np.intp)
        old = before.get(node.number)
        if (
            old is not None
            and np.array_equal(old.rows, rows)
            and old.node.children == node.children
            and [a.digest for a in old.node.advice] == [a.digest for a in node.advice]
        ):
            old.weights = weights
            old.learn(node)
            return old
        return Branch(node, self.root.items, rows, weights, self._make)

    def _weights(self, node: Node) -> tuple[Floats, Rows]:
        """The share of a group that each item has, and the items of which it is not small."""
        if node.parent is None:
            U, column = self._shares(None), self._top.index(node.number)
            above, answers = np.ones(self.root.items.n), self._answers
        else:
            parent = self._branches[node.parent]
            U, column = self._shares(node.parent), parent.node.children.index(node.number)
            above, answers = parent.weights, parent.node.answers
        share = above * U[:, column]
        least = np.sort(share)[-min(len(share), _LEAST * len(node.children))]
        likely = np.flatnonzero((share >= _LIKELY / U.shape[1]) | (share >= least))
        weights = share.copy()  # answers since the milestone
        for batch in answers.batches:
            if isinstance(batch.queries, GroupQueries):
                known = ~np.isnan(batch.values[:, column])
                weights[batch.queries.items[known]] = batch.values[known, column]
        return weights, likely

    def _shares(self, number: int | None) -> Floats:
        """Shares of all items at the last milestone: of the groups at the top, or within one."""
        belief = self._policy(number).ranked
        known = self._parts.get(number)
        if known is None or known[0] is not belief:
            if number is None:
                U = belief.outcome().memberships
            else:
                U = self._branches[number].shares(belief)
            known = self._parts[number] = (belief, U)
        return known[1]

    def _policy(self, number: int | None) -> StratifiedPolicy:
        """The policy of a group; of None the one at the top."""
        return self.root if number is None else self._branches[number].policy

    def gains(self) -> dict[int | None, float]:
        """By how many wrong items another answer lowers the expected number, of each group.

        Errors fall as a power of the number of answers: the gain is in proportion to the errors
        that are left, over the answers that there are.
        """
        root, n = self.root, self.root.items.n
        wrong = root.ranked.expected_wrong
        if wrong is None:
            wrong = n * (1.0 - 1.0 / max(len(self._top), 1))
        gains: dict[int | None, float] = {None: wrong / (len(self._answers) + 1.0)}
        for number, branch in self.branches.items():
            gains[number] = branch.expected_wrong / (branch.n_answers + 1.0)
        return gains

    def wants(self, group: int) -> bool:
        """Whether to ask at once for the sub-group of an item that was put into a group."""
        gains = self.gains()
        return group in gains and gains[group] >= gains[None]

    def propose(self, n: int, pending: Set[Question], annotator: str) -> list[Question]:
        """The n questions that lower the expected errors of the sub-groups most."""
        if n < 1:
            return []
        streams: dict[int | None, list[Question]] = {
            None: self.root.propose(n, {q._replace(cluster=None) for q in pending}, annotator)
        }
        for number, branch in self.branches.items():
            streams[number] = branch.propose(n, pending, annotator)
        gains = self.gains()
        counts: dict[int | None, float] = {None: len(self._answers) + 1.0}
        counts |= {number: branch.n_answers + 1.0 for number, branch in self._branches.items()}
        wrong = {number: gain * counts[number] for number, gain in gains.items()}
        chosen: dict[int, Question] = {}
        while len(chosen) < n and any(streams.values()):
            best = max((v for v in streams if streams[v]), key=lambda v: wrong[v] / counts[v])
            question = streams[best].pop(0)
            row = question.items[0]
            if row in chosen:
                continue
            chosen[row] = question = self._nearest(question)
            counts[None] += 1.0
            if question.cluster is not None:
                counts[question.cluster] += 1.0
        return list(chosen.values())

    def _nearest(self, question: Question) -> Question:
        """The question about the innermost sub-groups that are probable; a repeat stays."""
        row, number = question.items[0], question.cluster
        while not question.repeat:
            children = self._top if number is None else self._branches[number].node.children
            U = self._shares(number)[row]
            best = children[int(U.argmax())]
            if self._policy(number).ranked.stack is None or U.max() < _PROBABLY:
                break  # not before groups are known
            if best not in self._branches:
                break
            number = best
        return question._replace(cluster=number)

    @property
    def settled(self) -> bool:
        """Whether asking on is hardly worth it, at any level."""
        return self.root.settled and all(b.policy.settled for b in self.branches.values())


# ---- results ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The result at a level: groups that deep in the tree, and those above without sub-groups."""

    groups: tuple[int, ...]
    clustering: Clustering


def levels_of(
    top: Sequence[int],
    clustering: Clustering,
    children: Mapping[int, Sequence[int]],
    within: Mapping[int, Clustering],
) -> list[Level]:
    """The results at all levels, from the top to the groups without sub-groups.

    `children` are the sub-groups of each group that has any, `within` the results within it.
    """
    levels = [Level(groups=tuple(top), clustering=clustering)]
    right = _column_confidence(clustering)
    while any(group in children for group in levels[-1].groups):
        last = levels[-1]
        groups = tuple(g for group in last.groups for g in children.get(group, (group,)))
        inner = {j: within[g] for j, g in enumerate(last.groups) if g in children}
        right = nested_memberships(right, {j: _column_confidence(c) for j, c in inner.items()})
        levels.append(Level(groups=groups, clustering=_expanded(last.clustering, inner, right)))
    return levels


def nested_memberships(memberships: Floats, within: Mapping[int, Floats]) -> Floats:
    """Memberships with some columns divided: the share of each times the shares within it.

    Parameters
    ----------
    memberships : ndarray of shape (n_items, n_clusters)
        Memberships of a fit.
    within : dict of int to ndarray of shape (n_items, n_sub_clusters)
        For some of the columns the memberships of a fit within that cluster; rows sum to one.

    Returns
    -------
    ndarray
        One column for each cluster that is not divided, and for each part of those that are, in
        their order. The parts of a cluster sum to its column.

    Examples
    --------
    >>> U = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> nested_memberships(U, {1: np.array([[0.5, 0.5], [0.9, 0.1]])})
    array([[0.5 , 0.25, 0.25],
           [0.  , 0.9 , 0.1 ]])
    """
    columns = [
        memberships[:, [j]] * within[j] if j in within else memberships[:, [j]]
        for j in range(memberships.shape[1])
    ]
    return np.hstack(columns)


def _column_confidence(clustering: Clustering) -> Floats:
    """The probability that each cluster is the right one: the confidence for the strongest.

    The others share the rest by their memberships.
    """
    U = clustering.memberships
    strongest = U.argmax(axis=1)
    there = np.arange(len(U))
    confidence = U.max(axis=1) if clustering.confidence is None else clustering.confidence
    others = U.copy()
    others[there, strongest] = 0.0
    total = others.sum(axis=1)
    right = others * ((1.0 - confidence) / np.where(total > 0.0, total, 1.0))[:, None]
    right[there, strongest] = confidence
    return right


def _expanded(before: Clustering, within: Mapping[int, Clustering], right: Floats) -> Clustering:
    """A result with some columns divided."""
    U = nested_memberships(before.memberships, {j: c.memberships for j, c in within.items()})
    centers = [within[j].centers if j in within else before.centers[[j]]
               for j in range(before.memberships.shape[1])]  # fmt: skip
    strongest = U.argmax(axis=1)
    confidence = right[np.arange(len(U)), strongest]
    above = before.memberships.max(axis=1) if before.confidence is None else before.confidence
    nowhere = np.zeros(len(U), dtype=bool)
    if before.unassigned is not None:
        nowhere = before.unassigned > U.max(axis=1)
    confidence = np.where(nowhere, above, confidence)
    width = {j: c.memberships.shape[1] for j, c in within.items()}
    owner = np.repeat(np.arange(len(centers)), [width.get(j, 1) for j in range(len(centers))])
    lost = np.maximum(above - confidence, 0.0)
    wrong, band = before.diagnostics.expected_wrong, before.diagnostics.expected_wrong_band
    if wrong is not None:
        wrong += float(lost.sum())
    if band is not None:
        low, high = float(band[0]), float(band[1])
        for j, clustering in within.items():
            least, most = _relative_band(clustering)
            part = float(lost[owner[strongest] == j].sum())
            low, high = low + least * part, high + most * part
        band = int(low), min(len(U), int(np.ceil(high)))
    return replace(
        before,
        centers=np.vstack(centers),
        memberships=U,
        confidence=confidence,
        predictor=Nested(before.predictor, {j: c.predictor for j, c in within.items()}),
        diagnostics=replace(
            before.diagnostics, expected_wrong=wrong, expected_wrong_band=band,
        ),
        complete=before.complete and all(c.complete for c in within.values()),
    )  # fmt: skip


def _relative_band(clustering: Clustering) -> tuple[float, float]:
    """The 80 % interval of the errors of a branch, by their expected number."""
    wrong = clustering.diagnostics.expected_wrong
    band = clustering.diagnostics.expected_wrong_band
    if not wrong or band is None:
        return 0.0, 1.0
    return min(band[0] / wrong, 1.0), max(band[1] / wrong, 1.0)


def summing_to_one(W: Floats) -> Floats:
    """Rows divided by their sums; even where these are zero."""
    total = W.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, W / np.where(total > 0.0, total, 1.0), 1.0 / W.shape[1])


@dataclass(frozen=True, slots=True)
class Even:
    """The same share of each cluster, for any items."""

    n_clusters: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return np.full((len(X), self.n_clusters), 1.0 / self.n_clusters)


@dataclass(frozen=True, slots=True)
class Within:
    """Memberships within a group, which sum to one."""

    predict: Callable[[NDArray[np.floating]], Floats]

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return summing_to_one(self.predict(X))


@dataclass(frozen=True, slots=True)
class Nested:
    """Memberships of the parts of clusters."""

    predict: Callable[[NDArray[np.floating]], Floats]
    within: Mapping[int, Callable[[NDArray[np.floating]], Floats]]

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        parts = {j: predict(X) for j, predict in self.within.items()}
        return nested_memberships(self.predict(X), parts)
