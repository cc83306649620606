"""The table of items with their groups, filtered, sorted, and in pages; also from the map.

A table is made once for each result and event. Answers that came after the result are in it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

import numpy as np
from fastapi import HTTPException
from numpy.typing import NDArray

from askmeans._util.arrays import Rows
from askmeans._util.checks import parse_digits
from askmeans._util.message import Message
from askmeans.queries import is_model
from askmeans.results import strongest_clusters
from askmeans.sessions import Item, Session
from askmeans.sessions.tables import NO_GROUP, deciders
from askmeans.web.looks import Look
from askmeans.web.result_views import ResultView

PER_PAGE = 50
UNKNOWN = -2  # the group of an item of which nothing is known yet
NOBODY = "-"  # decided by no person
SORTS = ("row", "confidence", "group")
_MOST_WORDS = 200  # characters of a search
_CORNER = re.compile(r"-?\d{1,4},-?\d{1,4}")
_MOST_CORNERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which items are listed, and in which order."""

    words: str = ""  # in the name or the text
    group: int | None = None  # its number, or NO_GROUP
    below: int | None = None  # percent of confidence
    by: str = ""  # who decided, or NOBODY
    area: tuple[tuple[int, int], ...] = ()  # corners in the map
    sort: str = "row"

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> "ItemFilter":
        """The filter of an address or a form; refused where a field is damaged."""
        group, below = fields.get("group", ""), fields.get("below", "")
        corners = fields.get("area", "").split()
        number = NO_GROUP if group == "none" else parse_digits(group)
        percent, sort = parse_digits(below), fields.get("sort") or "row"
        if (
            (group and number is None)
            or (below and (percent is None or percent > 100))
            or sort not in SORTS
            or len(corners) > _MOST_CORNERS
            or not all(map(_CORNER.fullmatch, corners))
        ):
            raise HTTPException(
                422, Message("This address of a list is damaged. Open Items again.")
            )
        area = tuple((int(x), int(y)) for x, y in (corner.split(",") for corner in corners))
        return cls(
            words=fields.get("q", "").strip()[:_MOST_WORDS], group=number, below=percent,
            by=fields.get("by", ""), area=area, sort=sort,
        )  # fmt: skip

    @property
    def fields(self) -> dict[str, str]:
        """The fields of an address or a form, without defaults."""
        group = "none" if self.group == NO_GROUP else "" if self.group is None else str(self.group)
        fields = {
            "q": self.words,
            "group": group,
            "below": "" if self.below is None else str(self.below),
            "by": self.by,
            "area": " ".join(f"{x},{y}" for x, y in self.area),
            "sort": "" if self.sort == "row" else self.sort,
        }
        return {name: value for name, value in fields.items() if value}

    @property
    def is_narrow(self) -> bool:
        """Whether anything is left out."""
        return bool(self.fields.keys() - {"sort"})

    def address(self, **changes: str) -> str:
        """The address of the list with some fields changed; "" takes one out."""
        fields = {name: value for name, value in (self.fields | changes).items() if value}
        return f"/items?{urlencode(fields)}" if fields else "/items"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """A line of the table."""

    item: Item
    group: str | None  # its name; None if unknown
    color: str | None
    share: float | None
    confidence: float | None
    decided_by: str


