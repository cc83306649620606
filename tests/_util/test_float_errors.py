"""Under numpy.seterr(all="raise"), which some libraries set at import, all goes as without it."""

import warnings

import numpy as np
import pytest

from askmeans import (
    ActiveFuzzyKMeans,
    FuzzyKMeans,
    budgets,
    metrics,
    oracles,
    run,
    sessions,
)  # fmt: skip
from askmeans._util.checks import default_float_errors
from askmeans.exceptions import ParameterError
from askmeans.fuzzy import closed_form_memberships, objective, weighted_centers
from askmeans.queries import MembershipQueries, PairQueries
from askmeans.queries.questions import expected_answers
from askmeans.results import Clustering

# Two groups so far apart that powers of ratios of distances underflow.
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 15)
X = RNG.normal(size=(30, 2)) + 1e4 * Y[:, None]
HARD = np.eye(2)[Y]
TINY = np.where(HARD > 0.0, 1.0, 1e-200)  # memberships whose squares underflow
STRATEGIES = ["auto", "two-phase", "sequential", "two-clusters"]


@pytest.fixture(autouse=True)
def _raising():
    with np.errstate(all="raise"):
        yield
        with pytest.raises(FloatingPointError):  # what the caller has set is as it was
            np.float64(1e-200) ** 2


@pytest.fixture(autouse=True)
def _few_items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few items and answers
        yield


@pytest.mark.parametrize("fuzzifier", [2.0, 1.01, "auto"])
def test_fuzzy_k_means_fits_and_predicts(fuzzifier):
    model = FuzzyKMeans(2, fuzzifier=fuzzifier, n_init=2, random_state=0).fit(X)
    assert metrics.matched_accuracy(Y, model.labels_) == 1.0
    for computed in (model.predict_proba(X), model.transform(X), model.score(X)):
        assert np.isfinite(computed).all()


@pytest.mark.parametrize(
    ("told", "options"),
    [(HARD, {}), (TINY, {}), (HARD, {"repeats": 2}), (TINY, {"fuzzifier": 1.1}),
     (TINY, {"ask": "similarity"}), (HARD, {"levels": 5})],
    ids=["hard", "tiny", "repeats", "fuzzifier", "similarity", "levels"],
)  # fmt: skip
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_fits_and_predicts(strategy, told, options):
    if "levels" in options and strategy not in ("auto", "stratified"):
        with pytest.raises(ParameterError, match="assumes exact answers"):
            ActiveFuzzyKMeans(
                2, oracle=oracles.TableOracle(told), strategy=strategy, **options
            ).fit(X)
        return
    model = ActiveFuzzyKMeans(
        2, oracle=oracles.TableOracle(told), strategy=strategy, random_state=0, **options
    ).fit(X)
    assert metrics.matched_accuracy(Y, model.labels_) == 1.0
    assert np.isfinite(model.predict_proba(X)).all()


def test_without_an_oracle_it_fits():
    model = ActiveFuzzyKMeans(2, fuzzifier=1.05, random_state=0).fit(X)
    assert metrics.matched_accuracy(Y, model.labels_) == 1.0


def test_a_session_asks_and_gives_its_result(tmp_path):
    with sessions.create(
        tmp_path / "s.db", X, n_clusters=2, ask="membership", budget=24, random_state=0
    ) as session:
        while questions := session.ask(10):
            for question in questions:
                session.tell(question.id, float(Y[question.items[0]] == question.cluster))
        assert np.isfinite(session.result().memberships).all()
        assert session.status(estimate=True).answered > 0


MEASURES = {
    "beta": lambda f: f(TINY),
    "center_error": lambda f: f(X[:2], X[:2] * (1.0 + 1e-200)),
    "ClusterNumbers": lambda f: f(n_clusters=(2, 3), merged=(False, False), indices={
        "xie_beni": np.array([1e-200, 1.0])}).suggested,
    "choose_n_clusters": lambda f: f(X, (2, 3), random_state=0).indices["xie_beni"],
    "expected_calibration_error": lambda f: f(TINY.argmax(axis=1), TINY),
    "gamma": lambda f: f(X, X[[0, -1]]),
    "is_solution": lambda f: f(X[:2], TINY, X[:2], TINY, center_tolerance=1.0,
                               membership_tolerance=1.0),
    "largest_inversion": lambda f: f(X, X[[0, -1]], TINY, order="relative"),
    "match_clusters": lambda f: f(TINY, TINY[::-1]),
    "matched_accuracy": lambda f: f(Y, Y),
    "membership_error": lambda f: f(TINY, TINY),
    "objective": lambda f: f(X, X[[0, -1]], TINY),
    "partition_coefficient": lambda f: f(TINY),
    "rho_pure": lambda f: f(TINY),
    "rho_weight": lambda f: f(TINY),
    "xie_beni": lambda f: f(X, X[[0, -1]], TINY),
}  # fmt: skip


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_measure_measures(name):
    assert np.isfinite(MEASURES[name](getattr(metrics, name))).all()


def test_the_models_formulas_compute():
    U = closed_form_memberships(X, X[[0, -1]], 1.01)
    assert np.isfinite(weighted_centers(X, U, 3.0)).all()
    assert np.isfinite(objective(X, X[[0, -1]], U, 3.0))


def test_radii_and_contradictions_are_found():
    assert np.isfinite(budgets.center_radii(X, TINY)).all()
    assert (expected_answers(PairQueries([[0, 1], [0, 29]]), TINY) <= 1.0).all()


def test_code_of_the_caller_runs_under_the_callers_settings():
    class Careful:
        def answer(self, queries):
            with pytest.raises(FloatingPointError):
                np.float64(1e-200) ** 2
            return TINY[queries.items, queries.clusters]

    def plan():
        answers = yield MembershipQueries([0], [0])
        value = np.float64(1e-200) ** 2 + answers[0]
        return Clustering(
            centers=X[:1], memberships=np.array([[value]]), predictor=len, complete=True
        )

    assert run(plan(), Careful()).clustering.memberships[0, 0] == 1.0


def test_inside_other_errors_are_warnings_as_numpy_has_them():
    with default_float_errors(), pytest.warns(RuntimeWarning, match="divide by zero"):
        np.ones(1) / 0.0
