"""A CSV of answers, written as they come, keyed by the items' own ids.

One row an answer: kind, the ids of the items, the cluster, the repeat, the value (empty for "cannot
say") and a note. Rows are only ever appended; an undone answer is a row of its own. Of several rows
about one question the last counts.
"""

import csv
import math
import os
from pathlib import Path

import numpy as np

from askmeans.exceptions import AnswerError, DataError
from askmeans.queries import Ledger, MembershipQueries, PairQueries, Queries, TripletQueries

__all__ = ["AnswerFile"]

_COLUMNS = ["kind", "item", "item_2", "item_3", "cluster", "repeat", "value", "note"]
_UNDONE, _UNSURE = "undone", "cannot say"

Question = tuple[str, tuple[int, ...], int, int]  # kind, items, cluster, repeat


class AnswerFile:
    """Answers on disk."""

    def __init__(self, path: Path, ids: list[str]) -> None:
        self.path = path
        self.ids = ids
        self._rows = {name: row for row, name in enumerate(ids)}

    def ledger(self) -> Ledger:
        """The answers held, as a ledger; an empty one where there is no file."""
        held: dict[Question, float] = {}
        if self.path.exists():
            with self.path.open(newline="") as file:
                reader = csv.DictReader(file)
                if not {"item", "value"} <= set(reader.fieldnames or ()):
                    raise DataError(
                        f"{self.path} must have the columns {', '.join(_COLUMNS)}. "
                        f"Got {reader.fieldnames} instead."
                    )
                for number, row in enumerate(reader, start=2):
                    question, value = self._parse(row, number)
                    held.pop(question, None)
                    if value is not None:
                        held[question] = value
        return _as_ledger(held)

    def append(self, question: Queries, value: float | None) -> None:
        """Keep an answer (or, for None, that one was undone) before returning."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(_COLUMNS)
            items = [self.ids[row] for row in question.item_table[0]]
            cluster = question.clusters[0] if isinstance(question, MembershipQueries) else ""
            unsure = value is not None and math.isnan(value)
            note = _UNDONE if value is None else _UNSURE if unsure else ""
            text = "" if value is None or unsure else repr(float(value))
            padded = items + [""] * (3 - len(items))
            writer.writerow([question.kind, *padded, cluster, question.repeat[0], text, note])
            file.flush()
            os.fsync(file.fileno())

    def _parse(self, row: dict[str, str], number: int) -> tuple[Question, float | None]:
        """A row of the file; the second is None for one undone."""
        try:
            kind = row.get("kind") or "membership"
            names = [row.get(column) or "" for column in ("item", "item_2", "item_3")]
            items = tuple(self._rows[name] for name in names if name)
            cluster = int(row.get("cluster") or 0) if kind == "membership" else -1
            question = (kind, items, cluster, int(row.get("repeat") or 0))
        except KeyError as error:
            raise DataError(
                f"{self.path}, line {number}: there must be an item {error.args[0]!r} in the data. "
                "Got none; is it the answer file of other data, or another --id?"
            ) from error
        except ValueError as error:
            raise DataError(f"{self.path}, line {number}: {error}.") from error
        if row.get("note") == _UNDONE:
            return question, None
        text = (row.get("value") or "").strip()
        try:
            value = float(text) if text else math.nan
        except ValueError as error:
            raise AnswerError(
                f"{self.path}, line {number}: an answer must be a number. Got {text!r} instead."
            ) from error
        if value < 0.0 or value > 1.0:
            raise AnswerError(
                f"{self.path}, line {number}: an answer must lie in [0, 1]. Got {value} instead."
            )
        return question, value


def _as_ledger(held: dict[Question, float]) -> Ledger:
    """A ledger of these answers."""
    ledger = Ledger()
    for kind, make in (("membership", None), ("pair", PairQueries), ("triplet", TripletQueries)):
        mine = [(question, value) for question, value in held.items() if question[0] == kind]
        if not mine:
            continue
        items = np.array([question[1] for question, _ in mine])
        repeat = np.array([question[3] for question, _ in mine])
        batch: Queries
        if make is None:
            clusters = np.array([question[2] for question, _ in mine])
            batch = MembershipQueries(items[:, 0], clusters, repeat=repeat)
        else:
            batch = make(items, repeat=repeat)
        ledger.record(batch, [value for _, value in mine])
    return ledger
