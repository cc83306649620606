"""Similarities that are off by chance or on a scale: how well rows are told, and warnings."""

import math
import warnings

import numpy as np
import pytest
from similarity_runs import account, check_simplex, dirichlet, error, kinds, rows
from soaking import in_soak
from strange_oracles import Counting

from askmeans.exceptions import LittleInformationWarning
from askmeans.metrics import match_clusters
from askmeans.oracles import NoisyOracle, QuantizedOracle, TableOracle
from askmeans.queries import PairQueries

# ---- noisy answers ----------------------------------------------------------------------------


def noisy_error(U, oracle, seed):
    """Root mean square error over 100 items outside the pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleInformationWarning)
        result = rows(U, oracle=oracle, seed=seed, noisy=True)
    pool = {item for answer in result.history if answer.kind == "triplet" for item in answer.items}
    first = [answer.items for answer in result.history][: account(result)["bootstrap_pairs"]]
    new = np.setdiff1d(np.arange(len(U)), [*pool, *np.ravel(first)])[:100]
    assert len(new) == 100
    found = result.clustering.memberships
    found = found[:, match_clusters(U, found)]
    return np.sqrt(np.square(found[new] - U[new]).mean())


@pytest.mark.parametrize("seeds", [range(4), in_soak(range(4, 20))])
@pytest.mark.parametrize(
    ("sigma", "bound"), [in_soak(0.01, 0.012), (0.05, 0.045), in_soak(0.1, 0.09)]
)
def test_noisy_answers_about_iris_give_new_rows_this_well(targets, sigma, bound, seeds):
    U = targets["iris"]
    for seed in seeds:
        oracle = NoisyOracle(TableOracle(U), std=sigma, random_state=seed)
        assert noisy_error(U, oracle, seed) < bound


@pytest.mark.parametrize("seeds", [range(4), in_soak(range(4, 20))])
@pytest.mark.parametrize(("levels", "bound"), [in_soak(11, 0.04), (5, 0.08)])
def test_answers_on_a_scale_about_iris_give_new_rows_this_well(targets, levels, bound, seeds):
    U = targets["iris"]
    for seed in seeds:
        assert noisy_error(U, QuantizedOracle(TableOracle(U), levels=levels), seed) < bound


@pytest.mark.parametrize("seeds", [range(4), in_soak(range(4, 20))])
@pytest.mark.parametrize(
    ("sigma", "bound"), [in_soak(0.01, 0.016), (0.05, 0.07), in_soak(0.1, 0.14)]
)
def test_noisy_answers_about_even_memberships_give_new_rows_this_well(sigma, bound, seeds):
    for seed in seeds:
        U = np.random.default_rng(seed).dirichlet(np.ones(3), size=150)
        oracle = NoisyOracle(TableOracle(U), std=sigma, random_state=seed)
        assert noisy_error(U, oracle, seed) < bound


def test_answers_that_carry_no_information_are_warned_of():
    U = dirichlet(5, seed=0)
    with pytest.warns(LittleInformationWarning, match="hardly tell 5 clusters"):
        result = rows(U, oracle=NoisyOracle(TableOracle(U), std=0.5), noisy=True)
    check_simplex(result.clustering.memberships)


@pytest.mark.parametrize("seeds", [range(2), in_soak(range(2, 12))])
@pytest.mark.parametrize("name", ["iris", in_soak("wine")])
@pytest.mark.parametrize("levels", [5, in_soak(11)])
def test_coinciding_centers_on_a_scale_are_warned_of(targets, name, levels, seeds):
    U = targets[name]
    split = np.column_stack([U[:, :-1], U[:, -1] / 2, U[:, -1] / 2])
    for seed in seeds:
        oracle = QuantizedOracle(TableOracle(split), levels=levels)
        with pytest.warns(LittleInformationWarning, match="hardly tell 4 clusters"):
            rows(split, oracle=oracle, seed=seed, levels=levels, batches=[np.arange(5)])


@pytest.mark.parametrize(("sigma", "k"), [(0.01, 3), in_soak(0.02, 3), in_soak(0.01, 5)])
def test_the_noise_and_the_error_to_expect_are_told(sigma, k):
    sigmas, ratios = [], []
    for seed in range(10):
        U = np.random.default_rng(seed).dirichlet(np.ones(k), size=120)
        result = rows(U, oracle=NoisyOracle(TableOracle(U), std=sigma, random_state=seed))
        found = result.clustering.memberships
        found = found[:, match_clusters(U, found)]
        sigmas.append(account(result)["sigma"])
        ratios.append(account(result)["predicted_rmse"] / np.sqrt(np.square(found - U).mean()))
    assert np.mean(sigmas) == pytest.approx(sigma, rel=0.2)
    assert 0.7 < np.median(ratios) < 1.4


def test_noise_is_seen_without_being_told_and_more_is_asked():
    U = dirichlet(3, seed=0, n=120)
    noisy = rows(U, oracle=NoisyOracle(TableOracle(U), std=0.02, random_state=0))
    exact = rows(U)
    assert account(noisy)["noisy"]
    assert not account(exact)["noisy"]
    assert (account(noisy)["pool"], account(exact)["pool"]) == (24, 18)
    assert kinds(noisy)["triplet"] == math.comb(9, 3)
    assert account(noisy)["row_pairs"] == 6 * (120 - 24)


def test_who_cannot_say_anything_of_triplets_gets_what_pairs_tell_and_a_warning():
    class Pairs(Counting):
        def answer(self, queries):
            answers = super().answer(queries)
            return answers if isinstance(queries, PairQueries) else np.full(len(answers), np.nan)

    U = np.random.default_rng(0).dirichlet(np.full(3, 4.0), size=60)  # far from pure
    with pytest.warns(LittleInformationWarning, match="Pairs alone leave memberships open"):
        result = rows(U, oracle=Pairs(U))
    seen = account(result)
    assert not seen["pure_enough"]
    assert error(result, U) <= seen["ambiguity"]
    assert seen["predicted_rmse"] > 0.01


@pytest.mark.parametrize("seeds", [range(8), in_soak(range(8, 40))])
@pytest.mark.parametrize(("name", "bound"), [("iris", 0.002), in_soak("wine", 0.015)])
def test_pairs_alone_in_a_large_pool_give_rows_this_well_and_say_how_well(
    targets, name, bound, seeds
):
    U = targets[name]
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LittleInformationWarning)  # Wine is diffuse
            result = rows(U, seed=seed, route="pairwise", pool_size=60)
        found = result.clustering.memberships
        found = found[:, match_clusters(U, found)]
        assert np.sqrt(np.square(found - U).mean()) < bound
        assert np.abs(found - U).max() <= account(result)["ambiguity"]
