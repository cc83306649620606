"""A CSV of answers, written as they come, keyed by the items' own ids.

One row an answer: kind, the ids of the items, the cluster and its name, the number of clusters, the
repeat, the value (empty for "cannot say") and a note. The value of a group question has its shares
by the groups' numbers (1:1, 0:0.75,1:0.25; none for none of these), whatever groups are called; the
name of the cluster has them by name. In a row without that, a value may name groups, where need be
in quotes ("none", "1":0.75); what could be a number or another group's name is refused. Rows
are only ever appended; an undone answer is a row of its own. Of several rows about one question the
last counts; with a column annotator, the median of what each said last (of rows of shares the
mean), but for rows whose column counts says no. A file of one's own needs the columns item, cluster
and value only, or item and value with the group's name as the value; it is brought into this form,
all rows kept, when first read. Ids are kept to the letter; an apostrophe before = + - @, which
keeps spreadsheets from computing, is put there and taken off again (`askmeans._util.text`).
"""

import csv
import io
import math
import os
import re
import warnings
from pathlib import Path

import numpy as np

from askmeans._util.checks import whole_number
from askmeans._util.files import whole_file
from askmeans._util.text import as_csv, csv_value
from askmeans.exceptions import AnswerError, AskmeansWarning, DataError
from askmeans.queries import Answer, Answers, Ledger, MembershipQueries, Queries, Question
from askmeans.queries.batches import KINDS
from askmeans.queries.questions import ordered
from askmeans.queries.shares import (
    group_of,
    mean_row,
    numbered_text,
    parse_numbered,
    parse_row,
    row_text,
)

__all__ = ["AnswerFile"]

_ITEMS = ["item", "item_2", "item_3"]  # ids, to the letter: spaces and line breaks count
_COLUMNS = ["kind", *_ITEMS, "cluster", "cluster_name", "clusters", "repeat", "value", "note"]
_OPTIONAL = ["annotator", "counts"]  # as `askmeans export` writes them
_UNDONE, _UNSURE = "undone", "cannot say"
_SHARE = re.compile(r":[\d.e-]+(?:,|$)")  # between the names of a row of shares
_NOBODYS = re.compile(r"cluster_\d+|Group [A-Z]+|the group of .*", re.DOTALL)  # names by default

Value = float | tuple[float, ...]


