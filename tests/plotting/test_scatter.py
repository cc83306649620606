"""The soft scatter: positions, colours, centres, and what is refused."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from askmeans import FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError
from askmeans.plotting import SoftScatterDisplay
from askmeans.plotting.display import cluster_palette

POINTS = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
MEMBERSHIPS = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


def offsets(artist):
    return np.asarray(artist.get_offsets())


def names_beside_centers(display):
    return [text.get_text() for text in display.ax_.texts]


@pytest.fixture
def frame(blobs):
    return pd.DataFrame(blobs, columns=["length", "width", "height", "weight", "age"])


def test_points_and_centers_stand_where_they_are():
    display = SoftScatterDisplay(POINTS, MEMBERSHIPS, POINTS[[0, 2]]).plot()
    np.testing.assert_array_equal(offsets(display.scatter_), POINTS)
    np.testing.assert_array_equal(offsets(display.centers_artist_), POINTS[[0, 2]])


def test_certain_items_are_opaque_in_their_clusters_colour():
    colors = SoftScatterDisplay(POINTS, MEMBERSHIPS).plot().scatter_.get_facecolors()
    np.testing.assert_allclose(colors[[0, 2], :3], cluster_palette(2), atol=1e-7)
    np.testing.assert_array_equal(colors[[0, 2], 3], 1.0)


def test_shared_item_lies_between_and_is_fainter():
    colors = SoftScatterDisplay(POINTS, MEMBERSHIPS).plot().scatter_.get_facecolors()
    assert (colors[1, :3] > colors[[0, 2], :3].min(axis=0)).all()
    assert (colors[1, :3] < colors[[0, 2], :3].max(axis=0)).all()
    assert 0.2 < colors[1, 3] < 0.5


def test_single_cluster_is_drawn_opaque():
    display = SoftScatterDisplay(POINTS, np.ones((3, 1)), [[1.0, 1.0]]).plot()
    np.testing.assert_array_equal(display.scatter_.get_facecolors()[:, 3], 1.0)


def test_legend_and_centers_carry_the_names():
    display = SoftScatterDisplay(POINTS, MEMBERSHIPS, POINTS[:2], cluster_names=["a", "b"]).plot()
    assert [text.get_text() for text in display.legend_.get_texts()] == ["a", "b", "centre"]
    assert names_beside_centers(display) == ["a", "b"]


def test_without_centers_none_are_drawn():
    display = SoftScatterDisplay(POINTS, MEMBERSHIPS).plot()
    assert display.centers_artist_ is None
    assert names_beside_centers(display) == []
    assert [text.get_text() for text in display.legend_.get_texts()] == ["0", "1"]


def test_names_of_neighbouring_centers_stand_on_opposite_sides():
    centers = np.array([[1.0, 1.0], [1.0, 1.1]])
    below, above = SoftScatterDisplay(POINTS, MEMBERSHIPS, centers).plot().ax_.texts
    assert below.xyann[1] < 0 < above.xyann[1]


def test_names_of_coinciding_centers_do_not_cover_each_other():
    texts = SoftScatterDisplay(POINTS, np.eye(3), np.ones((3, 2))).plot().ax_.texts
    places = np.array([text.xyann for text in texts])
    assert min(np.linalg.norm(places[i] - places[j]) for i, j in [(0, 1), (0, 2), (1, 2)]) > 10


def test_one_column_is_spread_by_a_fixed_jitter():
    first, second = (
        SoftScatterDisplay(POINTS[:, :1], MEMBERSHIPS, [[0.0], [2.0]]).plot() for _ in range(2)
    )
    np.testing.assert_array_equal(offsets(first.scatter_)[:, 0], POINTS[:, 0])
    np.testing.assert_array_equal(offsets(first.scatter_), offsets(second.scatter_))
    assert np.abs(offsets(first.scatter_)[:, 1]).max() <= 0.5
    np.testing.assert_array_equal(offsets(first.centers_artist_), [[0.0, 0.0], [2.0, 0.0]])
    assert list(first.ax_.get_yticks()) == []


def test_given_axes_are_used_and_no_figure_is_made():
    figure, ax = plt.subplots()
    display = SoftScatterDisplay(POINTS, MEMBERSHIPS).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_legend_is_beside_the_axes_only_where_room_is_made_for_it(layout):
    figure, ax = plt.subplots(layout=layout)
    display = SoftScatterDisplay(POINTS, MEMBERSHIPS).plot(ax)
    figure.canvas.draw()
    legend, axes = display.legend_.get_window_extent(), ax.get_window_extent()
    assert (legend.x0 >= axes.x1) == (layout == "constrained")
    assert legend.x1 <= figure.bbox.x1


@pytest.mark.parametrize("n", [20_001, 33_333, 200_000])
def test_many_points_are_subsampled_evenly_and_always_alike(n):
    points = np.column_stack([np.arange(n), np.zeros(n)])
    memberships = np.eye(10)[np.arange(n) % 10]  # a fixed stride would meet one cluster only
    first, second = (SoftScatterDisplay(points, memberships).plot() for _ in range(2))
    np.testing.assert_array_equal(first.shown_, second.shown_)
    np.testing.assert_array_equal(offsets(first.scatter_)[:, 0], first.shown_)
    assert len(first.shown_) == 20_000
    assert np.diff(first.shown_).min() >= 1
    assert np.diff(first.shown_).max() <= 3 * np.ceil(n / 20_000)
    np.testing.assert_allclose(np.bincount(first.shown_ % 10), 2000, rtol=0.1)


def test_twenty_thousand_points_are_all_drawn():
    display = SoftScatterDisplay(np.zeros((20_000, 2)), np.ones((20_000, 1))).plot()
    np.testing.assert_array_equal(display.shown_, np.arange(20_000))


def test_two_features_are_drawn_as_they_are(blobs):
    X = blobs[:, :2]
    model = FuzzyKMeans(n_clusters=3, random_state=0).fit(X)
    display = SoftScatterDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(offsets(display.scatter_), X)
    np.testing.assert_array_equal(offsets(display.centers_artist_), model.cluster_centers_)
    np.testing.assert_array_equal(display.memberships, model.predict_proba(X))
    assert display.ax_.get_xlabel() == "feature 0"


def test_one_feature_of_an_estimator_is_drawn_along_a_line(blobs):
    X = blobs[:, :1]
    model = FuzzyKMeans(n_clusters=2, random_state=0).fit(X)
    display = SoftScatterDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(offsets(display.scatter_)[:, 0], X[:, 0])
    np.testing.assert_array_equal(
        offsets(display.centers_artist_)[:, 0], model.cluster_centers_[:, 0]
    )


def test_more_features_are_projected_on_the_axes_of_largest_variance(model, blobs):
    display = SoftScatterDisplay.from_estimator(model, blobs)
    drawn = offsets(display.scatter_)
    expected = np.linalg.eigvalsh(np.cov(blobs.T))[::-1]
    np.testing.assert_allclose(drawn.var(axis=0, ddof=1), expected[:2])
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.0, abs=1e-9)
    share = 100 * expected[0] / expected.sum()
    assert display.ax_.get_xlabel() == f"PC 1 ({share:.0f} % of the variance)"
    assert display.ax_.get_ylabel().startswith("PC 2 (")


def test_centers_are_projected_like_items(model, blobs):
    display = SoftScatterDisplay.from_estimator(model, np.vstack([blobs, model.cluster_centers_]))
    np.testing.assert_allclose(offsets(display.centers_artist_), offsets(display.scatter_)[-3:])


def test_projection_does_not_move_with_a_common_offset(model, blobs):
    far = FuzzyKMeans(n_clusters=3, init=model.cluster_centers_ + 1e6).fit(blobs + 1e6)
    here = SoftScatterDisplay.from_estimator(model, blobs)
    there = SoftScatterDisplay.from_estimator(far, blobs + 1e6)
    np.testing.assert_allclose(offsets(here.scatter_), offsets(there.scatter_), atol=1e-6)


@pytest.mark.parametrize("n_features", [30, 100])
def test_more_features_than_items_give_the_same_picture_as_few(n_features):
    # A rotation into a higher space changes no distance, so it may change no picture but by signs.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) * [5.0, 2.0, 1.0]
    rotation = np.linalg.qr(rng.normal(size=(n_features, 3)))[0].T
    start = X[:2]
    low = FuzzyKMeans(n_clusters=2, init=start).fit(X)
    high = FuzzyKMeans(n_clusters=2, init=start @ rotation).fit(X @ rotation)
    flat = SoftScatterDisplay.from_estimator(low, X)
    lifted = SoftScatterDisplay.from_estimator(high, X @ rotation)
    np.testing.assert_allclose(
        np.abs(offsets(flat.scatter_)), np.abs(offsets(lifted.scatter_)), atol=1e-9
    )
    assert flat.ax_.get_xlabel() == lifted.ax_.get_xlabel()


def test_items_on_a_line_in_many_features_stay_on_a_line():
    X = np.outer(np.arange(6.0), np.ones(50))
    model = FuzzyKMeans(n_clusters=2, init=X[[0, 5]]).fit(X)
    display = SoftScatterDisplay.from_estimator(model, X)
    along, across = offsets(display.scatter_).T
    np.testing.assert_allclose(np.diff(along), np.sqrt(50))
    np.testing.assert_allclose(across, 0.0, atol=1e-9)
    assert display.ax_.get_ylabel() == "PC 2 (0 % of the variance)"


def test_identical_items_are_drawn_without_a_division_by_zero():
    class Constant:
        cluster_centers_ = np.ones((1, 3))

        def predict_proba(self, X):
            return np.ones((len(X), 1))

    with np.errstate(all="raise"):
        display = SoftScatterDisplay.from_estimator(Constant(), np.ones((4, 3)))
    assert display.ax_.get_xlabel() == "PC 1 (0 % of the variance)"


def test_two_features_are_picked_by_position_or_name(frame):
    model = FuzzyKMeans(n_clusters=3, random_state=0).fit(frame)
    by_name = SoftScatterDisplay.from_estimator(model, frame, features=("width", "age"))
    by_place = SoftScatterDisplay.from_estimator(model, frame, features=(1, np.int64(4)))
    for display in (by_name, by_place):
        np.testing.assert_array_equal(offsets(display.scatter_), frame[["width", "age"]])
        np.testing.assert_array_equal(
            offsets(display.centers_artist_), model.cluster_centers_[:, [1, 4]]
        )
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width", "age")


def test_frame_is_projected_like_its_array(frame, model, blobs):
    of_frame = SoftScatterDisplay.from_estimator(
        FuzzyKMeans(n_clusters=3, random_state=0).fit(frame), frame
    )
    of_array = SoftScatterDisplay.from_estimator(model, blobs)
    np.testing.assert_allclose(offsets(of_frame.scatter_), offsets(of_array.scatter_))


@pytest.mark.parametrize(
    "features", [(0,), (0, 1, 2), (0, 5), (-1, 0), ("width", "nothing"), 3, (0.5, 1), "width"]
)
def test_features_that_are_not_two_of_the_data_are_refused(frame, features):
    model = FuzzyKMeans(n_clusters=3, random_state=0).fit(frame)
    with pytest.raises(ParameterError, match="'features' parameter must be two positions"):
        SoftScatterDisplay.from_estimator(model, frame, features=features)
    assert plt.get_fignums() == []


def test_names_are_refused_where_the_estimator_knows_none(model, blobs):
    with pytest.raises(ParameterError, match="knows no names"):
        SoftScatterDisplay.from_estimator(model, blobs, features=("width", "age"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((3, 3)), MEMBERSHIPS), "points must have one or two columns. Got 3"),
        ((POINTS[:2], MEMBERSHIPS), "one row for each of the 2 rows of points. Got 3"),
        ((POINTS, MEMBERSHIPS, POINTS), r"centers must have shape \(2, 2\).*Got shape \(3, 2\)"),
        ((POINTS * np.nan, MEMBERSHIPS), "points must be finite"),
        ((POINTS, MEMBERSHIPS * 2), "memberships must lie between"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        SoftScatterDisplay(*arguments)


@pytest.mark.parametrize("labels", [["x"], ["x", "y", "z"], "xy"])
def test_axis_labels_must_be_one_per_column(labels):
    with pytest.raises(ParameterError, match="'axis_labels' parameter must be a list of 2"):
        SoftScatterDisplay(POINTS, MEMBERSHIPS, axis_labels=labels)


def test_data_with_other_features_is_refused(model, blobs):
    with pytest.raises(DataError, match=r"X must have the 5 features.*Got 2"):
        SoftScatterDisplay.from_estimator(model, blobs[:, :2])


def test_unfitted_estimator_is_refused(blobs):
    with pytest.raises(ParameterError, match="This FuzzyKMeans instance is not fitted yet"):
        SoftScatterDisplay.from_estimator(FuzzyKMeans(), blobs)
