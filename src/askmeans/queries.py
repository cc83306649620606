"""Batches of questions as arrays, and the ledger that remembers every answer.

Rules of this file:
- A batch is immutable; order within it is the plan's, and answers come back in the same order.
- Similarity does not depend on the order of its items: the ledger sees pairs and triplets sorted.
- The key of a question is its kind, its items, its cluster and its repeat. The same key is asked
  once; a repeat is a new question.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans.exceptions import AnswerError, QueryError

__all__ = ["Answer", "History", "Ledger", "MembershipQueries", "PairQueries", "Queries",
           "TripletQueries"]  # fmt: skip

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Array = TypeVar("Array", bound=NDArray[Any])


class _Batch:
    """What the three kinds of batch share: a table of integers, one question a row."""

    kind: ClassVar[str]
    width: ClassVar[int]  # columns that are items
    __slots__ = ("_repeat", "_table")

    _table: Integers
    _repeat: Integers

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} questions>"

    @property
    def item_table(self) -> Integers:
        """The items asked about, one row a question."""
        return self._table[:, : self.width]

    @property
    def repeat(self) -> Integers:
        """Which asking of the same question each is."""
        return self._repeat

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Self:
        """Some of the questions, in the order given."""
        batch = object.__new__(type(self))
        batch._table = _frozen(self._table[rows])
        batch._repeat = _frozen(self._repeat[rows])
        return batch

    def check_items(self, n_items: int) -> None:
        """Refuse items that do not exist.

        Parameters
        ----------
        n_items : int
            How many there are.

        Raises
        ------
        QueryError
            If an item number is `n_items` or more.
        """
        items = self.item_table
        if len(items) and items.max() >= n_items:
            raise QueryError(
                f"A question must be about items 0 to {n_items - 1}. Got item {items.max()}."
            )

    def identities(self) -> list[bytes]:
        """What identifies each question, for the ledger."""
        table = self._table
        if self.width > 1:
            table = np.sort(table, axis=1)  # similarity has no order
        table = np.column_stack([table, self._repeat])
        keys: list[bytes] = table.view(f"V{8 * table.shape[1]}").ravel().tolist()
        return keys

    def _fill(self, table: Integers, repeat: ArrayLike) -> None:
        """Check and keep the table."""
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
            twice = np.flatnonzero((items[:, 1:] == items[:, :-1]).any(axis=1))
            if len(twice):
                raise QueryError(
                    f"A {self.kind} question must be about {self.width} different items. "
                    f"Got {table[twice[0]].tolist()} instead."
                )
        self._table = _frozen(table.copy())
        self._repeat = _frozen(np.full(len(table), repeats))


class MembershipQueries(_Batch):
    """How much does each item belong to each cluster? (Definition 2).

    Parameters
    ----------
    items : array-like of int of shape (n_questions,)
        Row numbers of the items.
    clusters : array-like of int of shape (n_questions,)
        Numbers of the clusters.
    repeat : int or array-like of int, default=0
        Which asking of the same question this is; part of the ledger's key.

    Raises
    ------
    QueryError
        If a number is negative, or the two arrays do not have the same length.

    Examples
    --------
    >>> queries = MembershipQueries([4, 4], [0, 1])
    >>> len(queries), queries.items.tolist(), queries.clusters.tolist()
    (2, [4, 4], [0, 1])
    """

    kind = "membership"
    width = 1
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
    def items(self) -> Integers:
        """Row numbers of the items."""
        return self._table[:, 0]

    @property
    def clusters(self) -> Integers:
        """Numbers of the clusters."""
        return self._table[:, 1]


class PairQueries(_Batch):
    """How similar are these two items? (Definition 3).

    Parameters
    ----------
    pairs : array-like of int of shape (n_questions, 2)
        Row numbers of the two items, which must differ.
    repeat : int or array-like of int, default=0
        Which asking of the same question this is; part of the ledger's key.

    Raises
    ------
    QueryError
        If an item is paired with itself, or a number is negative.

    Examples
    --------
    >>> PairQueries([[0, 5], [5, 0]]).pairs.tolist()
    [[0, 5], [5, 0]]
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


