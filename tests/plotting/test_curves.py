"""Curves with bands, and sheets of them."""

import matplotlib.pyplot as plt
import pytest

from askmeans.exceptions import DataError
from askmeans.plotting import CurveDisplay
from askmeans.plotting._panels import Curve, Panel, save_panels


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


def test_a_sheet_is_saved_twice_and_the_same_every_time(tmp_path):
    curve = Curve(label="a", family="a", x=[1, 2], mean=[1, 2], low=[0, 1], high=[2, 3])
    low = Curve(label="b", family="b", x=[1, 2], mean=[2, 1e-5], low=[2, 0], high=[2, 1])
    panel = Panel(
        title="t",
        xlabel="x",
        ylabel="y",
        curves=[curve, low],
        lines={"base": 0.5},
        log_x=True,
        floor=0.1,
    )
    for name in ("one", "two"):
        save_panels([panel, panel, panel], tmp_path / name, title="sheet", columns=2)
    for end in ("png", "svg"):
        first = (tmp_path / f"one.{end}").read_bytes()
        assert first == (tmp_path / f"two.{end}").read_bytes()
    assert b"<svg" in first
    assert b"<!-- below the picture, at least in part: -->" in first
    assert b"1e-05 to 2 -->" in first