class AnswerFile:
    """Answers on disk, about these items and clusters."""

    def __init__(self, path: Path, ids: list[str], names: list[str]) -> None:
        self.path = path
        self.ids = ids
        self.names = names
        self._rows = {name: row for row, name in enumerate(ids)}

    def ledger(self, *, untouched: bool = False) -> Ledger:
        """The answers held, as a ledger; an empty one where there is no file.

        With `untouched` the file is only read, whatever its form.
        """
        held: dict[Question, dict[str, Value]] = {}
        for number, row in self._read(untouched=untouched):
            where = f"{self.path}, line {number}"
            question, value = self._parse(row, where)
            if row.get("counts", "").lower() in ("false", "no", "0"):
                continue
            said, who = held.pop(question, {}), row.get("annotator", "")
            before = said.pop(who, None)
            if not who:  # of nobody's own: it replaces all
                said = {}
            if value is not None:
                said[who] = value
                if before is not None and _differ(value, before):
                    new, old = self._text(value), self._text(before)
                    _warn(f"{where}: {new} replaces {old}, an answer to the same question.")
            if said:
                held[question] = said
        k = len(self.names)
        return _as_ledger({question: _together(said, k) for question, said in held.items()}, k)

    def append(self, question: Queries, value: Value | None) -> None:
        """Keep an answer (or, for None, that one was undone) before returning."""
        new = not self.path.exists()
        items = [self.ids[row] for row in question.item_table[0]]
        cluster = name = ""
        if isinstance(question, MembershipQueries):
            cluster = str(question.clusters[0])
            name = self.names[question.clusters[0]]
        unsure = value is not None and _is_unsure(value)
        if isinstance(value, tuple) and not unsure:
            name = row_text(value, self.names)
        row = dict.fromkeys(_COLUMNS, "") | {
            "kind": question.kind,
            "cluster": cluster,
            "cluster_name": name,
            "clusters": str(len(self.names)),
            "repeat": str(question.repeat[0]),
            "value": "" if value is None or unsure else _kept(value),
            "note": _UNDONE if value is None else _UNSURE if unsure else "",
        }
        row |= dict(zip(_ITEMS, items, strict=False))
        text = as_csv(_COLUMNS, [list(row.values())])
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(text if new else text.partition("\n")[2])
            file.flush()
            os.fsync(file.fileno())

    def _read(self, *, untouched: bool) -> list[tuple[int, dict[str, str]]]:
        """Rows with their line numbers; afterwards the file is in the form that `append` needs."""
        if not self.path.exists():
            return []
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{self.path} must be a CSV file of answers. Got no text.") from error
        try:
            header, rows = _table(text)
        except csv.Error as error:
            raise DataError(f"{self.path} must be a CSV file of answers. Got '{error}'.") from error
        if not {"item", "value"} <= set(header):
            raise DataError(
                f"{self.path} must have the columns item and value (a group), or item, cluster "
                "(its number) and value (a membership). "
                f"Got {', '.join(header)[:200] or 'none'} instead."
            )
        whole = text.endswith(("\n", "\r")) and text.count('"') % 2 == 0
        if not whole and rows and len(rows[-1][1]) < len(set(header)):
            # A crash while it was written: it was never confirmed.
            _warn(f"{self.path}: the last line is not complete and is left out.")
            rows.pop()
        columns = [*_COLUMNS, *(name for name in _OPTIONAL if name in header)]
        if not untouched and (header != columns or not whole):
            self._rewrite([row for _, row in rows], columns)
        return rows

    def _rewrite(self, rows: list[dict[str, str]], columns: list[str]) -> None:
        """The same rows in our own columns; a crash leaves the old file or the new one."""
        text = as_csv(columns, [[row.get(name, "") for name in columns] for row in rows])
        with whole_file(self.path) as file:
            file.write(text.encode())

    def _text(self, value: Value) -> str:
        """An answer in a message."""
        return row_text(value, self.names) if isinstance(value, tuple) else f"{value:g}"

    def _parse(self, row: dict[str, str], where: str) -> tuple[Question, Value | None]:
        """A row of the file; the second is None for one undone."""
        kind = row.get("kind") or ("membership" if row.get("cluster") else "group")
        if kind not in KINDS:
            raise DataError(
                f"{where}: the kind must be one of {', '.join(KINDS)}. Got {kind!r} instead."
            )
        width = KINDS[kind].width
        names = [row.get(column, "") for column in _ITEMS[:width]]
        others = [row[column] for column in _ITEMS[width:] if row.get(column)]
        if others or len(set(names)) < width or ("" in names and "" not in self._rows):
            told = ", ".join(name for name in [*names, *others] if name)
            raise DataError(
                f"{where}: a {kind} must be about {width} different items. "
                f"Got {told or 'none'} instead."
            )
        for name in names:
            if name not in self._rows:
                raise DataError(
                    f"{where}: there must be an item {name!r} in the data. Got none; is it the "
                    "answer file of other data, or another --id? Spaces and line breaks count."
                )
        items = ordered(kind, (self._rows[name] for name in names))
        cluster = self._cluster(row, where) if kind == "membership" else None
        repeat = whole_number(row.get("repeat") or "0")
        if repeat is None:
            raise DataError(
                f"{where}: the repeat must be a number from 0. Got {row['repeat']!r:.60} instead."
            )
        question = Question(kind, items, cluster, repeat)
        if row.get("note") == _UNDONE:
            return question, None
        if kind == "group":
            return question, self._shares(row, where)
        return question, _value(row.get("value") or "", where)

    def _shares(self, row: dict[str, str], where: str) -> tuple[float, ...]:
        """The answer to a group question, about as many groups as there were."""
        k = len(self.names)
        n = whole_number(row.get("clusters") or str(k))
        if n is None or not 1 <= n <= k:
            raise DataError(
                f"{where}: the answers must be about {k} clusters. Got {row['clusters']} instead; "
                f"use -k {row['clusters']}, or another --answers."
            )
        named, value = row.get("cluster_name", ""), row.get("value") or "?"
        told, by_number = parse_row(value, self.names[:n]), parse_numbered(value, n)
        if by_number is not None:
            if told not in (None, by_number) and not named:
                raise AnswerError(
                    f"{where}: {value!r:.60} may be numbers of groups, from 0, or their names. "
                    f'Write names in quotes: "{self.names[0]}":1.'
                )
            told = by_number
        if told is None:
            raise AnswerError(
                f"{where}: an answer must be one of the groups ({', '.join(self.names[:n])}), "
                f"shares of them that sum to at most 1, or none. Got {row['value']!r:.60} instead."
            )
        name = row_text(told, self.names).strip()
        parts = _SHARE.sub("\n", named).strip("\n").split("\n")
        defaults = all(_NOBODYS.fullmatch(p) and p not in self.names for p in parts)
        if named not in ("", name) and not defaults:
            raise DataError(
                f"{where}: the groups must be called as when they were asked about ({named}). "
                f"Got {name} instead; use the same --names, or another --answers."
            )
        return told

    def _cluster(self, row: dict[str, str], where: str) -> int:
        """The cluster's number, if it is the cluster it was; a name will do."""
        k = len(self.names)
        number = whole_number(row.get("cluster") or "")
        if number is None:
            number = group_of(row.get("cluster") or "", self.names)
        if number is None or number >= k:
            raise DataError(
                f"{where}: the cluster must be a number from 0 to {k - 1}. "
                f"Got {row.get('cluster', '')!r:.60} instead, and no name "
                f"({', '.join(self.names)}); is it the answer file of another -k?"
            )
        if row.get("clusters") not in (None, "", str(k)):
            raise DataError(
                f"{where}: the answers must be about {k} clusters. Got {row['clusters']} instead; "
                f"use -k {row['clusters']}, or another --answers."
            )
        name, told = self.names[number].strip(), row.get("cluster_name", "")
        named = told in self.names or not _NOBODYS.fullmatch(told)
        if told not in ("", name) and named:
            raise DataError(
                f"{where}: cluster {number} must be called {told!r}, as when it was asked about. "
                f"Got {name!r} instead; use the same --names, or another --answers."
            )
        return number