class TripletQueries(_Batch):
    """How similar are these three items? (Definition 3).

    Parameters
    ----------
    triplets : array-like of int of shape (n_questions, 3)
        Row numbers of the three items, which must differ.
    repeat : int or array-like of int, default=0
        Which asking of the same question this is; part of the ledger's key.

    Raises
    ------
    QueryError
        If an item stands twice in a triplet, or a number is negative.

    Examples
    --------
    >>> len(TripletQueries([[0, 1, 2]]))
    1
    """

    kind = "triplet"
    width = 3
    __slots__ = ()

    def __init__(self, triplets: ArrayLike, *, repeat: ArrayLike = 0) -> None:
        self._fill(_item_tuples(triplets, "triplets", self.width), repeat)

    @property
    def triplets(self) -> Integers:
        """Row numbers of the three items."""
        return self._table


Queries = MembershipQueries | PairQueries | TripletQueries


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, as the history tells it.

    Parameters
    ----------
    round : int
        The round it was asked in, from 1; 0 for answers held before.
    kind : str
        "membership", "pair" or "triplet".
    items : tuple of int
        Row numbers of the items.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Which asking of the same question it was, from 0.
    value : float
        The answer; NaN for "cannot say".

    Examples
    --------
    >>> Answer(round=1, kind="pair", items=(3, 8), cluster=None, repeat=0, value=0.5).items
    (3, 8)
    """

    round: int
    kind: str
    items: tuple[int, ...]
    cluster: int | None
    repeat: int
    value: float


class History(Sequence[Answer]):
    """Every answer in the order given, made into records only when looked at.

    Parameters
    ----------
    batches : sequence of (round, queries, answers)
        What was asked and answered, batch by batch.

    Examples
    --------
    >>> history = History([(1, PairQueries([[0, 1], [0, 2]]), np.array([0.5, np.nan]))])
    >>> len(history), history[0].value, history[-1].items
    (2, 0.5, (0, 2))
    """

    def __init__(self, batches: Sequence[tuple[int, Queries, Floats]] = ()) -> None:
        self._batches = list(batches)
        self._ends = np.cumsum([len(queries) for _, queries, _ in self._batches], dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> list[Answer]: ...
    def __getitem__(self, index: int | slice) -> Answer | list[Answer]:
        """Return one record, or a list of them."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        which = int(np.searchsorted(self._ends, position, side="right"))
        round_, queries, answers = self._batches[which]
        row = position - (int(self._ends[which - 1]) if which else 0)
        return _record(round_, queries, answers, row)

    def __iter__(self) -> Iterator[Answer]:
        for round_, queries, answers in self._batches:
            for row in range(len(queries)):
                yield _record(round_, queries, answers, row)

    def __repr__(self) -> str:
        return f"<History: {len(self)} answers in {len(self._batches)} batches>"

    def ledger(self) -> "Ledger":
        """The same answers as a ledger, for another run that must not ask them again.

        Returns
        -------
        Ledger
            A new one.

        Examples
        --------
        >>> History([(1, PairQueries([[0, 1]]), np.array([0.5]))]).ledger().counts
        {'pair': 1}
        """
        ledger = Ledger()
        for _, queries, answers in self._batches:
            ledger.record(queries, answers)
        return ledger


