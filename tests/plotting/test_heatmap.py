"""The heat map: the order shown, the data in the image, and what is refused."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askmeans import FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError
from askmeans.plotting import MembershipHeatmapDisplay

MEMBERSHIPS = np.array([[0.2, 0.8], [0.6, 0.4], [0.9, 0.1], [0.3, 0.7], [0.9, 0.1]])


def separators(display):
    return sorted(segment[0, 1] for segment in display.ax_.collections[0].get_segments())


def test_items_are_sorted_by_strongest_cluster_then_membership_then_index():
    np.testing.assert_array_equal(
        MembershipHeatmapDisplay(MEMBERSHIPS).plot().order_, [2, 4, 1, 0, 3]
    )


def test_image_holds_the_memberships_in_the_order_shown():
    display = MembershipHeatmapDisplay(MEMBERSHIPS).plot()
    np.testing.assert_array_equal(display.image_.get_array(), MEMBERSHIPS[display.order_])


def test_colours_run_from_zero_to_one_whatever_the_data():
    display = MembershipHeatmapDisplay([[0.4, 0.6], [0.5, 0.5]]).plot()
    assert display.image_.get_clim() == (0.0, 1.0)
    assert display.colorbar_.mappable is display.image_
    assert display.colorbar_.ax.get_ylabel() == "membership"


def test_line_separates_the_groups():
    assert separators(MembershipHeatmapDisplay(MEMBERSHIPS).plot()) == [2.5]


def test_cluster_that_is_nobodys_strongest_adds_no_separator():
    display = MembershipHeatmapDisplay([[0.9, 0.1, 0.0], [0.1, 0.2, 0.7]]).plot()
    assert separators(display) == [0.5]


def test_groups_are_labelled_with_their_size():
    labels = MembershipHeatmapDisplay(MEMBERSHIPS).plot().ax_.get_yticklabels()
    assert [label.get_text() for label in labels] == ["3 items", "2 items"]
    assert [label.get_position()[1] for label in labels] == [1.0, 3.5]


def test_columns_carry_the_names_given():
    display = MembershipHeatmapDisplay(MEMBERSHIPS, cluster_names=["calm", "storm"]).plot()
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["calm", "storm"]


def test_many_items_are_averaged_not_labelled_or_skipped():
    n = 200_000
    memberships = np.random.default_rng(0).dirichlet(np.ones(5), size=n)
    display = MembershipHeatmapDisplay(memberships).plot()
    display.figure_.canvas.draw()
    image = display.image_.get_array()
    assert image.shape == (1000, 5)
    np.testing.assert_allclose(image[0], memberships[display.order_[:200]].mean(axis=0))
    np.testing.assert_allclose(image.mean(axis=0), memberships.mean(axis=0))
    np.testing.assert_array_equal(np.sort(display.order_), np.arange(n))
    assert display.ax_.get_ylim() == (n - 0.5, -0.5)
    assert len(display.ax_.get_yticks()) == 5


def test_bands_of_uneven_size_are_true_means():
    memberships = np.linspace(1.0, 0.6, 1003)[:, None]
    image = MembershipHeatmapDisplay(memberships).plot().image_.get_array()
    assert len(image) == 1000
    assert image.min() >= 0.6 - 1e-12
    assert image.max() <= 1.0


def test_estimators_memberships_are_shown_or_those_of_new_items(model, blobs):
    own = MembershipHeatmapDisplay.from_estimator(model)
    np.testing.assert_array_equal(own.memberships, model.memberships_)
    new = MembershipHeatmapDisplay.from_estimator(model, blobs[:7] + 1.0)
    np.testing.assert_array_equal(new.memberships, model.predict_proba(blobs[:7] + 1.0))


def test_given_axes_are_used_and_no_figure_is_made(model):
    figure, (_, ax) = plt.subplots(1, 2)
    display = MembershipHeatmapDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_names_too_long_for_their_columns_stand_upright():
    def rotation(names):
        display = MembershipHeatmapDisplay(np.eye(8), cluster_names=names).plot()
        return display.ax_.get_xticklabels()[0].get_rotation()

    assert rotation(list("abcdefgh")) == 0
    assert rotation([f"a rather long name {i}" for i in range(8)]) == 90


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(6)))
def test_permuting_the_items_permutes_the_order_only(permutation):
    memberships = np.array(
        [[0.95, 0.05], [0.8, 0.2], [0.6, 0.4], [0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]
    )
    display = MembershipHeatmapDisplay(memberships[permutation]).plot()
    plt.close(display.figure_)
    np.testing.assert_array_equal(display.image_.get_array(), memberships)


def test_callers_array_is_left_alone():
    memberships = np.array([[1.0000000001, 0.0], [0.3, 0.7]])
    before = memberships.copy()
    assert MembershipHeatmapDisplay(memberships).plot().image_.get_array().max() == 1.0
    np.testing.assert_array_equal(memberships, before)


@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([0.5, 0.5], "two-dimensional"),
        (np.empty((0, 2)), "not empty"),
        ([[1.2, -0.2]], "between 0 and 1. Got -0.2 instead"),
        ([[0.5, 0.5], [np.nan, 1.0]], "finite. Got nan in row 1, column 0"),
        ([["a", "b"]], "numbers"),
    ],
)
def test_unusable_memberships_are_refused(memberships, message):
    with pytest.raises(DataError, match=message):
        MembershipHeatmapDisplay(memberships)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], "ab"])
def test_names_must_be_one_per_cluster(names):
    with pytest.raises(ParameterError, match="'cluster_names' parameter must be a list of 2"):
        MembershipHeatmapDisplay(MEMBERSHIPS, cluster_names=names)


@pytest.mark.parametrize("X", [None, [[0.0]]])
def test_unfitted_estimator_is_refused(X):
    with pytest.raises(ParameterError, match="This FuzzyKMeans instance is not fitted yet"):
        MembershipHeatmapDisplay.from_estimator(FuzzyKMeans(), X)
    assert plt.get_fignums() == []


def test_missing_matplotlib_is_named_with_its_remedy():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "try:\n    import askmeans.plotting\n"
        "except ImportError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "askmeans[plot]"' in said.stdout
