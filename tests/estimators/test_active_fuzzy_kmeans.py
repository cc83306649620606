"""ActiveFuzzyKMeans: asks, keeps the answers, and behaves like a scikit-learn clusterer."""

import contextlib
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from last_bits import same_but_for_rounding
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from askmeans import (
    ActiveFuzzyKMeans,
    FuzzyKMeans,
    Sequential,
    Stratified,
    TwoPhase,
    metrics,
    oracles,
    run,
)
from askmeans.exceptions import (
    DataError,
    MissingClusterWarning,
    NoOracleWarning,
    OracleError,
    ParameterError,
)
from askmeans.oracles import CallbackOracle, TableOracle


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.fixture(scope="module")
def target(iris):
    return FuzzyKMeans(3, n_init=5, tol=1e-8, random_state=0).fit(iris).memberships_


@pytest.fixture(scope="module")
def iris_labels():
    return load_iris(return_X_y=True)


def fitted(iris, target, **parameters):
    oracle = oracles.TableOracle(target)
    return ActiveFuzzyKMeans(3, oracle=oracle, random_state=0, **parameters).fit(iris)


def test_it_finds_what_the_oracle_has_in_mind(iris, target):
    model = fitted(iris, target)
    assert np.abs(model.memberships_ - target).mean() < 0.01
    assert model.complete_
    assert metrics.center_error(FuzzyKMeans(3, n_init=5, random_state=0).fit(iris).cluster_centers_,
                                model.cluster_centers_) < 0.5  # fmt: skip


def test_the_account_adds_up(iris, target):
    model = fitted(iris, target)
    assert len(model.history_) == model.n_queries_ <= model.n_queries_raw_
    assert max(answer.round for answer in model.history_) == model.n_rounds_
    assert sum(model.diagnostics_["queries_distinct"].values()) == model.n_queries_
    assert sum(model.diagnostics_["queries_raw"].values()) == model.n_queries_raw_


def test_answers_stand_in_the_result_as_given(iris, target):
    model = fitted(iris, target)
    for answer in model.history_:
        stands = model.memberships_[answer.items[0], answer.cluster]
        assert stands == pytest.approx(answer.value, abs=1e-12)


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MissingClusterWarning")
@pytest.mark.parametrize("budget", [1, 10, 57, 100])
def test_a_budget_is_never_exceeded(iris, target, budget):
    tireless = Stratified(precision=1e-9)  # a fuzzy k-means target is settled sooner
    model = fitted(iris, target, budget=budget, strategy=tireless)
    assert model.n_queries_ == budget
    assert not model.complete_
    assert_allclose(model.memberships_.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "strategy",
    ["auto", "stratified", "two-phase", "sequential", TwoPhase(sample_size=30), Sequential()],
)
def test_strategies_go_by_name_or_as_objects(iris, target, strategy):
    model = fitted(iris, target, strategy=strategy)
    assert np.abs(model.memberships_ - target).mean() < 0.03


def test_groups_are_asked_for_as_whole_rows_that_stand_in_the_result(iris, target):
    model = fitted(iris, target, ask="group", budget=20)
    assert np.abs(model.memberships_ - target).mean() < 0.02
    assert model.n_queries_ == len({answer.items for answer in model.history_}) <= 20
    for answer in model.history_:
        assert (answer.kind, answer.cluster, answer.annotator) == ("group", None, "me")
        assert_allclose(model.memberships_[answer.items[0]], answer.value)


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MoreClustersWarning")
def test_an_expert_of_more_groups_says_none_of_these(iris):
    expert = oracles.TableOracle.from_labels(load_iris().target)
    model = ActiveFuzzyKMeans(2, oracle=expert, ask="group", budget=30, random_state=0).fit(iris)
    nowhere = [answer.items[0] for answer in model.history_ if answer.value == (0.0, 0.0)]
    assert len(nowhere) > 3
    assert (load_iris().target[nowhere] == 2).all()
    assert model.diagnostics_["unassigned"] == pytest.approx(len(nowhere) / 30)
    with pytest.raises(ParameterError, match=r"4 clusters. Got a table of shape \(150, 3\)"):
        ActiveFuzzyKMeans(4, oracle=expert, ask="group").fit(iris)


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MoreClustersWarning")
def test_an_item_that_more_probably_belongs_to_no_cluster_has_the_label_minus_one(iris):
    species = load_iris().target  # the first one is no cluster
    expert = oracles.TableOracle.from_labels((species + 2) % 3)
    model = ActiveFuzzyKMeans(2, oracle=expert, ask="group", budget=30, random_state=0).fit(iris)
    assert (model.labels_[species == 0] == -1).all()
    assert (model.labels_[species > 0] >= 0).all()
    assert (model.predict(iris)[species == 0] == -1).all()
    unassigned = 1.0 - model.memberships_.sum(axis=1)
    assert ((unassigned > model.memberships_.max(axis=1)) == (model.labels_ == -1)).all()