def _table(text: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Header and rows of a CSV file; rows with their line numbers, ids to the letter."""
    reader = csv.reader(io.StringIO(text, newline=""))
    header = [name.strip() for name in next(reader, [])]
    rows = []
    for cells in reader:
        values = [csv_value(cell) for cell in cells]
        if values:
            row = dict(zip(header, values, strict=False))
            ids = {name: row[name] for name in _ITEMS if name in row}
            stripped = {name: value.strip() for name, value in row.items()}
            rows.append((reader.line_num, stripped | ids))
    return header, rows


def _value(text: str, where: str) -> float:
    """An answer in [0, 1]; NaN for an empty one."""
    try:
        value = float(text) if text else math.nan
    except ValueError as error:
        raise AnswerError(
            f"{where}: an answer must be a number from 0 to 1. Got {text!r} instead."
        ) from error
    if value < 0.0 or value > 1.0:
        raise AnswerError(f"{where}: an answer must lie in [0, 1]. Got {value} instead.")
    return value


def _together(said: dict[str, Value], n_clusters: int) -> Value:
    """The median of those who could say; of rows the mean."""
    rows = [value for value in said.values() if isinstance(value, tuple)]
    if rows:
        return rows[0] if len(rows) == 1 else mean_row(rows, n_clusters)
    told = [v for v in said.values() if not isinstance(v, tuple) and not math.isnan(v)]
    return float(np.median(told)) if told else math.nan


def _is_unsure(value: Value) -> bool:
    """Whether it is "cannot say"."""
    return bool(np.isnan(value).all())


def _differ(value: Value, other: Value) -> bool:
    """Whether two who could say said different things."""
    if _is_unsure(value) or _is_unsure(other):
        return False
    if isinstance(value, tuple) and isinstance(other, tuple):
        return len(value) != len(other) or not np.allclose(value, other, atol=1e-4)
    return value != other


def _kept(value: Value) -> str:
    """An answer as the file has it."""
    return numbered_text(value) if isinstance(value, tuple) else repr(float(value))


def _warn(text: str) -> None:
    """Warn of what a file holds."""
    warnings.warn(text, AskmeansWarning, stacklevel=4)


def _as_ledger(held: dict[Question, Value], n_clusters: int) -> Ledger:
    """A ledger of these answers, kind by kind."""
    kinds = list(KINDS)
    records = [
        Answer(round=0, **question._asdict(), value=value)
        for question, value in sorted(held.items(), key=lambda each: kinds.index(each[0].kind))
    ]
    return Answers.of(records, n_clusters).ledger()
