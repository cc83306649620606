"""What displays share: where they draw, and what they ask of their arguments."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from askmeans.exceptions import ParameterError


class Display:
    """A picture that keeps where it was drawn."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _begin(self, ax: Axes | None) -> Axes:
        """The caller's axes, or those of a new figure that makes room for its labels."""
        if ax is None:
            _, ax = plt.subplots(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))  # inches
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def as_names(names: Sequence[str] | None, n_clusters: int) -> list[str]:
    """Return one name per cluster; their numbers when none are given."""
    if names is None:
        return [str(cluster) for cluster in range(n_clusters)]
    if isinstance(names, str) or len(names) != n_clusters:
        raise ParameterError(
            f"The 'cluster_names' parameter must be a list of {n_clusters} names, one for each "
            f"column of memberships. Got {names!r} instead."
        )
    return [str(name) for name in names]


def fitted_attribute(estimator: Any, attribute: str) -> Any:
    """Return what a fitted estimator learned under this name."""
    kind = type(estimator).__name__
    if not hasattr(estimator, "cluster_centers_"):
        raise ParameterError(f"This {kind} instance is not fitted yet; call fit first.")
    if not hasattr(estimator, attribute):
        raise ParameterError(
            f"The estimator must have the attribute '{attribute}' once fitted. "
            f"Got a {kind}, which keeps none; build the display from an array instead."
        )
    return getattr(estimator, attribute)
