"""The bounds that benchmarks/noise.py prints, on fewer targets and seeds.

`make test` looks at one target of each, `make soak` at all.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from soaking import in_soak

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, TwoPhase, metrics, run
from askmeans.contradictions import find_suspects
from askmeans.denoising import learn_rough_link
from askmeans.items import ArrayItems
from askmeans.oracles import CrowdOracle, HostileOracle, NoisyOracle, QuantizedOracle, TableOracle
from askmeans.plans.answers import Answers, Averaged
from askmeans.plans.search import search_cuts
from askmeans.queries import MembershipQueries
from askmeans.scores import Scorer
from askmeans.wrappers import repeated, repeated_adaptively, repeated_solver

SEEDS = range(3)


def standardised(load):
    return StandardScaler().fit_transform(load().data)


def fuzzy(X, k):
    model = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X)
    return model.memberships_.astype(float)


def wine_hidden():
    X = standardised(load_wine)
    return X[:, ::2], fuzzy(X, 3)


def cancer_fuzzy():
    X = standardised(load_breast_cancer)
    return X, fuzzy(X, 2)


def wine_mixture():
    X = standardised(load_wine)
    model = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(X)
    return X, model.predict_proba(X)


TARGETS = [cancer_fuzzy, in_soak(wine_hidden), in_soak(wine_mixture)]


def maker(X, k, seed, **parameters):
    strategy = TwoPhase(**parameters)
    return lambda: strategy.plan(X, k, fuzzifier=2.0, rng=np.random.default_rng(seed))


def off(result, U):
    return np.abs(result.clustering.memberships - U).mean()


def test_four_hundred_noisy_answers_of_a_search_find_a_smooth_link():
    errors, counts = [], []
    for seed in range(8):
        x = np.sort(np.random.default_rng(seed).random(5000))
        u = 1.0 / (1.0 + np.exp(-8.0 * (x - 0.5)))
        oracle = NoisyOracle(TableOracle(np.column_stack([u, 1.0 - u])), std=0.1, random_state=seed)
        ranking = ArrayItems(x[:, None]).rank(Scorer(centers=np.ones((1, 1)), order="distance"))
        answers, one = Answers(2, faithful=False), np.zeros(1, dtype=np.intp)
        asking = search_cuts(ranking, len(x), one, one, answers, 0.05, "search", rough=True)
        try:
            queries = next(asking)
            while True:
                each = np.array(
                    [
                        oracle.answer(MembershipQueries(queries.items, queries.clusters, repeat=r))
                        for r in range(3)
                    ]
                )
                queries = asking.send(Averaged(each.mean(axis=0), each))
        except StopIteration:
            pass
        places, _, values = answers.single()
        found = learn_rough_link(
            x[answers.items[places]], values, np.ones(len(values)), anchored=False
        )
        errors.append(np.abs(found.link(x) - u).mean())
        counts.append(len(values))
    assert np.mean(errors) <= 0.03
    assert 300 < np.mean(counts) < 500


def test_four_hundred_noisy_answers_spread_evenly_find_a_smooth_link():
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = np.sort(rng.random(5000))
        u = 1.0 / (1.0 + np.exp(-8.0 * (x - 0.5)))
        rows = np.linspace(0, len(x) - 1, 400).astype(np.intp)
        told = np.clip(u[rows] + 0.1 * rng.normal(size=400), 0.0, 1.0)
        link = learn_rough_link(x[rows], told, np.ones(400), anchored=False).link
        errors.append(np.abs(link(x) - u).mean())
    assert np.mean(errors) <= 0.02


@pytest.mark.parametrize("target", [cancer_fuzzy, in_soak(wine_mixture)])
def test_more_answers_on_five_points_do_not_hurt(target):
    X, U = target()
    once, thrice = [], []
    for seed in SEEDS:
        oracle = QuantizedOracle(NoisyOracle(TableOracle(U), std=0.1, random_state=seed), levels=5)
        make = maker(X, U.shape[1], seed, levels=5, noise="auto")
        once.append(off(run(make(), oracle), U))
        thrice.append(off(run(repeated(make(), 3), oracle), U))
    assert np.mean(thrice) <= np.mean(once)
    assert np.mean(thrice) < 0.03


@pytest.mark.soak
@pytest.mark.parametrize("levels", [5, 11, 101])
def test_adaptive_repetition_is_as_good_as_fixed_on_a_coarse_scale(levels):
    X, U = wine_hidden()
    fixed, adaptive = [], []
    for seed in SEEDS:
        noisy = NoisyOracle(TableOracle(U), std=0.1, random_state=seed)
        oracle = QuantizedOracle(noisy, levels=levels)
        make = maker(X, 3, seed, levels=levels, noise="auto")
        thrice = run(repeated(make(), 3), oracle)
        again = run(repeated_adaptively(make, 3), oracle, budget=thrice.n_queries)
        fixed.append(off(thrice, U))
        adaptive.append(off(again, U))
    assert np.mean(adaptive) <= np.mean(fixed) + 0.005


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.AskmeansWarning")
@pytest.mark.parametrize("ask", ["similarity", "pairwise"])
@pytest.mark.parametrize("sigma", [0.0, 0.1])
@pytest.mark.soak
def test_one_hostile_annotator_in_ten_bends_similarities_little(ask, sigma):
    X = standardised(load_iris)[::2]
    U = fuzzy(X, 3)
    clean, bent = [], []
    for seed in range(2):
        honest = NoisyOracle(TableOracle(U), std=sigma, random_state=seed)
        hostile = HostileOracle(TableOracle(U), how="flipped")
        crowd = CrowdOracle([honest] * 9 + [hostile], random_state=seed)
        for oracle, errors in ((honest, clean), (crowd, bent)):
            model = ActiveFuzzyKMeans(3, oracle=oracle, ask=ask, repeats=3, random_state=seed)
            found = model.fit(X).memberships_
            errors.append(metrics.membership_error(U, found, how="mean"))
    assert np.mean(bent) <= 1.5 * np.mean(clean) + 0.02


@pytest.mark.parametrize("ask", ["similarity", "pairwise"])
def test_exact_similarities_asked_again_cost_what_they_must_and_change_nothing(ask):
    X = standardised(load_iris)
    oracle = TableOracle(fuzzy(X, 3))
    once = ActiveFuzzyKMeans(3, oracle=oracle, ask=ask, random_state=0).fit(X)
    again = ActiveFuzzyKMeans(3, oracle=oracle, ask=ask, repeats=3, random_state=0).fit(X)
    assert again.n_queries_ <= 3.3 * once.n_queries_
    errors = [
        metrics.membership_error(oracle.memberships, one.memberships_, how="mean")
        for one in (again, once)
    ]
    assert errors[0] <= errors[1] + 0.005


@pytest.mark.parametrize("target", TARGETS)
def test_adaptive_repetition_is_as_good_as_fixed_at_no_more_questions(target):
    X, U = target()
    fixed, adaptive, word = [], [], []
    for seed in SEEDS:
        oracle = NoisyOracle(TableOracle(U), std=0.1, random_state=seed)
        make = maker(X, U.shape[1], seed)
        thrice = run(repeated(make(), 3), oracle)
        again = run(repeated_adaptively(make, 3), oracle, budget=thrice.n_queries)
        assert again.n_queries <= thrice.n_queries
        fixed.append(off(thrice, U))
        adaptive.append(off(again, U))
        word.append(off(run(make(), oracle), U))
    assert np.mean(adaptive) <= np.mean(fixed) + 0.005
    assert np.mean(adaptive) < 0.7 * np.mean(word)


@pytest.mark.parametrize("how", ["random", "flipped"])
@pytest.mark.parametrize("target", TARGETS)
def test_one_hostile_annotator_in_ten_bends_little_and_is_found(target, how):
    X, U = target()
    clean, bent, hostile_flags, honest_flags = [], [], [], []
    for seed in SEEDS:
        honest = NoisyOracle(TableOracle(U), std=0.1, random_state=seed)
        hostile = HostileOracle(TableOracle(U), how=how, random_state=seed)
        crowd = CrowdOracle([honest] * 9 + [hostile], random_state=seed)
        make = maker(X, U.shape[1], seed, noise="auto")
        clean.append(off(run(repeated_adaptively(make, 3), honest), U))
        result = run(repeated_adaptively(make, 3), crowd)
        bent.append(off(result, U))
        who = crowd.who_answered(result.history)
        found = find_suspects(result.history, result.clustering.memberships, annotators=list(who))
        hostile_flags.append(found.answers[who == 9].mean())
        honest_flags.append(found.answers[who != 9].mean())
    assert np.mean(bent) <= 1.5 * np.mean(clean) + 0.02
    assert np.mean(hostile_flags) >= 0.8
    assert np.mean(honest_flags) < 0.05


def test_repeated_questions_fitted_beat_the_repeated_solver_at_the_same_budget():
    X, U = cancer_fuzzy()
    solver, questions = [], []
    for seed in SEEDS:
        oracle = NoisyOracle(TableOracle(U), std=0.2, random_state=seed)
        make = maker(X, 2, seed)
        fitted = run(repeated(make(), 5), oracle)
        whole = run(repeated_solver(make, X, 5), oracle, budget=fitted.n_queries)
        questions.append(off(fitted, U))
        solver.append(off(whole, U))
    assert np.mean(questions) < 0.7 * np.mean(solver)
