"""Questions in a terminal: how they are shown, how replies are read, and an oracle that asks so.

`askmeans answer` and `askmeans fit` ask with the same `Card` and `Terminal`.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_number
from askmeans._util.text import printable
from askmeans.exceptions import DataError, QueryError, StopAsking
from askmeans.queries import GroupQueries, MembershipQueries, Queries
from askmeans.queries.values import on_scale, parse_row, scale_text

Value = float | tuple[float, ...]

FIRST = 1  # number of the first group, as on the page
_KEYS = {
    "s": "s to skip",
    "u": "u to undo the last answer",
    "q": "q to stop; all answers are kept",
}
_FORMS = {
    "group": "a group's number or name, shares like 1:.7,2:.3, 0 or none for none of these",
    "relative": "a or b, whichever the first is more like, or both",
}
_NUMBER_FORM = "a number from 0 to 1 or a percentage (25%)"
_REPLIES = {"group": "group, shares, none", "relative": "a, b, both"}
_SIDES = {"a": 1.0, "b": 0.0, "both": 0.5, "=": 0.5}
_N_TYPICAL = 3  # typical items of a cluster that are shown
_TYPICAL = 0.5  # the least membership of a typical item


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A question as a terminal shows it.

    `items` are lines; `cluster` is what a membership is about; `groups` are the names of the groups
    to choose from, and `group_lines` the same with typical items.
    """

    kind: str
    items: Sequence[str]
    cluster: str | None = None
    groups: Sequence[str] = ()
    group_lines: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The items, the groups, and what is asked."""
        leads = ("", "a: ", "b: ") if self.kind == "relative" else ("",) * len(self.items)
        text = "".join(
            f"  {lead}item {item}\n" for lead, item in zip(leads, self.items, strict=True)
        )
        text += "".join(f"    {j}  {line}\n" for j, line in enumerate(self.group_lines, FIRST))
        if self.kind == "relative":
            return f"{text}Is the first more like a or like b?"
        if self.kind == "membership":
            return f"{text}How much does it belong to {self.cluster}?"
        if self.kind == "group":
            return f"{text}To which group does it belong?"
        these = "these two" if len(self.items) == 2 else "these three"
        return f"{text}How similar are {these}? (1: surely all of one group; 0: surely not)"

    def parse(self, reply: str) -> Value | None:
        """The typed answer; NaN for "?", None for what is not an answer."""
        if self.kind == "group":
            return parse_row(reply, self.groups, FIRST)
        reply = reply.strip().lower()
        if self.kind == "relative" and reply in _SIDES:
            return _SIDES[reply]
        if reply == "?":
            return math.nan
        try:
            value = float(reply.removesuffix("%").replace(",", "."))
        except ValueError:
            return None
        if reply.endswith("%"):
            value /= 100.0
        if not 0.0 <= value <= 1.0:
            return None
        return on_scale(value, 3) if self.kind == "relative" else value


def answer_form(kind: str) -> str:
    """How an answer to a question of this kind is typed."""
    return _FORMS.get(kind, _NUMBER_FORM)


class Terminal:
    """Shows cards and reads replies; `keys` are the letters that are commands, such as "uq"."""

    def __init__(
        self, keys: str, *, stdin: TextIO | None = None, stdout: TextIO | None = None
    ) -> None:
        self.keys = keys
        self.stdin = stdin
        self.stdout = stdout

    def write(self, text: str) -> None:
        """Write at once."""
        stream = self.stdout or sys.stdout
        stream.write(printable(text))
        stream.flush()

    def read(self, prompt: str) -> str:
        """One line from the user; EOFError when they stop."""
        self.write(prompt)
        line = (self.stdin or sys.stdin).readline()
        if not line or line.strip().lower() == "q":
            raise EOFError
        return line.strip()

    def help(self, kind: str) -> str:
        """How to answer a question of this kind, in a line."""
        keys = ", ".join(_KEYS[key] for key in self.keys)
        return f"Type {answer_form(kind)}, ? if you cannot say, {keys}.\n"

    def ask(self, heading: str, card: Card) -> Value | str:
        """The answer, or the key that was pressed; asks again where it is neither."""
        replies = ", ".join((_REPLIES.get(card.kind, "0..1"), "?", *self.keys))
        while True:
            reply = self.read(f"\n{heading}\n{card.text} [{replies}] ")
            if reply.lower() in tuple(self.keys):
                return reply.lower()
            value = card.parse(reply)
            if value is not None:
                return value
            self.write(f"{reply!r} is not an answer. {self.help(card.kind)}")


class ConsoleOracle:
    r"""Asks in the terminal.

    Shows the items of each question and, for a membership, the cluster's name or typical items:
    those placed in it most so far, then `exemplars`. Takes a number from 0 to 1 or a percentage; to
    a group question a group's name or number (from 1), shares (``1:.7,2:.3``) or ``none`` of these
    (or 0); to a relative question ``a``, ``b`` or ``both``. ``?`` is "cannot say", ``u`` undoes,
    ``q`` (or Ctrl-C, or the end of input) stops and keeps the answers.

    Parameters
    ----------
    items : pandas.DataFrame, array-like or list of str
        The items as a person should see them, one row each.
    cluster_names : list of str or None, default=None
        Names of the clusters; without them, they go by their typical items.
    exemplars : sequence of sequences of int or None, default=None
        For each cluster, row numbers of typical items, shown before anybody has answered.
    ids : sequence of str or None, default=None
        Names of the items; their row numbers by default.
    levels : int or None, default=None
        Number of points of the answers' scale: an answer between two of them is refused.
    journal : callable or None, default=None
        Called as ``journal(question, value)`` at once for every answer, the question as a batch of
        one, NaN for "cannot say" (a row, for a group question); and with None for an answer undone.
        `RememberingOracle` saves answers in this way.
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
        self.levels = levels
        self.journal = journal
        self._terminal = Terminal("uq", stdin=stdin, stdout=stdout)
        self._memberships: dict[int, dict[int, float]] = {}  # answered, by cluster and item
        self._greeted = False

    def __repr__(self) -> str:
        return f"ConsoleOracle({len(self.items)} items)"

    def answer(self, queries: Queries) -> Floats:
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
                row = self._answer_one(queries, answers, row)
        except (EOFError, KeyboardInterrupt):
            self._terminal.write("Stopped; your answers are kept.\n")
            raise StopAsking(answers, _reached(answers, row)) from None
        except Exception as error:  # a journal that fails: the answers so far are not lost with it
            raise StopAsking(answers, _reached(answers, row)) from error
        return answers

    def _greet(self, queries: Queries) -> None:
        """Explain once how to answer, and what the clusters are."""
        text = self._terminal.help(queries.kind)
        levels = self._levels_of(queries)
        if levels is not None:
            text += f"The scale is {scale_text(levels)}.\n"
        if self.exemplars is not None and isinstance(queries, MembershipQueries | GroupQueries):
            text += "The clusters, and typical items of each:\n"
            for cluster, rows in enumerate(self.exemplars):
                text += f"  {self._name(cluster)}\n"
                text += "".join(f"    {self._labelled(row)}\n" for row in rows[:_N_TYPICAL])
        self._terminal.write(text)

    def _answer_one(self, queries: Queries, answers: Floats, row: int) -> int:
        """Ask one question; returns the row of the next, which is the last one after an undo."""
        heading = f"Question {row + 1} of {len(queries)}"
        value = self._terminal.ask(heading, self._card(queries, row))
        if isinstance(value, str):  # undo
            if row == 0:
                self._terminal.write("Nothing to undo: earlier answers led to this question.\n")
                return row
            self._keep(queries, answers, row - 1, None)
            return row - 1
        levels = self._levels_of(queries)
        if levels is not None:
            point = _on_scale(value, levels)
            if point is None:
                points = scale_text(levels)
                self._terminal.write(f"This is not a point of the scale. It is {points}.\n")
                return row
            value = point
        self._keep(queries, answers, row, value)
        return row + 1

    def _keep(self, queries: Queries, answers: Floats, row: int, value: Value | None) -> None:
        """Note an answer, or with None that it was undone."""
        answers[row] = np.nan if value is None else value
        if self.journal is not None:
            self.journal(queries.take(slice(row, row + 1)), value)
        if isinstance(queries, MembershipQueries):
            shares = {int(queries.clusters[row]): float(answers[row])}
        elif isinstance(queries, GroupQueries):
            shares = dict(enumerate(answers[row].tolist()))
        else:
            return
        for cluster, share in shares.items():
            self._memberships.setdefault(cluster, {})[int(queries.items[row])] = share

    def _levels_of(self, queries: Queries) -> int | None:
        """Number of points of the answers' scale; None without one."""
        return None if queries.kind == "relative" else self.levels

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

    def _card(self, queries: Queries, row: int) -> Card:
        """A question of the batch as it is shown."""
        items = queries.item_table[row].tolist()
        cluster, groups = None, range(0)
        if isinstance(queries, MembershipQueries):
            cluster = self._with_typical(int(queries.clusters[row]), items[0])
        if isinstance(queries, GroupQueries):
            groups = range(queries.n_clusters)
        return Card(
            kind=queries.kind,
            items=[self._labelled(item) for item in items],
            cluster=cluster,
            groups=[self._name(group) for group in groups],
            group_lines=[self._with_typical(group, items[0]) for group in groups],
        )

    def _shown(self, item: int) -> str:
        """An item in a line."""
        if hasattr(self.items, "columns"):
            # Not iloc[item]: a row as a series turns whole numbers beside others into floats.
            row = next(self.items.iloc[[item]].itertuples(index=False, name=None))
            return fields_text(zip(self.items.columns, row, strict=True))
        value = self.items[item]
        if isinstance(value, str) or not np.iterable(value):
            return str(value)
        return ", ".join(str(part) for part in value)

    def _labelled(self, item: int) -> str:
        """An item after its id or number."""
        return f"{item if self.ids is None else self.ids[item]}: {self._shown(item)}"

    def _name(self, cluster: int) -> str:
        """A cluster's name, or its number from 1."""
        if self.cluster_names is not None:
            return str(self.cluster_names[cluster])
        return f"cluster {cluster + FIRST}"

    def _with_typical(self, cluster: int, item: int) -> str:
        """A cluster's name, and where nobody chose that, other items that are typical of it."""
        name = self._name(cluster)
        if self.cluster_names is not None and self.exemplars is None:
            return name
        values = self._memberships.get(cluster, {})
        typical = sorted(
            (row for row, value in values.items() if value >= _TYPICAL),
            key=lambda row: (-values[row], row),
        )
        if self.exemplars is not None:
            typical += [row for row in self.exemplars[cluster] if not self._excluded(row, cluster)]
        typical = [row for row in dict.fromkeys(typical) if row != item][:_N_TYPICAL]
        show = self._shown if self.ids is None else self._labelled
        labels = "; ".join(show(row) for row in typical)
        return f"{name} (items like: {labels})" if labels else name

    def _excluded(self, item: int, cluster: int) -> bool:
        """Whether answers place an item in another cluster, or not in this one."""
        values = {j: known[item] for j, known in self._memberships.items() if item in known}
        return any(
            value < _TYPICAL if j == cluster else value >= _TYPICAL for j, value in values.items()
        )


def fields_text(values: Iterable[tuple[object, object]]) -> str:
    """Names and values in a line."""
    return ", ".join(f"{name} = {value}" for name, value in values)


def _on_scale(value: Value, levels: int) -> Value | None:
    """The points of a scale nearest to an answer; None between two points; NaN stays."""
    if not isinstance(value, tuple):
        return value if math.isnan(value) else on_scale(value, levels)
    if any(math.isnan(share) for share in value):
        return value
    points = [on_scale(share, levels) for share in value]
    row = tuple(point for point in points if point is not None)
    return row if len(row) == len(points) and sum(row) <= 1.0 + 1e-9 else None


def _reached(answers: Floats, row: int) -> NDArray[np.bool_]:
    """Which questions were reached: those before this one, and what has an answer already."""
    silent = np.isnan(answers).reshape(len(answers), -1)
    reached: NDArray[np.bool_] = silent.sum(axis=1) < silent.shape[1]
    reached[:row] = True
    return reached
