"""Nested groups: one policy for the groups without sub-groups, which are the leaves of a tree.

Rules of this file:
- The policy learns leaves. An answer that names a group with sub-groups says that the item is in
  one of the leaves within; models learn from it as from a row that is known in part.
- The share of a group is the sum of the shares of its leaves.
- A card shows the sub-groups of the group that is most probable. It may be answered with any group.
- Everything follows from the answers, as in `stratified`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.policy.growing import WHOLE
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answer, Question
from askmeans.queries.values import Row
from askmeans.results import Clustering

# The share of a group from which on a card shows its sub-groups at once. Such a card may be
# answered with any group, so a wrong guess costs nothing but its place on the card.
_EXPAND = 0.3
_MOSTLY = 0.5  # sum of the shares of the sub-groups below which an item is in none of them

# ---- the tree, and answers by its leaves --------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The groups at the top, and the sub-groups of each group that has any, by number."""

    top: tuple[int, ...]
    children: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def below(self, group: int | None) -> tuple[int, ...]:
        """The sub-groups of a group; of None the groups at the top."""
        return self.top if group is None else self.children.get(group, ())

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The groups without sub-groups, in the order of the tree."""
        return self._leaves_of(None)

    def _leaves_of(self, group: int | None) -> tuple[int, ...]:
        """The leaves within a group."""
        if group is not None and group not in self.children:
            return (group,)
        return tuple(leaf for part in self.below(group) for leaf in self._leaves_of(part))

    @cached_property
    def columns(self) -> Mapping[int, tuple[int, ...]]:
        """The places of each group's leaves among all."""
        places = {leaf: place for place, leaf in enumerate(self.leaves)}
        groups = {*self.top, *(group for parts in self.children.values() for group in parts)}
        return {group: tuple(places[leaf] for leaf in self._leaves_of(group)) for group in groups}

    @cached_property
    def unions(self) -> Mapping[tuple[int, ...], int]:
        """The columns of each group with sub-groups, and the group."""
        return {self.columns[group]: group for group in self.children}

    @property
    def levels(self) -> list[tuple[int, ...]]:
        """The groups at each level, and those above without sub-groups."""
        levels = [self.top]
        while any(group in self.children for group in levels[-1]):
            levels.append(tuple(part for group in levels[-1]
                                for part in self.children.get(group, (group,))))  # fmt: skip
        return levels

    def row(self, rows: Mapping[int | None, Row], *, even: bool = False) -> Row:
        """A row by the leaves, from rows by the sub-groups of some groups.

        Where the sub-group is unknown shares are NaN; with `even` sub-groups share alike.
        """
        return tuple(self._shares(None, 1.0, rows, even=even))

    def _shares(
        self, group: int | None, share: float, rows: Mapping[int | None, Row], *, even: bool
    ) -> list[float]:
        """The shares of the leaves within a group with this share."""
        if group is not None and group not in self.children:
            return [share]
        if group is not None and not share:
            return [0.0] * len(self.columns[group])
        parts = self.below(group)
        unknown = 1.0 / len(parts) if even or len(parts) == 1 else np.nan
        row = rows.get(group, (unknown,) * len(parts))
        return [
            leaf
            for part, own in zip(parts, row, strict=True)
            for leaf in self._shares(part, share * own, rows, even=even)
        ]

    def summed(self, U: Floats, groups: Iterable[int]) -> Floats:
        """The shares of groups, from those of the leaves."""
        return np.stack([U[:, list(self.columns[group])].sum(axis=1) for group in groups], axis=1)

    def evened(self, U: Floats, group: int) -> Floats:
        """Rows in which the sub-groups of a group have the same share."""
        U, parts = U.copy(), self.children[group]
        total = U[:, list(self.columns[group])].sum(axis=1) / len(parts)
        for part in parts:
            columns = list(self.columns[part])
            own = U[:, columns].sum(axis=1, keepdims=True)
            within = np.where(own > 0.0, U[:, columns] / np.where(own > 0.0, own, 1.0),
                              1.0 / len(columns))  # fmt: skip
            U[:, columns] = total[:, None] * within
        return U


