"""The compiled kernels: the model's contract, and what is theirs alone."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_contract import ModelContract
from numpy.testing import assert_allclose

from askmeans.fuzzy import kernels, lloyd, powers
from askmeans.fuzzy.passes import ArrayEngine, Problem, RowThreads, read_only


class TestCompiledModel(ModelContract):
    def memberships(self, X, centers, fuzzifier):
        return lloyd.memberships(X, centers, fuzzifier)

    def step(self, X, centers, fuzzifier, weights):
        weights = np.empty(0) if weights is None else weights
        with RowThreads(len(X), 1) as threads:
            problem = Problem.of(ArrayEngine(X, weights, threads))
            frame = problem.frame
            moments, totals, objective = kernels.accumulate(
                read_only(X), weights, frame.inner(centers), frame.shift, frame.scale, fuzzifier
            )
        return frame.outer(moments / totals[:, None]), objective / frame.scale**2


@given(
    base=st.floats(0.0, 1.0),
    exponent=st.floats(1e-3, 1e3),
)
def test_powers_are_those_of_the_library(base, exponent):
    out = np.empty(1)
    powers.powers(np.array([base]), exponent, out, 1)
    # A rounding error in the logarithm counts as often as the result is e-fold.
    size = exponent * abs(np.log(base)) if base > 0 else 1.0
    assert_allclose(out[0], base**exponent, rtol=4e-16 * (10 + min(size, 700)), atol=1e-300)


@given(base=st.floats(0.0, 1.0), halves=st.integers(1, 16))
def test_powers_of_halves_are_those_of_the_library(base, halves):
    out = np.empty(1)
    powers.half_powers(np.array([base]), halves, out, 1)
    assert_allclose(out[0], base ** (halves / 2), rtol=1e-14, atol=1e-300)


def test_only_small_multiples_of_a_half_are_taken_for_such():
    assert [powers.as_halves(1.0 / (a - 1.0)) for a in (3.0, 2.0, 1.5, 1.4, 1.25)] == [
        1, 2, 4, 5, 8,
    ]  # fmt: skip
    assert [powers.as_halves(1.0 / (a - 1.0)) for a in (1.7, 1.01, 50.0, 1.5001)] == [0] * 4


@pytest.mark.parametrize("base", [5e-324, 1e-310, 1e-300, 1e-299])
def test_powers_of_next_to_nothing_are_exact_too(base):
    out = np.empty(1)
    powers.powers(np.array([base]), 0.01, out, 1)
    assert_allclose(out[0], base**0.01, rtol=1e-13)


def test_powers_of_zero_are_zero():
    out = np.empty(1)
    powers.powers(np.zeros(1), 1e-3, out, 1)
    assert out[0] == 0.0


def test_powers_of_one_are_exactly_one():
    out = np.empty(3)
    powers.powers(np.ones(3), 1e15, out, 3)
    assert (out == 1.0).all()


@pytest.mark.parametrize("d", [1, 3, 4, 5, 16, 17, 3000])
@pytest.mark.parametrize("n", [1, 15, 16, 257])
def test_blocks_of_any_size_give_the_same_distances(n, d):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(n, d)), rng.normal(size=(3, d))
    expected = np.linalg.norm(X[:, None] - centers, axis=2)
    assert_allclose(lloyd.distances(X, centers), expected, rtol=1e-12)
    assert (lloyd.nearest_centers(X, centers) == expected.argmin(axis=1)).all()


def test_the_lower_of_two_equally_near_centers_is_the_label():
    labels = lloyd.nearest_centers(np.array([[0.0]]), np.array([[1.0], [-1.0], [1.0]]))
    assert labels[0] == 0


def test_items_in_any_memory_layout_give_the_same_result():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(50, 8))
    X = wide[:, ::2]
    centers = X[:3].copy()
    expected = lloyd.memberships(X.copy(), centers, 1.5)
    assert_allclose(lloyd.memberships(X, centers, 1.5), expected, rtol=1e-15)
    assert_allclose(lloyd.memberships(np.asfortranarray(X), centers, 1.5), expected, rtol=1e-15)


_FIT = """
import hashlib
import numpy as np
from askmeans import FuzzyKMeans
X = np.random.default_rng(0).normal(size=(500, 15))
X[:250] += 1.0
model = FuzzyKMeans(2, random_state=0).fit(X)
found = model.cluster_centers_.tobytes() + model.predict_proba(X).tobytes()
print(hashlib.sha256(found).hexdigest())
"""


@pytest.mark.soak  # compiles everything
def test_a_process_that_compiles_has_the_same_bits_as_the_next_one(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    found = [
        subprocess.run(
            [sys.executable, "-c", _FIT], env=environment, check=True, capture_output=True
        ).stdout
        for _ in range(2)
    ]
    assert found[0] == found[1]
