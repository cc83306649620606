"""Cluster colours for pictures, as many as there are clusters."""

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray

from askmeans._util.colors import PALETTE, blend

__all__ = ["blend", "cluster_palette"]


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
