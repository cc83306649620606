"""Items that belong to none of the groups."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from soaking import in_soak

from askmeans import Stratified, oracles, run
from askmeans.exceptions import MoreClustersWarning
from askmeans.policy.evidence import evidence_of
from askmeans.queries import Answers, GroupQueries, MembershipQueries

CORNERS = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0], [12.0, 12.0], [24.0, 6.0]])


def blobs(k, n_each=40):
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(k), n_each)
    return CORNERS[labels] + rng.normal(size=(len(labels), 2)), labels


def after(n_cards, X, labels, n_answered):
    """The clustering by an expert who was told of the first groups only."""
    policy = Stratified(precision=1e-9, max_items=None).policy(
        X, n_answered, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MoreClustersWarning)
        return run(policy, oracles.TableOracle.from_labels(labels), budget=n_cards).clustering


def test_a_column_more_has_what_rows_lack_and_nobody_is_asked_for_it():
    rows = Answers([(1, GroupQueries([3, 5, 7], 2), np.array([[0, 0], [1, 0], [0.6, 0.4]]))])
    told = evidence_of(rows, 2).with_unassigned_column()
    assert told.values.tolist() == [[0, 0, 1], [1, 0, 0], [0.6, 0.4, 0]]
    assert told.queried[:, 2].all()
    assert (told.times[:, 2] == 0).all()


def test_of_a_row_that_is_told_in_part_it_is_not_known_whether_it_is_elsewhere():
    answers = Answers([(1, MembershipQueries([4], [0]), np.array([0.0]))])
    assert np.isnan(evidence_of(answers, 3).with_unassigned_column().values[0, 1:]).all()


@pytest.mark.parametrize("k", [2, 3])
def test_hidden_groups_are_noticed_counted_and_never_certain(k):
    X, labels = blobs(5)
    found = after(40, X, labels, k)
    assert found.diagnostics.suggested_clusters == 5
    hidden = labels >= k
    assert found.unassigned[hidden].mean() > 0.5
    assert found.unassigned[~hidden].mean() < 0.05
    assert_allclose(found.memberships.sum(axis=1) + found.unassigned, 1.0)
    assert (found.memberships[~hidden].argmax(axis=1) == labels[~hidden]).mean() > 0.95
    new = found.predictor(X)
    assert new.shape == found.memberships.shape
    assert new[hidden].sum(axis=1).mean() < 0.5


@pytest.mark.parametrize("hidden", [0, in_soak(1), in_soak(2)])
def test_a_single_group_that_is_missing_is_noticed_and_counted_once(hidden):
    # Once it is clear what is elsewhere nobody is asked about it: few answers tell of it.
    X, species = load_iris(return_X_y=True)
    labels = np.array([(hidden + 1) % 3, (hidden + 2) % 3, hidden]).argsort()[species]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert after(60, X, labels, 2).diagnostics.suggested_clusters == 3


def test_where_everything_belongs_somewhere_no_more_groups_are_suggested():
    X, labels = blobs(3)
    assert after(30, X, labels, 3).diagnostics.suggested_clusters == 3
