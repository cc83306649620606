"""Validity indices over a range of numbers of clusters."""

from typing import TYPE_CHECKING, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from askmeans.metrics.choosing import INDICES
from askmeans.plotting.display import Display

if TYPE_CHECKING:
    from askmeans.metrics.choosing import ClusterNumbers


class ClusterNumbersDisplay(Display):
    """One curve per index over the numbers of clusters, each scaled so that its best is 1.

    A dot marks the number that the index prefers. The title has the suggestion, or that the indices
    disagree.

    Parameters
    ----------
    numbers : ClusterNumbers
        From `metrics.choose_n_clusters`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    lines_ : dict of str to matplotlib Line2D
        The curves, by index.

    Examples
    --------
    >>> from askmeans import metrics
    >>> from askmeans.plotting import ClusterNumbersDisplay
    >>> numbers = metrics.choose_n_clusters([[0.0], [1.0], [9.0], [10.0]], [2, 3], n_resamples=0)
    >>> sorted(ClusterNumbersDisplay(numbers).plot().lines_)[0]
    'fuzzy_silhouette'
    """

    lines_: dict[str, Line2D]

    def __init__(self, numbers: "ClusterNumbers") -> None:
        self.numbers = numbers

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.

        Returns
        -------
        ClusterNumbersDisplay
            This display, with `ax_`, `figure_` and `lines_` set.
        """
        ax, self.lines_ = self._begin(ax), {}
        x = np.asarray(self.numbers.n_clusters)
        votes = self.numbers.votes
        for name, values in self.numbers.indices.items():
            y = _scaled(values if INDICES[name] == "high" else -values)
            (self.lines_[name],) = ax.plot(x, y, label=name.replace("_", " "), alpha=0.8)
            if (vote := votes[name]) is not None:
                color = self.lines_[name].get_color()
                ax.plot(vote, y[x == vote], "o", color=color)
        suggested = self.numbers.suggested
        ax.set_title("The indices disagree" if suggested is None else f"{suggested} clusters")
        ax.set_xlabel("Number of clusters")
        ax.set_ylabel("Index, from its worst (0) to its best (1)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return self


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values scaled to [0, 1]; NaN for those that are not finite."""
    known = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(known).all():
        return known
    low, high = np.nanmin(known), np.nanmax(known)
    scaled: NDArray[np.float64] = (known - low) / (high - low if high > low else 1.0)
    return scaled
