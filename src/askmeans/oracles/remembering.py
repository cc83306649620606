"""An oracle that answers from memory or from a file, and asks another only for the rest."""

import json
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.files import atomic_file
from askmeans.driver import Oracle, annotators_of, checked_answers
from askmeans.exceptions import AnswerError, AskmeansWarning, DataError, ParameterError, StopAsking
from askmeans.queries import ME, Answer, Answers, Ledger, Queries, Question

Value = float | tuple[float, ...]


class RememberingOracle:
    """Asks another oracle each question once, whoever asks: several fits share the answers.

    Similarities do not depend on the number of clusters, so a fit with another one asks only what
    is new. What a membership question was about does depend on it: start anew for those.

    With a `file`, a later run continues after the last answer: each batch is on disk before its
    answers are returned, and of an oracle with a `journal` (`ConsoleOracle`) each answer at once.

    Parameters
    ----------
    oracle : object
        Oracle for questions without an answer.
    ledger : Ledger or None, default=None
        Known answers, such as a fit's ``history_.ledger()``; new ones go into it, too.
    file : path or None, default=None
        File of answers, one JSON object per line; it is made with the first answer.
    about : mapping of str to object or None, default=None
        Stored in the file, such as the names of the clusters. A file about something else is
        refused.

    Raises
    ------
    ParameterError
        If the file has answers about something else.
    DataError
        If the file is not a file of answers.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import PairQueries
    >>> oracle = RememberingOracle(TableOracle([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> oracle.answer(PairQueries([[0, 1]])), oracle.answer(PairQueries([[1, 0], [1, 2]]))
    (array([0.5]), array([0.5, 0.5]))
    >>> oracle.ledger.n_distinct  # of three questions
    2
    """

    def __init__(
        self,
        oracle: Oracle,
        ledger: Ledger | None = None,
        *,
        file: Path | str | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.oracle = oracle
        self.ledger = Ledger() if ledger is None else ledger
        self._file = None if file is None else _AnswerFile(Path(file), dict(about or {}))
        if self._file is not None:
            for batch in self._file.read().batches:
                self.ledger.record(batch.queries, batch.values, annotators=batch.annotators)
            if getattr(oracle, "journal", self) is None:
                oracle.journal = self._file.write_one  # type: ignore[attr-defined]  # it is there

    def __repr__(self) -> str:
        return f"RememberingOracle({self.oracle!r}, {len(self.ledger.history)} answers)"

    @property
    def noisy(self) -> bool:
        """Whether answers may leave [0, 1]: as the other oracle's."""
        return bool(getattr(self.oracle, "noisy", False))

    def answer(self, queries: Queries) -> NDArray[np.float64]:
        """Answers to a batch, those known from memory."""
        new = self.ledger.unanswered(queries)
        if len(new):
            try:
                answers = self.oracle.answer(new)
                try:
                    checked_answers(answers, new, self)
                except AnswerError:
                    return answers  # the driver says what is wrong; it is not to be remembered
                self._record(new, answers)
            except StopAsking as stop:
                self._record(new.take(stop.reached), stop.answers[stop.reached])
                reached = self.ledger.is_answered(queries)
                raise StopAsking(self.ledger.answers(queries), reached) from stop.__cause__
        return self.ledger.answers(queries)

    def who(self, queries: Queries) -> list[str]:
        """Who answered each question; "me" where nobody was named, or nobody answered."""
        return self.ledger.annotators(queries)

    def _record(self, queries: Queries, answers: NDArray[np.float64]) -> None:
        """Keep new answers, on disk first."""
        who = annotators_of(self.oracle, queries)
        if self._file is not None:
            self._file.write(queries, answers, who or [ME] * len(queries))
        self.ledger.record(queries, answers, annotators=who)


class _AnswerFile:
    """Answers as lines of JSON, the first of which says what they are about."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.about = json.loads(json.dumps(about))
        self._answers: dict[Question, Answer] = {}  # on disk

    def read(self) -> Answers:
        """The answers in the file; the last line is dropped where a crash cut it off."""
        if not self.path.exists():
            return Answers()
        try:
            *lines, rest = self.path.read_text("utf-8").split("\n")
            header, *records = [json.loads(line) for line in lines] or [{"about": self.about}]
            others = [name for name in self.about | header["about"]
                      if self.about.get(name) != header["about"].get(name)]  # fmt: skip
            for record in records:
                self._take(record)
            rows = [len(a.value) for a in self._answers.values() if isinstance(a.value, tuple)]
            answers = Answers.of(self._answers.values(), max(rows, default=1))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise DataError(
                f"{self.path} must be a file of answers that askmeans wrote. Got another file; "
                "choose a new name."
            ) from error
        if others:
            raise ParameterError(
                f"{self.path} must have answers about the same {', '.join(others)}. Got others; "
                "use the same, or another file."
            )
        if rest:
            message = f"{self.path}: the last line is not complete and is left out."
            warnings.warn(message, AskmeansWarning, stacklevel=3)
            with atomic_file(self.path) as file:  # the next answer has to begin a line
                file.write("".join(f"{line}\n" for line in lines).encode())
        return answers

    def _take(self, record: dict[str, Any]) -> None:
        """One line of the file."""
        value, items = record["value"], tuple(map(int, record["items"]))
        answer = Answer(
            round=0, kind=record["kind"], items=items, cluster=record["cluster"],
            repeat=int(record["repeat"]), value=_number(value), annotator=record["annotator"],
        )  # fmt: skip
        self._answers.pop(answer.question, None)
        if not record.get("undone"):
            self._answers[answer.question] = answer

    def write_one(self, queries: Queries, value: Value | None) -> None:
        """Append one answer; None for one that was undone."""
        undone = value is None
        values = np.full(queries.shape, np.nan if value is None else value)
        self.write(queries, values, [ME], undone=undone)

    def write(
        self,
        queries: Queries,
        answers: NDArray[np.float64],
        who: list[str],
        *,
        undone: bool = False,
    ) -> None:
        """Append the answers that the file does not have; they are on disk on return."""
        lines = []
        for question, value, annotator in zip(
            queries.questions(), answers.tolist(), who, strict=True
        ):
            if question in self._answers and not undone:
                continue
            record = question._asdict() | {"value": _plain(value), "annotator": annotator}
            self._take(record | {"undone": undone})
            lines.append(json.dumps(record | ({"undone": True} if undone else {})) + "\n")
        if not lines:
            return
        if not self.path.exists() or not self.path.stat().st_size:
            lines.insert(0, json.dumps({"about": self.about}) + "\n")
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())


def _plain(value: Any) -> Any:
    """A value for JSON, which has no NaN."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if math.isnan(value) else value


def _number(value: Any) -> Value:
    """A value from JSON."""
    if isinstance(value, list):
        return tuple(math.nan if part is None else float(part) for part in value)
    return math.nan if value is None else float(value)
