"""Answers: one answer, a batch, the table of all answers, and the questions that have answers."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans.exceptions import AnswerError
from askmeans.queries.questions import (
    KINDS,
    ME,
    GroupQueries,
    MembershipQueries,
    Queries,
    Question,
    batches_of,
    canonical_items,
)

Integers = NDArray[np.int64]
Key = TypeVar("Key")
_KINDS = tuple(KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer.

    Parameters
    ----------
    round : int
        The round of the question, from 1; 0 for answers from before a run.
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Number of the repetition, from 0.
    value : float or tuple of float
        The answer, a row for a group question. NaN is "cannot say".
    annotator : str, default="me"
        The annotator's name.
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
        """The question."""
        return Question(
            self.kind, canonical_items(self.kind, self.items), self.cluster, self.repeat
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBatch:
    """Answers to questions of one kind: round, questions, values and annotators."""

    round: int
    queries: Queries
    values: Floats
    annotators: tuple[str, ...] | None = None  # None: ME for all

    def annotator_of(self, row: int) -> str:
        """The annotator of an answer."""
        return ME if self.annotators is None else self.annotators[row]

    @property
    def annotator_names(self) -> tuple[str, ...]:
        """The annotator of each answer."""
        return self.annotators or (ME,) * len(self.queries)

    def __getitem__(self, row: int) -> Answer:
        """Return one answer as a record."""
        queries, value = self.queries, self.values[row]
        cluster = int(queries.clusters[row]) if isinstance(queries, MembershipQueries) else None
        return Answer(
            round=self.round,
            kind=queries.kind,
            items=tuple(queries.item_table[row].tolist()),
            cluster=cluster,
            repeat=int(queries.repeat[row]),
            value=tuple(value.tolist()) if value.ndim else float(value),
            annotator=self.annotator_of(row),
        )

    def take(self, rows: slice | NDArray[np.intp]) -> "AnswerBatch":
        """Return some of the answers."""
        names = self.annotators
        if names is not None:
            names = names[rows] if isinstance(rows, slice) else tuple(names[row] for row in rows)
        return replace(
            self, queries=self.queries.take(rows), values=self.values[rows], annotators=names
        )

    def joined(self, other: "AnswerBatch") -> "AnswerBatch | None":
        """Return these answers followed by others; None for another kind, round or row length."""
        fits = self.queries.kind == other.queries.kind and self.round == other.round
        if not fits or self.values.shape[1:] != other.values.shape[1:]:
            return None
        return replace(
            self,
            queries=self.queries.joined(other.queries),  # type: ignore[arg-type]  # of one kind
            values=np.concatenate([self.values, other.values]),
            annotators=self.annotator_names + other.annotator_names,
        )


class Answers(Sequence[Answer]):
    """All answers in their order, as a sequence of lazily made records.

    Parameters
    ----------
    batches : sequence of AnswerBatch or of (round, queries, answers)
        Batches of questions with their answers.

    Examples
    --------
    >>> from askmeans.queries import PairQueries
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
        """Make the table of these records, in their order.

        Parameters
        ----------
        records : iterable of Answer
            One per answer.
        n_clusters : int, default=1
            Number of groups, for answers to group questions.

        Returns
        -------
        Answers
            The table.
        """
        listed = list(records)
        batches, start = [], 0
        for queries in batches_of((record.question for record in listed), n_clusters):
            part = listed[start : start + len(queries)]
            start += len(queries)
            values = np.empty(queries.shape)
            for row, record in enumerate(part):
                values[row] = _in_shape(record.value, values.shape[1:])
            batches.append(
                AnswerBatch(
                    round=part[0].round,
                    queries=queries,
                    values=values,
                    annotators=tuple(record.annotator for record in part),
                )
            )
        return cls(batches)

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
        batch = int(np.searchsorted(self._ends, position, side="right"))
        row = position - (int(self._ends[batch - 1]) if batch else 0)
        return self.batches[batch][row]

    def __iter__(self) -> Iterator[Answer]:
        for batch in self.batches:
            yield from map(batch.__getitem__, range(len(batch.queries)))

    def __repr__(self) -> str:
        return f"<Answers: {len(self)} answers in {len(self.batches)} batches>"

    def extended(self, records: Sequence[Answer], n_clusters: int = 1) -> "Answers":
        """Return these answers followed by more, without copying these.

        Parameters
        ----------
        records : sequence of Answer
            One per answer.
        n_clusters : int, default=1
            Number of groups, for answers to group questions.

        Returns
        -------
        Answers
            The table of all answers.
        """
        batches = list(self.batches)
        for new in Answers.of(records, n_clusters).batches:
            merged = batches[-1].joined(new) if batches else None
            batches = [*batches, new] if merged is None else [*batches[:-1], merged]
        return Answers(batches)

    def first(self, count: int) -> "Answers":
        """Return the first `count` answers.

        Parameters
        ----------
        count : int
            The number of answers; all if there are fewer.

        Returns
        -------
        Answers
            The table of these answers.
        """
        kept: list[AnswerBatch] = []
        for batch in self.batches:
            if count <= 0:
                break
            kept.append(batch if len(batch.queries) <= count else batch.take(slice(count)))
            count -= len(batch.queries)
        return Answers(kept)

    def ledger(self) -> "Ledger":
        """Return a ledger of these answers, for a run that does not ask the questions again.

        If a question has several answers, plans use the first, and policies learn from all.

        Returns
        -------
        Ledger
            A new ledger.
        """
        ledger = Ledger()
        for batch in self.batches:
            ledger.record(batch.queries, batch.values, annotators=batch.annotators)
        ledger._batches = list(self.batches)
        return ledger

    def digest(self) -> bytes:
        """Return a digest of the answers, independent of their batches.

        Returns
        -------
        bytes
            The digest.
        """
        keys, values, names = (hashlib.blake2b(digest_size=16) for _ in range(3))
        keys.update(_keys(self).tobytes())
        for batch in self.batches:
            values.update(np.ascontiguousarray(batch.values).tobytes())
            names.update("\0".join((*batch.annotator_names, "")).encode())
        return b"".join(part.digest() for part in (keys, values, names))