def test_confidence_is_one_where_the_expert_decided_and_a_probability_elsewhere(iris):
    expert = oracles.TableOracle.from_labels(load_iris().target)
    model = ActiveFuzzyKMeans(3, oracle=expert, ask="group", budget=20, random_state=0).fit(iris)
    asked = [answer.items[0] for answer in model.history_]
    others = np.setdiff1d(np.arange(150), asked)
    assert model.confidence_.shape == (150,)
    assert (model.confidence_[asked] == 1.0).all()
    assert (model.confidence_[others] < 1.0).all()
    assert (model.confidence_[others] > 1 / 3).all()
    wrong = (model.labels_ != load_iris().target).sum()
    low, high = model.diagnostics_["expected_wrong_band"]
    assert low <= model.diagnostics_["expected_wrong"] <= high
    assert low <= wrong <= high


def test_a_strategy_of_the_paper_has_no_confidence(iris, target):
    model = fitted(iris, target, strategy="two-phase")
    assert model.confidence_ is None
    assert "expected_wrong" not in model.diagnostics_


def test_auto_is_stratified(iris, target):
    auto, named = fitted(iris, target), fitted(iris, target, strategy="stratified")
    assert list(auto.history_) == list(named.history_)


def test_the_same_seed_asks_the_same(iris, target):
    a, b = fitted(iris, target), fitted(iris, target)
    assert list(a.history_) == list(b.history_)


def test_new_items_go_through_the_learnt_link(iris, target):
    half = np.arange(150) % 2 == 0
    oracle = oracles.TableOracle(target[half])
    model = ActiveFuzzyKMeans(3, oracle=oracle, random_state=0).fit(iris[half])
    found = model.predict_proba(iris[~half])
    assert np.abs(found - target[~half]).mean() < 0.02
    assert_allclose(found.sum(axis=1), 1.0)
    agree = model.predict(iris[~half]) == target[~half].argmax(axis=1)
    assert agree.mean() > 0.95


def test_an_experts_labels_beat_no_questions():
    data = load_iris()
    expert = oracles.TableOracle.from_labels(data.target)
    model = ActiveFuzzyKMeans(3, oracle=expert, fuzzifier=1.0, random_state=0).fit(data.data)
    free = FuzzyKMeans(3, n_init=5, random_state=0).fit(data.data)
    assert metrics.matched_accuracy(data.target, model.labels_) > 0.95
    assert metrics.matched_accuracy(data.target, free.labels_) < 0.90


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_it_transforms_scores_and_sets_output_as_fuzzy_k_means_does(iris, target, kind):
    X = pd.DataFrame(iris.astype(kind), columns=["a", "b", "c", "d"])
    expert = oracles.TableOracle(target)
    model = ActiveFuzzyKMeans(3, oracle=expert, strategy=TwoPhase(sample_size=20), random_state=0)
    assert (model.fit_predict(X) == model.labels_).all()
    same = FuzzyKMeans(3, init=model.cluster_centers_, max_iter=1, tol=0.0).fit(X)
    same.cluster_centers_ = model.cluster_centers_
    assert_allclose(model.transform(X), same.transform(X), rtol=1e-5)
    assert model.score(X) == pytest.approx(same.score(X))
    weights = np.arange(150.0)
    assert model.score(X, None, weights) == pytest.approx(same.score(X, None, weights))
    frame = model.set_output(transform="pandas").transform(X)
    names = ["activefuzzykmeans0", "activefuzzykmeans1", "activefuzzykmeans2"]
    assert frame.columns.tolist() == names == model.get_feature_names_out().tolist()


