"""Claims as tests: an estimate, its interval, and the bounds of that interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.runs import Series
from experiments.summary import interval, share_interval

__all__ = ["COLUMNS", "SEQUENTIAL", "TWO_PHASE", "Book", "Claim", "claim", "furthest", "same_cost"]

Floats = NDArray[np.float64]

COLUMNS = ["claim", "where", "estimate", "low", "high", "verdict", "test"]
HOLDS, FAILS = "holds", "does not hold"
SEQUENTIAL, TWO_PHASE = "sequential, faithful", "two-phase, faithful"
SAME_COST = 1.1  # "the same query complexity": within this factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of the paper, its place, the test and the estimate.

    It holds if the whole 95 % interval lies between the two bounds; otherwise it does not, whether
    the opposite is true or the runs cannot tell.
    """

    claim: str
    where: str
    test: str
    estimate: float
    low: float
    high: float
    above: float = -math.inf
    below: float = math.inf

    @property
    def verdict(self) -> str:
        """Whether it holds."""
        return HOLDS if self.low > self.above and self.high < self.below else FAILS

    @property
    def row(self) -> list[object]:
        """The row of `claims.csv`."""
        return [getattr(self, column) for column in COLUMNS]


def claim(
    sentence: str,
    where: str,
    test: str,
    values: Sequence[float] | Floats,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    logs: bool = False,
    shares: bool = False,
) -> Claim:
    """Test a claim on one value a run: a number, the logarithm of a ratio, or whether it did."""
    of = share_interval if shares else interval
    estimate, low, high = of(values)  # type: ignore[arg-type]  # an array does
    if logs:
        estimate, low, high = math.exp(estimate), math.exp(low), math.exp(high)
    return Claim(
        claim=sentence, where=where, test=test, estimate=estimate, low=low, high=high,
        above=above, below=below,
    )  # fmt: skip


class Book:
    """The runs of all cells, looked up by figure, panel, setting, curve and x."""

    def __init__(self, results: dict[str, list[Series]]) -> None:
        self._series: dict[tuple[str, str, str, str, float], Series] = {}
        for name, runs in results.items():
            figure = name.partition("-")[0]
            for one in runs:
                self._series[figure, one.panel, one.setting, one.curve, one.x] = one

    def get(self, figure: str, panel: str, setting: str, curve: str, x: float) -> Series:
        """The runs at one point."""
        return self._series[figure, panel, setting, curve, x]

    def only(self, figure: str, panel: str, curve: str) -> Series:
        """The runs of a curve that has one point."""
        (series,) = (
            s for key, s in self._series.items() if key[:2] + key[3:4] == (figure, panel, curve)
        )
        return series

    def settings(self, figure: str, panel: str, curve: str) -> list[str]:
        """The settings in which a curve was measured."""
        keys = (key for key in self._series if key[:2] + key[3:4] == (figure, panel, curve))
        return list(dict.fromkeys(key[2] for key in keys))

    def panels(self, figure: str, beginning: str = "") -> list[str]:
        """The panels of a figure, in the order of its cells."""
        names = dict.fromkeys(key[1] for key in self._series if key[0] == figure)
        return [name for name in names if name.startswith(beginning)]

    def curves(self, figure: str, panel: str, setting: str) -> list[str]:
        """The curves of a panel."""
        return list(
            dict.fromkeys(key[3] for key in self._series if key[:3] == (figure, panel, setting))
        )

    def xs(self, figure: str, panel: str, curve: str) -> list[float]:
        """The x of a curve's points."""
        mine = (figure, panel, curve)
        return sorted({key[4] for key in self._series if key[:2] + key[3:4] == mine})

    def values(
        self, figure: str, panel: str, setting: str, curve: str, xs: Sequence[float]
    ) -> Floats:
        """One row a run, one column an x."""
        return np.array([self.get(figure, panel, setting, curve, x).values for x in xs]).T

    def queries(
        self, figure: str, panel: str, setting: str, curve: str, xs: Sequence[float]
    ) -> Floats:
        """Different questions: one row a run, one column an x."""
        columns = [self.get(figure, panel, setting, curve, x).queries for x in xs]
        return np.array(columns, dtype=np.float64).T


def furthest(values: Floats, xs: Sequence[float]) -> tuple[float, Floats]:
    """The x at which runs (rows) are on average furthest from zero, and their values there.

    A claim about a whole curve must hold there, too: a mean over x hides differences.
    """
    worst = int(np.abs(values.mean(axis=0)).argmax())
    return xs[worst], values[:, worst]


def same_cost(
    book: Book, figure: str, panel: str, setting: str, letter: str, sentence: str, where: str
) -> Claim:
    """Whether sequential and two-phase ask as many questions, at every x."""
    xs = book.xs(figure, panel, TWO_PHASE)
    mine, theirs = (
        np.log(book.queries(figure, panel, setting, curve, xs)) for curve in (SEQUENTIAL, TWO_PHASE)
    )
    x, logs = furthest(mine - theirs, xs)
    test = (
        f"different questions, sequential / two-phase, where they differ most ({letter} = {x:g}): "
        f"within a factor of {SAME_COST:g}"
    )
    return claim(sentence, where, test, logs, above=1 / SAME_COST, below=SAME_COST, logs=True)
