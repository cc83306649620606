"""Points of a figure at which our order is worse than the paper's."""

from dataclasses import dataclass

from experiments.figures import FigureSpec
from experiments.summary import Point

__all__ = ["HEADS", "Worse", "where_worse"]

OURS, FAITHFUL = "our order", "faithful"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worse:
    """A point at which our order is worse than the faithful algorithm of the same sizes."""

    figure: FigureSpec
    faithful: Point
    ours: Point

    @property
    def row(self) -> tuple[str, ...]:
        """The row of the report; `HEADS` are its columns."""
        name, ours, theirs = self.figure.name.replace("_", " "), self.ours, self.faithful
        what = ", ".join(filter(None, (ours.panel, ours.setting, ours.curve)))
        return (
            f"{name}: {what}".replace(f", {OURS}", "").replace(f"{OURS}, ", ""),
            f"{self.figure.letter} = {ours.x:g}",
            f"{theirs.mean:.4f}",
            f"{theirs.queries:.0f}",
            f"{ours.mean:.4f}",
            f"{ours.queries:.0f}",
        )


HEADS = ("figure", "at", "faithful", "questions", "our order", "questions")


def where_worse(figure: FigureSpec, points: list[Point]) -> list[Worse]:
    """Points at which our order is worse, by more than chance: the two intervals do not meet."""
    faithful = {_key(point): point for point in points if FAITHFUL in _way(point)}
    points_worse = []
    for ours in points:
        theirs = faithful.get(_key(ours)) if OURS in _way(ours) else None
        if theirs is not None:
            worse = ours.high < theirs.low if figure.larger_is_better else ours.low > theirs.high
            if worse:
                points_worse.append(Worse(figure=figure, faithful=theirs, ours=ours))
    return points_worse


def _way(point: Point) -> str:
    """The text that names the way: the curve or, for noise, the panel."""
    return f"{point.panel}; {point.curve}"


def _key(point: Point) -> tuple[str, str, float]:
    """The common key of a point and its counterpart."""
    return _way(point).replace(OURS, FAITHFUL), point.setting, point.x
