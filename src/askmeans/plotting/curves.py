"""Curves of repeated runs: the mean, and a band around it."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from askmeans._util.checks import as_matrix
from askmeans.exceptions import DataError
from askmeans.plotting._display import Display

__all__ = ["CurveDisplay"]


class CurveDisplay(Display):
    """A measure against something, with a band that says how sure the mean is.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        Where it was measured; drawn in increasing order.
    mean : array-like of shape (n_points,)
        The mean over runs.
    low : array-like of shape (n_points,), default=None
        The band's lower end; None draws no band.
    high : array-like of shape (n_points,), default=None
        The band's upper end.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curve was drawn.
    figure_ : matplotlib Figure
        The figure that holds it.
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib PolyCollection or None
        The band, if there is one.

    Examples
    --------
    >>> from askmeans.plotting import CurveDisplay
    >>> display = CurveDisplay([20, 10], [0.9, 0.8], [0.88, 0.7], [0.92, 0.9]).plot(label="ours")
    >>> display.line_.get_xdata()
    array([10., 20.])
    """

    line_: Line2D
    band_: PolyCollection | None

    def __init__(
        self,
        x: ArrayLike,
        mean: ArrayLike,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
    ) -> None:
        if (low is None) != (high is None):
            raise DataError("low and high must be given both, or neither. Got one of them.")
        columns = [np.asarray(column) for column in (x, mean, low, high) if column is not None]
        if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
            raise DataError(
                "x, mean, low and high must be lists of the same length. "
                f"Got shapes {[column.shape for column in columns]} instead."
            )
        table = as_matrix(np.column_stack(columns), "x, mean, low and high")
        table = table[np.argsort(table[:, 0], kind="stable")]
        self.x, self.mean = table[:, 0], table[:, 1]
        self.band = None if low is None else (table[:, 2], table[:, 3])

    def plot(self, ax: Axes | None = None, *, label: str = "", **line: Any) -> Self:
        """Draw the curve and its band.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        label : str, default=""
            The curve's name in a legend.
        **line : Any
            What else matplotlib's `plot` shall know: color, linestyle, marker.

        Returns
        -------
        CurveDisplay
            This display, with `ax_`, `figure_`, `line_` and `band_` set.

        Examples
        --------
        >>> from askmeans.plotting import CurveDisplay
        >>> CurveDisplay([1, 2], [0.5, 0.4]).plot(color="black").band_ is None
        True
        """
        ax = self._begin(ax)
        (self.line_,) = ax.plot(self.x, self.mean, label=label, **line)
        self.band_ = None
        if self.band is not None:
            color = self.line_.get_color()
            self.band_ = ax.fill_between(self.x, *self.band, color=color, alpha=0.2, linewidth=0)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        return self
