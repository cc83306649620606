"""Imported answers and gold answers: all or none, so that an invalid one changes nothing."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from askmeans.exceptions import AnswerError, KeyConflictError, QueryError, SessionError
from askmeans.queries import ME, Answer, Question
from askmeans.queries.questions import KINDS, canonical_items
from askmeans.queries.values import as_row
from askmeans.sessions.authors import GOLD, IMPORTED, ITSELF, check_annotator
from askmeans.sessions.events import Gold, Imported, Skip, Value
from askmeans.sessions.reports import ImportReport
from askmeans.sessions.runtime import Runtime

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction

_UNNAMED = (ME, IMPORTED)  # annotators of answers without a name


def import_answers(runtime: Runtime, answers: Iterable[Answer]) -> ImportReport:
    """Append imported answers, each with its annotator's name."""
    listed = list(answers)

    def append(transaction: "Transaction") -> ImportReport:
        state, values = runtime.state, _checked_answers(listed, runtime)
        questions = list(dict.fromkeys(question for question, _ in values))
        numbers = dict(zip(questions, transaction.add_questions(questions), strict=True))
        new = conflicting = 0
        for (question, annotator), value in values.items():
            number = numbers[question]
            present = state.reply(number, annotator)
            if present is not None and not isinstance(present, Skip):
                differs = not _is_same(present.value, value)
                if differs and isinstance(present, Imported):
                    raise KeyConflictError(
                        f"The answer imported to {_text(question)} must stay what it was. Got "
                        f"{value} after {present.value}; nothing was imported."
                    )
                conflicting += differs
            elif annotator in _UNNAMED and state.is_settled(number):
                known = state.value(number)
                silent = isinstance(known, float) and math.isnan(known)
                conflicting += not _is_same(value, None if silent else known)
            # A second copy would stay after an undo.
            elif annotator in _UNNAMED and any(
                _is_same(each.value, value) for each in state.answers(number)
            ):
                continue
            else:
                new += 1
                transaction.append(Imported(annotator=annotator, question=number, value=value))
        existing = len(values) - new - conflicting
        return ImportReport(new=new, existing=existing, conflicting=conflicting)

    return runtime.write(append)


def add_gold(runtime: Runtime, answers: Iterable[Answer]) -> ImportReport:
    """Append known answers, whose questions are mixed into those of all annotators."""
    listed, ask = list(answers), runtime.config.ask
    kinds = sorted({answer.kind for answer in listed} - {ask})
    if kinds:
        raise SessionError(
            f"Gold answers must be to questions of the kind that the session asks ({ask}). "
            f"Got {', '.join(kinds)}; make a session that asks for these, or compare people by "
            "their agreement (People.agreement)."
        )

    def append(transaction: "Transaction") -> ImportReport:
        values: dict[Question, Value | None] = {}
        for (question, _), value in _checked_answers(listed, runtime).items():
            if not _is_same(values.setdefault(question, value), value):
                raise _two_answers(question, values[question], value)
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
                conflicting += not _is_same(known.value, value)
        existing = len(values) - new - conflicting
        return ImportReport(new=new, existing=existing, conflicting=conflicting)

    return runtime.write(append)


def _checked_answers(
    answers: Iterable[Answer], runtime: Runtime
) -> dict[tuple[Question, str], Value | None]:
    """The value by question and annotator; refuse invalid ones, and two different ones."""
    values: dict[tuple[Question, str], Value | None] = {}
    n_groups = runtime.groups.n
    for answer in answers:
        question, value = _question(answer, len(runtime.rows), n_groups), _value(answer, n_groups)
        annotator = IMPORTED
        if answer.annotator not in (IMPORTED, GOLD, ITSELF):
            annotator = check_annotator(answer.annotator, person=True)
        if not _is_same(values.setdefault((question, annotator), value), value):
            raise _two_answers(question, values[question, annotator], value)
    return values


def _is_same(one: Value | None, other: Value | None) -> bool:
    """Whether two answers are equal; a row may be from before a group was added."""
    return _without_last_zeros(one) == _without_last_zeros(other)


def _without_last_zeros(value: Value | None) -> Value | None:
    """An answer without trailing groups that have no share."""
    if not isinstance(value, tuple):
        return value
    n = max((group for group, share in enumerate(value, 1) if share), default=0)
    return value[:n]


def _two_answers(question: Question, one: Value | None, other: Value | None) -> KeyConflictError:
    """The error of two different answers of one annotator to a question."""
    return KeyConflictError(
        "There must be one answer of an annotator to each question, here "
        f"{_text(question)}. Got {one} and {other}; nothing was imported."
    )


def _question(answer: Answer, n_items: int, n_clusters: int) -> Question:
    """The question of an answer; refuse unknown items or groups."""
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
    elif answer.kind == "group" and answer.cluster is not None:
        if not 0 <= answer.cluster < n_clusters:
            raise QueryError(
                "An imported answer about sub-groups must be about those of a group from 0 to "
                f"{n_clusters - 1}. Got {answer.cluster} instead."
            )
        cluster = int(answer.cluster)
    if not 0 <= answer.repeat < 2**63:
        raise QueryError(f"An imported repeat must be from 0. Got {answer.repeat!r:.60} instead.")
    return Question(answer.kind, canonical_items(answer.kind, items), cluster, int(answer.repeat))


def _value(answer: Answer, n_clusters: int) -> Value | None:
    """The value of an answer to store; None for "cannot say"."""
    if answer.kind == "group":
        row = answer.value
        if not isinstance(row, tuple) or not 1 <= len(row) <= n_clusters:
            raise AnswerError(
                f"An imported answer to a group question must be a tuple of at most {n_clusters} "
                f"shares. Got {row!r:.60} instead."
            )
        known = [share for share in row if not math.isnan(share)]  # NaN: a later group
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
