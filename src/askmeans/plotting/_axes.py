"""Where a display draws."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the caller's axes, or those of a new figure that makes room for its labels."""
    if ax is None:
        _, ax = plt.subplots(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))  # inches
    return ax