@dataclass(frozen=True, kw_only=True)
class LeafAnswers:
    """Answers by the leaves, and what they leave open."""

    answers: tuple[Answer, ...] = ()
    open: Mapping[int, int] = field(default_factory=dict)  # items whose sub-group is not known
    nowhere: tuple[tuple[int, int], ...] = ()  # items and groups: in none of its sub-groups
    silent: frozenset[int] = frozenset()  # groups about whose sub-groups there is no answer
    unsure: frozenset[tuple[int, int]] = frozenset()  # items and groups: cannot say which sub-group

    @classmethod
    def of(cls, tree: Tree, answers: Mapping[int | None, Sequence[Answer]]) -> "LeafAnswers":
        """From the answers about the groups at the top (None), and within each group.

        Of an item with several answers those that name only a group are taken as the others say;
        where these name other groups, as even shares.
        """
        within = {group: _Within.of(answers[group]) for group in tree.children}
        by_item: dict[int, list[int]] = {}
        rows, leaves = list[dict[int | None, Row]](), list[Row]()
        for place, answer in enumerate(answers[None]):
            by_item.setdefault(answer.items[0], []).append(place)
            parts = {group: known.row(answer) for group, known in within.items()}
            known_parts = {group: row for group, row in parts.items() if row is not None}
            rows.append({None: _top_row(answer, tree)} | known_parts)
            leaves.append(tree.row(rows[-1]))
        open_: dict[int, int] = {}
        for item, places in by_item.items():
            speaking = [at for at in places if not np.isnan(rows[at][None]).all()]
            unknown = {tuple(np.flatnonzero(np.isnan(leaves[at])).tolist()) for at in speaking}
            union = next(iter(unknown)) if len(unknown) == 1 else ()
            if union in tree.unions:
                open_[item] = tree.unions[union]
            elif any(unknown):
                for place in speaking:
                    leaves[place] = tree.row(rows[place], even=True)
        nowhere = [(item, group) for group, known in within.items() for item in known.nowhere]
        return cls(
            answers=tuple(
                replace(answer, kind="group", cluster=None, value=row)
                for answer, row in zip(answers[None], leaves, strict=True)
            ),
            open={item: group for item, group in open_.items() if (item, group) not in nowhere},
            nowhere=tuple(nowhere),
            silent=frozenset(group for group, known in within.items() if not known.by_item),
            unsure=frozenset(
                (item, group) for group, each in within.items() for item in each.unsure
            ),
        )


@dataclass(frozen=True, kw_only=True)
class _Within:
    """The answers within a group."""

    by_answer: Mapping[tuple[str, int], Row]  # by annotator and item
    by_item: Mapping[int, Row]  # the mean
    nowhere: tuple[int, ...]  # items in none of the sub-groups
    unsure: frozenset[int]  # items with "cannot say"

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> "_Within":
        """From these answers."""
        by_answer, rows = dict[tuple[str, int], Row](), dict[int, list[Row]]()
        nowhere, unsure = dict[int, None](), set[int]()
        for answer in answers:
            item, value = answer.items[0], answer.value
            assert isinstance(value, tuple)
            row = normalized(value)
            if row is not None:
                by_answer[answer.annotator, item] = row
                rows.setdefault(item, []).append(row)
            elif np.isnan(value).all():
                unsure.add(item)
            else:
                nowhere[item] = None
        return cls(
            by_answer=by_answer,
            by_item={item: tuple(np.mean(each, axis=0).tolist()) for item, each in rows.items()},
            nowhere=tuple(item for item in nowhere if item not in rows),
            unsure=frozenset(unsure),
        )

    def row(self, answer: Answer) -> Row | None:
        """The annotator's row for the item of an answer, else that of the others."""
        item = answer.items[0]
        return self.by_answer.get((answer.annotator, item), self.by_item.get(item))


def normalized(row: Row) -> Row | None:
    """A row within a group that sums to one, if it is known; None in none of the sub-groups."""
    total = float(np.nansum(row))
    if total < _MOSTLY:
        return None
    return row if np.isnan(row).any() else tuple(share / total for share in row)


