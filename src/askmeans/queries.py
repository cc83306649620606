"""Questions, batches of them as arrays, and one table of answers.

Rules of this file:

- A question is its kind, its items, its cluster and its repeat: one identity for ledger, policies,
  sessions and exports. The same question is asked once; a repeat is a new question.
- Similarity does not depend on the order of its items: a question has pairs and triplets sorted.
- A batch is immutable; order within it is the asker's, and answers come back in the same order.
- An answer is a number; to a group question it is a row of numbers. NaN is "cannot say".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans.exceptions import AnswerError, QueryError

__all__ = ["ME", "MODEL", "Answer", "Answers", "GroupQueries", "Ledger",
           "MembershipQueries", "PairQueries", "Queries", "Question", "RelativeQueries",
           "TripletQueries", "batches_of", "is_model"]  # fmt: skip

ME = "me"  # who answers, where nobody says who
MODEL = "model: "  # how the names of annotators begin that are language models

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Array = TypeVar("Array", bound=NDArray[Any])


class Question(NamedTuple):
    """One question, as everybody knows it.

    Parameters
    ----------
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items; of a pair or a triplet in ascending order.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Which asking of the same question it is, from 0.

    Examples
    --------
    >>> Question("pair", (3, 8))
    Question(kind='pair', items=(3, 8), cluster=None, repeat=0)
    """

    kind: str
    items: tuple[int, ...]
    cluster: int | None = None
    repeat: int = 0


def is_model(annotator: str) -> bool:
    """Whether an annotator is a language model, whose answers never stand as people's do.

    Parameters
    ----------
    annotator : str
        A name.

    Returns
    -------
    bool
        By how the name begins.

    Examples
    --------
    >>> is_model("model: small"), is_model("Ada")
    (True, False)
    """
    return annotator.startswith(MODEL)


class _Batch:
    """What all kinds of batch share: a table of integers, one row per question."""

    kind: ClassVar[str]
    width: ClassVar[int]  # columns that are items
    ordered: ClassVar[bool] = False  # whether it matters which item stands where
    __slots__ = ("_repeat", "_table")

    _table: Integers
    _repeat: Integers

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} questions>"

    @property
    def item_table(self) -> Integers:
        """The items asked about, one row per question."""
        return self._table[:, : self.width]

    @property
    def repeat(self) -> Integers:
        """Which asking of the same question each is."""
        return self._repeat

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Self:
        """Some of the questions, in the order given."""
        return self._with(self._table[rows], self._repeat[rows])

    def renumbered(self, rows: NDArray[np.intp]) -> Self:
        """The same questions about other rows: item i is now `rows[i]`."""
        table = self._table.copy()
        table[:, : self.width] = rows[self.item_table]
        return self._with(table, self._repeat)

    def again(self, repeat: Integers) -> Self:
        """The same questions, asked another time."""
        return self._with(self._table, repeat.copy())

    def joined(self, other: Self) -> Self:
        """These questions, and others of their kind after them."""
        tables, repeats = (self._table, other._table), (self._repeat, other._repeat)
        return self._with(np.concatenate(tables), np.concatenate(repeats))

    def _with(self, table: Integers, repeat: Integers) -> Self:
        """A batch of this kind with another table."""
        batch = copy(self)
        batch._table, batch._repeat = _frozen(table), _frozen(repeat)
        return batch

    def check_items(self, n_items: int) -> None:
        """Refuse items that do not exist."""
        items = self.item_table
        if len(items) and items.max() >= n_items:
            raise QueryError(
                f"A question must be about items 0 to {n_items - 1}. Got item {items.max()}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its answers."""
        return (len(self),)

    def questions(self) -> list[Question]:
        """Each question by itself."""
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
        """What identifies each question within its kind, for quick look-ups."""
        table = self._table
        if self.width > 1 and not self.ordered:
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


class _Singles(_Batch):
    """Questions about one item each."""

    width = 1
    __slots__ = ()

    @property
    def items(self) -> Integers:
        """Row numbers of the items."""
        return self._table[:, 0]


class MembershipQueries(_Singles):
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


