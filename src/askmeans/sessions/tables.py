"""What a session gives away: memberships, centres and answers as tables."""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.files import MOST_ROWS, write_sheet
from askmeans._util.message import Message
from askmeans._util.text import as_csv, printable
from askmeans.exceptions import DataError
from askmeans.queries import is_model
from askmeans.queries.values import numbered_text, row_text
from askmeans.results import strongest_clusters, without_traces
from askmeans.sessions.events import Reply, Skip
from askmeans.sessions.group_numbers import unique_names
from askmeans.sessions.opening import load_record
from askmeans.sessions.reports import Question, SessionResult
from askmeans.sessions.rows import Rows
from askmeans.sessions.session import Session
from askmeans.sessions.state import State
from askmeans.sessions.store import open_store
from askmeans.sessions.store.records import as_written

_ITEMS = ("item", "item_2", "item_3")
_ANSWERS = ["kind", *_ITEMS, "cluster", "cluster_name", "clusters", "repeat", "value", "note",
            "question", "annotator", "late", "counts", "at"]  # fmt: skip

NO_GROUP = -1  # the number of the group of an item that belongs to none
_NONE = "none of these"  # the group of an item that belongs to no group
_GUESS = "guess"  # by whom an item was put into its group, where no person was


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Names of columns, and rows of plain values."""

    columns: list[str]
    rows: list[list[Any]]

    def records(self) -> list[dict[str, Any]]:
        """Every row by its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_csv(self) -> str:
        """The table as a CSV file that no spreadsheet takes for formulas."""
        return as_csv(self.columns, self.rows)

    def to_excel(self) -> bytes:
        """The table as a workbook; control characters, which Excel refuses, are spelt out."""
        if len(self.rows) >= MOST_ROWS:
            raise DataError(
                f"A sheet of Excel has at most {MOST_ROWS - 1:,} rows. Got {len(self.rows):,}; "
                "write a CSV file.",
                user_message=Message(
                    "A sheet of Excel cannot hold so many items. Download the CSV file."
                ),
            )
        rows = (
            [printable(value) if isinstance(value, str) else value for value in row]
            for row in (self.columns, *self.rows)
        )
        file = io.BytesIO()
        write_sheet("items", rows, file)
        return file.getvalue()


def result_tables(session: Session, result: SessionResult) -> dict[str, Table]:
    """All tables of a result, by their names."""
    return {
        "memberships": spreadsheet_table(session, result),
        "centers": centers_table(session, result),
        "answers": answers_table(session),
    }


def tables_as_json(session: Session, result: SessionResult) -> str:
    """All tables of a result in one JSON text."""
    values = {"complete": result.complete, "state": str(result.state), "basis": result.basis}
    tables = {name: table.records() for name, table in result_tables(session, result).items()}
    return f"{json.dumps({**values, **tables}, indent=1)}\n"


def memberships_table(session: Session, result: SessionResult) -> Table:
    """One row an item: its group, how sure that is, who decided it, and all its memberships.

    `group` is empty where an item belongs to each alike, as before the first answer; `share` is the
    membership of the group, or what is unassigned. Where groups have sub-groups, `path` is the
    group with those that it is within: "returns / broken". The column `unassigned` is there
    where an item was answered "none of these". A group of the same name as one of these columns
    keeps it, and the column has "_" appended.
    """
    names = list(result.group_names)
    U = without_traces(result.memberships)
    strongest, unassigned = strongest_clusters(U), result.unassigned
    if unassigned is not None and not unassigned.any():
        unassigned = None
    none = 1.0 - U.sum(axis=1) if unassigned is None else unassigned
    columns: dict[str, list[Any]] = {
        "group": [
            None if alike else names[j] if j >= 0 else _NONE
            for j, alike in zip(strongest.tolist(), _alike(U), strict=True)
        ],
        "share": np.where(strongest >= 0, U.max(axis=1), none).tolist(),
    }
    if result.confidence is not None:
        columns["confidence"] = result.confidence.tolist()
    if unassigned is not None:
        columns["unassigned"] = without_traces(unassigned).tolist()
    if result.upper:
        paths = {group.name: group.path for group in session.groups}
        columns = {
            "group": columns["group"],
            "path": [paths.get(name, name) for name in columns["group"]],
            **columns,
        }
    numbers = {group.name: group.number for group in session.groups} | {_NONE: NO_GROUP}
    decided = deciders(session, [numbers.get(group) for group in columns["group"]])
    columns["decided_by"] = [
        ", ".join(decided.get(row, ())) or (None if group is None else _GUESS)
        for row, group in enumerate(columns["group"])
    ]
    before = zip(result.ids, *columns.values(), strict=True)
    return Table(
        columns=["id", *(f"{name}_" if name in names else name for name in columns), *names],
        rows=[[*some, *shares] for some, shares in zip(before, U.tolist(), strict=True)],
    )


