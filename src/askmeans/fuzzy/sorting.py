"""Many numbers in order, sorted only where somebody looks.

A search looks at some hundred ranks, so sorting millions of numbers is mostly in vain. Here they
are put into buckets, from low to high, and a bucket is sorted when it is looked at. The order is
that of numpy's stable sort.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.compiled import compiled
from askmeans.fuzzy.even_rows import even_rows

__all__ = ["LazyOrder"]

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

_BUCKETS = 2048  # as many places to write to in turn as a processor's caches take
_FEW = 20_000  # numbers that are sorted at once: one bucket
_SAMPLE = 10_000  # numbers that tell how wide a bucket is
_OUTLIERS = 1e-3  # the share, at either end, that one bucket takes


class LazyOrder:
    """Positions of values from the smallest to the largest, equal ones as they stand; no NaN."""

    def __init__(self, values: Floats) -> None:
        n = len(values)
        self._values = values
        self._low, self._per_unit = _scale(values)
        narrow = n <= np.iinfo(np.int32).max
        self._positions: NDArray[Any] = np.empty(n, dtype=np.int32 if narrow else np.intp)
        self._starts = np.zeros(_BUCKETS + 1, dtype=np.intp)
        into_buckets(values, self._low, self._per_unit, self._starts, self._positions)
        self._is_sorted = np.diff(self._starts) <= 1

    def at(self, places: Positions) -> Positions:
        """Positions of the values at these places of the order, which count from 0."""
        for bucket in np.unique(np.searchsorted(self._starts, places, side="right") - 1):
            self._sorted(bucket)
        return self._positions[places].astype(np.intp)

    def places(self, positions: Positions) -> Positions:
        """Places in the order of the values at these positions."""
        buckets = buckets_of(self._values[positions], self._low, self._per_unit)
        places = np.empty(len(positions), dtype=np.intp)
        for bucket in np.unique(buckets):
            here = np.flatnonzero(buckets == bucket)
            members = self._sorted(bucket)
            by_position = np.argsort(members)
            at = np.searchsorted(members, positions[here], sorter=by_position)
            places[here] = self._starts[bucket] + by_position[at]
        return places

    def cut_at(self, places: Positions) -> NDArray[Any]:
        """All positions, ordered so far that none crosses these places: as many come before it."""
        self.at(np.unique(places[(places > 0) & (places < len(self._values))]))
        return self._positions

    def _sorted(self, bucket: int) -> NDArray[Any]:
        """The positions in a bucket, in order."""
        members = self._positions[self._starts[bucket] : self._starts[bucket + 1]]
        if not self._is_sorted[bucket]:
            members[:] = members[np.argsort(self._values[members], kind="stable")]
            self._is_sorted[bucket] = True
        return members


def _scale(values: Floats) -> tuple[float, float]:
    """The lowest end of the second bucket, and buckets per unit; 0 for all in one bucket."""
    if len(values) < _FEW:
        return 0.0, 0.0
    few = np.sort(values[even_rows(len(values), _SAMPLE)])
    low, high = few[int(_OUTLIERS * len(few))], few[int((1.0 - _OUTLIERS) * len(few))]
    with np.errstate(all="ignore"):
        per_unit = (_BUCKETS - 2) / (high - low)
    return (low, per_unit) if np.isfinite(low) and 0.0 < per_unit < np.inf else (0.0, 0.0)


@compiled
def bucket_of(value: float, low: float, per_unit: float) -> int:
    """The bucket of a value, which grows with it."""
    if per_unit == 0.0:
        return 0
    place = (value - low) * per_unit
    if place < 0.0:
        return 0
    return int(place) + 1 if place < _BUCKETS - 2 else _BUCKETS - 1


@compiled
def buckets_of(values: Floats, low: float, per_unit: float) -> Positions:
    """The bucket of every value."""
    buckets = np.empty(len(values), dtype=np.intp)
    for i in range(len(values)):
        buckets[i] = bucket_of(values[i], low, per_unit)
    return buckets


@compiled
def into_buckets(
    values: Floats,
    low: float,
    per_unit: float,
    starts: Positions,
    positions: NDArray[Any],
) -> None:
    """Write positions by bucket, in each as they stand; and where each bucket starts, and the end.

    `starts` has zeros before.
    """
    for value in values:
        starts[bucket_of(value, low, per_unit) + 1] += 1
    for bucket in range(_BUCKETS):
        starts[bucket + 1] += starts[bucket]
    after = starts[:-1].copy()
    for i in range(len(values)):
        bucket = bucket_of(values[i], low, per_unit)
        positions[after[bucket]] = i
        after[bucket] += 1
