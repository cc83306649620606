"""Small functions of arrays: rows on the simplex, ties but for rounding, evenly spread rows."""

import numpy as np
from numpy.typing import ArrayLike

from askmeans._util.arrays import Floats, Rows

ROUNDING = 1e-12  # a row that sums to one but for this does sum to one
_BLOCK = 1 << 14  # rows
# Relative. Sums of a million items are rounded to about 1e-12, differences that matter are larger.
_TIE = 1e-9
_BITS = 20  # binary digits that are kept: six decimal ones
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
_SEVERAL = 4  # times `size` rows, from which on no two multiples fall on one row


# ---- rows in [0, 1] that sum to one -------------------------------------------------------------


def onto_simplex(rows: Floats) -> Floats:
    """Shift every row evenly to its sum (Alg 1, line 6), in place; project where one leaves [0, 1].

    The even shift is the nearest point of the plane where rows sum to one; where an entry would be
    negative, the nearest point of the simplex is taken instead (paper note N11).
    """
    rows += ((1.0 - rows.sum(axis=1)) / rows.shape[1])[:, None]
    outside = np.flatnonzero((rows < 0.0).any(axis=1))
    if len(outside):
        rows[outside] = _project(rows[outside])
    return rows


def _project(rows: Floats) -> Floats:
    """Nearest points of the simplex: subtract what leaves the positive parts summing to one."""
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    last = np.count_nonzero(descending > excess, axis=1) - 1
    projected: Floats = np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0.0)
    return projected


def within_bounds(rows: Floats, low: Floats, high: Floats) -> Floats:
    """The nearest rows that sum to one with every entry between its bounds.

    Where bounds leave no such row, the nearest point of the simplex to the row cut to them.
    """
    cut = np.clip(rows, low, high)
    possible = (low.sum(axis=1) <= 1.0) & (high.sum(axis=1) >= 1.0)
    # The nearest row is the row shifted evenly and cut: by how much is found by bisection.
    least, most = np.full(len(rows), -1.0), np.full(len(rows), 1.0)
    for _ in range(50):
        middle = (least + most) / 2.0
        above = np.clip(rows + middle[:, None], low, high).sum(axis=1) > 1.0
        most, least = np.where(above, middle, most), np.where(above, least, middle)
    projected = np.clip(rows + least[:, None], low, high)
    return onto_simplex(np.where(possible[:, None], projected, cut))


def keep_answers(memberships: Floats, rows: Rows, answers: Floats) -> None:
    """Write answers into these rows, in place; the unanswered entries share the rest of their row.

    Noisy answers are cut to [0, 1], and answers that contradict each other are made to fit.
    """
    known = ~np.isnan(answers)
    for count in np.unique(known.sum(axis=1)):
        if count == 0:
            continue
        some = np.flatnonzero(known.sum(axis=1) == count)
        here, kept = rows[some], np.clip(np.where(known[some], answers[some], 0.0), 0.0, 1.0)
        total = kept.sum(axis=1, keepdims=True)
        kept = np.where(total > 1.0 + ROUNDING, kept / np.maximum(total, 1.0), kept)
        left = np.clip(1.0 - total, 0.0, None)
        if count == memberships.shape[1]:
            short = left[:, 0] > ROUNDING
            kept[short] = onto_simplex(kept[short])
            memberships[here] = kept
            continue
        share = np.where(known[some], 0.0, memberships[here])
        mass = share.sum(axis=1, keepdims=True)
        even = ~known[some] / (memberships.shape[1] - count)
        share = np.where(mass > 0.0, share / np.where(mass > 0.0, mass, 1.0), even)
        memberships[here] = kept + left * share


def mean_power(memberships: Floats, exponent: float) -> Floats:
    """Each cluster's mean of the memberships to a power, in blocks that stay in the cache."""
    sums = np.zeros(memberships.shape[1])
    for start in range(0, len(memberships), _BLOCK):
        sums += (memberships[start : start + _BLOCK] ** exponent).sum(axis=0)
    return sums / len(memberships)


# ---- choices that rounding does not change: last bits differ between processors -----------------


def first_lowest(values: ArrayLike) -> int:
    """Index of the first value that is the lowest but for rounding; 0 if none is a number."""
    array = np.asarray(values, dtype=np.float64)
    if np.isnan(array).all():
        return 0
    lowest = float(np.nanmin(array))
    return int(np.argmax(array <= lowest + _TIE * abs(lowest)))


def without_last_bits(values: ArrayLike) -> Floats:
    """Values rounded to 20 binary digits, so that those equal but for rounding are equal."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    rounded: Floats = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return rounded


# ---- a few rows that represent all --------------------------------------------------------------


def even_rows(n_rows: int, size: int) -> Rows:
    """All row numbers, or `size` of them where there are more; ascending, always the same ones.

    Multiples of the golden ratio, modulo 1, fall evenly over the rows and over every residue class
    of them. A fixed stride would not: in data that alternates between the clusters, it could meet
    one cluster only.
    """
    if n_rows <= size:
        return np.arange(n_rows)
    if n_rows >= _SEVERAL * size:
        return np.sort((np.arange(size) * GOLDEN % 1.0 * n_rows).astype(np.intp))
    return np.sort(np.argpartition(np.arange(n_rows) * GOLDEN % 1.0, size)[:size])