def _top_row(answer: Answer, tree: Tree) -> Row:
    """The row of an answer by the groups at the top.

    NaN for all if a divided one is unknown and no other has a share: all may be in none of these.
    """
    if isinstance(answer.value, tuple):
        row = answer.value
    else:  # the membership of one group
        rest = 0.0 if answer.value >= WHOLE else np.nan
        row = tuple(answer.value if j == answer.cluster else rest for j in range(len(tree.top)))
    divided = [group in tree.children for group in tree.top]
    if np.isnan(row)[divided].any() and not np.nansum(row) > 0.0:
        return (np.nan,) * len(row)
    return row


# ---- questions ----------------------------------------------------------------------------------


class NestedPolicy:
    """The policy of the leaves, with cards for the groups of a tree.

    Parameters
    ----------
    policy : StratifiedPolicy
        That of the leaves, which knows the answers by the leaves.
    tree : Tree
        The groups.
    """

    def __init__(self, policy: StratifiedPolicy, tree: Tree) -> None:
        self.policy = policy
        self.tree = tree
        self._evidence = LeafAnswers()
        # That an item is in one of all leaves says nothing.
        policy.unions = tuple(union for union in tree.unions if len(union) < len(tree.leaves))

    def learn(self, evidence: LeafAnswers) -> None:
        """Take note of what the answers, which the policy learns, leave open."""
        self._evidence = evidence

    @property
    def has_partly_known(self) -> bool:
        """Whether an answer names a group only, not its sub-group."""
        return bool(self._evidence.open or self._evidence.nowhere)

    def propose(self, n: int, pending: Set[Question], annotator: str) -> list[Question]:
        """The n best questions; items whose sub-group is open come last."""
        at_top = {question._replace(cluster=None) for question in pending}
        proposed = self.policy.propose(n, at_top, annotator)
        questions = [q if q.repeat else self._card(q.items[0]) for q in proposed]
        busy = {question.items[0] for question in (*pending, *questions)}
        unsure = self._evidence.unsure
        left = [(row, group) for row, group in self._evidence.open.items()
                if row not in busy and (row, group) not in unsure]  # fmt: skip
        questions += [Question("group", (row,), group) for row, group in left]
        return questions[:n]

    def _card(self, row: int) -> Question:
        """The question about an item: the innermost sub-groups that are probable."""
        group, parts = None, self.tree.top
        observed = self.policy.ranked.stack is not None
        U = self._expected(row)[None] if observed else np.empty((0, 0))
        while parts:
            best = parts[0]
            if len(parts) > 1:
                shares = self.tree.summed(U, parts)[0] if observed else np.zeros(len(parts))
                if shares.max() < _EXPAND:
                    break
                best = parts[int(shares.argmax())]
            parts = self.tree.below(best)
            group = best if parts else group
        return Question("group", (row,), group)

    def wants(self, group: int, row: int) -> bool:
        """Whether to ask at once for the sub-group of an item that was put into a group.

        Where that is less certain than the leaf of the item that would be next.
        """
        if self._evidence.open.get(row) != group or (row, group) in self._evidence.unsure:
            return False
        following = self.policy.propose(1)
        if not following or self.policy.ranked.stack is None:
            return True
        within = self._expected(row)[list(self.tree.columns[group])]
        total = float(within.sum())
        surest = float(within.max()) / total if total > 0.0 else 0.0
        return surest <= float(self._expected(following[0].items[0]).max())

    def _expected(self, row: int) -> Floats:
        """The expected shares of an item, by the last milestone."""
        belief = self.policy.ranked
        place = int(np.searchsorted(belief.pool.rows, row))
        if place < len(belief.pool) and belief.pool.rows[place] == row:
            U = belief.probabilities[place]
        else:
            U = belief.predictor(belief.pool.items.take(np.array([row])))[0]
        return np.asarray(U[: len(self.tree.leaves)])

    # ---- results --------------------------------------------------------------------------------

    def clustering(self) -> Clustering:
        """The result by the leaves.

        Sub-groups share alike where nothing is known of them, and in items in none of them.
        """
        result, evidence, tree = self.policy.clustering(), self._evidence, self.tree
        informed = self.policy.examples is not None or bool(self.policy.advice)
        unknown = tuple(group for group in tree.children
                        if group in evidence.silent and not informed)  # fmt: skip
        if not unknown and not evidence.nowhere:
            return result
        U, right = result.memberships, _column_confidence(result)
        for group in unknown:
            U, right = tree.evened(U, group), tree.evened(right, group)
        for row, group in evidence.nowhere:
            U[[row]], right[[row]] = tree.evened(U[[row]], group), tree.evened(right[[row]], group)
        predict = Evened(result.predictor, tree, unknown) if unknown else result.predictor
        return _with_confidence(replace(result, memberships=U, predictor=predict), result, right)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The result at a level: the groups of this depth, and those above without sub-groups."""

    groups: tuple[int, ...]
    clustering: Clustering


def levels_of(tree: Tree, clustering: Clustering) -> list[Level]:
    """The results at all levels, from the top to the leaves, from that by the leaves."""
    leaves = Level(groups=tree.leaves, clustering=clustering)
    if not tree.children:
        return [leaves]
    right = _column_confidence(clustering)
    mass = np.maximum(clustering.memberships.sum(axis=0), 1e-300)[:, None]
    levels = []
    for groups in tree.levels[:-1]:
        centers = [
            (mass[columns] * clustering.centers[columns]).sum(axis=0) / mass[columns].sum()
            for columns in (list(tree.columns[group]) for group in groups)
        ]
        above = replace(
            clustering,
            centers=np.array(centers),
            memberships=tree.summed(clustering.memberships, groups),
            predictor=Summed(clustering.predictor, tree, groups),
        )
        levels.append(
            Level(
                groups=groups,
                clustering=_with_confidence(above, clustering, tree.summed(right, groups)),
            )
        )
    return [*levels, leaves]


def _column_confidence(clustering: Clustering) -> Floats:
    """The probability that each group is the right one: the confidence for the strongest.

    The others share the rest by their memberships.
    """
    U, confidence = clustering.memberships, clustering.confidence
    strongest, there = U.argmax(axis=1), np.arange(len(U))
    confidence = U.max(axis=1) if confidence is None else confidence
    others = U.copy()
    others[there, strongest] = 0.0
    total = others.sum(axis=1)
    right = others * ((1.0 - confidence) / np.where(total > 0.0, total, 1.0))[:, None]
    right[there, strongest] = confidence
    return right


def _with_confidence(changed: Clustering, before: Clustering, right: Floats) -> Clustering:
    """A changed result, with its confidence, and the number of wrong items that follows."""
    confidence = right.max(axis=1)
    known = before.memberships.max(axis=1) if before.confidence is None else before.confidence
    diagnostics = before.diagnostics
    wrong, band = diagnostics.expected_wrong, diagnostics.expected_wrong_band
    if wrong is not None:
        now = max(wrong + float((known - confidence).sum()), 0.0)
        if band is not None:
            low, high = (now / wrong * band[0], now / wrong * band[1]) if wrong else (0.0, band[1])
            high = min(max(high, now), len(confidence))
            band = int(min(low, now)), int(np.ceil(high))
        diagnostics = replace(diagnostics, expected_wrong=now, expected_wrong_band=band)
    return replace(changed, confidence=confidence, diagnostics=diagnostics)


@dataclass(frozen=True, slots=True)
class Summed:
    """Memberships of groups as sums of those of their leaves."""

    predict: Callable[[NDArray[np.floating]], Floats]
    tree: Tree
    groups: tuple[int, ...]

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.tree.summed(self.predict(X), self.groups)


@dataclass(frozen=True, slots=True)
class Evened:
    """Memberships in which the sub-groups of some groups have the same share."""

    predict: Callable[[NDArray[np.floating]], Floats]
    tree: Tree
    groups: tuple[int, ...]

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        U = self.predict(X)
        for group in self.groups:
            U = self.tree.evened(U, group)
        return U
