"""Files of known answers: CSV in the format of `export`, or an export of another tool.

One row per answer: kind, ids of the items, the cluster and its name, the number of clusters, the
repeat and the value (empty for "cannot say"). The value of a group question has its shares by the
groups' numbers (1:1, 0:0.75,1:0.25; none for none of these). A file of one's own needs the columns
item, cluster and value only, or item and value with the group's name as the value; there a value
may name groups, and what could be a number or another group's name is refused. Of several rows
about one question the last of each annotator counts, except rows whose column counts is false; a
row without an annotator replaces all. Ids are compared to the letter; an apostrophe before = + - @,
which keeps spreadsheets from computing, is removed (`askmeans._util.text`).
"""

import csv
import io
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from askmeans._util.checks import check_file, parse_digits
from askmeans._util.text import csv_value
from askmeans.exceptions import AnswerError, AskmeansWarning, DataError
from askmeans.queries import ME, Answer, Question
from askmeans.queries.questions import KINDS, canonical_items
from askmeans.queries.values import (
    combined,
    difference,
    group_of,
    parse_numbered,
    parse_row,
    row_text,
)
from askmeans.tables.exchange import argilla_user, read_labels

if TYPE_CHECKING:
    from askmeans.sessions import Session

_ITEMS = ["item", "item_2", "item_3"]  # ids, to the letter: spaces and line breaks count
_SAME = 1e-4  # the difference of two answers that were rounded
_SHARE = re.compile(r":[\d.e-]+(?:,|$)")  # between the names of a row of shares
_DEFAULT_NAME = re.compile(r"cluster_\d+|Group [A-Z]+|the group of .*", re.DOTALL)

Value = float | tuple[float, ...]


def session_answers(session: "Session", file: Path) -> list[Answer]:
    """The answers in a file to a session's questions, one per question and annotator."""
    check_file(file)
    if file.suffix.lower() in (".json", ".parquet", ".pq"):
        return _labels_as_answers(session, file)
    return read_answers(file, session.rows.ids(), session.groups.all_names)


def _labels_as_answers(session: "Session", path: Path) -> list[Answer]:
    """The labels in another tool's file, as answers to the questions that this session asks."""
    groups = session.groups.all_names  # by their numbers
    rows = {name: row for row, name in enumerate(session.rows.ids())}
    people = {argilla_user(event.annotator): event.annotator for event in session.history.answers()}
    answers = []
    for (name, user), label in read_labels(path, groups).items():
        if name not in rows:
            raise DataError(
                f"{path} must be about items of the session. Got {name!r}, which is not one; "
                "export from the same session, or give items the same ids."
            )
        left, items, who = dict(label), (rows[name],), people.get(user, user)
        shares = tuple(float(left.pop(group, 0.0)) for group in groups)
        if session.config.ask == "group":
            values: dict[Question, Value] = {Question("group", items, None, 0): shares}
        else:  # one of each group: merged ones have a name together
            values = {
                Question("membership", items, j, 0): share
                for j, share in enumerate(shares)
                if groups.index(groups[j]) == j
            }
        answers += [
            Answer(round=0, **question._asdict(), value=value, annotator=who)
            for question, value in values.items()
        ]
    return answers


def read_answers(path: Path, ids: Sequence[str], names: Sequence[str]) -> list[Answer]:
    """The answers in a CSV file about these items and clusters, one per question and annotator."""
    reader = _Reader(path=path, rows={name: row for row, name in enumerate(ids)}, names=names)
    kinds = list(KINDS)
    answers: dict[Question, dict[str, Value]] = {}
    for line, row in _rows(path):
        question, value = reader.answer(row, f"{path}, line {line}")
        if row.get("counts", "").lower() in ("false", "no", "0"):
            continue
        annotator = row.get("annotator", "")
        values = answers.pop(question, {})
        before = values.pop(annotator, None)
        if not annotator:  # it replaces all others
            values = {}
        values[annotator] = value
        if before is not None and difference(value, before) > _SAME:
            new, old = (_text(each, names) for each in (value, before))
            message = f"{path}, line {line}: {new} replaces {old}, to the same question."
            warnings.warn(message, AskmeansWarning, stacklevel=2)
        answers[question] = values
    return [
        Answer(round=0, **question._asdict(), value=value, annotator=annotator or ME)
        for question, values in sorted(answers.items(), key=lambda each: kinds.index(each[0].kind))
        for annotator, value in values.items()
    ]


