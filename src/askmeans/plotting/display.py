"""What displays share: their axes, cluster colours, names and the fitted attribute they draw."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from askmeans._util.colors import PALETTE
from askmeans.exceptions import ParameterError


class Display:
    """A plot that keeps its axes and figure."""

    ax_: Axes
    figure_: Figure | SubFigure

    def _begin(self, ax: Axes | None) -> Axes:
        """The caller's axes, or those of a new figure that makes room for its labels."""
        if ax is None:
            _, ax = plt.subplots(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))  # inches
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def cluster_palette(n_clusters: int) -> NDArray[np.float64]:
    """Colours (n_clusters, 3) in RGB; a cluster keeps its colour however many follow it."""
    colors = PALETTE
    # Past eight, each next colour is the one of inferno farthest from all before it: inferno's
    # lightness is monotone, so it stays legible without hue; its ends are too pale, too dark.
    candidates = colormaps["inferno"](np.linspace(0.1, 0.9, 256))[:, :3]
    while len(colors) < n_clusters:
        gaps = np.linalg.norm(candidates[:, None] - colors, axis=2).min(axis=1)
        colors = np.vstack([colors, candidates[gaps.argmax()]])
    return colors[:n_clusters]


def as_names(names: Sequence[str] | None, n_clusters: int) -> list[str]:
    """One name per cluster; their numbers by default."""
    if names is None:
        return [str(cluster) for cluster in range(n_clusters)]
    if isinstance(names, str) or len(names) != n_clusters:
        raise ParameterError(
            f"The 'cluster_names' parameter must be a list of {n_clusters} names, one for each "
            f"column of memberships. Got {names!r} instead."
        )
    return [str(name) for name in names]


def fitted_attribute(estimator: Any, attribute: str) -> Any:
    """An attribute of a fitted estimator."""
    kind = type(estimator).__name__
    if not hasattr(estimator, "cluster_centers_"):
        raise ParameterError(f"This {kind} instance is not fitted yet; call fit first.")
    if not hasattr(estimator, attribute):
        raise ParameterError(
            f"The estimator must have the attribute '{attribute}' once fitted. "
            f"Got a {kind}, which keeps none; build the display from an array instead."
        )
    return getattr(estimator, attribute)