def spreadsheet_table(session: Session, result: SessionResult) -> Table:
    """All columns of the items, also hidden ones, then those of `memberships_table`.

    Ids are left out where a column "id" has them. Another column of the result with the name of one
    of the items has "_" appended.
    """
    table, columns = memberships_table(session, result), list(session.rows.columns)
    skipped = int("id" in columns)
    for name in table.columns[skipped:]:
        columns.append(f"{name}_" if name in columns else name)
    rows = [[*session.rows.values(row), *each[skipped:]] for row, each in enumerate(table.rows)]
    return Table(columns=columns, rows=rows)


def _alike(U: NDArray[np.float64]) -> list[bool]:
    """Whether a row belongs to each of several groups alike, as before there are answers."""
    several = U.shape[1] > 1
    alike: list[bool] = (several & (np.ptp(U, axis=1) < 1e-12) & (U.max(axis=1) > 0.0)).tolist()
    return alike


def deciders(session: Session, groups: Sequence[int | None]) -> dict[int, list[str]]:
    """The annotators who answered that an item belongs where it does, by row.

    `groups` has the number of each item's group, `NO_GROUP`, or None where it is not known: then
    all who answered are named. Who named only a group above did not decide the group below.
    """
    members = {group.number: session.runtime.groups.members(group.number)
               for group in session.groups}  # fmt: skip
    decided: dict[int, dict[str, None]] = {}
    for answer in session.history.answers():
        if answer.value is None or is_model(answer.annotator):
            continue
        question = session.question(answer.question)
        row, value = question.items[0], answer.value
        if question.kind not in ("group", "membership") or row >= len(groups):
            continue
        group, agrees = groups[row], True
        if isinstance(value, tuple) and group == NO_GROUP:
            agrees = sum(value) < 1.0
        elif isinstance(value, tuple) and group in members:
            agrees = any(value[j] for j in members[group] if j < len(value))
        if agrees:
            decided.setdefault(row, {})[answer.annotator] = None
    return {row: list(names) for row, names in decided.items()}


def centers_table(session: Session, result: SessionResult) -> Table:
    """One row a cluster, in the data's own units."""
    centers = result.clustering.centers
    if session.config.units is not None:
        middle, width = np.array(session.config.units)
        centers = centers * width + middle
    features = session.config.feature_names or [f"x{j}" for j in range(centers.shape[1])]
    return Table(
        columns=["cluster" if "cluster" not in features else "cluster_", *features],
        rows=[
            [name, *center]
            for name, center in zip(result.group_names, centers.tolist(), strict=True)
        ],
    )


def answers_table(session: Session) -> Table:
    """One row an answer that stands, in the form that `askmeans import` and `fit` read."""
    return _answers_table(
        session.rows.ids(),
        session.groups.all_names,
        ((session.question(answer.question), answer) for answer in session.history.answers()),
    )


def stored_answers(url: str | Path, name: str | None) -> Table:
    """The answers of a session that cannot be opened: one made with a strategy of the paper."""
    store = open_store(url)
    try:
        record = load_record(store, name)
        config, ids = record.config, Rows(store, record).ids()
        questions, state = dict(store.questions(record.id)), State()
        with as_written(store.url):
            state.fold(store.events(record.id))
            known = dict(enumerate(config["cluster_names"] or ())) | state.names
            names = unique_names(known, config["n_clusters"])
        return _answers_table(
            ids, names,
            ((Question(id=event.question, **questions[event.question]._asdict()),
              state.as_of_now(event)) for event in state.replies()),
        )  # fmt: skip
    finally:
        store.close()


def _answers_table(
    ids: Sequence[str], names: list[str], answers: Iterable[tuple[Question, Reply]]
) -> Table:
    """One row an answer, without skips."""
    rows: list[list[Any]] = []
    for question, answer in answers:
        if isinstance(answer, Skip):
            continue
        cluster, value = question.cluster, answer.value
        name = "" if cluster is None else names[cluster]
        clusters = len(names)
        items = [ids[row] for row in question.items]
        if isinstance(value, tuple):  # of as many groups as there were
            name, clusters = row_text(value, names), len(value)
        rows.append(
            [
                question.kind,
                *(items + [""] * len(_ITEMS))[: len(_ITEMS)],
                "" if cluster is None else str(cluster),
                name,
                str(clusters),
                question.repeat,
                numbered_text(value) if isinstance(value, tuple) else value,
                "cannot say" if value is None else "",
                question.id,
                answer.annotator,
                answer.late,
                answer.counts,
                answer.at,
            ]
        )
    return Table(columns=list(_ANSWERS), rows=rows)
