"""Means, intervals and tables."""

import numpy as np
import pytest
from scipy import stats

from experiments.runs import Series
from experiments.summary import interval, points, write_csv, write_points


def test_the_interval_is_students():
    x = np.random.default_rng(0).normal(size=12)
    expected = stats.ttest_1samp(x, 0.0).confidence_interval(0.95)
    assert interval(x) == pytest.approx((x.mean(), expected.low, expected.high))


@pytest.mark.parametrize("values", [[0.3], [0.3, 0.3, 0.3]])
def test_values_that_do_not_differ_are_their_own_interval(values):
    assert interval(values) == (pytest.approx(0.3),) * 3


def test_a_table_has_one_row_a_point_and_six_digits(tmp_path):
    series = Series(
        panel="p", setting="s, t", curve="c", x=10.0,
        values=[1 / 3, 2 / 3], queries=[3, 4], raw=[5, 8],
    )  # fmt: skip
    write_points(points([series]), tmp_path / "t.csv")
    head, row = (tmp_path / "t.csv").read_text().splitlines()
    assert head.startswith("panel,setting,curve,x,n_runs,mean,low,high")
    assert row.startswith('p,"s, t",c,10,2,0.5,')
    assert row.endswith(",0.235702,3.5,6.5")


def test_a_table_is_written_whole(tmp_path):
    write_csv(tmp_path / "a.csv", ["x"], [[1.0]])
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
