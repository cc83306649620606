"""What a session gives away: memberships, centres and answers as tables; samples of its groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askmeans.oracles.model_names import GroupSample, typical_words
from askmeans.results import without_traces
from askmeans.sessions.display import Item
from askmeans.sessions.reports import Group, SessionResult
from askmeans.sessions.session import Session
from askmeans.shares import numbered_text, row_text
from askmeans.text import as_csv

__all__ = [
    "Table",
    "answers_table",
    "centers_table",
    "group_samples",
    "memberships_table",
    "shown_item",
]

_ITEMS = ("item", "item_2", "item_3")
_ANSWERS = ["kind", *_ITEMS, "cluster", "cluster_name", "clusters", "repeat", "value", "note",
            "question", "annotator", "late", "counts", "at"]  # fmt: skip

_EXAMPLES = 5
_READ = 2000  # items whose words are counted
_SURE = 0.5  # of a membership, from which on an item speaks for a group


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


def memberships_table(result: SessionResult) -> Table:
    """One row an item."""
    names = list(result.cluster_names)
    rows = zip(result.ids, without_traces(result.memberships).tolist(), strict=True)
    return Table(
        columns=["id", *names],
        rows=[[name, *memberships] for name, memberships in rows],
    )


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
            for name, center in zip(result.cluster_names, centers.tolist(), strict=True)
        ],
    )


def answers_table(session: Session) -> Table:
    """One row an answer that stands, in the form that `askmeans import` and `fit` read."""
    ids = session.rows.ids()
    names = session.group_names
    rows: list[list[Any]] = []
    for receipt in session.history():
        if receipt.kind == "skip":
            continue
        assert receipt.question is not None
        question = session.question(receipt.question)
        cluster, value = question.cluster, receipt.value
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
                receipt.annotator,
                receipt.late,
                receipt.counts,
                receipt.at,
            ]
        )
    return Table(columns=list(_ANSWERS), rows=rows)


def group_samples(session: Session, groups: Sequence[Group]) -> list[GroupSample]:
    """For each of these groups its name, typical items, and typical words of their texts."""
    U = session.result().memberships
    rows = np.flatnonzero(U.max(axis=1) > _SURE)[:_READ]
    texts = [_words(session.item(int(row))) for row in rows]
    # Somebody may be in no group: each has words of its own, or none.
    words = typical_words(texts, U[rows].argmax(axis=1).tolist())
    words += [[] for _ in range(len(groups) - len(words))]
    return [
        GroupSample(
            name=group.name,
            examples=tuple(
                shown_item(session.item(row))
                for row in session.exemplars(group.number, n=_EXAMPLES)
            ),
            words=tuple(typical),
        )
        for group, typical in zip(groups, words, strict=False)
    ]


def shown_item(item: Item) -> dict[str, object]:
    """What people see of an item, but for its id and picture."""
    text = {} if item.text is None else {"text": item.text}
    return {**text, **item.fields}


def _words(item: Item) -> str:
    """The texts of an item."""
    fields = [value for value in item.fields.values() if isinstance(value, str)]
    return " ".join([item.text or "", *fields])
