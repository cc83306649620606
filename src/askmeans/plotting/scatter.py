"""A scatter plot of items, coloured by their memberships."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import as_matrix
from askmeans._util.colors import blend
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy.arrays import GOLDEN, even_rows
from askmeans.fuzzy.model import as_memberships
from askmeans.plotting.display import Display, as_names, cluster_palette, fitted_attribute

_MAX_POINTS = 20_000
# Opacity of an item that belongs to all clusters alike; a certain one has 1.
_FAINTEST = 0.35
_MAX_LEGEND_ROWS = 16


class SoftScatterDisplay(Display):
    """Items in the plane, each in the mixture of its clusters' colours.

    An item of one cluster has that cluster's colour and is opaque; a shared one has a mixed and
    fainter colour. Of more than 20,000 items, 20,000 evenly spaced rows are drawn.

    Parameters
    ----------
    points : array-like of shape (n_items, 2) or (n_items, 1)
        Coordinates of the items; a single column gets a small, fixed vertical jitter.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    centers : array-like of shape (n_clusters, 2) or (n_clusters, 1), default=None
        Coordinates of the centres; None draws none.
    cluster_names : list of str of length n_clusters, default=None
        Names of the clusters; None for their numbers.
    axis_labels : list of str, one per column of points, default=None
        Labels of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    scatter_ : matplotlib PathCollection
        The items drawn.
    centers_artist_ : matplotlib PathCollection or None
        The centres, if any.
    legend_ : matplotlib Legend
        The colours of the clusters; beside the axes if a layout engine makes room, else inside.
    shown_ : ndarray of shape (n_shown,)
        The items drawn, by their row in `points`.

    Examples
    --------
    >>> from askmeans.plotting import SoftScatterDisplay
    >>> points = [[0.0, 0.0], [2.0, 1.0], [4.0, 2.0]]
    >>> memberships = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    >>> display = SoftScatterDisplay(points, memberships, axis_labels=["width", "height"]).plot()
    >>> display.scatter_.get_facecolors().round(2)  # red, green, blue, opacity
    array([[0.  , 0.45, 0.7 , 1.  ],
           [0.66, 0.54, 0.51, 0.35],
           [0.9 , 0.62, 0.  , 1.  ]])
    """

    scatter_: PathCollection
    centers_artist_: PathCollection | None
    legend_: Legend
    shown_: NDArray[np.intp]

    def __init__(
        self,
        points: ArrayLike,
        memberships: ArrayLike,
        centers: ArrayLike | None = None,
        *,
        cluster_names: Sequence[str] | None = None,
        axis_labels: Sequence[str] | None = None,
    ) -> None:
        self.points = as_matrix(points, "points")
        self.memberships = as_memberships(memberships)
        (n, d), k = self.points.shape, self.memberships.shape[1]
        if d > 2:
            raise DataError(
                f"points must have one or two columns. Got {d} instead; "
                "choose two, or let from_estimator project them."
            )
        if len(self.memberships) != n:
            raise DataError(
                f"memberships must have one row for each of the {n} rows of points. "
                f"Got {len(self.memberships)} rows instead."
            )
        self.centers = None if centers is None else as_matrix(centers, "centers")
        if self.centers is not None and self.centers.shape != (k, d):
            raise DataError(
                f"centers must have shape ({k}, {d}): a row for each column of memberships, in "
                f"the coordinates of points. Got shape {self.centers.shape} instead."
            )
        self.cluster_names = as_names(cluster_names, k)
        if axis_labels is not None and (isinstance(axis_labels, str) or len(axis_labels) != d):
            raise ParameterError(
                f"The 'axis_labels' parameter must be a list of {d} label(s), one for each column "
                f"of points. Got {axis_labels!r} instead."
            )
        self.axis_labels = [""] * d if axis_labels is None else list(axis_labels)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: tuple[int | str, int | str] | None = None,
        cluster_names: Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw items and centres as a fitted estimator sees them.

        Of more than two features, the first two principal components of X are drawn; the labels
        of the axes have their shares of the variance.

        Parameters
        ----------
        estimator : FuzzyKMeans
            A fitted estimator.
        X : array-like of shape (n_items, n_features)
            The items to draw; their memberships come from `predict_proba`.
        features : tuple of two int or str, default=None
            The features to draw, by position or, if the estimator was fitted on a data frame, by
            name.
        cluster_names : list of str of length n_clusters, default=None
            Names of the clusters; None for their numbers.
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.

        Returns
        -------
        SoftScatterDisplay
            The display, drawn.

        Examples
        --------
        >>> from askmeans import FuzzyKMeans
        >>> from askmeans.plotting import SoftScatterDisplay
        >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [9.0, 1.0, 0.0], [8.0, 0.0, 0.0]]
        >>> model = FuzzyKMeans(n_clusters=2, random_state=0).fit(X)
        >>> SoftScatterDisplay.from_estimator(model, X).ax_.get_xlabel()
        'PC 1 (99 % of the variance)'
        >>> SoftScatterDisplay.from_estimator(model, X, features=(0, 2)).ax_.get_ylabel()
        'feature 2'
        """
        centers = as_matrix(fitted_attribute(estimator, "cluster_centers_"), "cluster_centers_")
        items = as_matrix(X, "X")
        d = centers.shape[1]
        if items.shape[1] != d:
            raise DataError(
                f"X must have the {d} features that the estimator was fitted on. "
                f"Got {items.shape[1]} features instead."
            )
        names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
        if features is None and d > 2:
            mean, axes, shares = _principal_axes(items)
            items, centers = (items - mean) @ axes, (centers - mean) @ axes
            labels = [f"PC {i + 1} ({100 * shares[i]:.0f} % of the variance)" for i in range(2)]
        else:
            columns = list(range(d)) if features is None else _columns(features, names, d)
            items, centers = items[:, columns], centers[:, columns]
            labels = [names[c] if names else f"feature {c}" for c in columns]
        memberships = fitted_attribute(estimator, "predict_proba")(X)
        display = cls(items, memberships, centers, cluster_names=cluster_names, axis_labels=labels)
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw items, centres and legend.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.

        Returns
        -------
        SoftScatterDisplay
            This display, with `ax_`, `figure_`, `scatter_`, `centers_artist_`,
            `legend_` and `shown_` set.
        """
        ax = self._begin(ax)
        self.shown_ = even_rows(len(self.points), _MAX_POINTS)
        memberships, points = self.memberships[self.shown_], self.points[self.shown_]
        if points.shape[1] == 1:
            jitter = np.arange(len(points)) * GOLDEN % 1.0 - 0.5
            points = np.column_stack([points, jitter])
            ax.set(ylim=(-1.0, 1.0), yticks=[])
            ax.spines["left"].set_visible(False)
        palette = cluster_palette(len(self.cluster_names))
        colors = np.column_stack([blend(memberships, palette), _opacity(memberships)])
        self.scatter_ = ax.scatter(
            points[:, 0],
            points[:, 1],
            s=np.clip(900.0 / np.sqrt(len(points)), 5.0, 40.0),
            c=colors,
            linewidths=0.0,
        )
        self._draw_centers(palette)
        self._draw_legend(palette)
        for axis, label in zip((ax.xaxis, ax.yaxis), self.axis_labels, strict=False):
            axis.set_label_text(label)
        ax.margins(x=0.12)  # for names beside the outermost centres
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _draw_centers(self, palette: NDArray[np.float64]) -> None:
        """Mark the centres by diamonds, their names on the side away from the next centre."""
        self.centers_artist_ = None
        if self.centers is None:
            return
        spots = self.centers
        if spots.shape[1] == 1:
            spots = np.column_stack([spots, np.zeros(len(spots))])
        halo = [withStroke(linewidth=3.5, foreground="white")]
        self.centers_artist_ = self.ax_.scatter(
            spots[:, 0],
            spots[:, 1],
            s=70,
            c=palette,
            marker="D",
            edgecolors="black",
            path_effects=halo,
            zorder=3,
        )
        low, high = self.ax_.dataLim.get_points()
        sides = _free_sides(spots / np.where(high > low, high - low, 1.0))
        for name, spot, (right, up) in zip(self.cluster_names, spots, sides, strict=True):
            self.ax_.annotate(
                name,
                spot,
                xytext=(10 * right, 10 * up),
                textcoords="offset points",
                ha="left" if right > 0.4 else "right" if right < -0.4 else "center",
                va="bottom" if up > 0.4 else "top" if up < -0.4 else "center",
                fontweight="bold",
                path_effects=halo,
                zorder=4,
            )

    def _draw_legend(self, palette: NDArray[np.float64]) -> None:
        """Name the pure colours, and the centres' mark."""
        handles = [
            Line2D([], [], color=color, marker="o", linestyle="", label=name)
            for name, color in zip(self.cluster_names, palette, strict=True)
        ]
        if self.centers is not None:
            mark = Line2D([], [], color="black", marker="D", linestyle="", label="centre")
            mark.set_markerfacecolor("none")
            handles.append(mark)
        place: dict[str, Any] = {"loc": "best"}
        if self.figure_.get_layout_engine() is not None:
            place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
        self.legend_ = self.ax_.legend(
            handles=handles,
            title="cluster",
            alignment="left",
            handletextpad=0.2,
            ncols=-(-len(handles) // _MAX_LEGEND_ROWS),
            **place,
        )


def _opacity(memberships: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for an item of one cluster alone, `_FAINTEST` for one shared evenly."""
    k = memberships.shape[1]
    if k == 1:
        return np.ones(len(memberships))
    certainty = ((memberships.max(axis=1) * k - 1.0) / (k - 1.0)).clip(0.0, 1.0)
    opacity: NDArray[np.float64] = _FAINTEST + (1.0 - _FAINTEST) * certainty
    return opacity


def _free_sides(spots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vectors (k, 2) that point from each spot away from the one nearest to it."""
    away = spots[:, None] - spots
    distances = np.linalg.norm(away, axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    rows = np.arange(len(spots))
    # Centres that coincide have no side of their own: their names go round in golden angles.
    angles = np.pi / 2 + 2 * np.pi * GOLDEN * rows
    sides = np.column_stack([np.cos(angles), np.sin(angles)])
    length = np.linalg.norm(away[rows, nearest], axis=1, keepdims=True)
    np.divide(away[rows, nearest], length, out=sides, where=length > 0)
    return sides


def _principal_axes(
    items: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean, first two principal axes (d, 2) and their shares of the variance."""
    mean = items.mean(axis=0)
    centered = items - mean
    if 2 <= len(items) < items.shape[1]:
        # The n x n matrix is smaller than the d x d one, and has the same eigenvalues; QR keeps
        # the axes orthonormal even where the second has no variance.
        variances, vectors = np.linalg.eigh(centered @ centered.T)
        axes = np.linalg.qr(centered.T @ vectors[:, [-1, -2]])[0]
    else:
        variances, vectors = np.linalg.eigh(centered.T @ centered)
        axes = vectors[:, [-1, -2]]
    total = variances.sum()
    shares = variances[[-1, -2]].clip(0.0) / total if total > 0 else np.zeros(2)
    # An axis has no sign of its own: let its largest entry be positive.
    largest = np.abs(axes).argmax(axis=0)
    return mean, axes * np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0), shares


def _columns(features: Sequence[int | str], names: list[str], d: int) -> list[int]:
    """The columns of two features, which are named or numbered."""
    wanted = list(features) if np.iterable(features) else [features]
    columns = []
    for feature in wanted:
        if isinstance(feature, str) and feature in names:
            columns.append(names.index(feature))
        elif isinstance(feature, int | np.integer) and 0 <= feature < d:
            columns.append(int(feature))
    if len(columns) != 2 or len(wanted) != 2:
        known = f" or names among {names}" if names else ", for the estimator knows no names"
        raise ParameterError(
            f"The 'features' parameter must be two positions from 0 to {d - 1}{known}. "
            f"Got {features!r} instead."
        )
    return columns
