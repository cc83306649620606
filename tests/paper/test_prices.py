"""What noise and similarity cost, and Lemma 1: by hand, and on perturbed clusterings."""

import math

import numpy as np
import pytest

from askmeans import budgets, datasets, metrics
from askmeans.exceptions import ParameterError


def test_repetitions_in_all_three_readings():
    n, base = 150, 0.04 * math.log(150) / 0.01  # sigma .2, kappa .1
    for form, factor in (("printed", 8), ("proof", 24), ("corrected", 96)):
        found = budgets.noisy_repetitions(n, sigma=0.2, kappa=0.1, form=form)
        assert found == math.ceil(factor * base)
    assert budgets.noisy_repetitions(n, sigma=0.0, kappa=0.1) == 1


def test_similarity_price_is_the_known_one():
    assert budgets.similarity_price(300, 3) == {"pairs": 153 + 3 * 282, "triplets": 20}
    assert budgets.similarity_price(300, 3, noisy=True)["pairs"] == 276 + 6 * 276
    assert budgets.similarity_price(300, 2)["triplets"] == 0
    assert budgets.similarity_price(300, 4, form="printed") == {"pairs": 1200, "triplets": 64}
    assert budgets.similarity_price(5, 3) == {"pairs": 153, "triplets": 20}  # the pool alone


def test_purity_bound_by_hand():
    m = math.ceil(math.log(450) / 0.25)
    assert budgets.purity_bound(150, 3, rho=0.25) == {"items": m, "pairs": m * m}


def test_xie_beni_bound_holds_on_perturbed_clusterings():
    rng = np.random.default_rng(0)
    planted = datasets.make_cores_and_arms([60, 60, 60], rng=rng)
    R = np.linalg.norm(planted.X, axis=1).max()
    mu, U = planted.centers, planted.memberships
    separation = min(np.linalg.norm(mu[i] - mu[j]) for i in range(3) for j in range(i))
    target = metrics.xie_beni(planted.X, mu, U, variant="paper")
    for eps_1, eps_2 in ((0.001, 0.001), (0.01, 0.0), (0.0, 0.02), (0.02, 0.05)):
        bound = budgets.xie_beni_bound(
            target, 3, separation=separation, R=R, eps_1=eps_1, eps_2=eps_2
        )
        for _ in range(50):
            step = rng.normal(size=mu.shape)
            step *= eps_1 / np.linalg.norm(step, axis=1, keepdims=True)
            moved = np.clip(U + eps_2 * rng.uniform(-1, 1, size=U.shape), 0.0, 1.0)
            found = metrics.xie_beni(planted.X, mu + step, moved, variant="paper")
            assert abs(found - target) <= bound
    assert bound < 1.0


def test_xie_beni_bound_is_infinite_when_centers_may_meet():
    bound = budgets.xie_beni_bound(0.1, 2, separation=0.1, R=1.0, eps_1=0.1, eps_2=0.0)
    assert bound == math.inf
    assert budgets.xie_beni_bound(0.1, 2, separation=1.0, R=1.0, eps_1=0.0, eps_2=0.0) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: budgets.noisy_repetitions(10, sigma=0.1, kappa=0.0), "'kappa' parameter"),
        (lambda: budgets.noisy_repetitions(10, sigma=0.1, kappa=0.1, form="x"), "'form' parameter"),
        (lambda: budgets.similarity_price(10, 1), "'k' parameter"),
        (lambda: budgets.purity_bound(10, 2, rho=0.0), "'rho' parameter"),
    ],
)
def test_numbers_out_of_range_are_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
