"""Curves with bands."""

import matplotlib.pyplot as plt
import pytest

from askmeans.exceptions import DataError
from askmeans.plotting import CurveDisplay


def test_points_are_drawn_in_the_order_of_x_with_their_band():
    display = CurveDisplay([3, 1, 2], [30, 10, 20], [29, 9, 19], [31, 11, 21]).plot(label="mine")
    assert display.line_.get_xdata().tolist() == [1, 2, 3]
    assert display.line_.get_ydata().tolist() == [10, 20, 30]
    assert display.line_.get_label() == "mine"
    low, high = display.band_.get_datalim(display.ax_.transData).get_points()[:, 1]
    assert (low, high) == (9, 31)


def test_it_draws_on_the_axes_given():
    _, ax = plt.subplots()
    display = CurveDisplay([1, 2], [1, 2]).plot(ax, color="red")
    assert display.ax_ is ax
    assert display.band_ is None
    assert display.line_.get_color() == "red"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1]), "same length"),
        (([[1]], [[1]]), "same length"),
        (([1], [1], [0]), "both, or neither"),
        (([1], [float("nan")]), "finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        CurveDisplay(*arguments)
