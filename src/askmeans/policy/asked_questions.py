"""The questions that have answers, for a policy that learns from a growing table of answers."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from askmeans.queries import ME, Answers, MembershipQueries, Question
from askmeans.queries.questions import KINDS

Integers = NDArray[np.int64]
Key = TypeVar("Key")
_KINDS = tuple(KINDS)


class AskedQuestions:
    """The questions of a table of answers, updated by the answers that changed."""

    def __init__(self) -> None:
        self._keys: Integers = np.empty((0, 6), dtype=np.int64)
        self._listed: list[Question] = []
        self._times: Counter[Question] = Counter()
        self._items: Counter[int] = Counter()

    def __contains__(self, question: Question) -> bool:
        return question in self._times

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[Question]:
        return iter(self._times)

    @property
    def n_items(self) -> int:
        """The number of items with questions."""
        return len(self._items)

    def update(self, answers: Answers) -> None:
        """Replace the questions by those of these answers; a common start is not read again."""
        keys = _keys(answers)
        shared = min(len(keys), len(self._keys))
        other = np.flatnonzero((keys[:shared] != self._keys[:shared]).any(axis=1))
        same = int(other[0]) if len(other) else shared
        for question in self._listed[same:]:
            _decrement(self._times, question)
            for item in question.items:
                _decrement(self._items, item)
        new = _questions(answers, same)
        self._listed[same:] = new
        self._times.update(new)
        self._items.update(item for question in new for item in question.items)
        self._keys = keys


def digest(answers: Answers) -> bytes:
    """A digest of the answers, independent of their batches."""
    keys, values, names = (hashlib.blake2b(digest_size=16) for _ in range(3))
    keys.update(_keys(answers).tobytes())
    for batch in answers.batches:
        values.update(np.ascontiguousarray(batch.values).tobytes())
        who = batch.annotators or (ME,) * len(batch.queries)
        names.update("\0".join((*who, "")).encode())
    return b"".join(part.digest() for part in (keys, values, names))


def _keys(answers: Answers) -> Integers:
    """Kind, items, cluster and repeat of every question; -1 for a missing one."""
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
    """The questions from this answer on."""
    questions: list[Question] = []
    for batch in answers.batches:
        if start < len(batch.queries):
            questions += batch.queries.take(slice(start, None)).questions()
        start = max(0, start - len(batch.queries))
    return questions


def _decrement(counts: Counter[Key], key: Key) -> None:
    """Count one less, without zeros."""
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