class ItemTable:
    """The group of every item, by one result and the answers up to one event."""

    def __init__(self, session: Session, view: ResultView | None) -> None:
        self._session, self.view = session, view
        n = self.n_items = len(session.rows)
        self.groups = list(session.groups)
        self._colors = Look.of(session).colors(session)
        self._names = {group.number: group.name for group in self.groups}
        self.group: NDArray[np.int64] = np.full(n, UNKNOWN)
        self.share, self.confidence = np.full(n, np.nan), np.full(n, np.nan)
        if view is not None and view.result.basis != "nothing":
            self._read_result(view)
        self._read_answers(view)
        groups = [None if number == UNKNOWN else number for number in self.group.tolist()]
        self.deciders = deciders(session, groups)

    def _read_result(self, view: ResultView) -> None:
        """Groups, shares and confidence of a result, by the numbers of the groups of now."""
        result = view.result
        U, n = result.memberships, len(result.memberships)
        find = self._session.groups.find
        now = [find(each.group.number) for each in view.groups]
        numbers = np.array([UNKNOWN if number is None else number for number in now] + [NO_GROUP])
        strongest = strongest_clusters(U)
        self.group[:n] = numbers[strongest]
        none = 1.0 - U.sum(axis=1) if result.unassigned is None else result.unassigned
        self.share[:n] = np.where(strongest >= 0, U.max(axis=1), none)
        if result.confidence is not None:
            self.confidence[:n] = result.confidence

    def _read_answers(self, view: ResultView | None) -> None:
        """Set the groups of items that people answered after the result."""
        session, event = self._session, 0 if view is None else view.event
        for reply in session.history.answers():
            value = reply.value
            if reply.event <= event or not reply.counts or not isinstance(value, tuple):
                continue
            if is_model(reply.annotator):
                continue
            largest = max(value, default=0.0)
            group = session.groups.find(value.index(largest)) if largest > 0.0 else None
            row = session.question(reply.question).items[0]
            self.group[row] = NO_GROUP if group is None else group
            self.share[row] = largest or 1.0
            self.confidence[row] = 1.0

    @property
    def people(self) -> list[str]:
        """Who decided any item."""
        return sorted({name for names in self.deciders.values() for name in names})

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        """Where items are in the map."""
        if self.view is None:
            return np.full((self.n_items, 2), np.nan)
        plane, centers = self.view.plane, self.view.result.clustering.centers
        points = np.full((self.n_items, 2), np.nan)  # those added since are not there
        points[: plane.n_items] = plane.points(centers, of_all=True)
        return points

    def rows(self, wanted: ItemFilter) -> Rows:
        """The rows that pass a filter, in its order."""
        fits = np.ones(self.n_items, dtype=bool)
        if wanted.group is not None:
            fits &= self.group == wanted.group
        if wanted.below is not None:
            fits &= self.confidence < wanted.below / 100.0
        if wanted.by:
            decided = np.zeros(self.n_items, dtype=bool)
            name = None if wanted.by == NOBODY else wanted.by
            decided[[r for r, who in self.deciders.items() if name is None or name in who]] = True
            fits &= ~decided if name is None else decided
        if wanted.area:
            fits &= _inside(self._points, wanted.area)
        if wanted.words:
            named = np.zeros(self.n_items, dtype=bool)
            named[self._session.rows.find(wanted.words)] = True
            fits &= named
        rows = np.flatnonzero(fits)
        if wanted.sort == "confidence":  # the least sure first, those without an estimate last
            rows = rows[np.argsort(self.confidence[rows], kind="stable")]
        elif wanted.sort == "group":
            arranged = Look.of(self._session).arranged(
                self._session, self.groups, lambda group: group.number
            )
            place = {group.number: place for place, group in enumerate(arranged)}
            order = np.array([place.get(number, len(place)) for number in self.group[rows]])
            rows = rows[np.lexsort((self.confidence[rows], order))]
        return rows

    def line(self, row: int) -> ItemRow:
        """One item of the table."""
        number, confidence = int(self.group[row]), float(self.confidence[row])
        share = float(self.share[row])
        name = Message("none of these") if number == NO_GROUP else self._names.get(number)
        return ItemRow(
            item=self._session.item(row), group=name, color=self._colors.get(number),
            share=None if np.isnan(share) else share,
            confidence=None if np.isnan(confidence) else confidence,
            decided_by=", ".join(self.deciders.get(row, ())),
        )  # fmt: skip


def _inside(points: NDArray[np.float64], corners: tuple[tuple[int, int], ...]) -> NDArray[np.bool_]:
    """Which points are inside a polygon, by the even-odd rule; only those in its box are tried."""
    polygon = np.array(corners, dtype=np.float64)
    in_box = ((points >= polygon.min(axis=0)) & (points <= polygon.max(axis=0))).all(axis=1)
    x, y = points[in_box].T
    odd = np.zeros(len(x), dtype=bool)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        crosses = (ay > y) != (by > y)
        odd[crosses] ^= x[crosses] < (bx - ax) * (y[crosses] - ay) / (by - ay) + ax
    inside = np.zeros(len(points), dtype=bool)
    inside[in_box] = odd
    return inside