class GroupQueries(_Singles):
    """To which group does each item belong? One question is one item, and its answer a whole row.

    An answer is a row of shares, one for each cluster: one group, or shares over several. A row of
    zeros is "none of these", a row of NaN is "cannot say".

    Parameters
    ----------
    items : array-like of int of shape (n_questions,)
        Row numbers of the items.
    n_clusters : int
        How many groups there are to choose from.
    repeat : int or array-like of int, default=0
        Which asking of the same question this is.

    Raises
    ------
    QueryError
        If a number is negative, or there is no group.

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
        """The shape of its answers."""
        return (len(self), self.n_clusters)


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


class _Threes(_Batch):
    """Questions about three items."""

    width = 3
    __slots__ = ()

    def __init__(self, triplets: ArrayLike, *, repeat: ArrayLike = 0) -> None:
        self._fill(_item_tuples(triplets, "triplets", self.width), repeat)

    @property
    def triplets(self) -> Integers:
        """Row numbers of the three items."""
        return self._table


class TripletQueries(_Threes):
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
    __slots__ = ()


class RelativeQueries(_Threes):
    """Is the first item more like the second (1), or like the third (0)? Half for a tie.

    Parameters
    ----------
    triplets : array-like of int of shape (n_questions, 3)
        Row numbers of the three items, which must differ; their order matters.
    repeat : int or array-like of int, default=0
        Which asking of the same question this is; part of the ledger's key.

    Raises
    ------
    QueryError
        If an item stands twice in a triplet, or a number is negative.

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


def ordered(kind: str, items: Iterable[int]) -> tuple[int, ...]:
    """Items as a question has them: ascending, unless it matters which stands where."""
    return tuple(items) if kind == RelativeQueries.kind else tuple(sorted(items))


