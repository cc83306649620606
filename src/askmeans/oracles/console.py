"""An oracle at the terminal: a person reads the items and types an answer."""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans._util.text import printable
from askmeans.exceptions import DataError, QueryError, StopAsking
from askmeans.queries import GroupQueries, MembershipQueries, Queries, RelativeQueries
from askmeans.queries.values import on_scale, parse_row, scale_text

__all__ = ["ConsoleOracle", "help_text", "leads", "parse_reply", "parse_side",
           "replies_text", "show_values", "wording"]  # fmt: skip

_ENDING = "u to undo the last answer, q to stop and keep what was answered."
_FORMS = {
    "group": "a group's number or name, shares like 1:.7,2:.3, 0 or none for none of these",
    "relative": "a or b, both if it is as much like one as like the other",
}
_REPLIES = {"group": "group, shares, none", "relative": "a, b, both"}
_SIDES = {"a": 1.0, "b": 0.0, "both": 0.5, "=": 0.5}
_TYPICAL = 3  # items shown to tell what a cluster is
_PLACED = 0.5  # of a membership, from which an item tells what a cluster is


Value = float | tuple[float, ...]


class ConsoleOracle:
    r"""Asks in the terminal.

    Shows the items of each question and, for a membership, the cluster's name or items that tell
    what it is: those placed in it most so far, then `exemplars`. Takes a number from 0 to 1 or a
    percentage; to a group question a group's name or number (from 1), shares (``1:.7,2:.3``) or
    ``none`` of these (or 0); to a relative question ``a``, ``b`` or ``both``. ``?`` is "cannot
    say", ``u`` undoes, ``q`` (or Ctrl-C, or the end of input) stops and keeps the answers.

    Parameters
    ----------
    items : pandas.DataFrame, array-like or list of str
        The items as a person should see them, one row each.
    cluster_names : list of str or None, default=None
        Names of the clusters; without them, they go by their typical items.
    exemplars : sequence of sequences of int or None, default=None
        For each cluster, row numbers of items that tell what it is before anybody has answered.
    ids : sequence of str or None, default=None
        What the items are called; their row numbers by default.
    n_questions : int or None, default=None
        About how many questions there will be, which is told with each of them.
    levels : int or None, default=None
        How many points the answers' scale has: an answer between two of them is refused.
    journal : callable or None, default=None
        Called as ``journal(question, value)`` at once for every answer, the question as a batch of
        one, NaN for "cannot say" (of a group question, rows); and with None for an answer undone.
        For saving answers as they come.
    stdin : file or None, default=None
        Where answers are read from; the terminal by default.
    stdout : file or None, default=None
        Where questions are written to; the terminal by default.

    Examples
    --------
    >>> import io
    >>> from askmeans.queries import PairQueries
    >>> oracle = ConsoleOracle(["apple", "pear"], stdin=io.StringIO("70%\n"), stdout=io.StringIO())
    >>> oracle.answer(PairQueries([[0, 1]]))
    array([0.7])
    """

    def __init__(
        self,
        items: Any,
        *,
        cluster_names: Sequence[str] | None = None,
        exemplars: Sequence[Sequence[int]] | None = None,
        ids: Sequence[str] | None = None,
        n_questions: int | None = None,
        levels: int | None = None,
        journal: Callable[[Queries, Value | None], None] | None = None,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
    ) -> None:
        if not hasattr(items, "columns"):
            items = list(items)
        if len(items) == 0:
            raise DataError("items must not be empty. Got none; pass the rows people should see.")
        self.items = items
        if levels is not None:
            check_number(levels, "levels", "ConsoleOracle", integer=True, minimum=2)
        self.cluster_names = cluster_names
        self.exemplars = exemplars
        self.ids = ids
        self.n_questions = n_questions
        self.levels = levels
        self.journal = journal
        self.stdin = stdin
        self.stdout = stdout
        self._placed: dict[int, dict[int, float]] = {}
        self._n_before = 0  # answers of earlier batches
        self._greeted = False

    def __repr__(self) -> str:
        return f"ConsoleOracle({len(self.items)} items)"

    def answer(self, queries: Queries) -> NDArray[np.float64]:
        """Ask a batch, one question after the other; StopAsking has the answers so far."""
        queries.check_items(len(self.items))
        self._check_names(queries)
        if not self._greeted:
            self._greet(queries)
            self._greeted = True
        answers = np.full(queries.shape, np.nan)
        row = 0
        try:
            while row < len(queries):
                row = self._step(queries, answers, row)
        except (EOFError, KeyboardInterrupt):
            self._write("Stopped; your answers are kept.\n")
            raise StopAsking(answers, _reached(answers, row)) from None
        except Exception as error:  # a journal that fails: the answers so far are not lost with it
            raise StopAsking(answers, _reached(answers, row)) from error
        self._n_before += len(queries)
        return answers

    def recall(self, item: int, cluster: int, value: float) -> None:
        """Remember an answer given earlier, so that a cluster still shows its typical items.

        Parameters
        ----------
        item : int
            Row number of the item.
        cluster : int
            Number of the cluster.
        value : float
            The membership answered.

        Examples
        --------
        >>> ConsoleOracle(["apple", "pear"]).recall(0, 1, 0.9)
        """
        self._placed.setdefault(cluster, {})[item] = value

    def _greet(self, queries: Queries) -> None:
        """Say once how to answer, how much there is to answer, and what the clusters are."""
        text = help_text(queries.kind, _ENDING) + "\n"
        if self.levels is not None and not isinstance(queries, RelativeQueries):
            text += f"The scale is {scale_text(self.levels)}.\n"
        if self.n_questions is not None:
            text += f"There will be about {self.n_questions} questions.\n"
        if self.exemplars is not None and isinstance(queries, MembershipQueries | GroupQueries):
            text += "The clusters, and items that are like them:\n"
            for cluster, rows in enumerate(self.exemplars):
                text += f"  {self._plain_name(cluster)}\n"
                text += "".join(f"    {self._called(row)}\n" for row in rows[:_TYPICAL])
        self._write(text)

    def _step(self, queries: Queries, answers: NDArray[np.float64], row: int) -> int:
        """Ask one question; returns the row of the next, which is the last one after an undo."""
        reply = self._ask(queries, row)
        if reply == "q":
            raise EOFError
        if reply == "u":
            if row == 0:
                self._write("Nothing to undo: earlier answers were used for this question.\n")
                return row
            answers[row - 1] = np.nan
            self._note(queries, row - 1, None)
            self._remember(queries, row - 1, np.nan)
            return row - 1
        value: Value | None = parse_reply(reply)
        if isinstance(queries, GroupQueries):
            value = parse_row(reply, self._group_names(queries.n_clusters), first=1)
        elif isinstance(queries, RelativeQueries):
            value = parse_side(reply)
        if value is None:
            self._write(f"{reply!r} is no answer. {help_text(queries.kind, _ENDING)}\n")
            return row
        if self.levels is not None and not isinstance(queries, RelativeQueries):
            value = _on_scale(value, self.levels)
            if value is None:
                points = scale_text(self.levels)
                self._write(f"{reply!r} is no point of the scale. It is {points}.\n")
                return row
        answers[row] = value
        self._note(queries, row, value)
        self._remember(queries, row, value)
        return row + 1

    def _check_names(self, queries: Queries) -> None:
        """Refuse a cluster that has no name, where clusters have names."""
        if self.cluster_names is None or not isinstance(queries, MembershipQueries | GroupQueries):
            return
        last = queries.shape[-1] - 1
        if isinstance(queries, MembershipQueries):
            last = int(queries.clusters.max(initial=0))
        if last >= len(self.cluster_names):
            raise QueryError(
                f"cluster_names must have a name for every cluster. Got {len(self.cluster_names)} "
                f"names and a question about cluster {last}."
            )

    def _ask(self, queries: Queries, row: int) -> str:
        """Show one question and read one line."""
        items = queries.item_table[row].tolist()
        text = f"\nQuestion {row + 1} of {len(queries)}\n"
        if self.n_questions is not None:
            number = self._n_before + row + 1
            text = f"\nQuestion {number} of about {max(number, self.n_questions)}\n"
        for lead, item in zip(leads(queries.kind, len(items)), items, strict=True):
            text += f"  {lead}item {self._called(item)}\n"
        name = None
        if isinstance(queries, MembershipQueries):
            name = self._name(int(queries.clusters[row]), items[0])
        if isinstance(queries, GroupQueries):
            for cluster in range(queries.n_clusters):
                text += f"    {cluster + 1}  {self._name(cluster, items[0])}\n"
        self._write(
            f"{text}{wording(queries.kind, len(items), name)} "
            f"[{replies_text(queries.kind)}, ?, u, q] "
        )
        line = (self.stdin or sys.stdin).readline()
        if not line:
            raise EOFError
        return line.strip().lower()

    def _show(self, item: int) -> str:
        """An item in a line."""
        if hasattr(self.items, "columns"):
            # Not iloc[item]: a row as a series turns whole numbers beside others into floats.
            row = next(self.items.iloc[[item]].itertuples(index=False, name=None))
            return show_values(zip(self.items.columns, row, strict=True))
        value = self.items[item]
        if isinstance(value, str) or not np.iterable(value):
            return str(value)
        return ", ".join(str(part) for part in value)

    def _called(self, item: int) -> str:
        """An item with its name, or its number."""
        return f"{item if self.ids is None else self.ids[item]}: {self._show(item)}"

    def _group_names(self, n_clusters: int) -> list[str]:
        """What the clusters are called, by number."""
        return [self._plain_name(cluster) for cluster in range(n_clusters)]

    def _plain_name(self, cluster: int) -> str:
        """A cluster's name, or its number as people count."""
        if self.cluster_names is not None:
            return str(self.cluster_names[cluster])
        return f"cluster {cluster + 1}"

    def _name(self, cluster: int, item: int) -> str:
        """A cluster's name, and where that is not enough other items that are typical of it."""
        name = self._plain_name(cluster)
        if self.cluster_names is not None and self.exemplars is None:
            return name
        values = self._placed.get(cluster, {})
        best = sorted(
            (row for row, value in values.items() if value >= _PLACED),
            key=lambda row: (-values[row], row),
        )
        if self.exemplars is not None:
            best += [row for row in self.exemplars[cluster] if not self._excluded(row, cluster)]
        best = [row for row in dict.fromkeys(best) if row != item][:_TYPICAL]
        show = self._show if self.ids is None else self._called
        labels = "; ".join(show(row) for row in best)
        return f"{name} (items like: {labels})" if labels else name

    def _excluded(self, item: int, cluster: int) -> bool:
        """Whether answers place an item in another cluster, or not in this one."""
        values = {j: placed[item] for j, placed in self._placed.items() if item in placed}
        return any(
            value < _PLACED if j == cluster else value >= _PLACED for j, value in values.items()
        )

    def _remember(self, queries: Queries, row: int, value: Value) -> None:
        """Keep what tells a cluster's typical items; NaN takes it back."""
        if isinstance(queries, MembershipQueries):
            self.recall(int(queries.items[row]), int(queries.clusters[row]), float(np.max(value)))
        elif isinstance(queries, GroupQueries):
            for cluster, share in enumerate(np.broadcast_to(value, queries.n_clusters).tolist()):
                self.recall(int(queries.items[row]), cluster, share)

    def _note(self, queries: Queries, row: int, value: Value | None) -> None:
        """Tell the journal, if there is one."""
        if self.journal is not None:
            self.journal(queries.take(slice(row, row + 1)), value)

    def _write(self, text: str) -> None:
        """Write to the terminal at once."""
        stream = self.stdout or sys.stdout
        stream.write(printable(text))
        stream.flush()


