"""Reliability diagrams: whether memberships are calibrated probabilities."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from askmeans.metrics.calibration import confidence_bins
from askmeans.plotting.display import Display, fitted_attribute

_DIAGONAL = "perfectly calibrated"


class ReliabilityDisplay(Display):
    """A reliability diagram: the accuracy of items by their largest probability.

    The line has a point for each bin with items. Below the diagonal probabilities are too large,
    above it too small. Bars are the share of items in each bin. The label has the expected
    calibration error (ECE).

    Parameters
    ----------
    y_true : array-like of shape (n_items,)
        The true cluster of each item, as in `metrics.expected_calibration_error`. Leave out items
        that the model has learnt from.
    proba : array-like of shape (n_items, n_clusters)
        Probabilities, or memberships.
    n_bins : int, default=15
        Number of bins between 0 and 1.
    sample_weight : array-like of shape (n_items,), default=None
        Weights of the items; None for equal ones.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    line_ : matplotlib Line2D
        Accuracy by confidence.
    bars_ : matplotlib BarContainer
        The share of items in each bin.

    Examples
    --------
    >>> from askmeans.plotting import ReliabilityDisplay
    >>> proba = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]
    >>> display = ReliabilityDisplay([0, 0, 1, 0], proba).plot(label="mine")
    >>> display.line_.get_ydata(), display.line_.get_label()
    (array([0.5, 1. ]), 'mine (ECE 0.200)')
    """

    line_: Line2D
    bars_: BarContainer

    def __init__(
        self,
        y_true: ArrayLike,
        proba: ArrayLike,
        *,
        n_bins: int = 15,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.bins = confidence_bins(y_true, proba, n_bins=n_bins, sample_weight=sample_weight)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        n_bins: int = 15,
        sample_weight: ArrayLike | None = None,
        label: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> Self:
        """Draw the diagram of a fitted estimator's `predict_proba`.

        Parameters
        ----------
        estimator : ActiveFuzzyKMeans or FuzzyKMeans
            A fitted estimator.
        X : array-like of shape (n_items, n_features)
            Items without an answer.
        y : array-like of shape (n_items,)
            Their true clusters.
        n_bins : int, default=15
            Number of bins between 0 and 1.
        sample_weight : array-like of shape (n_items,), default=None
            Weights of the items; None for equal ones.
        label : str, default=None
            The line's name in the legend; None takes the estimator's class.
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.
        **line : Any
            Further arguments of matplotlib's `plot`: color, linestyle, marker.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> from askmeans import ActiveFuzzyKMeans, oracles
        >>> from askmeans.plotting import ReliabilityDisplay
        >>> X, y = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
        >>> expert = oracles.TableOracle.from_labels(y)
        >>> model = ActiveFuzzyKMeans(2, oracle=expert, ask="group", budget=2, random_state=0)
        >>> display = ReliabilityDisplay.from_estimator(model.fit(X), [[0.5], [5.5]], [0, 1])
        >>> display.ax_.get_xlabel()
        'largest probability'
        """
        proba = fitted_attribute(estimator, "predict_proba")(X)
        display = cls(y, proba, n_bins=n_bins, sample_weight=sample_weight)
        return display.plot(ax, label=type(estimator).__name__ if label is None else label, **line)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        proba: ArrayLike,
        *,
        n_bins: int = 15,
        sample_weight: ArrayLike | None = None,
        label: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> Self:
        """Draw the diagram of probabilities, of any classifier.

        Parameters
        ----------
        y_true : array-like of shape (n_items,)
            The true cluster of each item.
        proba : array-like of shape (n_items, n_clusters)
            Probabilities, or memberships.
        n_bins : int, default=15
            Number of bins between 0 and 1.
        sample_weight : array-like of shape (n_items,), default=None
            Weights of the items; None for equal ones.
        label : str, default=None
            The line's name in the legend.
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure.
        **line : Any
            Further arguments of matplotlib's `plot`: color, linestyle, marker.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> from askmeans.plotting import ReliabilityDisplay
        >>> display = ReliabilityDisplay.from_predictions([0, 1], [[0.7, 0.3], [0.4, 0.6]])
        >>> display.line_.get_label()
        'ECE 0.350'
        """
        display = cls(y_true, proba, n_bins=n_bins, sample_weight=sample_weight)
        return display.plot(ax, label=label, **line)

    def plot(self, ax: Axes | None = None, *, label: str | None = None, **line: Any) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes; None makes a new figure. Several diagrams share one.
        label : str, default=None
            The line's name in the legend.
        **line : Any
            Further arguments of matplotlib's `plot`: color, linestyle, marker.

        Returns
        -------
        ReliabilityDisplay
            This display, with `ax_`, `figure_`, `line_` and `bars_` set.
        """
        ax, bins = self._begin(ax), self.bins
        if _DIAGONAL not in [other.get_label() for other in ax.lines]:
            ax.plot([0, 1], [0, 1], "k:", label=_DIAGONAL)
        ece = f"ECE {bins.error:.3f}"
        some = bins.share > 0.0
        style = {"marker": "o", "label": f"{label} ({ece})" if label else ece} | line
        (self.line_,) = ax.plot(bins.confidence[some], bins.accuracy[some], **style)
        width = 1.0 / len(bins.share)
        self.bars_ = ax.bar(
            width * np.arange(len(bins.share)), bins.share, width, align="edge",
            color=self.line_.get_color(), alpha=0.2,
        )  # fmt: skip
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="largest probability")
        ax.set_ylabel("accuracy (line), share of items (bars)")
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return self
