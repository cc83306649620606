"""Answers from elsewhere, taken into a session's log: they are evidence and cost nothing."""

import math
from collections.abc import Iterable

from askmeans.exceptions import AnswerError, KeyConflictError, QueryError
from askmeans.queries import KINDS, Answer, Question, ordered
from askmeans.sessions.log import IMPORTED, EventKind, NewEvent, State, Value
from askmeans.sessions.reports import Held
from askmeans.sessions.store.contract import Transaction
from askmeans.shares import as_row

__all__ = ["checked_answers", "import_answers"]


def import_answers(
    transaction: Transaction,
    answers: Iterable[Answer],
    state: State,
    n_items: int,
    n_clusters: int,
) -> Held:
    """Append those that are new, all or none; how many they were.

    What was answered here is left as it is: an answer twice would stay when it is undone.
    """
    told = checked_answers(answers, n_items, n_clusters)
    numbers = transaction.add_questions(list(told))
    count = otherwise = 0
    for number, (asked, kept) in zip(numbers, told.items(), strict=True):
        mine = state.mine(number, IMPORTED)
        if mine is not None:
            if mine.value != kept:
                raise KeyConflictError(
                    f"The answer held to {_told(asked)} must stay what it was. Got {kept} after "
                    f"{mine.value}; nothing was taken in."
                )
            continue
        if state.is_settled(number):
            value = state.value(number)
            silent = isinstance(value, float) and math.isnan(value)
            otherwise += kept != (None if silent else value)
            continue
        if any(event.value == kept for event in state.answers(number)):
            continue
        count += 1
        transaction.append(
            NewEvent(kind=EventKind.HELD, annotator=IMPORTED, question=number, value=kept)
        )
    return Held(new=count, there=len(told) - count - otherwise, otherwise=otherwise)


def checked_answers(
    answers: Iterable[Answer], n_items: int, n_clusters: int
) -> dict[Question, Value | None]:
    """What is told to each question; refused where that is nothing here, or two things."""
    told: dict[Question, Value | None] = {}
    for answer in answers:
        asked = _question(answer, n_items, n_clusters)
        value = _value(answer, n_clusters)
        if told.setdefault(asked, value) != value:
            raise KeyConflictError(
                f"The answer held to {_told(asked)} must be one. Got {told[asked]} and {value}; "
                "nothing was taken in."
            )
    return told


def _question(answer: Answer, n_items: int, n_clusters: int) -> Question:
    """The question of an answer; refused where it is about nothing here."""
    items = tuple(int(item) for item in answer.items)
    width = KINDS[answer.kind].width if answer.kind in KINDS else 0
    if len(set(items)) != width or not all(0 <= i < n_items for i in items):
        raise QueryError(
            f"A {answer.kind} held must be about different items from 0 to {n_items - 1}. "
            f"Got {items} instead."
        )
    cluster = None
    if answer.kind == "membership":
        if answer.cluster is None or not 0 <= answer.cluster < n_clusters:
            raise QueryError(
                f"A membership held must be about a cluster from 0 to {n_clusters - 1}. "
                f"Got {answer.cluster} instead."
            )
        cluster = int(answer.cluster)
    if not 0 <= answer.repeat < 2**63:
        raise QueryError(f"A repeat held must be from 0. Got {answer.repeat!r:.60} instead.")
    return Question(answer.kind, ordered(answer.kind, items), cluster, int(answer.repeat))


def _value(answer: Answer, n_clusters: int) -> Value | None:
    """What is kept of an answer; None for "cannot say"."""
    if answer.kind == "group":
        row = answer.value
        if not isinstance(row, tuple) or not 1 <= len(row) <= n_clusters:
            raise AnswerError(
                f"An answer held to a group question must be a tuple of at most {n_clusters} "
                f"shares. Got {row!r:.60} instead."
            )
        known = [share for share in row if not math.isnan(share)]  # of a group not there yet
        if known and not all(map(math.isnan, row[len(known) :])):
            raise AnswerError(f"A row held must be whole. Got {row!r:.60} instead.")
        return as_row(tuple(known), len(known)) if known else None
    if answer.number != answer.number:
        return None
    if not 0 <= answer.number <= 1:
        raise AnswerError(f"An answer held must lie in [0, 1]. Got {answer.number!r:.60} instead.")
    return float(answer.number) + 0.0


def _told(question: Question) -> str:
    """A question in a message."""
    cluster = "" if question.cluster is None else f" in cluster {question.cluster}"
    return f"the {question.kind} of {', '.join(map(str, question.items))}{cluster}"