def one_per_question(answers: Iterable[Answer], n_clusters: int) -> list[Answer]:
    """Answers without annotators: the median of several people's, of shares the mean."""
    values: dict[Question, list[Value]] = {}
    for answer in answers:
        values.setdefault(answer.question, []).append(answer.value)
    return [
        Answer(round=0, **question._asdict(), value=combined(each, n_clusters))
        for question, each in values.items()
    ]


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of the file with their line numbers; ids to the letter."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""))
        header = [name.strip() for name in next(reader, [])]
        lines = [(reader.line_num, [csv_value(cell) for cell in cells]) for cells in reader]
    except UnicodeDecodeError as error:
        raise DataError(f"{path} must be a CSV file of answers. Got no text.") from error
    except csv.Error as error:
        raise DataError(f"{path} must be a CSV file of answers. Got '{error}'.") from error
    if not {"item", "value"} <= set(header):
        raise DataError(
            f"{path} must have the columns item and value (a group), or item, cluster "
            "(its number) and value (a membership). "
            f"Got {', '.join(header)[:200] or 'none'} instead."
        )
    rows = []
    for line, values in lines:
        row = dict(zip(header, values, strict=False))
        if values and "value" not in row:
            raise DataError(
                f"{path}, line {line}: a row must have a cell for each column. Got {len(values)} "
                f"of {len(header)}; complete the row, or delete it."
            )
        if values:
            ids = {name: row[name] for name in _ITEMS if name in row}
            rows.append((line, {name: value.strip() for name, value in row.items()} | ids))
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Converts the rows of a file to answers about these items and clusters."""

    path: Path
    rows: dict[str, int]  # by the items' ids
    names: Sequence[str]

    def answer(self, row: dict[str, str], where: str) -> tuple[Question, Value]:
        """The question and the answer of a row."""
        kind = row.get("kind") or ("membership" if row.get("cluster") else "group")
        if kind not in KINDS:
            raise DataError(
                f"{where}: the kind must be one of {', '.join(KINDS)}. Got {kind!r} instead."
            )
        items = canonical_items(kind, self._items(row, kind, where))
        cluster = self._cluster(row, where) if kind == "membership" else None
        if kind == "group" and row.get("kind"):  # whose sub-groups were asked for
            cluster = parse_digits(row.get("cluster") or "")
        repeat = parse_digits(row.get("repeat") or "0")
        if repeat is None:
            raise DataError(
                f"{where}: the repeat must be a number from 0. Got {row['repeat']!r:.60} instead."
            )
        question = Question(kind, items, cluster, repeat)
        return question, self._shares(row, where) if kind == "group" else _number(row, where)

    def _items(self, row: dict[str, str], kind: str, where: str) -> Iterator[int]:
        """Row numbers of the items."""
        width = KINDS[kind].width
        names = [row.get(column, "") for column in _ITEMS[:width]]
        others = [row[column] for column in _ITEMS[width:] if row.get(column)]
        if others or len(set(names)) < width or ("" in names and "" not in self.rows):
            listed = ", ".join(name for name in [*names, *others] if name)
            raise DataError(
                f"{where}: a {kind} must be about {width} different items. "
                f"Got {listed or 'none'} instead."
            )
        for name in names:
            if name not in self.rows:
                raise DataError(
                    f"{where}: there must be an item {name!r} in the data. Got none; is it the "
                    "answer file of other data, or another --id? Spaces and line breaks count."
                )
            yield self.rows[name]

    def _shares(self, row: dict[str, str], where: str) -> tuple[float, ...]:
        """The answer to a group question, about as many groups as there were."""
        k = len(self.names)
        n = parse_digits(row.get("clusters") or str(k))
        if n is None or not 1 <= n <= k:
            raise self._other_clusters(row, where)
        value = row.get("value") or "?"
        shares, by_number = parse_row(value, self.names[:n]), parse_numbered(value, n)
        if by_number is not None:
            if shares not in (None, by_number) and not row.get("cluster_name"):
                raise AnswerError(
                    f"{where}: {value!r:.60} may be numbers of groups, from 0, or their names. "
                    f'Write names in quotes: "{self.names[0]}":1.'
                )
            shares = by_number
        if shares is None:
            raise AnswerError(
                f"{where}: an answer must be one of the groups ({', '.join(self.names[:n])}), "
                f"shares of them that sum to at most 1, or none. Got {row['value']!r:.60} instead."
            )
        self._check_name(row, "the groups", row_text(shares, self.names), where)
        return shares

    def _cluster(self, row: dict[str, str], where: str) -> int:
        """The cluster's number, from its number or name."""
        k, text = len(self.names), row.get("cluster") or ""
        number = parse_digits(text)
        if number is None:
            number = group_of(text, self.names)
        if number is None or number >= k:
            raise DataError(
                f"{where}: the cluster must be a number from 0 to {k - 1}. "
                f"Got {text!r:.60} instead, and no name ({', '.join(self.names)}); is it the "
                "answer file of another -k?"
            )
        if row.get("clusters") not in (None, "", str(k)):
            raise self._other_clusters(row, where)
        self._check_name(row, f"cluster {number}", self.names[number], where)
        return number

    def _other_clusters(self, row: dict[str, str], where: str) -> DataError:
        """The error of an answer about another number of clusters."""
        return DataError(
            f"{where}: the answers must be about {len(self.names)} clusters. "
            f"Got {row['clusters']} instead; use -k {row['clusters']}, or another file."
        )

    def _check_name(self, row: dict[str, str], what: str, name: str, where: str) -> None:
        """Refuse an answer about clusters that had other names."""
        written = row.get("cluster_name", "")
        parts = _SHARE.sub("\n", written).strip("\n").split("\n")
        default = all(_DEFAULT_NAME.fullmatch(p) and p not in self.names for p in parts)
        if written not in ("", name.strip()) and not default:
            raise DataError(
                f"{where}: {what} must be called {written!r}, as in the question. "
                f"Got {name.strip()!r} instead; use the same --names, or another file."
            )


def _number(row: dict[str, str], where: str) -> float:
    """An answer in [0, 1]; NaN for an empty one."""
    text = row.get("value") or ""
    try:
        value = float(text) if text else math.nan
    except ValueError as error:
        raise AnswerError(
            f"{where}: an answer must be a number from 0 to 1. Got {text!r} instead."
        ) from error
    if value < 0.0 or value > 1.0:
        raise AnswerError(f"{where}: an answer must lie in [0, 1]. Got {value} instead.")
    return value


def _text(value: Value, names: Sequence[str]) -> str:
    """An answer in a message."""
    return row_text(value, names) if isinstance(value, tuple) else f"{value:g}"