def test_the_score_at_fuzzifier_1_is_that_of_k_means():
    expert = oracles.TableOracle.from_labels([0, 0, 1, 1])
    model = ActiveFuzzyKMeans(2, oracle=expert, fuzzifier=1.0, random_state=0)
    model.fit([[0.0], [2.0], [8.0], [10.0]])
    assert_allclose(model.cluster_centers_, [[1.0], [9.0]])
    assert model.score([[2.0], [5.0]]) == pytest.approx(-17.0)
    assert model.score([[2.0], [5.0]], None, [2.0, 0.5]) == pytest.approx(-10.0)


def test_a_verbose_fit_shows_its_progress(iris, target, monkeypatch):
    shown = []

    @contextlib.contextmanager
    def bar(budget):
        yield lambda count: shown.append((budget, count))

    monkeypatch.setattr("askmeans._util.progress.answers_bar", bar)
    small = {"strategy": TwoPhase(sample_size=20), "budget": 30}
    fitted(iris, target, **small)
    assert shown == []
    model = fitted(iris, target, verbose=True, **small)
    assert sum(count for _, count in shown) == model.n_queries_
    assert {budget for budget, _ in shown} == {30}


def test_ties_go_to_the_nearest_center():
    # The second item is said to belong half and half; it lies nearer to the first centre.
    oracle = oracles.TableOracle([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [1.0, 0.0]])
    model = ActiveFuzzyKMeans(2, oracle=oracle, strategy=TwoPhase(sample_size=40), random_state=0)
    model.fit([[0.0], [1.0], [9.0], [10.0]])
    assert model.memberships_[1].tolist() == [0.5, 0.5]
    assert model.labels_[1] == 1  # paper note N23


def test_without_an_oracle_it_warns_and_clusters_alone(iris):
    with pytest.warns(NoOracleWarning, match=r"oracles.ConsoleOracle"):
        model = ActiveFuzzyKMeans(3, random_state=0).fit(iris)
    assert model.n_queries_ == 0
    assert not model.complete_
    assert len(model.history_) == 0
    assert 0 < model.diagnostics_["beta"] <= 1
    assert model.diagnostics_["center_radius"] == [np.inf] * 3  # nobody said anything of them
    assert_allclose(model.predict_proba(iris), model.memberships_, atol=1e-9)
    free = FuzzyKMeans(3, n_init=5, random_state=0).fit(iris)
    assert metrics.membership_error(free.memberships_, model.memberships_) < 0.01


def test_a_data_frames_index_is_kept(target):
    frame = load_iris(as_frame=True).data
    frame.index = [f"flower {i}" for i in range(150)]
    model = fitted(frame, target)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.index_.equals(frame.index)
    again = model.fit(frame.to_numpy())
    assert not hasattr(again, "index_")


def test_clones_and_pickles_work_once_fitted(iris, target):
    model = fitted(iris, target)
    same_but_for_rounding(clone(model).fit(iris).memberships_, model.memberships_)
    assert (
        pickle.loads(pickle.dumps(model)).predict_proba(iris) == model.predict_proba(iris)
    ).all()


def test_a_failing_oracle_leaves_the_result_so_far(iris, target):
    calls = []

    def membership(item, cluster):
        calls.append(item)
        if len(calls) > 20:
            raise ConnectionError("line is dead")
        return target[item, cluster]

    oracle = oracles.CallbackOracle(membership=membership)
    with pytest.raises(OracleError, match=r"ConnectionError: line is dead") as caught:
        ActiveFuzzyKMeans(3, oracle=oracle, random_state=0).fit(iris)
    assert caught.value.result.n_queries == 20  # nothing that was answered is lost
    assert caught.value.result.clustering.memberships.shape == (150, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, r"'n_clusters' parameter .* Got 0 instead"),
        ({"n_clusters": 151}, "at most n_samples=150"),
        ({"fuzzifier": 0.9}, r"'fuzzifier' parameter .*\[1, inf\). Got 0.9"),
        ({"ask": "loudly"}, r"'ask' parameter .* Got 'loudly'"),
        ({"strategy": "guess"}, r"'strategy' parameter .*'two-phase'.* Got 'guess'"),
        ({"strategy": "two-clusters"}, "TwoClusters must be 2. Got 3"),
        ({"budget": 0}, r"'budget' parameter .* Got 0"),
        ({"budget": 1.5}, r"'budget' parameter .* Got 1.5"),
        ({"levels": 1}, r"'levels' parameter .* Got 1"),
        ({"repeats": 0}, r"'repeats' parameter .* Got 0"),
        ({"repeats": 1.5}, r"'repeats' parameter .* Got 1.5"),
    ],
)
def test_a_parameter_that_breaks_its_rule_is_named(iris, target, parameters, message):
    oracle = oracles.TableOracle(target)
    with pytest.raises(ParameterError, match=message):
        ActiveFuzzyKMeans(**{"n_clusters": 3, "oracle": oracle, **parameters}).fit(iris)


