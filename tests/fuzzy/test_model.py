"""The plain numpy model: known values, the contract, and what it refuses."""

import numpy as np
import pytest
from model_contract import ModelContract
from numpy.testing import assert_allclose

from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy import (
    closed_form_memberships,
    objective,
    squared_distances,
    weighted_centers,
)
from askmeans.fuzzy.model import as_memberships


class TestNumpyModel(ModelContract):
    def memberships(self, X, centers, fuzzifier):
        return closed_form_memberships(X, centers, fuzzifier)

    def step(self, X, centers, fuzzifier, weights):
        U = closed_form_memberships(X, centers, fuzzifier)
        return (
            weighted_centers(X, U, fuzzifier, sample_weight=weights),
            objective(X, centers, U, fuzzifier, sample_weight=weights),
        )


def test_rounding_outside_the_unit_interval_is_clipped_and_no_more():
    clipped = as_memberships([[1.0 + 1e-10, -1e-10]])
    assert clipped.tolist() == [[1.0, 0.0]]
    with pytest.raises(DataError, match="between 0 and 1"):
        as_memberships([[1.0 + 1e-7, 0.0]])
    as_memberships(np.array([[1.0 + 1e-7, 0.0]], dtype=np.float32))


def test_notes_example_of_a_farther_item_with_a_larger_membership():
    U = closed_form_memberships([[5.0], [-10.0]], [[0.0], [10.0]])
    assert_allclose(U[:, 0], [0.5, 0.8])  # paper note N1


def test_squared_distances_are_exact_far_from_the_origin():
    assert squared_distances([[1e8 + 3.0, 4.0]], [[1e8, 0.0]]) == 25.0


def test_fuzzifier_one_weighs_by_the_membership_itself():
    assert_allclose(weighted_centers([[0.0], [8.0]], [[1.0], [0.25]], 1.0), [[1.6]])
    assert objective([[2.0]], [[0.0], [4.0]], [[0.5, 0.5]], 1.0) == 4.0


def test_a_cluster_without_any_member_has_no_center():
    centers = weighted_centers([[1.0], [3.0]], [[1.0, 0.0], [1.0, 0.0]])
    assert centers[0, 0] == 2.0
    assert np.isnan(centers[1, 0])


@pytest.mark.parametrize("fuzzifier", [1, 1.0, 0.5, -2, np.nan, np.inf, "2", None, True])
def test_closed_form_refuses_a_fuzzifier_that_is_not_above_one(fuzzifier):
    with pytest.raises(
        ParameterError,
        match=r"'fuzzifier' parameter of .* must be a float in .*\(1, inf",
    ):
        closed_form_memberships([[0.0]], [[1.0]], fuzzifier)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: squared_distances([1.0, 2.0], [[1.0]]), "X must be two-dimensional"),
        (lambda: squared_distances(np.empty((0, 2)), [[1.0, 2.0]]), "not empty"),
        (lambda: squared_distances([[1.0, 2.0]], [[1.0]]), "must have the 2 features of X"),
        (lambda: weighted_centers([[1.0]], [[1.0], [1.0]]), "one row for each of the 1 rows"),
        (lambda: weighted_centers([[1.0]], [[1.0]], sample_weight=[1, 2]), "sample_weight must"),
        (lambda: objective([[1.0]], [[1.0]], [[0.5, 0.5]]), "one column for each of the 1 centers"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_with_the_rule(call, message):
    with pytest.raises(DataError, match=message):
        call()
