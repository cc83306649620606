"""Plots of a soft clustering, as scikit-learn's Display classes.

Each class takes arrays, or an estimator through ``from_estimator``, draws with ``plot(ax=None)``
and keeps the artists as attributes that end in ``_``. The caller shows or saves the figure. A
parameter that breaks its rule raises a ParameterError, arrays that do a DataError.
"""

from askmeans.exceptions import MissingExtraError

try:
    import matplotlib as mpl  # noqa: F401  # only to say clearly what is missing
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "Pictures need matplotlib, which is not installed. "
        'Install it with pip install "askmeans[plot]".'
    ) from error

from askmeans.plotting.choosing import ClusterNumbersDisplay
from askmeans.plotting.heatmap import MembershipHeatmapDisplay
from askmeans.plotting.reliability import ReliabilityDisplay
from askmeans.plotting.scatter import SoftScatterDisplay

__all__ = [
    "ClusterNumbersDisplay",
    "MembershipHeatmapDisplay",
    "ReliabilityDisplay",
    "SoftScatterDisplay",
]
