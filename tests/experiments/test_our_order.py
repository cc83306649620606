"""Our order is worse where its interval lies wholly on the wrong side of the faithful one."""

import pytest

from experiments.figures import FIGURES
from experiments.our_order import where_worse
from experiments.summary import Point

ACCURACY, NOISE = (
    next(spec for spec in FIGURES if spec.name == name) for name in ("figure_2", "noise")
)


def point(panel, curve, low, high, x=10.0, setting=""):
    return Point(
        panel=panel, setting=setting, curve=curve, x=x, n_runs=5, mean=(low + high) / 2, low=low,
        high=high, sd=0.1, queries=20.0, queries_raw=30.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.7, 0.79, 1), (0.7, 0.81, 0), (0.95, 0.99, 0)]
)
def test_intervals_that_meet_are_chance(low, high, expected):
    points = [
        point("Iris", "two-phase, our order", low, high),
        point("Iris", "two-phase, faithful", 0.8, 0.9),
    ]
    assert len(where_worse(ACCURACY, points)) == expected


def test_of_errors_the_larger_is_worse_and_panels_may_tell_the_way():
    points = [
        point("faithful", "asked once", 0.02, 0.03, x=0.1),
        point("our order", "asked once", 0.04, 0.05, x=0.1),
        point("faithful", "asked once", 0.04, 0.05, x=0.2),
        point("our order", "asked once", 0.02, 0.03, x=0.2),
    ]
    (worse,) = where_worse(NOISE, points)
    assert (worse.faithful, worse.ours) == (points[0], points[1])
    assert worse.row[:2] == ("noise: asked once", "sigma = 0.1")


def test_only_the_same_algorithm_at_the_same_point_is_compared():
    ours = point("Iris", "two-phase, our order", 0.1, 0.2)
    others = [
        point("Wine", "two-phase, faithful", 0.8, 0.9),
        point("Iris", "sequential, faithful", 0.8, 0.9),
        point("Iris", "two-phase, faithful", 0.8, 0.9, x=20.0),
        point("Iris", "two-phase, faithful", 0.8, 0.9, setting="equal questions"),
    ]
    assert where_worse(ACCURACY, [ours, *others]) == []
