"""How sure a result is: a confidence for each item, and how many items are probably wrong."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from soaking import in_soak

from askmeans import Stratified, oracles, run
from askmeans.exceptions import AskmeansWarning
from askmeans.queries import Answers, GroupQueries, MembershipQueries
from askmeans.queries.answers import AnswerBatch


def overlapping(n, k, seed, apart=2.0):
    """Items around k corners, close enough that some cannot be told apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return apart * np.eye(k)[y] + rng.normal(size=(n, k)), y


def policy(X, k, ask="group", **parameters):
    return Stratified(max_items=None, **parameters).policy(
        X, k, fuzzifier=2.0, rng=np.random.default_rng(0), ask=ask
    )


def clustered(X, answers, k):
    """The clustering after these answers."""
    learner = policy(X, k)
    learner.learn(Answers(answers))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AskmeansWarning)
        return learner.clustering()


def after(X, y, budget):
    k = int(y.max()) + 1
    return run(policy(X, k), oracles.TableOracle.from_labels(y), budget=budget)


@pytest.mark.parametrize("k", [2, 4])
def test_as_many_items_are_wrong_as_expected_and_confidence_is_how_often_they_are_right(k):
    expected, wrong, inside = 0.0, 0, 0
    for seed in range(6):
        X, y = overlapping(300, k, seed)
        result = after(X, y, 60)
        clustering = result.clustering
        off = clustering.memberships.argmax(axis=1) != y
        said = clustering.diagnostics
        assert said.expected_wrong == pytest.approx((1.0 - clustering.confidence).sum())
        expected, wrong = expected + said.expected_wrong, wrong + int(off.sum())
        inside += said.expected_wrong_band[0] <= off.sum() <= said.expected_wrong_band[1]
        asked = [answer.items[0] for answer in result.history]
        assert (clustering.confidence[asked] == 1.0).all()
    assert expected == pytest.approx(wrong, rel=0.3)
    assert inside >= 4


def test_before_the_first_answer_nothing_is_said_of_errors():
    X, _ = overlapping(60, 3, 0)
    clustering = clustered(X, [], 3)
    assert clustering.diagnostics.expected_wrong is None
    assert clustering.diagnostics.expected_wrong_band is None


def test_people_who_contradict_each_other_leave_an_item_unsure():
    X, y = overlapping(80, 2, 0, apart=8.0)
    rows = np.arange(20)
    agreed = np.eye(2)[y[rows]]
    other = agreed.copy()
    other[0] = agreed[0, ::-1]
    names = ("ann",) * 20 + ("bob",) * 20
    queries = GroupQueries(np.r_[rows, rows], 2)
    values = np.r_[agreed, other]
    answers = [AnswerBatch(round=1, queries=queries, values=values, annotators=names)]
    confidence = clustered(X, answers, 2).confidence
    assert confidence[0] < 0.9
    assert (confidence[1:20] == 1.0).all()


def test_whoever_cannot_say_decides_nothing():
    X, y = overlapping(80, 2, 0)
    values = np.eye(2)[y[:20]]
    values[3] = np.nan
    clustering = clustered(X, [(1, GroupQueries(np.arange(20), 2), values)], 2)
    assert clustering.confidence[3] < 1.0
    assert clustering.memberships[3].max() < 1.0


def test_an_item_in_none_of_the_groups_is_in_none_from_the_first_such_answer_on():
    X, y = overlapping(80, 2, 0, apart=8.0)
    values = np.eye(2)[y[:20]]
    for count in (1, 2, 5):
        values[:count] = 0.0
        clustering = clustered(X, [(1, GroupQueries(np.arange(20), 2), values)], 2)
        assert (clustering.memberships[:count] == 0.0).all()
        assert (clustering.unassigned[:count] == 1.0).all()
        assert (clustering.confidence[:count] == 1.0).all()
        assert_allclose(clustering.memberships.sum(axis=1) + clustering.unassigned, 1.0)


def test_an_entry_that_decides_an_item_is_sure_and_one_that_leaves_it_open_is_not():
    X, y = overlapping(80, 3, 0)
    rows = np.arange(20)
    groups = GroupQueries(rows, 3), np.eye(3)[y[rows]]
    entries = MembershipQueries([30, 31], [y[30], (y[31] + 1) % 3]), np.array([0.8, 0.1])
    confidence = clustered(X, [(1, *groups), (1, *entries)], 3).confidence
    assert confidence[30] == 1.0
    assert confidence[31] < 1.0


@pytest.mark.parametrize("budget", [40, in_soak(100)])
def test_a_group_that_nobody_is_in_changes_nothing_of_what_is_expected(budget):
    ratios = []
    for seed in range(2):
        X, y = overlapping(300, 3, seed)
        rows = np.eye(3)[y]
        learner = policy(X, 3)
        result = run(learner, oracles.TableOracle(rows), budget=budget)
        items = np.array([answer.items[0] for answer in result.history])
        wider = np.hstack([rows, np.zeros((300, 1))])[items]
        more = clustered(X, [(1, GroupQueries(items, 4), wider)], 4)
        ratios.append(
            more.diagnostics.expected_wrong / result.clustering.diagnostics.expected_wrong
        )
    assert ratios == pytest.approx([1.0] * 2, rel=0.02)


def test_a_target_is_the_share_of_wrong_items_at_which_it_stops():
    X, y = overlapping(300, 2, 1, apart=3.0)
    counts = []
    for target in (0.2, 0.02):
        learner = policy(X, 2, target=target)
        result = run(learner, oracles.TableOracle.from_labels(y))
        assert result.clustering.diagnostics.stopped == "precision"
        assert result.clustering.diagnostics.expected_wrong < target * 300
        counts.append(result.n_queries)
    assert counts[0] < counts[1] < 300
