"""Colours of clusters and of items between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_rgb

from askmeans._util.colors import blend
from askmeans.plotting.display import cluster_palette


def test_first_eight_colours_are_those_of_okabe_and_ito():
    warm = ["#D55E00", "#E69F00", "#F0E442", "#CC79A7"]
    cool_and_black = ["#000000", "#009E73", "#0072B2", "#56B4E9"]
    okabe_ito = {to_rgb(name) for name in warm + cool_and_black}
    assert {tuple(color) for color in cluster_palette(8)} == okabe_ito


@pytest.mark.parametrize("n_clusters", [1, 2, 8, 9, 10, 30])
def test_palette_has_one_different_colour_per_cluster(n_clusters):
    palette = cluster_palette(n_clusters)
    assert palette.shape == (n_clusters, 3)
    assert len(np.unique(palette, axis=0)) == n_clusters
    assert palette.min() >= 0
    assert palette.max() <= 1


def test_cluster_keeps_its_colour_when_more_clusters_follow():
    np.testing.assert_array_equal(cluster_palette(12)[:9], cluster_palette(9))


def test_next_colours_are_not_near_earlier_ones():
    palette = cluster_palette(12)
    gaps = np.linalg.norm(palette[:, None] - palette, axis=2)[~np.eye(12, dtype=bool)]
    assert gaps.min() > 0.2


def test_item_of_one_cluster_has_that_clusters_colour():
    palette = cluster_palette(10)
    np.testing.assert_allclose(blend(np.eye(10), palette), palette, atol=1e-7)


def test_half_and_half_lies_between_the_two_colours_in_every_channel():
    palette = cluster_palette(2)
    mixed = blend(np.array([[0.5, 0.5]]), palette)[0]
    assert (mixed > palette.min(axis=0)).all()
    assert (mixed < palette.max(axis=0)).all()


def test_blue_and_orange_do_not_meet_in_green():
    # In plain RGB they would: the mixture would look like the third cluster's colour.
    red, green, _ = blend(np.array([[0.5, 0.5, 0.0]]), cluster_palette(3))[0]
    assert red > green


def test_rows_that_do_not_sum_to_one_are_blended_by_their_shares():
    palette = cluster_palette(3)
    rows = np.array([[0.2, 0.1, 0.1], [0.8, 0.4, 0.4]])
    first, second = blend(rows, palette)
    np.testing.assert_allclose(first, second)


def test_item_that_belongs_nowhere_gets_the_even_mixture():
    palette = cluster_palette(3)
    nowhere, even = blend(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]), palette)
    np.testing.assert_allclose(nowhere, even)


@given(arrays(np.float64, (4, 9), elements=st.floats(0, 1)))
def test_blend_stays_within_the_palettes_range(memberships):
    palette = cluster_palette(9)
    before = memberships.copy()
    mixed = blend(memberships, palette)
    assert (mixed >= palette.min(axis=0) - 1e-6).all()
    assert (mixed <= palette.max(axis=0) + 1e-6).all()
    np.testing.assert_array_equal(memberships, before)