def help_text(kind: str, ending: str) -> str:
    """How to answer a question of this kind; the ending is about other keys."""
    form = _FORMS.get(kind, "a number from 0 to 1 or a percentage (25%)")
    return f"Type {form}, ? if you cannot say, {ending}"


def replies_text(kind: str) -> str:
    """The answers to a question of this kind, in a prompt."""
    return _REPLIES.get(kind, "0..1")


def leads(kind: str, n_items: int) -> tuple[str, ...]:
    """The words before each item of a question: the letters that an answer names."""
    return ("", "a: ", "b: ") if kind == "relative" else ("",) * n_items


def wording(kind: str, n_items: int, cluster_name: str | None) -> str:
    """The question as people read it: about a cluster, an item, or two or three items."""
    if kind == "relative":
        return "Is the first more like a or like b?"
    if cluster_name is not None:
        return f"How much does it belong to {cluster_name}?"
    if n_items == 1:
        return "To which group does it belong?"
    these = "these two" if n_items == 2 else "these three"
    return f"How similar are {these}? (1: surely all of one group; 0: surely not)"


def show_values(values: Iterable[tuple[object, object]]) -> str:
    """Names and values in a line."""
    return ", ".join(f"{name} = {value}" for name, value in values)


def _on_scale(value: Value, levels: int) -> Value | None:
    """The points of a scale that are meant; NaN stays."""
    if not isinstance(value, tuple):
        return value if math.isnan(value) else on_scale(value, levels)
    if any(math.isnan(share) for share in value):
        return value
    points = [on_scale(share, levels) for share in value]
    row = tuple(point for point in points if point is not None)
    return row if len(row) == len(points) and sum(row) <= 1.0 + 1e-9 else None


def _reached(answers: NDArray[np.float64], row: int) -> NDArray[np.bool_]:
    """Which questions were reached: those before this one, and what has an answer already."""
    silent = np.isnan(answers).reshape(len(answers), -1)
    reached: NDArray[np.bool_] = silent.sum(axis=1) < silent.shape[1]
    reached[:row] = True
    return reached


def parse_side(reply: str) -> float | None:
    """1 for a, 0 for b, one half for both, NaN for "?", None for what is no answer."""
    value = _SIDES.get(reply, parse_reply(reply))
    return value if value is None or math.isnan(value) else on_scale(value, 3)


def parse_reply(reply: str) -> float | None:
    """A number in [0, 1], NaN for "?", None for what is no answer."""
    if reply == "?":
        return math.nan
    try:
        value = float(reply.removesuffix("%").replace(",", "."))
    except ValueError:
        return None
    if reply.endswith("%"):
        value /= 100.0
    return value if 0.0 <= value <= 1.0 else None
