"""Nested groups: a policy for each group with sub-groups, and products of their results.

Rules of this file:
- The share of a sub-group is the share of its group times the share within that. Within a group
  shares sum to one, so those of all sub-groups sum to the share of their group.
- A branch is the default policy over the items that probably belong to a group; each item counts
  by its share of the group for what to ask.
- A question about the sub-groups of a group may be answered with any group, so it says at least as
  much as one about the groups above. It is asked of items that probably belong to the group.
- Everything follows from the answers, as in `stratified`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from operator import is_not

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.advisers import Advice
from askmeans.policy.belief import Belief
from askmeans.policy.examples import Examples
from askmeans.policy.pool import Pool
from askmeans.policy.ranking import EXPLORE, Lazy
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answers, GroupQueries, Question
from askmeans.results import Clustering

_LIKELY = 0.5  # share, relative to an even one, from which on an item may belong to a group
_LEAST = 4  # smallest number of items of a branch, for each sub-group
_PROBABLY = 0.5  # share of a row from which on the group of an item is known
# The share of a group from which on a card shows its sub-groups at once. Such a card may be
# answered with any group, so a wrong guess costs nothing but its place on the card.
_EXPAND = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A group with sub-groups; `parent` is the number of the group above, None at the top."""

    number: int
    parent: int | None
    children: tuple[int, ...]
    answers: Answers  # by the columns of the sub-groups
    advice: tuple[Advice, ...] = ()


