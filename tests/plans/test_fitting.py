"""A clustering from rough answers: never much worse than no questions, and frank about itself."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import FuzzyKMeans, Sequential, Stratified, TwoClusters, TwoPhase, run
from askmeans.exceptions import MissingClusterWarning, ParameterError
from askmeans.fuzzy import closed_form_memberships
from askmeans.items import ArrayItems
from askmeans.oracles import CrowdOracle, HostileOracle, NoisyOracle, QuantizedOracle, TableOracle
from askmeans.plans.answers import Roughness
from askmeans.plans.draft import Draft
from askmeans.wrappers import repeated

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
BLOBS = RNG.integers(3, size=150)
X = CENTERS[BLOBS] + RNG.normal(size=(150, 2))
STRATEGIES = {
    "stratified": (Stratified, 3), "two-phase": (TwoPhase, 3), "sequential": (Sequential, 3),
    "two-clusters": (TwoClusters, 2),
}  # fmt: skip


def data(k):
    """Items of the first so many blobs."""
    return X[np.less(BLOBS, k)]


def target(k):
    return closed_form_memberships(data(k), CENTERS[:k], 2.0)


def found(oracle, strategy, k=3, seed=0, times=1):
    plan = strategy.plan(data(k), k, fuzzifier=2.0, rng=np.random.default_rng(seed))
    return run(repeated(plan, times) if times > 1 else plan, oracle)


def off(result, k=3):
    return np.abs(result.clustering.memberships - target(k)).mean()


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_fits_noisy_answers(name):
    kind, k = STRATEGIES[name]
    word, fitted = [], []
    for seed in range(3):
        oracle = NoisyOracle(TableOracle(target(k)), std=0.15, random_state=seed)
        word.append(off(found(oracle, kind(), k, seed), k))
        fitted.append(off(found(oracle, kind(noise="auto"), k, seed), k))
    assert np.mean(fitted) < 0.65 * np.mean(word)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_takes_answers_on_a_scale_as_intervals(name):
    kind, k = STRATEGIES[name]
    oracle = QuantizedOracle(TableOracle(target(k)), levels=5)
    assert off(found(oracle, kind(levels=5), k), k) < 0.6 * off(found(oracle, kind(), k), k)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_withstands_a_tenth_of_wrong_answers(name):
    kind, k = STRATEGIES[name]
    table = TableOracle(target(k))
    honest = NoisyOracle(table, std=0.05)
    crowd = CrowdOracle([honest] * 9 + [HostileOracle(table, how="flipped")])
    clean, bent = (off(found(o, kind(noise="auto"), k), k) for o in (honest, crowd))
    assert bent < 1.5 * clean + 0.02


def test_noise_cannot_make_the_result_much_worse_than_no_questions():
    alone = FuzzyKMeans(3, n_init=5, random_state=0).fit(X)
    U = alone.memberships_
    for sigma in (0.1, 0.3):
        oracle = NoisyOracle(TableOracle(U), std=sigma)
        result = found(oracle, TwoPhase(noise="auto"))
        assert np.abs(result.clustering.memberships - U).mean() < 0.25 * sigma


def test_centers_of_clustering_alone_are_taken_where_they_explain_the_answers_better():
    U = FuzzyKMeans(3, n_init=5, random_state=0).fit(X).memberships_
    chosen = [
        found(NoisyOracle(TableOracle(U), std=0.1, random_state=s), TwoPhase(), seed=s, times=3)
        for s in range(4)
    ]
    sources = [result.clustering.diagnostics["centers_from"] for result in chosen]
    assert sources.count("unsupervised") >= 2


@pytest.mark.parametrize(("seed", "times", "noise"), [(3, 3, 0.0), (5, 1, 0.1), (0, 1, "auto")])
def test_a_target_unlike_the_data_is_not_explained_away_by_disbelief(seed, times, noise):
    """Two of three blobs are one cluster and the third is two: clustering alone is wrong."""
    rng = np.random.default_rng(seed)
    items = np.vstack([rng.normal(at, size=(120, 2)) for at in ([0, 0], [8, 0], [4, 7])])
    labels = np.repeat([0, 1, 1], 120)
    labels[:120][items[:120, 0] > 0.6] = 2
    U = np.eye(3)[labels] * 0.9 + 0.1 / 3
    oracle = NoisyOracle(TableOracle(U), std=0.1, random_state=seed)
    plan = TwoPhase(noise=noise).plan(items, 3, fuzzifier=2.0, rng=np.random.default_rng(seed))
    result = run(repeated(plan, times) if times > 1 else plan, oracle)
    assert result.clustering.diagnostics["centers_from"] == "answers"
    assert np.abs(result.clustering.memberships - U).mean() < 0.06


def test_repeats_that_differ_are_fitted_without_being_told():
    oracle = NoisyOracle(TableOracle(target(3)), std=0.1)
    result = found(oracle, TwoPhase(), times=3)
    assert 0.07 < result.clustering.diagnostics["noise"] < 0.13
    assert "noise" not in found(TableOracle(target(3)), TwoPhase(), times=3).clustering.diagnostics


def test_a_cluster_made_of_noise_is_never_invented_silently():
    U = np.column_stack([closed_form_memberships(X, CENTERS[:2], 2.0), np.zeros(150)])
    oracle = NoisyOracle(TableOracle(U), std=0.1)
    with pytest.warns(MissingClusterWarning, match="cluster 2"):
        result = found(oracle, TwoPhase(noise="auto"))
    assert not result.complete
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(NoisyOracle(TableOracle(target(3)), std=0.1), TwoPhase(noise="auto")).complete


def test_the_account_tells_noise_doubts_and_how_sure_rows_and_centers_are():
    table = TableOracle(target(3))
    crowd = CrowdOracle([table] * 9 + [HostileOracle(table, how="flipped")])
    result = found(crowd, TwoPhase(noise="auto"))
    seen = result.clustering.diagnostics
    wrong = {
        (a.items[0], a.cluster)
        for a in result.history
        if abs(a.value - target(3)[a.items[0], a.cluster]) > 0.2
    }
    doubted = {(one["item"], one["cluster"]) for one in seen["doubted"]}
    assert len(wrong) >= 5
    assert len(wrong & doubted) >= 0.8 * len(wrong)
    deviations = [one["deviations"] for one in seen["doubted"]]
    assert deviations == sorted(deviations, reverse=True)
    assert len(seen["center_noise"]) == 3
    assert seen["row_error"].shape == (150,)


def test_expected_errors_of_rows_are_of_the_right_size():
    for sigma in (0.05, 0.15):
        expected, actual = [], []
        for seed in range(4):
            oracle = NoisyOracle(TableOracle(target(3)), std=sigma, random_state=seed)
            result = found(oracle, TwoPhase(), seed=seed, times=3)
            expected.append(np.sqrt(np.square(result.clustering.diagnostics["row_error"]).mean()))
            actual.append(np.sqrt(np.square(result.clustering.memberships - target(3)).mean()))
        assert 0.4 < np.mean(expected) / np.mean(actual) < 3.0


def test_more_noise_makes_centers_less_sure():
    small, large = (
        found(NoisyOracle(TableOracle(target(3)), std=std), TwoPhase(noise="auto"))
        for std in (0.05, 0.2)
    )
    for one, other in zip(
        small.clustering.diagnostics["center_noise"],
        large.clustering.diagnostics["center_noise"],
        strict=True,
    ):
        assert 0.0 < one < other


@pytest.mark.parametrize("budget", [1, 5, 20, 60])
def test_a_stop_at_any_time_gives_a_valid_clustering(budget):
    oracle = NoisyOracle(TableOracle(target(3)), std=0.2, clip=False)
    for strategy in (TwoPhase(noise="auto"), TwoPhase(noise=0.2, levels=5), TwoPhase(levels=5)):
        plan = strategy.plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingClusterWarning)
            result = run(plan, oracle, budget=budget)
        memberships = result.clustering.memberships
        assert_allclose(memberships.sum(axis=1), 1.0)
        assert (memberships >= 0.0).all()
        assert np.isfinite(result.clustering.centers).all()


def test_parameters_of_roughness_are_checked():
    for parameters in ({"noise": -0.1}, {"noise": "much"}, {"levels": 1}, {"levels": 2.5}):
        (name,) = parameters
        with pytest.raises(ParameterError, match=f"'{name}' parameter of TwoPhase"):
            TwoPhase(**parameters)
    with pytest.raises(ParameterError, match="'faithful' parameter of Sequential"):
        Sequential(faithful=True, levels=5)


def test_an_answer_on_which_many_items_depend_is_worth_asking_again_most():
    ends = np.concatenate([np.linspace(0, 1, 10), np.linspace(9, 10, 10)])
    items = np.concatenate([ends, [5.0], np.linspace(4.5, 5.5, 180)])[:, None]
    draft = Draft(
        ArrayItems(items), 2, fuzzifier=2.0, order="distance", faithful=False,
        rng=np.random.default_rng(0), roughness=Roughness(noise=0.05),
    )  # fmt: skip
    asking = draft.answers.ask(np.arange(21), np.zeros(21, dtype=np.intp), "sampling")
    queries = next(asking)
    U = closed_form_memberships(items, np.array([[0.5], [9.5]]), 2.0)
    with pytest.raises(StopIteration):
        asking.send(TableOracle(U).answer(queries))
    queries, gains = draft.finish(complete=True).again
    assert queries.items[gains.argmax()] == 20
