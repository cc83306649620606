"""Answers from elsewhere: imported ones, and gold answers that are known beforehand.

All or nothing: one answer that is refused leaves the session as it was.
"""

import math
from collections.abc import Iterable

from askmeans.exceptions import AnswerError, KeyConflictError, QueryError, SessionError
from askmeans.queries import Answer, Question
from askmeans.queries.questions import KINDS, ordered
from askmeans.queries.values import as_row
from askmeans.sessions.events import Gold, Imported, Value
from askmeans.sessions.log import GOLD, IMPORTED
from askmeans.sessions.reports import ImportReport
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.store.contract import Transaction

__all__ = ["add_gold", "import_answers"]


def import_answers(runtime: Runtime, answers: Iterable[Answer]) -> ImportReport:
    """Append answers that were given elsewhere; those of the session stay as they are."""
    listed = list(answers)

    def append(transaction: Transaction) -> ImportReport:
        state = runtime.state
        values = _checked_answers(listed, len(runtime.rows), runtime.groups.n)
        new = conflicting = 0
        numbers = transaction.add_questions(list(values))
        for number, (question, value) in zip(numbers, values.items(), strict=True):
            imported = state.reply(number, IMPORTED)
            if imported is not None:
                if imported.value != value:
                    raise KeyConflictError(
                        f"The answer imported to {_text(question)} must stay what it was. Got "
                        f"{value} after {imported.value}; nothing was imported."
                    )
            elif state.is_settled(number):
                present = state.value(number)
                silent = isinstance(present, float) and math.isnan(present)
                conflicting += value != (None if silent else present)
            # An answer twice would stay when it is undone here.
            elif all(event.value != value for event in state.answers(number)):
                new += 1
                transaction.append(Imported(annotator=IMPORTED, question=number, value=value))
        existing = len(values) - new - conflicting
        return ImportReport(new=new, existing=existing, conflicting=conflicting)

    return runtime.write(append)


def add_gold(runtime: Runtime, answers: Iterable[Answer]) -> ImportReport:
    """Append known answers, whose questions everybody is asked now and then."""
    listed, ask = list(answers), runtime.config.ask
    kinds = sorted({answer.kind for answer in listed} - {ask})
    if kinds:
        raise SessionError(
            f"Gold answers must be to questions of the kind that the session asks ({ask}). "
            f"Got {', '.join(kinds)}; make a session that asks for these, or compare people by "
            "their agreement (People.agreement)."
        )

    def append(transaction: Transaction) -> ImportReport:
        values = _checked_answers(listed, len(runtime.rows), runtime.groups.n)
        if None in values.values():
            raise SessionError("A gold answer must say something. Got 'cannot say'.")
        new = conflicting = 0
        numbers = transaction.add_questions(list(values))
        for number, value in zip(numbers, values.values(), strict=True):
            known = runtime.state.gold.get(number)
            if known is None:
                new += 1
                transaction.append(Gold(annotator=GOLD, question=number, value=value))
            else:
                conflicting += known.value != value
        existing = len(values) - new - conflicting
        return ImportReport(new=new, existing=existing, conflicting=conflicting)

    return runtime.write(append)


def _checked_answers(
    answers: Iterable[Answer], n_items: int, n_clusters: int
) -> dict[Question, Value | None]:
    """The value of each question; refused where a question does not exist, or has two values."""
    values: dict[Question, Value | None] = {}
    first: dict[Question, str] = {}  # annotators
    for answer in answers:
        question = _question(answer, n_items, n_clusters)
        value = _value(answer, n_clusters)
        who = first.setdefault(question, answer.annotator)
        if values.setdefault(question, value) != value:
            one, other = f"{values[question]}", f"{value}"
            if who != answer.annotator:
                one, other = f"{one} by {who}", f"{other} by {answer.annotator}"
            raise KeyConflictError(
                f"Imported answers must be one to each question, here {_text(question)}. "
                f"Got {one} and {other}; nothing was imported. Where several people answered, "
                "import what they say together: `askmeans import` takes the mean of rows, or the "
                "median of numbers, of a CSV with the column annotator."
            )
    return values


def _question(answer: Answer, n_items: int, n_clusters: int) -> Question:
    """The question of an answer; refused where it is about nothing here."""
    items = tuple(int(item) for item in answer.items)
    width = KINDS[answer.kind].width if answer.kind in KINDS else 0
    if len(set(items)) != width or not all(0 <= i < n_items for i in items):
        raise QueryError(
            f"An imported {answer.kind} must be about different items from 0 to {n_items - 1}. "
            f"Got {items} instead."
        )
    cluster = None
    if answer.kind == "membership":
        if answer.cluster is None or not 0 <= answer.cluster < n_clusters:
            raise QueryError(
                f"An imported membership must be about a cluster from 0 to {n_clusters - 1}. "
                f"Got {answer.cluster} instead."
            )
        cluster = int(answer.cluster)
    if not 0 <= answer.repeat < 2**63:
        raise QueryError(f"An imported repeat must be from 0. Got {answer.repeat!r:.60} instead.")
    return Question(answer.kind, ordered(answer.kind, items), cluster, int(answer.repeat))


def _value(answer: Answer, n_clusters: int) -> Value | None:
    """What is kept of an answer; None for "cannot say"."""
    if answer.kind == "group":
        row = answer.value
        if not isinstance(row, tuple) or not 1 <= len(row) <= n_clusters:
            raise AnswerError(
                f"An imported answer to a group question must be a tuple of at most {n_clusters} "
                f"shares. Got {row!r:.60} instead."
            )
        known = [share for share in row if not math.isnan(share)]  # of a group not there yet
        if known and not all(map(math.isnan, row[len(known) :])):
            raise AnswerError(f"An imported row must be whole. Got {row!r:.60} instead.")
        return as_row(tuple(known), len(known)) if known else None
    if answer.number != answer.number:
        return None
    if not 0 <= answer.number <= 1:
        raise AnswerError(
            f"An imported answer must lie in [0, 1]. Got {answer.number!r:.60} instead."
        )
    return float(answer.number) + 0.0


def _text(question: Question) -> str:
    """A question in a message."""
    cluster = "" if question.cluster is None else f" in cluster {question.cluster}"
    return f"the {question.kind} of {', '.join(map(str, question.items))}{cluster}"