class Branch:
    """The policy of a group with sub-groups, over the items that probably belong to it."""

    def __init__(
        self, node: Node, items: ItemSet, rows: Rows, share: Floats,
        make: Callable[[ItemSet, int], StratifiedPolicy],
    ) -> None:  # fmt: skip
        self.node = node
        self.rows = rows
        self.share = share  # of the group in each of all items, by the last milestone
        self._items = items
        blank = np.flatnonzero(np.isin(rows, list(items.blank)))
        self.policy = make(ItemSet(items.X[rows], blank.tolist()), len(node.children))
        self.policy.advice = tuple(advice.among(rows) for advice in node.advice)
        self.learn(node)

    def learn(self, node: Node) -> None:
        """Take note of the valid answers about items of the branch."""
        self.node = node
        place = np.searchsorted(self.rows, [answer.items[0] for answer in node.answers]).tolist()
        answers = [
            replace(answer, items=(row,)) for answer, row in zip(node.answers, place, strict=True)
        ]
        self.policy.learn(Answers.of(answers, len(node.children)))

    def shares(self) -> Floats:
        """Shares of the sub-groups within the group, of all items, at the last milestone."""
        belief, k = self.policy.ranked, len(self.node.children)
        if belief.stack is None:
            return np.full((self._items.n, k), 1.0 / k)
        return self._over_all(belief.outcome().memberships, belief.predictor)

    def clustering(self) -> Clustering:
        """The result within the group, for all items; equal shares if only names are known."""
        n, k = self._items.n, len(self.node.children)
        result = self.policy.clustering()
        known = any((batch.values > 0.0).any() for batch in self.node.answers.batches)
        if not known and self.policy.examples is None and not self.policy.advice:
            even = np.full((n, k), 1.0 / k)
            return replace(
                result, memberships=even, confidence=even[:, 0], unassigned=np.zeros(n),
                predictor=Even(k),
            )  # fmt: skip
        U = self._over_all(result.memberships, result.predictor)
        return replace(
            result, memberships=U, unassigned=np.zeros(n), predictor=Within(result.predictor),
            confidence=self._confidence(U, result.confidence, result.unassigned),
        )  # fmt: skip

    def _confidence(self, U: Floats, known: Floats | None, unassigned: Floats | None) -> Floats:
        """The confidence in the strongest sub-group of all items."""
        confidence: Floats = U.max(axis=1)
        if known is not None:
            confidence[self.rows] = known
        if unassigned is not None:  # in none of the sub-groups
            confidence[self.rows[unassigned > _PROBABLY]] = 1.0 / U.shape[1]
        return confidence

    def _over_all(self, U: Floats, predict: Callable[[Floats], Floats]) -> Floats:
        """Rows of all items, which sum to one, from those of the branch."""
        others = np.setdiff1d(np.arange(self._items.n), self.rows)
        W = np.empty((self._items.n, U.shape[1]))
        W[self.rows] = U
        if len(others):
            W[others] = predict(self._items.take(others))
        return summing_to_one(W)

    def question(self, row: int, repeat: int = 0) -> Question:
        """The question about the sub-group of an item."""
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
    """The policy of the groups at the top, with branches for groups with sub-groups."""

    def __init__(
        self, root: StratifiedPolicy, make: Callable[[ItemSet, int], StratifiedPolicy]
    ) -> None:
        self.root = root
        self._make = make
        self._top: tuple[int, ...] = ()
        self._answers = Answers()
        self._nodes: tuple[Node, ...] = ()
        self._examples: Mapping[int, Examples | None] = {}
        self._branches: dict[int, Branch] = {}
        self._grown_from: tuple[object, ...] = ()
        self._parts: dict[int | None, tuple[Belief, Floats]] = {}  # shares at milestones
        self._known: dict[int | None, dict[int, Floats]] = {}  # rows of answered items
        self._first: tuple[int, list[int]] | None = None  # typical items of so many leaves
        self._order: Lazy | None = None
        self._ranked: list[Belief] = []  # what the order follows from

    def learn(
        self,
        top: Sequence[int],
        answers: Answers,
        nodes: Sequence[Node],
        examples: Mapping[int, Examples | None] | None = None,
    ) -> None:
        """Take note of all answers that stand; branches grow when they are needed.

        `answers` are those about the groups at the `top`, which the root has learnt; `nodes` are
        in the order of the tree; `examples` are those of the sub-groups of each node.
        """
        self._top, self._answers, self._nodes = tuple(top), answers, tuple(nodes)
        self._examples = examples or {}
        self._known = {None: _rows_of(answers)} | {
            node.number: _rows_of(node.answers) for node in nodes
        }

    @property
    def branches(self) -> Mapping[int, Branch]:
        """The branches by group, each before those below it."""
        source = (self.root.ranked, self._answers, *self._nodes)
        same = len(source) == len(self._grown_from)
        if not same or any(a is not b for a, b in zip(source, self._grown_from, strict=True)):
            before, self._branches = self._branches, {}
            for node in self._nodes:
                self._branches[node.number] = self._branch(node, before.get(node.number))
            self._grown_from = source
        settings = self.root.settings
        for number, branch in self._branches.items():
            branch.policy.examples = self._examples.get(number)
            branch.policy.change_settings(audit=settings.audit, target=settings.target)
        return self._branches

    def _branch(self, node: Node, old: Branch | None) -> Branch:
        """The branch of a group; kept if its items are the same."""
        if node.parent is None:
            U, column, above = self._shares(None), self._top.index(node.number), np.ones(1)
        else:
            parent = self._branches[node.parent]
            U, column = self._shares(node.parent), parent.node.children.index(node.number)
            above = parent.share
        share = above * U[:, column]
        least = np.sort(share)[-min(len(share), _LEAST * len(node.children))]
        members = np.flatnonzero((share >= _LIKELY / U.shape[1]) | (share >= least))
        answered = np.array([answer.items[0] for answer in node.answers], dtype=np.intp)
        rows: Rows = np.union1d(members, answered)
        if (
            old is not None
            and np.array_equal(old.rows, rows)
            and old.node.children == node.children
            and [a.digest for a in old.node.advice] == [a.digest for a in node.advice]
        ):
            old.share = share
            old.learn(node)
            return old
        return Branch(node, self.root.items, rows, share, self._make)

    def _shares(self, number: int | None) -> Floats:
        """Shares of all items at the last milestone: of the groups at the top, or within one."""
        belief = self._policy(number).ranked
        known = self._parts.get(number)
        if known is None or known[0] is not belief:
            U = belief.outcome().memberships if number is None else self._branches[number].shares()
            known = self._parts[number] = (belief, U)
        return known[1]

    def _policy(self, number: int | None) -> StratifiedPolicy:
        """The policy of a group; of None that at the top."""
        return self.root if number is None else self._branches[number].policy

    def wants(self, group: int, row: int) -> bool:
        """Whether to ask at once for the sub-group of an item that was put into a group.

        Where that is less certain than leaves are on average, each relative to chance.
        """
        if group not in self.branches:
            return False
        own, usual = self._relative_uncertainty(group)[row], self._uncertainty(1.0).mean()
        return bool(own * usual >= self._uncertainty().mean())

    def propose(self, n: int, pending: Set[Question], annotator: str) -> list[Question]:
        """The n questions that reduce the expected errors of the sub-groups most."""
        if n < 1:
            return []
        busy = {question.items[0] for question in pending}
        chosen: dict[int, Question] = {}
        for each in self._candidates(n + len(busy), pending, annotator):
            row = each.items[0]
            question = self._about(row) if each.cluster is None and not each.repeat else each
            if question is not None and row not in busy and row not in chosen:
                chosen[row] = question
                if len(chosen) == n:
                    break
        return list(chosen.values())

    def _candidates(self, n: int, pending: Set[Question], annotator: str) -> Iterator[Question]:
        """The ranking, what else there is, and what was answered in part since the milestone.

        Of the last the sub-group is asked for at once (`wants`), or after the next milestone.
        """
        recent = self._known[None].keys() - set(self.root.ranked.evidence.items.tolist())
        later = []
        for question in self._ranking():
            if question.items[0] in recent:
                later.append(question)
            else:
                yield question
        yield from self._others(n, pending, annotator)
        yield from later

    def _others(self, n: int, pending: Set[Question], annotator: str) -> Iterator[Question]:
        """Proposals of each policy that are not in the ranking."""
        top = {question._replace(cluster=None) for question in pending}
        yield from self.root.propose(n, top, annotator)
        for branch in self.branches.values():
            yield from branch.propose(n, pending, annotator)

    def _about(self, row: int) -> Question | None:
        """The question about an item: the innermost sub-groups that are probable.

        Below what is known of it; None where its leaf is known, or nobody could say.
        """
        number: int | None = None
        while (known := self._known[number].get(row)) is not None:
            if not known.max() > _PROBABLY:  # unknown, or none of these
                return None
            number = self._children(number)[int(known.argmax())]
            if number not in self._branches:
                return None
        while self._policy(number).ranked.stack is not None:  # not before groups are observed
            U = self._shares(number)[row]
            best = self._children(number)[int(U.argmax())]
            if U.max() < _EXPAND or best not in self._branches:
                break
            number = best
        return Question("group", (row,), number)

    def _children(self, number: int | None) -> tuple[int, ...]:
        """The groups at the top, or the sub-groups of a group."""
        return self._top if number is None else self._branches[number].node.children

    def _ranking(self) -> Lazy:
        """All items of the pool that are to be asked about, the best first, by the last milestone.

        Greedy coverage as in `ranking`, weighted by the uncertainty of the leaf; before the leaves
        are known, first an item of each unsupervised cluster.
        """
        beliefs = [self.root.ranked, *(branch.policy.ranked for branch in self.branches.values())]
        same = len(beliefs) == len(self._ranked)
        if self._order is None or not same or any(map(is_not, beliefs, self._ranked)):
            self._order, self._ranked = Lazy(self._best_first(beliefs)), beliefs
        return self._order

    def _best_first(self, beliefs: list[Belief]) -> Iterator[Question]:
        """The ranking, item by item."""
        belief, pool = beliefs[0], beliefs[0].pool
        covered = np.flatnonzero(np.isin(pool.rows, self._settled_items()))
        first: list[int] = []
        if any(each.is_naming for each in beliefs):
            first = [place for place in self._typical() if place not in set(covered.tolist())]
        uncertainty = self._uncertainty()[pool.rows]
        uncertainty = uncertainty / max(float(uncertainty.mean()), 1e-300)
        weights = (1.0 - EXPLORE) * uncertainty + EXPLORE
        places = belief.strata.choose(np.union1d(covered, first).astype(np.intp), weights)
        blank = pool.items.blank
        for row in pool.rows[[*first, *places]].tolist():
            if row not in blank:
                yield Question("group", (row,))

    def _typical(self) -> list[int]:
        """Places of items of the pool that stand for as many clusters as there are leaves."""
        n_leaves = len(self._top) + sum(len(node.children) - 1 for node in self._nodes)
        if self._first is None or self._first[0] != n_leaves:
            settings = self.root.settings
            rng = np.random.default_rng(settings.seed)
            pool = Pool(self.root.items, n_leaves, settings.fuzzifier, rng)
            typical = pool.rows[pool.typical]
            self._first = n_leaves, np.searchsorted(self.root.ranked.pool.rows, typical).tolist()
        return self._first[1]

    def _settled_items(self) -> Rows:
        """Items without further questions at the last milestone: their leaf is known."""
        open_ = np.empty(0, dtype=np.intp)
        for number, branch in self._branches.items():
            parent = branch.node.parent
            above = self._policy(parent).ranked.evidence
            column = self._children(parent).index(number)
            in_group = above.items[np.nan_to_num(above.values[:, column]) > _PROBABLY]
            rows = in_group if parent is None else self._branches[parent].rows[in_group]
            answered = branch.rows[branch.policy.ranked.evidence.items]
            open_ = np.union1d(open_, np.setdiff1d(rows, answered))
        return np.setdiff1d(self.root.ranked.evidence.items, open_)

    def _uncertainty(self, relative: float | None = None) -> Floats:
        """The uncertainty of the leaf of each item: of all groups, by the share that it has.

        With `relative` that of each group is so many times chance.
        """
        total = np.zeros(self.root.items.n)
        for number in (None, *self._branches):
            share = 1.0 if number is None else self._branches[number].share
            chance = 1.0 - 1.0 / max(len(self._children(number)), 1)
            own = self._relative_uncertainty(number) if relative is None else relative
            total += share * chance * own
        return total

    def _relative_uncertainty(self, number: int | None) -> Floats:
        """How unsure the models of a group are of each item, from 0 to 1 for chance.

        As in `ranking`, by their disagreement; none is left of items with an answer.
        """
        belief, k = self._policy(number).ranked, len(self._children(number))
        if belief.stack is None or k == 1:
            return np.full(self.root.items.n, float(k > 1))
        own = belief.stack.uncertainty / (1.0 - 1.0 / k)
        uncertainty = np.full(self.root.items.n, float(own.mean()))
        rows = belief.pool.rows
        rows = rows if number is None else self._branches[number].rows[rows]
        uncertainty[rows] = own
        uncertainty[rows[belief.places]] = 0.0
        return uncertainty

    @property
    def settled(self) -> bool:
        """Whether every level is precise enough to stop."""
        return self.root.settled and all(b.policy.settled for b in self.branches.values())


