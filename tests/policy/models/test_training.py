"""Training rows that are known in part."""

import numpy as np

from askmeans.policy.models.training import Training

Y = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.4], [0.0, 0.5, 0.5]])
KNOWN = np.array([[True, True, True], [True, False, False], [True, False, False]])


def training(of_union=None):
    return Training.of(np.arange(3), Y, np.ones(3), np.ones(3), KNOWN, of_union)


def test_a_row_that_is_only_known_not_to_be_somewhere_is_no_row_of_a_union():
    assert not training().in_union.any()  # as of pairs that say "not of one group"
    assert training(np.array([False, True, False])).in_union.tolist() == [False, True, False]


def test_only_rows_of_unions_are_filled_again_and_known_entries_stay():
    filled = training(np.array([False, True, False])).filled(np.full((3, 3), 1.0 / 3.0))
    assert filled.Y[[0, 2]].tolist() == Y[[0, 2]].tolist()
    np.testing.assert_allclose(filled.Y[1], [0.0, 0.5, 0.5])
