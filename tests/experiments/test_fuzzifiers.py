"""Figure 3 in small: what depends on the fuzzifier, and what cannot."""

import numpy as np
import pytest

from experiments.fuzzifiers import FUZZY, LABELS, cell, target, targets
from experiments.real import load


def values(reading, curve, fuzzifier):
    (series,) = cell(reading=reading, curve=curve, fuzzifier=fuzzifier, nu=30, runs=4, seed=0)
    return series.values


@pytest.mark.parametrize("curve", ["two-phase, faithful", "sequential, faithful"])
def test_with_classes_as_answers_the_papers_algorithms_do_not_depend_on_alpha(curve):
    hard = values(LABELS, curve, 1.0)
    assert hard == values(LABELS, curve, 1.5) == values(LABELS, curve, 3.0)


def test_with_a_fuzzy_target_they_do():
    assert values(FUZZY, "two-phase, faithful", 1.0) != values(FUZZY, "two-phase, faithful", 3.0)


@pytest.mark.parametrize("fuzzifier", [1.0, 1.5, 3.0])
def test_the_targets_clusters_are_named_by_the_classes_they_fit(fuzzifier):
    U, y = target(fuzzifier), load("Iris")[1]
    assert np.allclose(U.sum(axis=1), 1.0)
    assert (U.argmax(axis=1) == y).mean() > 0.85
    (series,) = targets(fuzzifiers=[fuzzifier])
    assert series.values == [(U.argmax(axis=1) == y).mean()]


def test_the_hard_target_is_hard():
    assert set(np.unique(target(1.0))) == {0.0, 1.0}