def test_data_that_cannot_be_used_is_refused_before_anybody_is_asked():
    oracle = oracles.CallbackOracle()  # asked anything, it would fail otherwise
    for value, message in ((np.nan, "NaN"), (1e160, "X must have no values above")):
        with pytest.raises(DataError, match=message):
            ActiveFuzzyKMeans(2, oracle=oracle).fit([[value], [1.0]])


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MoreClustersWarning")
def test_parameters_are_chosen_by_cross_validation_with_labels_that_answer(iris_labels):
    X, y = iris_labels
    model = ActiveFuzzyKMeans(3, oracle="y", ask="group", budget=15, random_state=0)
    grid = {"n_clusters": [2, 3], "fuzzifier": [1.5, 2.0]}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=folds, error_score="raise")
    search.fit(X, y)
    assert search.best_params_["n_clusters"] == 3
    assert search.best_score_ > 0.7
    assert 0 < search.best_estimator_.n_queries_ <= 15
    assert len(search.best_estimator_.history_) <= 15


def test_a_part_of_the_data_in_which_a_class_is_missing_is_fitted(iris_labels):
    X, y = iris_labels
    model = ActiveFuzzyKMeans(3, oracle="y", ask="group", budget=10, random_state=0)
    with pytest.warns(MissingClusterWarning):
        assert model.fit(X[:100], y[:100]).memberships_.shape == (100, 3)


def test_memberships_may_be_y_and_fit_predict_takes_it():
    U = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    model = ActiveFuzzyKMeans(2, oracle="y", random_state=0)
    labels = model.fit_predict([[0.0], [5.0], [10.0]], U)
    assert model.memberships_[1].tolist() == [0.5, 0.5]
    assert labels.tolist() == model.labels_.tolist()


@pytest.mark.parametrize(
    ("model", "y", "sentence"),
    [
        (ActiveFuzzyKMeans(3, oracle="y"), None, r"Got none; call fit\(X, y\)"),
        (ActiveFuzzyKMeans(3, oracle="y"), [0, 1, 2], "labels y .* must know 150 items"),
        (ActiveFuzzyKMeans(3, oracle=TableOracle.from_labels([0, 1, 2])), None,
         r"in cross-validation, .* use oracle=\"y\" and fit\(X, y\)"),
    ],
)  # fmt: skip
def test_an_oracle_that_knows_other_items_is_refused_with_what_to_do(
    iris_labels, model, y, sentence
):
    with pytest.raises(ParameterError, match=sentence):
        model.fit(iris_labels[0], y)


@pytest.mark.parametrize(
    "oracle",
    [np.zeros(150), [0] * 150, len, "me", TableOracle, 3],
    ids=["array", "list", "function", "str", "class", "number"],
)
def test_what_is_no_oracle_is_refused_with_what_makes_one(iris_labels, oracle):
    with pytest.raises(TypeError, match=r"TableOracle.from_labels\(y\).*CallbackOracle") as error:
        ActiveFuzzyKMeans(3, oracle=oracle).fit(iris_labels[0])
    assert isinstance(error.value, ParameterError)
    rng = np.random.default_rng(0)
    plan = TwoPhase(sample_size=6).plan(iris_labels[0], 3, fuzzifier=2.0, rng=rng)
    with pytest.raises(TypeError, match="The 'oracle' parameter of run"):
        run(plan, oracle)


@pytest.mark.parametrize("strategy", ["auto", "two-phase"])
def test_an_oracle_that_fails_brings_no_advice_to_ask_more(iris_labels, strategy):
    def fails(item, cluster):
        if item % 2:
            raise RuntimeError("no network")
        return float(cluster == 0)

    model = ActiveFuzzyKMeans(3, oracle=CallbackOracle(membership=fails), strategy=strategy)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with pytest.raises(OracleError, match="no network"):
            model.fit(iris_labels[0])
    assert [str(each.message) for each in shown] == []
