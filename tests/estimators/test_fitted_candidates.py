"""Questions about data that is not in memory: candidates, and the rest predicted in blocks."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import ActiveFuzzyKMeans, metrics, oracles
from askmeans.estimators.fitted import rank_bound
from askmeans.exceptions import NoOracleWarning, OracleError
from askmeans.queries import GroupQueries, MembershipQueries, PairQueries
from askmeans.tables import large
from askmeans.tables.large import candidate_rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=4000)
    X = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])[y] + rng.normal(size=(4000, 2))
    return X, y


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(large, "MOST", 600)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("strategy", ["auto", "two-phase", "sequential"])
def test_candidates_are_asked_about_and_the_rest_predicted(data, strategy):
    X, y = data
    expert = oracles.TableOracle.from_labels(y)
    model = ActiveFuzzyKMeans(3, oracle=expert, strategy=strategy, random_state=0)
    model.fit(da.from_array(X, chunks=(900, 2)))
    assert isinstance(model.memberships_, da.Array)
    U = model.memberships_.compute()
    assert U.shape == (4000, 3)
    assert_allclose(U.sum(axis=1), 1.0)
    assert metrics.matched_accuracy(y, U) > 0.97
    assert (model.labels_.compute() == U.argmax(axis=1)).mean() > 0.999
    assert model.confidence_ is None
    asked = {row for answer in model.history_ for row in answer.items}
    assert asked <= set(candidate_rows(4000, 0).tolist())
    assert model.diagnostics_["candidates"] == 600
    assert 0.0 < model.diagnostics_["rank_bound"] < 0.1
    for answer in model.history_:  # about rows of all data, and they stand
        assert answer.value == float(y[answer.items[0]] == answer.cluster)
        assert U[answer.items[0], answer.cluster] == pytest.approx(answer.value, abs=1e-9)


def test_all_rows_of_few_are_candidates_and_give_what_arrays_give(data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    expert = oracles.TableOracle.from_labels(y)
    here = ActiveFuzzyKMeans(3, oracle=expert, ask="group", random_state=0).fit(X)
    there = ActiveFuzzyKMeans(3, oracle=expert, ask="group", random_state=0)
    there.fit(tmp_path / "X.npy")
    assert [a.items for a in there.history_] == [a.items for a in here.history_]
    assert there.diagnostics_["rank_bound"] == 0.0
    assert_allclose(np.asarray(there.memberships_), here.memberships_, atol=1e-6)
    assert (np.asarray(there.predict(tmp_path / "X.npy")) == here.predict(X)).all()


@pytest.mark.usefixtures("few")
def test_memberships_learnt_travel_to_other_processes(data):
    import cloudpickle

    X, y = data
    model = ActiveFuzzyKMeans(3, oracle=oracles.TableOracle.from_labels(y), random_state=0)
    model.fit(da.from_array(X, chunks=(900, 2)))
    again = cloudpickle.loads(cloudpickle.dumps(model.memberships_))
    assert_allclose(again[:50].compute(), model.memberships_[:50].compute())


@pytest.mark.usefixtures("few")
def test_without_an_oracle_all_rows_are_fitted(data):
    X, _ = data
    with pytest.warns(NoOracleWarning):
        there = ActiveFuzzyKMeans(3, random_state=0).fit(da.from_array(X, chunks=(900, 2)))
    with pytest.warns(NoOracleWarning):
        here = ActiveFuzzyKMeans(3, random_state=0).fit(X)
    assert_allclose(
        np.sort(there.cluster_centers_, 0), np.sort(here.cluster_centers_, 0), atol=1e-3
    )
    assert there.memberships_.shape == (4000, 3)


@pytest.mark.usefixtures("few")
def test_an_oracle_that_fails_leaves_a_history_about_all_rows(data):
    X, y = data
    table = oracles.TableOracle.from_labels(y)
    asked = []

    def membership(item, cluster):
        asked.append(item)
        if len(asked) > 5:
            raise RuntimeError("gone")
        return float(table.memberships[item, cluster])

    model = ActiveFuzzyKMeans(3, oracle=oracles.CallbackOracle(membership=membership))
    with pytest.raises(OracleError) as caught:
        model.fit(da.from_array(X, chunks=(900, 2)))
    assert {row for a in caught.value.result.history for row in a.items} <= set(asked)


def test_candidates_hang_on_the_seed_and_are_all_of_few_rows():
    assert candidate_rows(1000, 3).tolist() == list(range(1000))
    rows = candidate_rows(10**7, 3)
    assert len(np.unique(rows)) == len(rows) == large.MOST
    assert (rows == candidate_rows(10**7, 3)).all()
    assert (rows != candidate_rows(10**7, 4)).any()


def test_ranks_among_candidates_are_within_the_bound():
    # For one cluster it fails at most once in twenty; by the inequality's slack, less.
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(200):
        ranks = np.sort(rng.choice(20_000, 500, replace=False)) / 20_000
        away = np.abs(np.arange(1, 501) / 500 - ranks).max()
        misses += away > rank_bound(500, 20_000, 1)
    assert misses <= 20
    assert rank_bound(500, 500, 4) == 0.0


def test_questions_are_renumbered_whatever_their_kind():
    rows = np.array([5, 9, 40])
    assert MembershipQueries([2], [1]).renumbered(rows).questions()[0].items == (40,)
    assert MembershipQueries([2], [1]).renumbered(rows).clusters.tolist() == [1]
    assert GroupQueries([0, 1], 3).renumbered(rows).shape == (2, 3)
    assert PairQueries([[1, 0]]).renumbered(rows).pairs.tolist() == [[9, 5]]