def batches_of(questions: Iterable[Question], n_clusters: int) -> list[Queries]:
    """Batches of these questions, in their order; neighbours of one kind share a batch.

    Parameters
    ----------
    questions : iterable of Question
        Of any kinds.
    n_clusters : int
        How many groups a group question has.

    Returns
    -------
    list of batches
        As few as the order allows.

    Examples
    --------
    >>> batches_of([Question("pair", (0, 1)), Question("pair", (0, 2)), Question("group", (3,))], 2)
    [<PairQueries: 2 questions>, <GroupQueries: 1 questions>]
    """
    found: list[Queries] = []
    for kind, same in groupby(questions, key=lambda question: question.kind):
        listed = list(same)
        table = np.array([question.items for question in listed], dtype=np.int64)
        repeat = [question.repeat for question in listed]
        if kind == "membership":
            clusters = [-1 if q.cluster is None else q.cluster for q in listed]
            found.append(MembershipQueries(table[:, 0], clusters, repeat=repeat))
        elif kind == "group":
            found.append(GroupQueries(table[:, 0], n_clusters, repeat=repeat))
        elif kind in KINDS:
            found.append(KINDS[kind](table, repeat=repeat))  # type: ignore[call-arg]  # of items alone
        else:
            raise QueryError(
                f"A question's kind must be one of {', '.join(KINDS)}. Got {kind!r} instead."
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, as a history tells it.

    Parameters
    ----------
    round : int
        The round it was asked in, from 1; 0 for answers known before.
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Which asking of the same question it was, from 0.
    value : float or tuple of float
        The answer; to a group question the whole row. NaN for "cannot say".
    annotator : str, default="me"
        Who said it.

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
    value: float | tuple[float, ...]
    annotator: str = ME

    @property
    def number(self) -> float:
        """The answer as one number; NaN for a row."""
        return float("nan") if isinstance(self.value, tuple) else self.value

    @property
    def question(self) -> Question:
        """What was asked."""
        return Question(self.kind, ordered(self.kind, self.items), self.cluster, self.repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBatch:
    """Answers of one kind: the round, the questions, what was said, and by whom."""

    round: int
    queries: Queries
    values: Floats
    annotators: tuple[str, ...] | None = None  # None: all by ME

    def who(self, row: int) -> str:
        """Who gave an answer."""
        return ME if self.annotators is None else self.annotators[row]

    @property
    def names(self) -> tuple[str, ...]:
        """Who gave each answer."""
        return self.annotators or (ME,) * len(self.queries)

    def __getitem__(self, row: int) -> Answer:
        """One answer as a record."""
        queries, value = self.queries, self.values[row]
        cluster = int(queries.clusters[row]) if isinstance(queries, MembershipQueries) else None
        return Answer(
            round=self.round,
            kind=queries.kind,
            items=tuple(queries.item_table[row].tolist()),
            cluster=cluster,
            repeat=int(queries.repeat[row]),
            value=tuple(value.tolist()) if value.ndim else float(value),
            annotator=self.who(row),
        )

    def take(self, rows: slice | NDArray[np.intp]) -> "AnswerBatch":
        """Some of the answers, in the order given."""
        who = self.annotators
        if who is not None:
            who = who[rows] if isinstance(rows, slice) else tuple(who[row] for row in rows)
        return replace(
            self, queries=self.queries.take(rows), values=self.values[rows], annotators=who
        )

    def joined(self, other: "AnswerBatch") -> "AnswerBatch | None":
        """These answers, and others after them; None where they are of another kind or round."""
        alike = self.queries.kind == other.queries.kind and self.round == other.round
        if not alike or self.values.shape[1:] != other.values.shape[1:]:
            return None
        return replace(
            self,
            queries=self.queries.joined(other.queries),  # type: ignore[arg-type]  # of one kind
            values=np.concatenate([self.values, other.values]),
            annotators=self.names + other.names,
        )


class Answers(Sequence[Answer]):
    """Everything anybody said, in the order given; records are made only when looked at.

    Parameters
    ----------
    batches : sequence of AnswerBatch or of (round, queries, answers)
        What was asked and answered, batch by batch.

    Examples
    --------
    >>> answers = Answers([(1, PairQueries([[0, 1], [0, 2]]), np.array([0.5, np.nan]))])
    >>> len(answers), answers[0].value, answers[-1].items
    (2, 0.5, (0, 2))
    """

    def __init__(self, batches: Sequence[AnswerBatch | tuple[int, Queries, Floats]] = ()) -> None:
        self.batches = [
            batch
            if isinstance(batch, AnswerBatch)
            else AnswerBatch(round=batch[0], queries=batch[1], values=batch[2])
            for batch in batches
        ]
        self._ends = np.cumsum([len(batch.queries) for batch in self.batches], dtype=np.int64)

    @classmethod
    def of(cls, records: Iterable[Answer], n_clusters: int = 1) -> "Answers":
        """The table of these records, in their order.

        Parameters
        ----------
        records : iterable of Answer
            One per answer.
        n_clusters : int, default=1
            How many groups there are, for answers to group questions.

        Returns
        -------
        Answers
            The table.

        Examples
        --------
        >>> one = Answer(round=0, kind="pair", items=(3, 8), cluster=None, repeat=0, value=0.5)
        >>> Answers.of([one])[0] == one
        True
        """
        listed = list(records)
        found, start = [], 0
        for queries in batches_of((record.question for record in listed), n_clusters):
            part = listed[start : start + len(queries)]
            start += len(queries)
            values = np.empty(queries.shape)
            for row, record in enumerate(part):
                values[row] = _fitting(record.value, values.shape[1:])
            found.append(
                AnswerBatch(
                    round=part[0].round,
                    queries=queries,
                    values=values,
                    annotators=tuple(record.annotator for record in part),
                )
            )
        return cls(found)

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
        row = position - (int(self._ends[which - 1]) if which else 0)
        return self.batches[which][row]

    def __iter__(self) -> Iterator[Answer]:
        for batch in self.batches:
            yield from map(batch.__getitem__, range(len(batch.queries)))

    def __repr__(self) -> str:
        return f"<Answers: {len(self)} answers in {len(self.batches)} batches>"

    def extended(self, records: Sequence[Answer], n_clusters: int = 1) -> "Answers":
        """These answers, and more after them; without going through these again.

        Parameters
        ----------
        records : sequence of Answer
            One per answer.
        n_clusters : int, default=1
            How many groups there are, for answers to group questions.

        Returns
        -------
        Answers
            The table of all.

        Examples
        --------
        >>> one, two = (Answer(round=0, kind="pair", items=(3, item), cluster=None, repeat=0,
        ...                    value=0.5) for item in (8, 9))
        >>> Answers.of([one]).extended([two])
        <Answers: 2 answers in 1 batches>
        """
        batches = list(self.batches)
        for new in Answers.of(records, n_clusters).batches:
            both = batches[-1].joined(new) if batches else None
            batches = [*batches, new] if both is None else [*batches[:-1], both]
        return Answers(batches)

    def first(self, count: int) -> "Answers":
        """The first so many answers.

        Parameters
        ----------
        count : int
            How many at most.

        Returns
        -------
        Answers
            The table of those.

        Examples
        --------
        >>> len(Answers([(1, PairQueries([[0, 1], [0, 2]]), np.array([0.5, 1.0]))]).first(1))
        1
        """
        kept: list[AnswerBatch] = []
        for batch in self.batches:
            if count <= 0:
                break
            kept.append(batch if len(batch.queries) <= count else batch.take(slice(count)))
            count -= len(batch.queries)
        return Answers(kept)

    def ledger(self) -> "Ledger":
        """The same answers as a ledger, for another run that must not ask them again.

        Returns
        -------
        Ledger
            A new one.

        Examples
        --------
        >>> Answers([(1, PairQueries([[0, 1]]), np.array([0.5]))]).ledger().counts
        {'pair': 1}
        """
        ledger = Ledger()
        for batch in self.batches:
            ledger.record(batch.queries, batch.values, annotators=batch.annotators)
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
        self._values: dict[str, dict[bytes, Any]] = {}  # a float each; a row for a group question
        self._who: dict[str, dict[bytes, str]] = {}  # those who were named
        self._batches: list[AnswerBatch] = []
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
    def history(self) -> Answers:
        """Every answer, in the order given."""
        return Answers(self._batches)

    def unanswered(self, queries: Queries) -> Queries:
        """The different questions of the batch that have no answer yet, first come first.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            A batch.

        Returns
        -------
        MembershipQueries, GroupQueries, PairQueries or TripletQueries
            Those to be asked; nothing is counted yet.

        Examples
        --------
        >>> len(Ledger().unanswered(MembershipQueries([0, 0], [1, 1])))
        1
        """
        return queries.take(self._new_rows(queries, queries.identities()))

    def record(
        self,
        queries: Queries,
        answers: ArrayLike,
        *,
        annotators: Sequence[str] | None = None,
    ) -> None:
        """Keep answers; the first answer to a question stands, another is dropped.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            Questions, as a rule those that have no answer yet (see `unanswered`).
        answers : array-like of float of shape (n_questions,)
            Their answers, for group questions one row each; NaN for "cannot say".
        annotators : sequence of str or None, default=None
            Who gave each; None for nobody in particular.

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
        if values.shape != queries.shape:
            raise AnswerError(
                f"There must be one answer for each of the {len(queries)} questions. "
                f"Got shape {values.shape} instead of {queries.shape}."
            )
        keys = queries.identities()
        rows = self._new_rows(queries, keys)
        if not len(rows):
            return
        who = None if annotators is None else tuple(annotators)
        told = AnswerBatch(round=self.n_rounds, queries=queries, values=values, annotators=who)
        if len(rows) < len(keys):
            told, keys = told.take(rows), [keys[row] for row in rows]
        _frozen(told.values)
        known = self._values.setdefault(queries.kind, {})
        known.update(zip(keys, told.values.tolist(), strict=True))
        if told.annotators is not None:
            self._who.setdefault(queries.kind, {}).update(zip(keys, told.annotators, strict=True))
        self._counts[queries.kind] += len(keys)
        self._batches.append(told)

    def is_answered(self, queries: Queries) -> NDArray[np.bool_]:
        """Which questions of a batch somebody was asked, whether or not they could say.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            A batch.

        Returns
        -------
        ndarray of bool of shape (n_questions,)
            True where there is an answer, "cannot say" included.

        Examples
        --------
        >>> Ledger().is_answered(MembershipQueries([0], [1]))
        array([False])
        """
        known = self._values.get(queries.kind, {})
        return np.array([key in known for key in queries.identities()], dtype=bool)

    def answers(self, queries: Queries) -> Floats:
        """Answers to a batch.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            A batch.

        Returns
        -------
        ndarray of shape (n_questions,)
            The answers, of group questions one row each; NaN where there is none, and where
            somebody could not say.

        Examples
        --------
        >>> Ledger().answers(MembershipQueries([0], [1]))
        array([nan])
        """
        known = self._values.get(queries.kind, {})
        nothing: Any = np.full(queries.shape[1:], np.nan).tolist()
        values = [known.get(key, nothing) for key in queries.identities()]
        if isinstance(queries, GroupQueries):  # a row may be from before a group was added
            values = [_fitting(row, queries.shape[1:]) for row in values]
        return np.array(values, dtype=np.float64).reshape(queries.shape)

    def annotators(self, queries: Queries) -> list[str]:
        """Who answered the questions of a batch.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            A batch.

        Returns
        -------
        list of str
            A name each; "me" where nobody was named.

        Examples
        --------
        >>> ledger = Ledger()
        >>> ledger.record(PairQueries([[0, 1]]), [0.5], annotators=["Ada"])
        >>> ledger.annotators(PairQueries([[1, 0], [1, 2]]))
        ['Ada', 'me']
        """
        named = self._who.get(queries.kind, {})
        return [named.get(key, ME) for key in queries.identities()]

    def _new_rows(self, queries: Queries, keys: list[bytes]) -> NDArray[np.intp]:
        """Where in the batch each different question without an answer first stands."""
        known = self._values.get(queries.kind, {})
        first: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in known:
                first.setdefault(key, row)
        return np.fromiter(first.values(), dtype=np.intp, count=len(first))


def _fitting(value: float | tuple[float, ...], shape: tuple[int, ...]) -> Floats:
    """A value as a number or a row; a row from before a group was added says nothing of it."""
    told = np.asarray(value, dtype=np.float64)
    if told.shape == shape:
        return told
    if not shape or told.ndim != 1 or len(told) > shape[0]:
        raise AnswerError(f"An answer must have shape {shape}. Got shape {told.shape} instead.")
    row = np.full(shape, np.nan)
    row[: len(told)] = told
    return row


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
