"""Questions: one question, batches of one kind as arrays, and their exact answers."""

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import groupby
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import default_float_errors
from askmeans.exceptions import QueryError

Integers = NDArray[np.int64]
Array = TypeVar("Array", bound=NDArray[Any])

_ROUNDING = 1e-9  # differences of similarities up to this are rounding errors
ME = "me"  # the default name of an annotator
MODEL = "model: "  # prefix of the names of language models


class Question(NamedTuple):
    """One question.

    Parameters
    ----------
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items, ascending for pairs and triplets.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Number of the repetition, from 0.
    """

    kind: str
    items: tuple[int, ...]
    cluster: int | None = None
    repeat: int = 0


def is_model(annotator: str) -> bool:
    """Whether an annotator is a language model, whose answers are advice and not evidence."""
    return annotator.startswith(MODEL)


def canonical_items(kind: str, items: Iterable[int]) -> tuple[int, ...]:
    """Return the items of a question in ascending order, unless their order matters."""
    return tuple(items) if kind == "relative" else tuple(sorted(items))


class _Batch:
    """Base class of batches: a table of integers, one row per question."""

    kind: ClassVar[str]
    width: ClassVar[int]  # columns that are items
    ordered: ClassVar[bool] = False  # whether the order of items matters
    __slots__ = ("_repeat", "_table")

    _table: Integers
    _repeat: Integers

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} questions>"

    @property
    def item_table(self) -> Integers:
        """The items, one row per question."""
        return self._table[:, : self.width]

    @property
    def repeat(self) -> Integers:
        """The number of each question's repetition."""
        return self._repeat

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Self:
        """Return some of the questions."""
        return self._with(self._table[rows], self._repeat[rows])

    def renumbered(self, rows: NDArray[np.intp]) -> Self:
        """Return the questions with item i replaced by `rows[i]`."""
        table = self._table.copy()
        table[:, : self.width] = rows[self.item_table]
        return self._with(table, self._repeat)

    def with_repeats(self, repeat: Integers) -> Self:
        """Return the questions with these numbers of repetition."""
        return self._with(self._table, repeat.copy())

    def joined(self, other: Self) -> Self:
        """Return these questions followed by others of the same kind."""
        tables, repeats = (self._table, other._table), (self._repeat, other._repeat)
        return self._with(np.concatenate(tables), np.concatenate(repeats))

    def _with(self, table: Integers, repeat: Integers) -> Self:
        """Return a batch of this kind with another table."""
        batch = copy(self)
        batch._table, batch._repeat = _frozen(table), _frozen(repeat)
        return batch

    def check_items(self, n_items: int) -> None:
        """Refuse unknown items."""
        items = self.item_table
        if len(items) and items.max() >= n_items:
            raise QueryError(
                f"A question must be about items 0 to {n_items - 1}. Got item {items.max()}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the answers."""
        return (len(self),)

    def questions(self) -> list[Question]:
        """Return the questions as records."""
        items = self.item_table
        table = (items if self.ordered else np.sort(items, axis=1)).tolist()
        clusters: Sequence[int | None] = [None] * len(self)
        if isinstance(self, MembershipQueries):
            clusters = self.clusters.tolist()
        return [
            Question(self.kind, tuple(items), cluster, repeat)
            for items, cluster, repeat in zip(table, clusters, self._repeat.tolist(), strict=True)
        ]

    def identities(self) -> list[bytes]:
        """Return a key of each question within its kind."""
        table = self._table
        if self.width > 1 and not self.ordered:
            table = np.sort(table, axis=1)  # similarity is symmetric
        table = np.column_stack([table, self._repeat])
        keys: list[bytes] = table.view(f"V{8 * table.shape[1]}").ravel().tolist()
        return keys

    def _fill(self, table: Integers, repeat: ArrayLike) -> None:
        """Check and store the table."""
        if table.size and table.min() < 0:
            raise QueryError(f"Items and clusters are numbered from 0. Got {table.min()} instead.")
        repeats = _integers(repeat, "repeat")
        if repeats.shape not in {(), (len(table),)}:
            raise QueryError(
                f"repeat must be one number, or one for each of the {len(table)} questions. "
                f"Got shape {repeats.shape} instead."
            )
        if len(table) and repeats.min() < 0:
            raise QueryError(f"repeat must be 0 or more. Got {repeats.min()} instead.")
        if self.width > 1:
            items = np.sort(table[:, : self.width], axis=1)
            repeated = np.flatnonzero((items[:, 1:] == items[:, :-1]).any(axis=1))
            if len(repeated):
                raise QueryError(
                    f"A {self.kind} question must be about {self.width} different items. "
                    f"Got {table[repeated[0]].tolist()} instead."
                )
        self._table = _frozen(table.copy())
        self._repeat = _frozen(np.full(len(table), repeats))


class _OneItemBatch(_Batch):
    """Questions about one item each."""

    width = 1
    __slots__ = ()

    @property
    def items(self) -> Integers:
        """Row numbers of the items."""
        return self._table[:, 0]


class MembershipQueries(_OneItemBatch):
    """How much does each item belong to each cluster? (Definition 2).

    Parameters
    ----------
    items : array-like of int of shape (n_questions,)
        Row numbers of the items.
    clusters : array-like of int of shape (n_questions,)
        Numbers of the clusters.
    repeat : int or array-like of int, default=0
        Number of the repetition; part of a question's identity.

    Examples
    --------
    >>> queries = MembershipQueries([4, 4], [0, 1])
    >>> len(queries), queries.items.tolist(), queries.clusters.tolist()
    (2, [4, 4], [0, 1])
    """

    kind = "membership"
    __slots__ = ()

    def __init__(self, items: ArrayLike, clusters: ArrayLike, *, repeat: ArrayLike = 0) -> None:
        rows, columns = _integers(items, "items"), _integers(clusters, "clusters")
        if rows.ndim != 1 or rows.shape != columns.shape:
            raise QueryError(
                "items and clusters must be two lists of the same length. "
                f"Got shapes {rows.shape} and {columns.shape} instead."
            )
        self._fill(np.column_stack([rows, columns]), repeat)

    @property
    def clusters(self) -> Integers:
        """Numbers of the clusters."""
        return self._table[:, 1]


class GroupQueries(_OneItemBatch):
    """To which group does each item belong? A question is one item, and its answer a row.

    An answer is a row of shares, one for each group: a single group, or shares over several. A row
    of zeros is "none of these", a row of NaN is "cannot say".

    Parameters
    ----------
    items : array-like of int of shape (n_questions,)
        Row numbers of the items.
    n_clusters : int
        Number of groups to choose from.
    repeat : int or array-like of int, default=0
        Number of the repetition; part of a question's identity.

    Examples
    --------
    >>> GroupQueries([4, 7], 3).shape
    (2, 3)
    """

    kind = "group"
    __slots__ = ("n_clusters",)

    n_clusters: int

    def __init__(self, items: ArrayLike, n_clusters: int, *, repeat: ArrayLike = 0) -> None:
        rows = _integers(items, "items")
        if rows.ndim != 1:
            raise QueryError(f"items must be a list. Got shape {rows.shape} instead.")
        if n_clusters < 1:
            raise QueryError(f"n_clusters must be 1 or more. Got {n_clusters} instead.")
        self._fill(rows[:, None], repeat)
        self.n_clusters = int(n_clusters)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the answers."""
        return (len(self), self.n_clusters)


class PairQueries(_Batch):
    """How similar are these two items? (Definition 3).

    Parameters
    ----------
    pairs : array-like of int of shape (n_questions, 2)
        Row numbers of two different items.
    repeat : int or array-like of int, default=0
        Number of the repetition; part of a question's identity.
    """

    kind = "pair"
    width = 2
    __slots__ = ()

    def __init__(self, pairs: ArrayLike, *, repeat: ArrayLike = 0) -> None:
        self._fill(_item_tuples(pairs, "pairs", self.width), repeat)

    @property
    def pairs(self) -> Integers:
        """Row numbers of the two items."""
        return self._table


class _ThreeItemBatch(_Batch):
    """Questions about three items."""

    width = 3
    __slots__ = ()

    def __init__(self, triplets: ArrayLike, *, repeat: ArrayLike = 0) -> None:
        self._fill(_item_tuples(triplets, "triplets", self.width), repeat)

    @property
    def triplets(self) -> Integers:
        """Row numbers of the three items."""
        return self._table


class TripletQueries(_ThreeItemBatch):
    """How similar are these three items? (Definition 3).

    Parameters
    ----------
    triplets : array-like of int of shape (n_questions, 3)
        Row numbers of three different items.
    repeat : int or array-like of int, default=0
        Number of the repetition; part of a question's identity.
    """

    kind = "triplet"
    __slots__ = ()


class RelativeQueries(_ThreeItemBatch):
    """Is the first item more like the second (1), or like the third (0)? Half for a tie.

    Parameters
    ----------
    triplets : array-like of int of shape (n_questions, 3)
        Row numbers of three different items; their order matters.
    repeat : int or array-like of int, default=0
        Number of the repetition; part of a question's identity.

    Examples
    --------
    >>> RelativeQueries([[5, 0, 2]]).questions()[0].items
    (5, 0, 2)
    """

    kind = "relative"
    ordered = True
    __slots__ = ()


Queries = MembershipQueries | GroupQueries | PairQueries | TripletQueries | RelativeQueries
KINDS: dict[str, type[Queries]] = {
    kind.kind: kind
    for kind in (MembershipQueries, GroupQueries, PairQueries, TripletQueries, RelativeQueries)
}


def batches_of(questions: Iterable[Question], n_clusters: int) -> list[Queries]:
    """Group questions into batches, in their order: one for each run of questions of a kind.

    `n_clusters` is the number of groups in a group question.

    >>> batches_of([Question("pair", (0, 1)), Question("pair", (0, 2)), Question("group", (3,))], 2)
    [<PairQueries: 2 questions>, <GroupQueries: 1 questions>]
    """
    batches: list[Queries] = []
    for kind, same in groupby(questions, key=lambda question: question.kind):
        listed = list(same)
        table = np.array([question.items for question in listed], dtype=np.int64)
        repeat = [question.repeat for question in listed]
        if kind == "membership":
            clusters = [-1 if q.cluster is None else q.cluster for q in listed]
            batches.append(MembershipQueries(table[:, 0], clusters, repeat=repeat))
        elif kind == "group":
            batches.append(GroupQueries(table[:, 0], n_clusters, repeat=repeat))
        elif kind in KINDS:
            batches.append(KINDS[kind](table, repeat=repeat))  # type: ignore[call-arg]  # takes items only
        else:
            raise QueryError(
                f"A question's kind must be one of {', '.join(KINDS)}. Got {kind!r} instead."
            )
    return batches


@default_float_errors()
def expected_answers(queries: Queries, memberships: Floats) -> Floats:
    """Return the exact answers under these memberships (Definitions 2 and 3).

    >>> expected_answers(PairQueries([[0, 1]]), np.full((2, 2), 0.5))
    array([0.5])
    """
    if isinstance(queries, MembershipQueries):
        return memberships[queries.items, queries.clusters]
    if isinstance(queries, GroupQueries):
        return memberships[queries.items, : queries.n_clusters]
    rows = memberships[queries.item_table]
    if isinstance(queries, RelativeQueries):
        return relative_answers(rows)
    similarities: Floats = rows.prod(axis=1).sum(axis=1)
    return similarities


def relative_answers(rows: Floats) -> Floats:
    """Return 1 if the first of three items is more like the second, 0 if the third, .5 for ties."""
    difference = (rows[..., 0, :] * (rows[..., 1, :] - rows[..., 2, :])).sum(axis=-1)
    return np.where(np.abs(difference) <= _ROUNDING, 0.5, difference > 0.0).astype(np.float64)


def _integers(array: ArrayLike, name: str) -> Integers:
    """Return the array as int64; floats are refused, integral ones too."""
    try:
        values = np.asarray(array)
    except ValueError as error:
        raise QueryError(f"{name} must be integers in rows of equal length. Got {error}") from error
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind not in "iu":
        raise QueryError(f"{name} must be integers. Got {values.dtype} instead.")
    return values.astype(np.int64)


def _item_tuples(array: ArrayLike, name: str, width: int) -> Integers:
    """Return a table of items with `width` columns."""
    table = _integers(array, name)
    if table.size == 0:
        return np.empty((0, width), dtype=np.int64)
    if table.ndim != 2 or table.shape[1] != width:
        raise QueryError(
            f"{name} must have shape (n_questions, {width}). Got shape {table.shape} instead."
        )
    return table


def _frozen(array: Array) -> Array:
    """Make an array read-only."""
    array.flags.writeable = False
    return array