class Ledger:
    """Stores answers by question, so that no question is asked twice, and counts questions.

    Examples
    --------
    >>> from askmeans.queries import PairQueries
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
        # By kind and the question's identity.
        self._values: dict[str, dict[bytes, Any]] = {}  # a float each; a row for a group question
        self._annotators: dict[str, dict[bytes, str]] = {}  # of answers that came with a name
        self._batches: list[AnswerBatch] = []
        self.n_raw = 0
        self.n_rounds = 0

    @property
    def n_distinct(self) -> int:
        """Number of different answered questions."""
        return sum(self.counts.values())

    @property
    def counts(self) -> dict[str, int]:
        """Number of different answered questions of each kind."""
        return {kind: len(values) for kind, values in self._values.items()}

    @property
    def history(self) -> Answers:
        """All answers in their order."""
        return Answers(self._batches)

    def unanswered(self, queries: Queries) -> Queries:
        """Return the different questions of a batch without an answer, in their order."""
        return queries.take(self._new_rows(queries, queries.identities()))

    def record(
        self,
        queries: Queries,
        answers: ArrayLike,
        *,
        annotators: Sequence[str] | None = None,
    ) -> None:
        """Store answers, NaN for "cannot say"; further answers to a question are ignored.

        `annotators` names the annotator of each answer; None is "me". If the number of answers is
        not that of the questions, an AnswerError is raised and nothing is stored.
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
        names = None if annotators is None else tuple(annotators)
        batch = AnswerBatch(round=self.n_rounds, queries=queries, values=values, annotators=names)
        if len(rows) < len(keys):
            batch, keys = batch.take(rows), [keys[row] for row in rows]
        batch.values.flags.writeable = False
        stored = self._values.setdefault(queries.kind, {})
        stored.update(zip(keys, batch.values.tolist(), strict=True))
        if batch.annotators is not None:
            stored_names = self._annotators.setdefault(queries.kind, {})
            stored_names.update(zip(keys, batch.annotators, strict=True))
        self._batches.append(batch)

    def is_answered(self, queries: Queries) -> NDArray[np.bool_]:
        """Return which questions of a batch have an answer, "cannot say" included."""
        stored = self._values.get(queries.kind, {})
        return np.array([key in stored for key in queries.identities()], dtype=bool)

    def answers(self, queries: Queries) -> Floats:
        """Return the answers to a batch; NaN for missing ones and "cannot say"."""
        stored = self._values.get(queries.kind, {})
        missing: Any = np.full(queries.shape[1:], np.nan).tolist()
        values = [stored.get(key, missing) for key in queries.identities()]
        if isinstance(queries, GroupQueries):  # rows from before a group was added are shorter
            values = [_in_shape(row, queries.shape[1:]) for row in values]
        return np.array(values, dtype=np.float64).reshape(queries.shape)

    def annotators(self, queries: Queries) -> list[str]:
        """Return the annotators of a batch; "me" by default."""
        names = self._annotators.get(queries.kind, {})
        return [names.get(key, ME) for key in queries.identities()]

    def _new_rows(self, queries: Queries, keys: list[bytes]) -> NDArray[np.intp]:
        """Return the first row of each different question without an answer."""
        stored = self._values.get(queries.kind, {})
        first_rows: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in stored:
                first_rows.setdefault(key, row)
        return np.fromiter(first_rows.values(), dtype=np.intp, count=len(first_rows))