class Ledger:
    """Remembers every answer, so that a question is asked once, and counts.

    Examples
    --------
    >>> ledger = Ledger()
    >>> queries = PairQueries([[0, 1], [1, 0], [0, 2]])
    >>> new = ledger.unanswered(queries)
    >>> new.pairs.tolist()
    [[0, 1], [0, 2]]
    >>> ledger.record(new, [0.5, 0.25])
    >>> ledger.answers(queries).tolist()
    [0.5, 0.5, 0.25]
    >>> ledger.n_distinct
    2
    """

    def __init__(self) -> None:
        self._values: dict[str, dict[bytes, float]] = {}
        self._batches: list[tuple[int, Queries, Floats]] = []
        self._counts: Counter[str] = Counter()
        self.n_raw = 0
        self.n_rounds = 0

    @property
    def n_distinct(self) -> int:
        """How many different questions were answered."""
        return self._counts.total()

    @property
    def counts(self) -> dict[str, int]:
        """How many different questions of each kind were answered."""
        return dict(self._counts)

    @property
    def history(self) -> History:
        """Every answer, in the order given."""
        return History(self._batches)

    def unanswered(self, queries: Queries) -> Queries:
        """The different questions of the batch that have no answer yet, first come first.

        Parameters
        ----------
        queries : MembershipQueries, PairQueries or TripletQueries
            A batch.

        Returns
        -------
        MembershipQueries, PairQueries or TripletQueries
            Those to be asked; nothing is counted yet.

        Examples
        --------
        >>> len(Ledger().unanswered(MembershipQueries([0, 0], [1, 1])))
        1
        """
        return queries.take(self._new_rows(queries, queries.identities()))

    def record(self, queries: Queries, answers: ArrayLike) -> None:
        """Keep answers; the first answer to a question stands, another is dropped.

        Parameters
        ----------
        queries : MembershipQueries, PairQueries or TripletQueries
            Questions, as a rule those that have no answer yet (see `unanswered`).
        answers : array-like of float of shape (n_questions,)
            Their answers; NaN for "cannot say".

        Raises
        ------
        AnswerError
            If there are not as many answers as questions; nothing is kept then.

        Examples
        --------
        >>> ledger = Ledger()
        >>> ledger.record(MembershipQueries([0], [1]), [0.5])
        >>> ledger.counts
        {'membership': 1}
        """
        values = np.array(answers, dtype=np.float64)
        if values.shape != (len(queries),):
            raise AnswerError(
                f"There must be one answer for each of the {len(queries)} questions. "
                f"Got shape {values.shape} instead."
            )
        keys = queries.identities()
        rows = self._new_rows(queries, keys)
        if not len(rows):
            return
        if len(rows) < len(keys):
            queries, values, keys = queries.take(rows), values[rows], [keys[row] for row in rows]
        known = self._values.setdefault(queries.kind, {})
        known.update(zip(keys, values.tolist(), strict=True))
        self._counts[queries.kind] += len(keys)
        self._batches.append((self.n_rounds, queries, _frozen(values)))

    def answers(self, queries: Queries) -> Floats:
        """Answers to a batch.

        Parameters
        ----------
        queries : MembershipQueries, PairQueries or TripletQueries
            A batch.

        Returns
        -------
        ndarray of shape (n_questions,)
            The answers; NaN where there is none, and where somebody could not say.

        Examples
        --------
        >>> Ledger().answers(MembershipQueries([0], [1]))
        array([nan])
        """
        known = self._values.get(queries.kind, {})
        nothing = float("nan")
        values = [known.get(key, nothing) for key in queries.identities()]
        return np.array(values, dtype=np.float64)

    def _new_rows(self, queries: Queries, keys: list[bytes]) -> NDArray[np.intp]:
        """Where in the batch each different question without an answer first stands."""
        known = self._values.get(queries.kind, {})
        first: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in known:
                first.setdefault(key, row)
        return np.fromiter(first.values(), dtype=np.intp, count=len(first))


def _record(round_: int, queries: Queries, answers: Floats, row: int) -> Answer:
    """One answer as a record."""
    cluster = int(queries.clusters[row]) if isinstance(queries, MembershipQueries) else None
    return Answer(
        round=round_,
        kind=queries.kind,
        items=tuple(queries.item_table[row].tolist()),
        cluster=cluster,
        repeat=int(queries.repeat[row]),
        value=float(answers[row]),
    )


def _integers(array: ArrayLike, name: str) -> Integers:
    """Return the array as int64; what is of another type is refused, whole floats too."""
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
    """Return a table of items with so many columns."""
    table = _integers(array, name)
    if table.size == 0:
        return np.empty((0, width), dtype=np.int64)
    if table.ndim != 2 or table.shape[1] != width:
        raise QueryError(
            f"{name} must have shape (n_questions, {width}). Got shape {table.shape} instead."
        )
    return table


def _frozen(array: Array) -> Array:
    """The array, not to be written to any more."""
    array.flags.writeable = False
    return array
