"""Where single precision loses digits of distances."""

import numpy as np
import pytest

from askmeans.fuzzy.engines.tight import are_tight, crowd

CENTERS = np.array([[10.0, 0.0], [-10.0, 0.0]])


def test_items_much_nearer_to_their_centers_than_these_to_the_origin_are_tight():
    totals = np.array([50.0, 50.0])  # items of squared norm 100, so 10,000 in all
    assert are_tight(CENTERS, totals, 10.0)
    assert not are_tight(CENTERS, totals, 1_000.0)


@pytest.mark.parametrize(("away", "expected"), [(0.1, True), (5.0, False), (0.0, False)])
def test_two_centers_near_to_each_other_crowd_unless_they_are_one(away, expected):
    assert crowd(np.vstack([CENTERS, CENTERS[:1] + away])) is expected
