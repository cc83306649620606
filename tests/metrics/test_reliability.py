"""Krippendorff's alpha: that of the package of the same name, and for rows of shares."""

import krippendorff
import numpy as np
import pytest

from askmeans.exceptions import DataError
from askmeans.metrics.reliability import annotator_alphas, krippendorff_alpha


def ratings(seed, n_annotators=4, n_items=30, missing=0.4):
    """Ratings of items, with gaps."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, size=n_items)
    rated = truth + rng.integers(-1, 2, size=(n_annotators, n_items))
    table = np.clip(rated, 0, 5).astype(float)
    table[rng.random(table.shape) < missing] = np.nan
    return table


@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_that_of_the_krippendorff_package(seed):
    table = ratings(seed)
    peer = krippendorff.alpha(table, level_of_measurement="interval")
    assert krippendorff_alpha(table) == pytest.approx(peer, abs=1e-12)


def test_alpha_of_answers_between_0_and_1_is_that_of_the_package():
    table = np.random.default_rng(0).beta(0.5, 0.5, size=(3, 50)).round(3)
    peer = krippendorff.alpha(table, level_of_measurement="interval")
    assert krippendorff_alpha(table) == pytest.approx(peer, abs=1e-12)


def test_rows_of_one_whole_share_have_the_nominal_alpha_of_their_groups():
    table = ratings(7)
    rows = np.where(np.isnan(table)[..., None], np.nan, np.eye(6)[np.nan_to_num(table).astype(int)])
    peer = krippendorff.alpha(table, level_of_measurement="nominal")
    assert krippendorff_alpha(rows) == pytest.approx(peer, abs=1e-12)


def test_the_annotators_alphas_average_to_that_of_all():
    table = ratings(3)
    shared = ~np.isnan(table) & ((~np.isnan(table)).sum(axis=0) >= 2)
    mean = np.average(annotator_alphas(table), weights=shared.sum(axis=1))
    assert mean == pytest.approx(krippendorff_alpha(table), abs=1e-12)


def test_who_answers_at_random_stands_out():
    rng = np.random.default_rng(0)
    truth = rng.random(100)
    table = np.stack([truth, truth, truth + 0.01, rng.random(100)])
    alphas = annotator_alphas(table)
    assert alphas.argmin() == 3
    assert alphas[3] < 0.3 < 0.6 < alphas[0]


def test_what_says_nothing_of_agreement_is_nan():
    assert np.isnan(krippendorff_alpha([[1.0, np.nan], [np.nan, 2.0]]))
    assert np.isnan(krippendorff_alpha([[1.0, 1.0], [1.0, 1.0]]))
    alone = annotator_alphas([[1.0, 2.0, np.nan], [1.0, 2.0, np.nan], [np.nan, np.nan, 3.0]])
    assert alone[:2].tolist() == [1.0, 1.0]
    assert np.isnan(alone[2])


def test_ratings_of_another_shape_are_refused():
    with pytest.raises(DataError, match="must have shape"):
        krippendorff_alpha([1.0, 2.0])
