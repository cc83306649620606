"""The convergence plot: what is drawn, and what is refused."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from askmeans import FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError
from askmeans.plotting import ConvergenceDisplay


def test_line_shows_the_objective_from_the_start_on():
    display = ConvergenceDisplay([9.0, 4.0, 3.5]).plot()
    np.testing.assert_array_equal(display.line_.get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(display.line_.get_ydata(), [9.0, 4.0, 3.5])
    assert display.ax_.get_yscale() == "linear"
    assert display.ax_.get_title() == ""


def test_estimators_curve_ends_at_its_last_iteration_and_objective(model):
    line = ConvergenceDisplay.from_estimator(model).line_
    assert line.get_xdata()[-1] == model.n_iter_
    assert line.get_ydata()[-1] == pytest.approx(model.objective_)


def test_gap_is_the_distance_to_the_final_value_on_a_log_scale():
    display = ConvergenceDisplay([9.0, 4.0, 3.0, 3.0]).plot(gap=True)
    np.testing.assert_array_equal(display.line_.get_xdata(), [0, 1])
    np.testing.assert_array_equal(display.line_.get_ydata(), [6.0, 1.0])
    assert display.ax_.get_yscale() == "log"


def test_gap_leaves_out_an_iteration_that_rounding_put_below_the_end():
    display = ConvergenceDisplay([9.0, 2.9999, 3.0]).plot(gap=True)
    np.testing.assert_array_equal(display.line_.get_xdata(), [0])


def test_gap_reaches_plot_through_from_estimator(model):
    assert ConvergenceDisplay.from_estimator(model, gap=True).ax_.get_yscale() == "log"


@pytest.mark.parametrize("history", [[3.0], [3.0, 3.0]])
def test_gap_of_a_flat_history_is_refused_before_a_figure_is_made(history):
    with pytest.raises(DataError, match="gap=False"):
        ConvergenceDisplay(history).plot(gap=True)
    assert plt.get_fignums() == []


def test_given_axes_are_used_and_no_figure_is_made():
    figure, ax = plt.subplots()
    display = ConvergenceDisplay([2.0, 1.0]).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_two_runs_share_axes_that_are_logarithmic_already():
    _, ax = plt.subplots()
    ax.set_yscale("log")
    ConvergenceDisplay([2.0, 1.0]).plot(ax)
    ConvergenceDisplay([3.0, 1.0]).plot(ax)
    assert len(ax.lines) == 2


def test_ticks_are_whole_iterations():
    ax = ConvergenceDisplay([2.0, 1.0]).plot().ax_
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([[1.0, 2.0]], "one-dimensional"),
        ([], "not empty"),
        ([1.0, np.nan], "finite"),
        (["a", "b"], "numbers"),
    ],
)
def test_unusable_history_is_refused(history, message):
    with pytest.raises(DataError, match=message):
        ConvergenceDisplay(history)


def test_unfitted_estimator_is_refused():
    with pytest.raises(ParameterError, match="This FuzzyKMeans instance is not fitted yet"):
        ConvergenceDisplay.from_estimator(FuzzyKMeans())


def test_fitted_estimator_without_a_history_is_not_called_unfitted():
    class Other:
        cluster_centers_ = np.zeros((2, 2))

    with pytest.raises(ParameterError, match=r"'objective_history_'.*Got a Other"):
        ConvergenceDisplay.from_estimator(Other())