# ---- results ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The result at a level: the groups of this depth, and those above without sub-groups."""

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
    right = column_confidence(clustering.memberships, clustering.confidence)
    while any(group in children for group in levels[-1].groups):
        last = levels[-1]
        groups = tuple(g for group in last.groups for g in children.get(group, (group,)))
        inner = {j: within[g] for j, g in enumerate(last.groups) if g in children}
        right = nested_memberships(
            right, {j: column_confidence(c.memberships, c.confidence) for j, c in inner.items()}
        )
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


def column_confidence(U: Floats, confidence: Floats | None) -> Floats:
    """The probability that each cluster is the right one: the confidence for the strongest.

    The others share the rest by their memberships.
    """
    strongest, there = U.argmax(axis=1), np.arange(len(U))
    confidence = U.max(axis=1) if confidence is None else confidence
    others = U.copy()
    others[there, strongest] = 0.0
    total = others.sum(axis=1)
    right = others * ((1.0 - confidence) / np.where(total > 0.0, total, 1.0))[:, None]
    right[there, strongest] = confidence
    return right


def _expanded(before: Clustering, within: Mapping[int, Clustering], right: Floats) -> Clustering:
    """Divide some columns of a result."""
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
    """The 80 % interval of the number of errors of a branch."""
    wrong = clustering.diagnostics.expected_wrong
    band = clustering.diagnostics.expected_wrong_band
    if not wrong or band is None:
        return 0.0, 1.0
    return min(band[0] / wrong, 1.0), max(band[1] / wrong, 1.0)


def summing_to_one(W: Floats) -> Floats:
    """Rows divided by their sums; equal shares for a sum of zero."""
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


def _rows_of(answers: Answers) -> dict[int, Floats]:
    """The last answer about each item, by the groups; zero if unknown."""
    rows: dict[int, Floats] = {}
    for batch in answers.batches:
        values = np.nan_to_num(batch.values)
        if isinstance(batch.queries, GroupQueries):
            rows.update(zip(batch.queries.items.tolist(), values, strict=True))
    return rows
