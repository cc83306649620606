"""What comes out: memberships of any items, by the learnt links."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.fuzzy import closed_form_memberships
from askmeans.links import Link
from askmeans.results import Clustering, Predictor, Result
from askmeans.scores import Scorer

CENTERS = np.array([[0.0], [10.0]])
IDENTITY = Link(knots=np.empty(0), values=np.empty(0))


def predictor(*links, order="relative"):
    return Predictor(scorer=Scorer(centers=CENTERS, order=order), links=links)


def test_without_answers_the_closed_form_predicts():
    X = np.array([[-3.0], [0.0], [4.0], [25.0]])
    expected = closed_form_memberships(X, CENTERS, 2.0)
    assert_allclose(predictor(IDENTITY, IDENTITY)(X), expected, atol=1e-12)


def test_results_are_shown_in_a_line_however_large_they_are():
    from askmeans.queries import History

    clustering = Clustering(centers=np.zeros((3, 2)), memberships=np.full((5000, 3), 1 / 3),
                            predictor=None, complete=True)  # fmt: skip
    result = Result(clustering=clustering, complete=False, n_queries=62, n_queries_raw=80,
                    n_rounds=7, history=History())  # fmt: skip
    assert repr(clustering) == "Clustering(5000 items, 3 clusters, complete)"
    expected = "Result(5000 items, 3 clusters, 62 questions in 7 rounds, not complete)"
    assert repr(result) == expected
    assert repr(predictor(IDENTITY, IDENTITY)) == "Predictor(2 clusters, order='relative')"


def test_every_cluster_goes_through_its_own_link_and_rows_sum_to_one():
    always = Link(knots=np.array([0.0]), values=np.array([0.9]))
    never = Link(knots=np.array([0.0]), values=np.array([0.3]))
    assert_allclose(predictor(always, never)(np.array([[7.0]])), [[0.8, 0.2]])


def test_distances_go_through_links_too():
    near = Link(knots=np.array([-10.0, 0.0]), values=np.array([0.0, 1.0]))
    assert_allclose(predictor(near, near, order="distance")(np.array([[2.0]])), [[0.8, 0.2]])


@pytest.mark.parametrize("record", [Predictor, Clustering, Result])
def test_records_are_frozen(record):
    assert record.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(record))