def _in_shape(value: float | tuple[float, ...], shape: tuple[int, ...]) -> Floats:
    """Convert a value to an array of this shape; a shorter row is padded with NaN."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape == shape:
        return array
    if not shape or array.ndim != 1 or len(array) > shape[0]:
        raise AnswerError(f"An answer must have shape {shape}. Got shape {array.shape} instead.")
    row = np.full(shape, np.nan)
    row[: len(array)] = array
    return row


class AskedQuestions:
    """The set of questions in a table of answers; an update costs only the answers that changed."""

    def __init__(self) -> None:
        self._keys: Integers = np.empty((0, 6), dtype=np.int64)
        self._questions: list[Question] = []
        self._n_answers: Counter[Question] = Counter()
        self._n_by_item: Counter[int] = Counter()

    def __contains__(self, question: Question) -> bool:
        return question in self._n_answers

    def __len__(self) -> int:
        return len(self._n_answers)

    def __iter__(self) -> Iterator[Question]:
        return iter(self._n_answers)

    @property
    def n_items(self) -> int:
        """The number of items with questions."""
        return len(self._n_by_item)

    def update(self, answers: Answers) -> None:
        """Replace the questions by those of these answers; a common prefix is not read again."""
        keys = _keys(answers)
        shorter = min(len(keys), len(self._keys))
        different = np.flatnonzero((keys[:shorter] != self._keys[:shorter]).any(axis=1))
        n_same = int(different[0]) if len(different) else shorter
        for question in self._questions[n_same:]:
            _decrement(self._n_answers, question)
            for item in question.items:
                _decrement(self._n_by_item, item)
        new = _questions(answers, n_same)
        self._questions[n_same:] = new
        self._n_answers.update(new)
        self._n_by_item.update(item for question in new for item in question.items)
        self._keys = keys


def _keys(answers: Answers) -> Integers:
    """Kind, items, cluster and repeat of every question; -1 in columns that its kind lacks."""
    keys = np.full((len(answers), 6), -1, dtype=np.int64)
    start = 0
    for batch in answers.batches:
        queries = batch.queries
        rows = keys[start : start + len(queries)]
        start += len(queries)
        # The number of groups is part of the kind.
        rows[:, 0] = 10 * int(np.prod(queries.shape[1:])) + _KINDS.index(queries.kind)
        items = queries.item_table
        rows[:, 1 : 1 + queries.width] = items if queries.ordered else np.sort(items, axis=1)
        if isinstance(queries, MembershipQueries):
            rows[:, 4] = queries.clusters
        rows[:, 5] = queries.repeat
    return keys


def _questions(answers: Answers, start: int) -> list[Question]:
    """The questions of the answers from number `start` on."""
    questions: list[Question] = []
    for batch in answers.batches:
        if start < len(batch.queries):
            questions += batch.queries.take(slice(start, None)).questions()
        start = max(0, start - len(batch.queries))
    return questions


def _decrement(counts: Counter[Key], key: Key) -> None:
    """Subtract one, and remove a count of zero."""
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
