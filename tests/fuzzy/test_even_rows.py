"""Evenly spread rows."""

import numpy as np
import pytest

from askmeans.fuzzy.even_rows import even_rows


@pytest.mark.parametrize("n", [10_001, 25_000, 39_999, 40_000, 1_000_000, 1_000_000_000])
def test_rows_are_bounded_ascending_and_spread_over_all(n):
    rows = even_rows(n, 10_000)
    assert len(rows) == 10_000
    assert (np.diff(rows) > 0).all()
    assert rows[-1] < n
    in_tenths = np.histogram(rows, bins=10, range=(0, n))[0]
    assert in_tenths.min() > 0.95 * in_tenths.mean()


@pytest.mark.parametrize("period", [2, 3, 4, 7, 10, 100])
def test_clusters_that_take_turns_are_all_met_alike(period):
    counts = np.bincount(even_rows(1_000_000, 10_000) % period, minlength=period)
    assert counts.min() > 0.7 * counts.mean()


def test_few_rows_are_all_taken():
    assert even_rows(7, 10).tolist() == list(range(7))
