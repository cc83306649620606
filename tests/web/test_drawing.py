"""The pictures: every item once, in its colour, as well-formed SVG without styles."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from askmeans.web.drawing import Plane, colors_of, heat_map, scatter


def circles(svg):
    return ET.fromstring(svg).findall(".//circle")


def test_pure_items_have_their_clusters_colour_and_doubtful_ones_a_ring():
    memberships = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    plane = Plane(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]))
    drawn = circles(scatter(plane, memberships, ["a", "b", "c"]))
    assert [c.get("fill") for c in drawn[:2]] == colors_of(2)
    assert ["doubtful" in c.get("class") for c in drawn] == [False, False, True]


def test_names_are_escaped_and_nothing_is_styled_inline():
    plane = Plane(np.eye(2))
    svg = scatter(plane, np.eye(2), ["<b>&", '"x"']) + heat_map(np.eye(2), ["<i>", "&"])
    assert "<b>" not in svg
    assert "<i>" not in svg
    assert "style" not in svg
    ET.fromstring(f"<all>{svg}</all>")


def test_many_items_are_thinned_out_and_keep_their_numbers():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    memberships = np.tile([0.2, 0.8], (5000, 1))
    plane = Plane(X)
    svg = scatter(plane, memberships, [str(row) for row in plane.rows])
    assert 1000 <= len(circles(svg)) <= 1500
    assert f'href="/items/{plane.rows[-1]}"' in svg
    assert len(heat_map(memberships, ["a", "b"])) < 100_000


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (3, 5)])
def test_flat_and_tiny_data_stay_within_the_picture(shape):
    points = Plane(np.zeros(shape)).points
    assert np.isfinite(points).all()
    assert (points >= 0).all()


def test_every_cluster_has_its_own_colour():
    assert len(set(colors_of(20))) == 20


def test_the_darkness_of_the_heat_map_is_the_membership():
    svg = ET.fromstring(heat_map(np.array([[0.25, 0.75]]), ["a", "b"]))
    opacities = [r.get("fill-opacity") for r in svg.findall("rect") if r.get("fill-opacity")]
    assert opacities == ["0.250", "0.750"]
