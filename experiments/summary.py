"""From runs to curves: means, confidence intervals, and tables in a fixed format."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from askmeans._util.files import atomic_file
from experiments.runs import Series

__all__ = ["Point", "interval", "points", "share_interval", "write_csv", "write_points"]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a curve: the mean of its runs with its interval, and their cost."""

    panel: str
    setting: str
    curve: str
    x: float
    n_runs: int
    mean: float
    low: float
    high: float
    sd: float
    queries: float
    queries_raw: float


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean and the ends of its confidence interval (Student's t); one value is its own."""
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    if len(x) < 2 or np.ptp(x) == 0.0:
        return mean, mean, mean
    half = stats.t.ppf(0.5 + CONFIDENCE / 2, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x))
    return mean, mean - float(half), mean + float(half)


def share_interval(did: Sequence[float]) -> tuple[float, float, float]:
    """The share of runs with 1, and the ends of its exact confidence interval."""
    count = int(np.sum(did))
    exact = stats.binomtest(count, len(did)).proportion_ci(CONFIDENCE, method="exact")
    return count / len(did), float(exact.low), float(exact.high)


def points(series: Iterable[Series]) -> list[Point]:
    """A point for every series, in their order."""
    results = []
    for one in series:
        mean, low, high = interval(one.values)
        results.append(
            Point(
                panel=one.panel, setting=one.setting, curve=one.curve, x=one.x,
                n_runs=len(one.values), mean=mean, low=low, high=high,
                sd=float(np.std(one.values, ddof=1)) if len(one.values) > 1 else 0.0,
                queries=float(np.mean(one.queries)), queries_raw=float(np.mean(one.raw)),
            )
        )  # fmt: skip
    return results


def write_points(points: list[Point], path: Path) -> None:
    """A figure's table."""
    columns = list(Point.__dataclass_fields__)
    write_csv(path, columns, [[getattr(point, column) for column in columns] for point in points])


def write_csv(path: Path, columns: list[str], rows: list[list[object]]) -> None:
    """A CSV file with numbers to six digits, replaced atomically."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(value) for value in row] for row in rows)
    with atomic_file(path) as file:
        file.write(text.getvalue().encode())


def _text(value: object) -> str:
    """A value as the table shows it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
