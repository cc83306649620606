"""A few rows that stand for all: evenly spread, and the same ones every time."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["GOLDEN", "even_rows"]

GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
_SEVERAL = 4  # from so many times as many rows on, no two multiples fall on one


def even_rows(n_rows: int, size: int) -> NDArray[np.intp]:
    """All row numbers, or `size` of them where there are more; ascending.

    Multiples of the golden ratio, modulo 1, fall evenly over the rows and over every residue class
    of them. A fixed stride would not: where the data goes round the clusters in turn, it could
    meet one cluster only.
    """
    if n_rows <= size:
        return np.arange(n_rows)
    if n_rows >= _SEVERAL * size:
        return np.sort((np.arange(size) * GOLDEN % 1.0 * n_rows).astype(np.intp))
    return np.sort(np.argpartition(np.arange(n_rows) * GOLDEN % 1.0, size)[:size])
