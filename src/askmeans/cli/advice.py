"""`--advice`: what other classifiers or old labels say of the items, from columns of the data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans.cli.options import comma_list
from askmeans.exceptions import DataError, ParameterError
from askmeans.spec import SIMILARITIES
from askmeans.tables.reading import RawTable, check_column

if TYPE_CHECKING:
    import pandas as pd

    from askmeans.sessions import Session


def without_advice(table: RawTable, advice: Sequence[str] | None) -> RawTable:
    """The table without the columns of --advice, which are no features and shown to nobody."""
    columns = [column for word in advice or () for column in _columns(word)]
    for column in columns:
        check_column(table.frame, column)
    return replace(table, frame=table.frame.drop(columns=columns)) if columns else table


def label_names(
    table: RawTable, advice: Sequence[str] | None, n_clusters: int | str
) -> list[str] | None:
    """The labels of a column of --advice in sorted order, where there is one for each group."""
    for word in advice or ():
        if len(_columns(word)) == 1:
            labels = sorted(set(table.frame[word].dropna().astype(str)))
            if len(labels) == n_clusters:
                return labels
    return None


def advice_of(
    table: RawTable, rows: Rows, advice: Sequence[str] | None, names: Sequence[str],
    ask: str,
) -> dict[str, Floats]:  # fmt: skip
    """For each --advice a row of shares for each item, NaN where it says nothing."""
    if advice and ask in SIMILARITIES:
        raise ParameterError(
            f"--advice must be left out with --ask {ask}: similarities do not tell which group is "
            f"which. Got {', '.join(advice)}; leave it out."
        )
    frame = table.frame.iloc[rows]
    return {
        word: _of_labels(frame[word], names) if len(_columns(word)) == 1
        else _of_scores(frame[_columns(word)], names)
        for word in advice or ()
    }  # fmt: skip


def add_advice(session: "Session", advice: dict[str, Floats]) -> None:
    """Add advice to a new session."""
    for name, shares in advice.items():
        known = np.flatnonzero(~np.isnan(shares).any(axis=1))
        numbers = [group.number for group in session.groups]
        session.advisers.add(
            name,
            {int(row): dict(zip(numbers, shares[row].tolist(), strict=True)) for row in known},
        )


def _columns(word: str) -> list[str]:
    """The columns of one --advice."""
    return comma_list(word) or []


def _of_labels(labels: "pd.Series", names: Sequence[str]) -> Floats:
    """Rows of labels, which are names of groups."""
    numbers = {name: number for number, name in enumerate(names)}
    known = labels.notna().to_numpy()
    words = labels.astype(str).tolist()
    other = sorted({word for word, is_there in zip(words, known, strict=True) if is_there}
                   - numbers.keys())  # fmt: skip
    if other:
        raise DataError(
            f"Column {labels.name!r} must have names of groups to be advice: {', '.join(names)}. "
            f"Got {', '.join(other[:5])}; name the groups with --names, or correct the column."
        )
    table = np.full((len(words), len(names)), np.nan)
    for row in np.flatnonzero(known):
        table[row] = 0.0
        table[row, numbers[words[row]]] = 1.0
    return table


def _of_scores(frame: "pd.DataFrame", names: Sequence[str]) -> Floats:
    """Rows of scores, one for each group, divided by their sums."""
    try:
        scores = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Columns {', '.join(frame.columns)} must be scores of groups. Got '{error}'."
        ) from error
    if scores.shape[1] != len(names) or (scores < 0.0).any() or np.isinf(scores).any():
        raise DataError(
            f"--advice must have a column of scores from 0 for each of {len(names)} groups, in "
            f"their order, or one column of labels. Got {', '.join(frame.columns)} with values "
            f"from {np.nanmin(scores):g} to {np.nanmax(scores):g}."
        )
    sums = scores.sum(axis=1, keepdims=True)
    return np.where(sums > 0.0, scores / np.where(sums > 0.0, sums, 1.0), np.nan)
