"""A heat map of memberships: items in rows, clusters in columns."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike, NDArray

from askmeans.fuzzy.model import as_memberships
from askmeans.plotting.display import Display, as_names, fitted_attribute

# About the rows of pixels of a screen: of more items the means of this many bands are drawn.
_MAX_BANDS = 1000
# Smaller groups, as a share of the items, get no label: it would overlap the next one.
_LABELLED_SHARE = 0.04
_MAX_COLUMN_LABELS = 20
_CHARACTER_WIDTH = 0.08  # inches, about, at the default font size


class MembershipHeatmapDisplay(Display):
    """Memberships as colours, items sorted by their strongest cluster.

    Within a cluster the items descend in membership; ties stay in the order of the data. Above
    1,000 items each row of the image is the mean of neighbouring items, so that none is skipped.

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    cluster_names : list of str of length n_clusters, default=None
        Names of the clusters; None for their numbers.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar
        The scale from 0 to 1.
    order_ : ndarray of shape (n_items,)
        The items from top to bottom, by their row in `memberships`.

    Examples
    --------
    >>> from askmeans.plotting import MembershipHeatmapDisplay
    >>> display = MembershipHeatmapDisplay([[0.2, 0.8], [0.6, 0.4], [0.9, 0.1]]).plot()
    >>> display.order_
    array([2, 1, 0])
    """

    image_: AxesImage
    colorbar_: Colorbar
    order_: NDArray[np.intp]

    def __init__(
        self, memberships: ArrayLike, *, cluster_names: Sequence[str] | None = None
    ) -> None:
        self.memberships = as_memberships(memberships)
        self.cluster_names = as_names(cluster_names, self.memberships.shape[1])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        cluster_names: Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the memberships of a fitted estimator.

        Parameters
        ----------
        estimator : FuzzyKMeans
            A fitted estimator.
        X : array-like of shape (n_items, n_features), default=None
            The items, whose memberships `predict_proba` computes; None for those of the fit.
        cluster_names : list of str of length n_clusters, default=None
            Names of the clusters; None for their numbers.
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.

        Returns
        -------
        MembershipHeatmapDisplay
            The display, drawn.

        Examples
        --------
        >>> from askmeans import FuzzyKMeans
        >>> from askmeans.plotting import MembershipHeatmapDisplay
        >>> model = FuzzyKMeans(n_clusters=2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])
        >>> display = MembershipHeatmapDisplay.from_estimator(model, cluster_names=["a", "b"])
        >>> display.image_.get_array().shape
        (4, 2)
        """
        if X is None:
            memberships = fitted_attribute(estimator, "memberships_")
        else:
            memberships = fitted_attribute(estimator, "predict_proba")(X)
        return cls(memberships, cluster_names=cluster_names).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.

        Returns
        -------
        MembershipHeatmapDisplay
            This display, with `ax_`, `figure_`, `image_`, `colorbar_` and
            `order_` set.
        """
        n, k = self.memberships.shape
        strongest = self.memberships.argmax(axis=1)
        self.order_ = np.lexsort((-self.memberships.max(axis=1), strongest))
        ax = self._begin(ax)
        self.image_ = ax.imshow(
            _bands(self.memberships[self.order_]),
            cmap="viridis",
            vmin=0.0,
            vmax=1.0,
            aspect="auto",
            interpolation="nearest",  # the default would smear the columns into each other
            extent=(-0.5, k - 0.5, n - 0.5, -0.5),
        )
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, label="membership")
        self.colorbar_.outline.set_visible(False)
        self._mark_groups(np.bincount(strongest, minlength=k))
        self._label_columns()
        ax.spines[:].set_visible(False)
        return self

    def _mark_groups(self, sizes: NDArray[np.intp]) -> None:
        """Separate the groups by lines and write their numbers of items beside them."""
        n, k = self.memberships.shape
        ends = sizes.cumsum()
        inner = np.unique(ends[(ends > 0) & (ends < n)])
        self.ax_.hlines(
            inner - 0.5, -0.5, k - 0.5, colors="white", linewidth=1.5 if k <= 20 else 0.5
        )
        labelled = np.flatnonzero(sizes >= _LABELLED_SHARE * n)
        self.ax_.set_yticks(
            (ends - (sizes + 1) / 2)[labelled],
            [f"{size:,} item{'s' if size > 1 else ''}" for size in sizes[labelled]],
        )
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylabel("items by strongest cluster")

    def _label_columns(self) -> None:
        """Write the names of the clusters below; of many clusters only every few."""
        k = len(self.cluster_names)
        columns = range(0, k, -(-k // _MAX_COLUMN_LABELS))
        labels = [self.cluster_names[column] for column in columns]
        width = self.ax_.bbox.width / self.figure_.dpi / len(labels)
        crowded = (max(map(len, labels)) + 1) * _CHARACTER_WIDTH > width
        self.ax_.set_xticks(columns, labels)
        self.ax_.tick_params(axis="x", length=0, rotation=90 if crowded else 0)
        self.ax_.set_xlabel("cluster")


def _bands(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows, averaged in consecutive bands where they are too many to draw."""
    if len(rows) <= _MAX_BANDS:
        return rows
    starts = np.arange(_MAX_BANDS) * len(rows) // _MAX_BANDS
    sizes = np.diff(starts, append=len(rows))
    means: NDArray[np.float64] = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
    return means
