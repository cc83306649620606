"""The pictures: every item once, in its colour, as well-formed SVG without styles."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from askmeans.results import ErrorEstimate
from askmeans.sessions import Item
from askmeans.web.drawing import Plane, colors_of, error_curve, level_bars, scatter, strips
from askmeans.web.forecasting import outlook_of


def circles(svg):
    return ET.fromstring(svg).findall(".//circle")


def item(name, image=None):
    return Item(row=0, id=name, label=name, fields={}, text=None, image=image)


def drawn(plane, memberships, names, **options):
    """The scatter of items without pictures."""
    groups = [f"group {j}" for j in range(memberships.shape[1])]
    return scatter(plane, memberships, [item(name) for name in names], names=groups, **options)


def test_pure_items_have_their_clusters_colour_and_doubtful_ones_a_ring():
    memberships = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    plane = Plane(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]))
    dots = circles(drawn(plane, memberships, ["a", "b", "c"]))
    assert [c.get("fill") for c in dots[:2]] == colors_of(2)
    assert ["doubtful" in c.get("class") for c in dots] == [False, False, True]


def test_names_are_escaped_and_nothing_is_styled_inline():
    plane = Plane(np.eye(2))
    svg = drawn(plane, np.eye(2), ["<b>&", '"x"']) + "".join(strips(np.eye(2)))
    assert "<b>" not in svg
    assert "style" not in svg
    ET.fromstring(f"<all>{svg}</all>")


def test_many_items_are_thinned_out_and_keep_their_numbers():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    memberships = np.tile([0.2, 0.8], (5000, 1))
    plane = Plane(X)
    svg = drawn(plane, memberships, [str(row) for row in plane.rows])
    assert 1000 <= len(circles(svg)) <= 1500
    assert f'href="items/{plane.rows[-1]}"' in svg
    assert plane.n_items > len(plane.rows)
    assert sum(map(len, strips(memberships))) < 100_000


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (3, 5)])
def test_flat_and_tiny_data_stay_within_the_picture(shape):
    points = Plane(np.zeros(shape)).points(np.zeros((2, shape[1])))
    assert np.isfinite(points).all()
    assert (points >= 0).all()


def test_every_cluster_has_its_own_colour():
    assert len(set(colors_of(20))) == 20


def test_the_darkness_of_a_strip_is_the_membership():
    opacities = [
        rect.get("fill-opacity")
        for svg in strips(np.array([[0.25, 0.75]]))
        for rect in ET.fromstring(svg).findall("rect")
    ]
    assert opacities == ["0.250", "0.750"]


def test_groups_lie_apart_though_the_items_spread_elsewhere():
    X = np.random.default_rng(0).normal(size=(60, 5)) * [0.1, 0.1, 9.0, 9.0, 9.0]
    X[:30, 0] += 3.0
    x, y = Plane(X).points(np.array([[3.0, 0, 0, 0, 0], [0.0, 0, 0, 0, 0]])).T
    assert x[:30].min() > x[30:].max()
    assert np.ptp(y) > 100.0  # the other direction is the items' widest


def test_pictures_stand_where_they_do_not_cover_one_another_and_dots_elsewhere():
    plane = Plane(np.array([[0.0], [0.01], [5.0]]))
    dots = [item(name, image="a.png") for name in "abc"]
    svg = scatter(plane, np.eye(3), dots, names=["x", "y", "z"])
    found = [image.get("href") for image in ET.fromstring(svg).findall(".//image")]
    assert found == ["image/0?small=true", "image/2?small=true"]
    assert len(circles(svg)) == 1
    assert "100% y" in svg


def test_the_end_of_a_bar_is_what_is_wrong_of_its_level():
    few, many = (ET.fromstring(svg) for svg in level_bars([10, 40], [5.0, 2.0]))
    sizes = [[float(svg.find(f"*[@class='{name}']").get("width")) for name in ("right", "wrong")]
             for svg in (few, many)]  # fmt: skip
    assert sizes == [[25.0, 12.5], [100.0, 5.0]]
    assert float(few.find("*[@class='wrong']").get("x")) == 12.5
    assert level_bars([0], [0.0])[0].count('width="0.00"') == 2


def test_the_error_curve_tells_where_it_began_where_it_is_and_where_it_leads():
    known = [(4, 30.0, (10, 60)), (9, 10.0, (5, 20)), (20, 5.0, (3, 9))]
    curve = [ErrorEstimate(answers=n, error=0.1, low=0.0, high=0.2, wrong=wrong, wrong_band=band)
             for n, wrong, band in known]  # fmt: skip
    outlook = outlook_of(curve, n_items=100, n_questions=100, target=0.02, is_good=False)
    svg = error_curve(outlook)
    ET.fromstring(svg)
    assert "from 30 to 5" in svg
    assert "40 answers" in svg  # 20 more
    assert 'class="goal"' in svg
    assert "style" not in svg
