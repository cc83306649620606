"""The reliability diagram: points, bars and label, several on one axes, and what is refused."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from askmeans import FuzzyKMeans, metrics
from askmeans.exceptions import DataError, ParameterError
from askmeans.plotting import ReliabilityDisplay

Y = [0, 0, 1, 0]
PROBA = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]])


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_points_are_accuracy_by_confidence_of_the_bins_with_items():
    display = ReliabilityDisplay(Y, PROBA, n_bins=10).plot()
    np.testing.assert_allclose(display.line_.get_xdata(), [0.8, 0.9])
    np.testing.assert_allclose(display.line_.get_ydata(), [0.5, 1.0])


def test_bars_are_the_share_of_items_in_each_bin():
    display = ReliabilityDisplay(Y, PROBA, n_bins=10, sample_weight=[1, 1, 3, 3]).plot()
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, [0, 0, 0, 0, 0, 0, 0, 0.75, 0.25, 0])
    assert display.bars_[7].get_x() == pytest.approx(0.7)


def test_the_label_has_the_expected_calibration_error():
    display = ReliabilityDisplay.from_predictions(Y, PROBA, label="mine", n_bins=5)
    error = metrics.expected_calibration_error(Y, PROBA, n_bins=5)
    assert labels(display) == ["perfectly calibrated", f"mine (ECE {error:.3f})"]


def test_an_estimator_is_drawn_by_its_probabilities_and_called_by_its_class(model, blobs):
    y = model.labels_
    display = ReliabilityDisplay.from_estimator(model, blobs, y)
    error = metrics.expected_calibration_error(y, model.predict_proba(blobs))
    assert labels(display)[1] == f"FuzzyKMeans (ECE {error:.3f})"
    assert labels(ReliabilityDisplay.from_estimator(model, blobs, y, label="it"))[1][:2] == "it"


def test_several_share_one_axes_and_one_diagonal():
    figure, ax = plt.subplots()
    ReliabilityDisplay.from_predictions(Y, PROBA, label="a", ax=ax)
    second = ReliabilityDisplay.from_predictions(Y, PROBA, label="b", ax=ax, color="black")
    assert second.ax_ is ax
    assert second.figure_ is figure
    assert [label[:1] for label in labels(second)] == ["p", "a", "b"]
    assert second.line_.get_color() == "black"
    assert plt.get_fignums() == [figure.number]


def test_unfitted_estimator_is_refused():
    with pytest.raises(ParameterError, match="This FuzzyKMeans instance is not fitted yet"):
        ReliabilityDisplay.from_estimator(FuzzyKMeans(), [[0.0]], [0])
    assert plt.get_fignums() == []


def test_labels_that_fit_no_column_are_refused():
    with pytest.raises(DataError, match=r"columns of proba, 0 to 1\. Got 2"):
        ReliabilityDisplay([0, 0, 1, 2], PROBA)
    with pytest.raises(ParameterError, match="'n_bins'"):
        ReliabilityDisplay(Y, PROBA, n_bins=0)
