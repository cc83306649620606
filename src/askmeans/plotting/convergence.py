"""The objective against the iteration, to see whether a fit has settled."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter
from numpy.typing import ArrayLike

from askmeans._util.checks import as_matrix
from askmeans.exceptions import DataError
from askmeans.plotting._colors import cluster_palette
from askmeans.plotting._display import Display, fitted_attribute

__all__ = ["ConvergenceDisplay"]

# Longer curves are drawn without a marker at every iteration.
_MAX_MARKERS = 60


class ConvergenceDisplay(Display):
    """Objective of a fit at its start and after each of its iterations.

    Parameters
    ----------
    objective_history : array-like of shape (n_iterations + 1,)
        The objective at the start and after each iteration.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve was drawn.
    figure_ : matplotlib Figure
        The figure that holds it.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from askmeans.plotting import ConvergenceDisplay
    >>> display = ConvergenceDisplay([9.0, 4.0, 3.5, 3.4]).plot()
    >>> display.line_.get_xdata()
    array([0, 1, 2, 3])
    """

    line_: Line2D

    def __init__(self, objective_history: ArrayLike) -> None:
        history = np.asarray(objective_history)
        if history.ndim != 1:
            raise DataError(
                "objective_history must be one-dimensional, one number per iteration. "
                f"Got shape {history.shape} instead; several runs are drawn one by one on one ax."
            )
        self.objective_history = as_matrix(history[:, None], "objective_history")[:, 0]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, gap: bool = False) -> Self:
        """Draw the convergence of a fitted estimator.

        Parameters
        ----------
        estimator : FuzzyKMeans
            A fitted estimator, with `objective_history_`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        gap : bool, default=False
            Whether to draw the distance to the final value on a logarithmic
            scale instead of the objective.

        Returns
        -------
        ConvergenceDisplay
            The display, drawn.

        Raises
        ------
        ParameterError
            If the estimator is not fitted or keeps no history.

        Examples
        --------
        >>> from askmeans import FuzzyKMeans
        >>> from askmeans.plotting import ConvergenceDisplay
        >>> model = FuzzyKMeans(n_clusters=2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])
        >>> display = ConvergenceDisplay.from_estimator(model)
        >>> display.ax_.get_ylabel()
        'objective'
        """
        return cls(fitted_attribute(estimator, "objective_history_")).plot(ax, gap=gap)

    def plot(self, ax: Axes | None = None, *, gap: bool = False) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        gap : bool, default=False
            Whether to draw the distance to the final value on a logarithmic
            scale instead of the objective. Iterations that have no such
            distance, the last one among them, are left out.

        Returns
        -------
        ConvergenceDisplay
            This display, with `ax_`, `figure_` and `line_` set.

        Raises
        ------
        DataError
            If a gap is asked for and no iteration lies above the final value.

        Examples
        --------
        >>> from askmeans.plotting import ConvergenceDisplay
        >>> display = ConvergenceDisplay([9.0, 4.0, 3.5, 3.0]).plot(gap=True)
        >>> display.line_.get_ydata()
        array([6. , 1. , 0.5])
        """
        values = self.objective_history
        iterations = np.arange(len(values))
        if gap:
            above = values - values[-1]
            iterations, values = iterations[above > 0], above[above > 0]
            if len(values) == 0:
                raise DataError(
                    "objective_history must lie above its final value somewhere to draw the gap. "
                    f"Got {len(above)} value(s) that do not; draw it with gap=False."
                )
        ax = self._begin(ax)
        (self.line_,) = ax.plot(
            iterations,
            values,
            color=cluster_palette(1)[0],
            marker="o" if len(values) <= _MAX_MARKERS else "",
            markersize=4,
        )
        if gap:
            ax.set_yscale("log")
        formatter = ax.yaxis.get_major_formatter()
        if isinstance(formatter, ScalarFormatter):
            formatter.set_useOffset(False)  # "60.51", not "0.01" under "+6.05e1"
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        ax.set(xlabel="iteration", ylabel="objective above its final value" if gap else "objective")
        ax.grid(axis="y", alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        return self
